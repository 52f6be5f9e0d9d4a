//! From the name of a variant, as scenarios use it, to what an operation can do about it: what the
//! target declares, else what can be derived, else the reason why it cannot.

use std::borrow::Cow;

use super::derive;
use super::operation::Group;
use super::operation::Operation;
use super::operation::Variant;
use super::placeholder::Placeholder;
use super::request::{Body, Patch};

/// The names that failing variants have in scenarios. Which of the declared ones is which, only
/// the probes can tell.
const FAILING: [&str; 5] = [
    "fails",
    "fails-once",
    "fails-after",
    "fails-after-once",
    "fails-commit",
];

/// The changes with a name of their own.
const CHANGES: [&str; 6] = [
    "change-nested",
    "change-added",
    "change-removed",
    "change-type",
    "change-tail",
    "change-big-number",
];

/// Every name of a variant that a scenario may use.
pub const NAMES: [&str; 32] = [
    "slow",
    "lingers",
    "rate-limited",
    "times-out",
    "named",
    "multipart",
    "no-content",
    "async",
    "see-other",
    "binary",
    "stream",
    "large",
    "long",
    "big-number",
    "dry-run",
    "same-item-twice",
    "newer",
    "older",
    "change",
    "change-nested",
    "change-added",
    "change-removed",
    "change-type",
    "change-tail",
    "change-big-number",
    "invalid",
    "declined",
    "fails",
    "fails-once",
    "fails-after",
    "fails-after-once",
    "fails-commit",
];

impl Operation {
    /// The variants that may be meant by a scenario's name, at least one. Several remain where only
    /// a trial tells them apart: which failing one had written, which slow one writes first. The
    /// error is the reason to skip, as a sentence.
    pub fn variation(&self, name: &str) -> Result<Vec<Cow<'_, Variant>>, String> {
        let named = self.declared(|variant| variant.group == Group::Named && variant.name == name);
        if !named.is_empty() {
            return Ok(named);
        }
        let found = match name {
            "change" => self.declared(|variant| {
                variant.group == Group::Change && !CHANGES.contains(&variant.name.as_str())
            }),
            name if CHANGES.contains(&name) => return self.change(name),
            "invalid" => self.declared(|variant| variant.group == Group::Invalid),
            "declined" => self.declared(|variant| variant.group == Group::Declined),
            name if FAILING.contains(&name) => self.failing(name),
            "slow" | "lingers" => self.slow(name),
            // Where the plain request is one already, it stands in.
            "named" if self.is_named() => {
                vec![Cow::Owned(undeclared(Group::Named, name, Patch::default()))]
            }
            "multipart" if matches!(self.request.body, Some(Body::Multipart(_))) => {
                vec![Cow::Owned(undeclared(Group::Named, name, Patch::default()))]
            }
            _ => Vec::new(),
        };
        match found.is_empty() {
            true => Err(format!("{} has no variant `{name}`", self.name)),
            false => Ok(found),
        }
    }

    /// The variant that a scenario's name most likely means: the first of [`Operation::variation`].
    pub fn likeliest_variation(&self, name: &str) -> Result<Cow<'_, Variant>, String> {
        let candidates = self.variation(name)?;
        candidates
            .into_iter()
            .next()
            .ok_or_else(|| format!("{} has no variant `{name}`", self.name))
    }

    /// Whether the client chooses what the resource is called.
    fn is_named(&self) -> bool {
        let mut found = false;
        self.request
            .each_placeholder(&mut |placeholder| found |= *placeholder == Placeholder::Name);
        found
    }

    fn declared(&self, wanted: impl Fn(&Variant) -> bool) -> Vec<Cow<'_, Variant>> {
        let found = self.variants.iter().filter(|variant| wanted(variant));
        found.map(Cow::Borrowed).collect()
    }

    fn change(&self, name: &str) -> Result<Vec<Cow<'_, Variant>>, String> {
        let declared =
            self.declared(|variant| variant.group == Group::Change && variant.name == name);
        if !declared.is_empty() {
            return Ok(declared);
        }
        let body = self.request.body.as_ref();
        let derived = match name {
            "change-nested" => derive::nested(body),
            "change-added" => derive::added(body),
            "change-removed" => derive::removed(body),
            "change-type" => derive::retyped(body),
            _ => Err("it cannot be derived: declare it under `variants`".to_string()),
        };
        let patch =
            derived.map_err(|reason| format!("{} has no variant `{name}`: {reason}", self.name))?;
        Ok(vec![Cow::Owned(undeclared(Group::Change, name, patch))])
    }

    fn failing(&self, name: &str) -> Vec<Cow<'_, Variant>> {
        let exact =
            self.declared(|variant| variant.group == Group::Failing && variant.name == name);
        if !exact.is_empty() {
            return exact;
        }
        let heals = name.ends_with("-once");
        self.declared(|variant| {
            variant.group == Group::Failing
                && variant.heals == heals
                && !FAILING.contains(&variant.name.as_str())
        })
    }

    /// Slow variants are soft: undeclared, the plain request stands in, and whether it was slow
    /// enough shows.
    fn slow(&self, name: &str) -> Vec<Cow<'_, Variant>> {
        let all = self.declared(|variant| variant.group == Group::Slow);
        let told_apart = all.iter().any(|variant| variant.name == "lingers");
        let found: Vec<_> = all
            .into_iter()
            .filter(|variant| !told_apart || variant.name == name)
            .collect();
        match found.is_empty() {
            true => vec![Cow::Owned(undeclared(Group::Slow, name, Patch::default()))],
            false => found,
        }
    }
}

