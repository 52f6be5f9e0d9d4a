//! What something means, in words: a scenario, a checklist item, a contract, a promise, a flaw, a variant.

mod check;
mod contract;
mod document;
mod request;
mod scenario;
mod step;
mod variant;

use super::args::ExplainArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::screen;
use super::select;
use crate::checklist::ItemId;
use crate::contract::PROFILES;
use crate::demo::{Flaw, Tier, VARIANTS, Variant};
use crate::promise::Promise;
use crate::scenario::Scenario;
use crate::yaml;
use std::fmt::Write;

pub use contract::about_promise;

/// Explains what the id names.
///
/// # Errors
/// When nothing has this id, or a built-in file is broken.
pub fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    let text = match document::is_file(&args.id) {
        true => document::in_words(&args.id)?,
        false => in_words(&args.id, &select::built_in()?)?,
    };
    screen::say(&text)?;
    Ok(Exit::Clean)
}

/// The explanation of what the id names.
///
/// # Errors
/// When nothing has this id, with the nearest that there is; or a built-in contract is broken.
pub fn in_words(id: &str, scenarios: &[Scenario]) -> Result<String, Failure> {
    if let Some(item) = ItemId::from_name(id).or_else(|| ItemId::from_name(&format!("item-{id}"))) {
        return Ok(item_in_words(item, scenarios));
    }
    let (path, case) = match id.split_once('#') {
        Some((path, case)) => (path, Some(case)),
        None => (id, None),
    };
    if let Some(scenario) = scenarios.iter().find(|scenario| scenario.id == path) {
        return scenario::in_words(scenario, case);
    }
    if let Some(profile) = PROFILES.iter().find(|profile| profile.name == id) {
        return contract::in_words(profile);
    }
    if let Some(promise) = Promise::ALL
        .into_iter()
        .find(|promise| promise.name() == id)
    {
        return contract::promise_in_words(promise, scenarios);
    }
    if let Some(flaw) = Flaw::from_name(id) {
        return Ok(flaw_in_words(flaw, scenarios));
    }
    if let Some(variant) = Variant::from_name(id) {
        return Ok(variant::in_words(variant));
    }
    Err(unknown(id, scenarios))
}

fn unknown(id: &str, scenarios: &[Scenario]) -> Failure {
    let known = scenarios
        .iter()
        .map(|scenario| scenario.id.as_str())
        .chain(PROFILES.iter().map(|profile| profile.name))
        .chain(Promise::ALL.iter().map(|promise| promise.name()))
        .chain(Flaw::ALL.iter().map(|flaw| flaw.name()))
        .chain(VARIANTS.iter().map(|variant| variant.name));
    Failure::Usage(match yaml::nearest(id, known) {
        Some(near) => format!("nothing is called `{id}`: did you mean `{near}`?"),
        None => format!("nothing is called `{id}`: `idemspec list` shows what there is"),
    })
}

fn item_in_words(id: ItemId, scenarios: &[Scenario]) -> String {
    let item = id.item();
    let mut text = format!(
        "{id}: {}\n\n{}\n\nWhy it matters: {}\nSource: {}\n",
        item.short, item.says, item.why, item.source
    );
    let bearing: Vec<&Scenario> = scenarios
        .iter()
        .filter(|scenario| scenario.expect.iter().any(|(item, _)| *item == id))
        .collect();
    if bearing.is_empty() {
        text.push_str("\nNo scenario of this version bears on it.\n");
    } else {
        text.push_str("\nScenarios that bear on it:\n");
        list(&bearing, &mut text);
    }
    text
}

fn list(scenarios: &[&Scenario], text: &mut String) {
    let width = scenarios
        .iter()
        .map(|scenario| scenario.id.chars().count())
        .max()
        .unwrap_or_default();
    for scenario in scenarios {
        let _ = writeln!(text, "  {:width$}  {}", scenario.id, scenario.title);
    }
}

fn flaw_in_words(flaw: Flaw, scenarios: &[Scenario]) -> String {
    let mut text = format!(
        "{} ({}), a defect that the demo API can be given\n\n{}\nTier {}: {}.\n",
        flaw.name(),
        flaw.id(),
        flaw.says(),
        flaw.tier().number(),
        flaw.tier().says()
    );
    for (heading, broken) in [
        ("It breaks", flaw.breaks()),
        ("It may break, and not in every run", flaw.may_break()),
    ] {
        if broken.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{heading}:");
        for expectation in broken {
            let _ = writeln!(text, "  {expectation}");
        }
    }
    let catching: Vec<&Scenario> = scenarios
        .iter()
        .filter(|scenario| catches(scenario, flaw))
        .collect();
    if !catching.is_empty() {
        text.push_str("\nScenarios that are made to catch it:\n");
        list(&catching, &mut text);
    }
    if !flaw.reports().is_empty() {
        text.push_str("\nReported elsewhere:\n");
        for report in flaw.reports() {
            let _ = writeln!(
                text,
                "  https://github.com/{}",
                report.replace('#', "/issues/")
            );
        }
    }
    let _ = writeln!(text, "\nTry it: idemspec demo --flaw {}", flaw.name());
    text
}

/// Whether one of the expectations that the flaw breaks is the scenario's; or may break, where no
/// run surely catches it.
pub(super) fn catches(scenario: &Scenario, flaw: Flaw) -> bool {
    let broken = match flaw.tier() {
        Tier::One | Tier::Two => flaw.breaks(),
        Tier::Three => flaw.may_break(),
    };
    broken.iter().any(|name| {
        let name = name
            .split_once(':')
            .filter(|(operation, _)| !operation.contains('/'))
            .map_or(*name, |(_, rest)| rest);
        name.strip_prefix(scenario.id.as_str())
            .is_some_and(|rest| rest.starts_with(['#', '/']))
    })
}

#[cfg(test)]
mod tests {
    use super::in_words;
    use crate::contract::PROFILES;
    use crate::demo::{Flaw, VARIANTS};
    use crate::promise::Promise;
    use crate::scenario::library;

    #[test]
    fn everything_that_has_a_name_can_be_explained() {
        let scenarios = library::scenarios().expect("the built-in scenarios");
        let items = (1..=9).map(|number| format!("item-{number}"));
        let names = items
            .chain(scenarios.iter().map(|scenario| scenario.id.clone()))
            .chain(PROFILES.iter().map(|profile| profile.name.to_owned()))
            .chain(Promise::ALL.iter().map(|promise| promise.name().to_owned()))
            .chain(Flaw::ALL.iter().map(|flaw| flaw.name().to_owned()))
            .chain(VARIANTS.iter().map(|variant| variant.name.to_owned()));
        for name in names {
            let text = in_words(&name, &scenarios).unwrap_or_else(|problem| panic!("{problem}"));
            assert!(text.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_bare_number_is_an_item() {
        let text = in_words("5", &[]).expect("item 5");
        assert!(
            text.starts_with("item-5: claim, write and result"),
            "{text}"
        );
    }

    #[test]
    fn a_misspelt_name_is_answered_with_the_right_one() {
        let problem = in_words("check-then-sets", &[]).expect_err("no such name");
        assert!(problem.to_string().contains("checks-then-sets"));
    }
}
