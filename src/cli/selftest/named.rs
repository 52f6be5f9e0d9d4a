//! Names of expectations, as the tables of the demo write them.

/// The operation that a name without one means.
pub(super) const OPERATION: &str = "create-payment";

/// A name in the list of what a flaw breaks: `[operation:]scenario[#case]/item-N/id`, where the
/// case `*` is every case that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The operation, if one is named.
    operation: Option<String>,
    /// The scenario's id.
    scenario: String,
    /// The case, if one is named.
    case: Option<String>,
    /// The item and the id.
    rest: String,
}

impl Named {
    /// Reads a name. One without an item means a whole scenario or case.
    pub(super) fn read(text: &str) -> Named {
        let (operation, text) = place(text);
        let (case_id, rest) = match text.find("/item-") {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        let (scenario, case) = match case_id.split_once('#') {
            Some((scenario, case)) => (scenario, Some(case.to_owned())),
            None => (case_id, None),
        };
        Named {
            operation: operation.map(str::to_owned),
            scenario: scenario.to_owned(),
            case,
            rest: rest.to_owned(),
        }
    }

    /// The operation on which it is tried.
    pub(super) fn operation(&self) -> &str {
        self.operation.as_deref().unwrap_or(OPERATION)
    }

    /// The case or the scenario, as it is selected.
    pub(super) fn selects(&self) -> String {
        match self.case.as_deref() {
            None | Some("*") => self.scenario.clone(),
            Some(case) => format!("{}#{case}", self.scenario),
        }
    }

    /// Whether a finding has this name.
    pub(super) fn means(&self, finding: &str) -> bool {
        self.fits(self.operation(), finding)
    }

    /// Whether a finding has this name, perhaps on another operation where none is named.
    pub(super) fn covers(&self, finding: &str) -> bool {
        let own = finding.split('/').next().unwrap_or_default();
        self.fits(self.operation.as_deref().unwrap_or(own), finding)
    }

    /// The scenario of a finding and what is checked in it, without operation, case and item.
    pub(super) fn split(finding: &str) -> Option<(String, String)> {
        let (_, rest) = finding.split_once('/')?;
        let (case_id, rest) = rest.split_once("/item-")?;
        let (_, check) = rest.split_once('/')?;
        let scenario = case_id.split('#').next()?;
        Some((scenario.to_owned(), check.to_owned()))
    }

    /// The whole name.
    pub(super) fn whole(&self) -> String {
        let case = self.case.as_ref();
        let case = case.map_or(String::new(), |case| format!("#{case}"));
        let (operation, scenario) = (self.operation(), &self.scenario);
        format!("{operation}:{scenario}{case}{}", self.rest)
    }

    fn fits(&self, operation: &str, finding: &str) -> bool {
        let own = format!("{operation}/{}", self.scenario);
        let Some(case) = finding
            .strip_prefix(&own)
            .and_then(|rest| rest.strip_suffix(&self.rest))
        else {
            return false;
        };
        match self.case.as_deref() {
            None => case.is_empty(),
            Some("*") => case.starts_with('#') && !case.contains('/'),
            Some(wanted) => case.strip_prefix('#') == Some(wanted),
        }
    }
}

/// The operation and the rest of a text.
fn place(text: &str) -> (Option<&str>, &str) {
    match text.split_once(':') {
        Some((operation, rest)) if !operation.contains(['/', '#']) => (Some(operation), rest),
        _ => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::Named;

    #[test]
    fn a_name_means_the_findings_that_it_says() {
        let plain = "create-payment/race/burst/item-5/effects-at-most";
        let cased = "create-payment/replay/exact#slow/item-5/effects-at-most";
        assert!(Named::read("race/burst/item-5/effects-at-most").means(plain));
        assert!(!Named::read("race/burst#*/item-5/effects-at-most").means(plain));
        assert!(Named::read("replay/exact#*/item-5/effects-at-most").means(cased));
        assert!(Named::read("replay/exact#slow/item-5/effects-at-most").means(cased));
        assert!(!Named::read("replay/exact#plain/item-5/effects-at-most").means(cased));
        assert!(!Named::read("create-refund:race/burst/item-5/effects-at-most").means(plain));
        let refunds = Named::read("create-refund:race/burst/item-5/outcome-never:burst");
        assert_eq!(refunds.operation(), "create-refund");
        assert_eq!(refunds.selects(), "race/burst");
    }

    #[test]
    fn a_name_without_an_operation_covers_all_of_them() {
        let refund = "create-refund/race/burst/item-5/effects-at-most";
        let name = Named::read("race/burst/item-5/effects-at-most");
        assert!(!name.means(refund) && name.covers(refund));
        let payment = Named::read("create-payment:race/burst/item-5/effects-at-most");
        assert!(!payment.covers(refund));
    }

    #[test]
    fn a_name_may_end_with_the_case() {
        let name = Named::read("change-payment:lost/response#reset");
        assert_eq!(name.operation(), "change-payment");
        assert_eq!(name.selects(), "lost/response#reset");
    }
}