fn undeclared(group: Group, name: &str, patch: Patch) -> Variant {
    Variant {
        group,
        name: name.to_string(),
        patch,
        heals: false,
        per_execution: None,
        before: None,
        after: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::trial;

    const BODY: &str = "json: { amount: 2000, card: { brand: visa }, reference: \"${marker}\" }";

    fn operation(rest: &str) -> Operation {
        let request = format!("request: {{ method: POST, path: /payments, {BODY} }}");
        let yaml = format!(
            "target: T\nbase-url: http://127.0.0.1:1\nhooks: {{ fail-downstream: down, heal-downstream: up }}\noperations:\n  pay:\n    {request}\n{rest}"
        );
        trial::target(&yaml).operations.remove(0)
    }

    fn names(operation: &Operation, name: &str) -> Vec<String> {
        let found = operation.variation(name).expect("a variant");
        found.iter().map(|variant| variant.name.clone()).collect()
    }

    #[test]
    fn one_patch_a_list_and_a_map_give_stable_names() {
        let single = operation("    change: { json: { amount: 1 } }\n");
        assert_eq!(names(&single, "change"), ["change"]);
        let list = operation("    change: [ { json: { amount: 1 } }, { json: { amount: 2 } } ]\n");
        assert_eq!(names(&list, "change"), ["change", "change-2"]);
        let map = operation(
            "    change: { price: { json: { amount: 1 } }, nested: { json: { card: { brand: amex } } } }\n",
        );
        assert_eq!(names(&map, "change"), ["change-price"]);
        assert_eq!(names(&map, "change-nested"), ["change-nested"]);
    }

    #[test]
    fn failing_variants_are_sorted_by_what_is_known() {
        let unsorted = operation(
            "    failing: [ { headers: { X: a } }, { headers: { X: b }, heals: true }, { headers: { X: c } } ]\n",
        );
        assert_eq!(names(&unsorted, "fails"), ["failing", "failing-3"]);
        assert_eq!(names(&unsorted, "fails-after"), ["failing", "failing-3"]);
        assert_eq!(names(&unsorted, "fails-once"), ["failing-2"]);
        let sorted = operation(
            "    failing: { fails: { headers: { X: a } }, fails-once: { before: fail-downstream, after: heal-downstream } }\n",
        );
        assert_eq!(names(&sorted, "fails"), ["fails"]);
        assert_eq!(names(&sorted, "fails-once"), ["fails-once"]);
        assert!(sorted.variation("fails-commit").is_err());
    }

    #[test]
    fn slow_variants_are_soft() {
        let none = operation("");
        assert_eq!(names(&none, "slow"), ["slow"]);
        assert_eq!(
            none.variation("lingers").expect("soft")[0].patch,
            Patch::default()
        );
        let one = operation("    slow: { headers: { X: sleep } }\n");
        assert_eq!(names(&one, "lingers"), ["slow"]);
        let both = operation(
            "    slow: { slow: { headers: { X: a } }, lingers: { headers: { X: b } } }\n",
        );
        assert_eq!(names(&both, "lingers"), ["lingers"]);
        assert_eq!(names(&both, "slow"), ["slow"]);
    }

    #[test]
    fn named_variants_win_and_undeclared_ones_give_the_reason() {
        let operation =
            operation("    variants: { dry-run: { query: { dry: \"1\" }, per-execution: 0 } }\n");
        assert_eq!(
            operation.variation("dry-run").expect("declared")[0].per_execution,
            Some(0)
        );
        assert_eq!(
            operation.variation("large").expect_err("undeclared"),
            "pay has no variant `large`"
        );
        assert!(operation.variation("change").is_err());
        assert!(operation.variation("change-tail").is_err());
        assert_eq!(names(&operation, "change-nested"), ["change-nested"]);
    }
}
