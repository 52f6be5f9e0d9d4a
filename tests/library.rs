//! The built-in scenarios parse, and every item and flaw that they speak of exists.

use idemspec::scenario::library;

#[test]
fn every_built_in_scenario_parses() {
    match library::scenarios() {
        Ok(scenarios) => assert!(scenarios.len() >= 13, "only {} scenarios", scenarios.len()),
        Err(problems) => {
            let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("{}", text.join("\n"));
        }
    }
}

#[test]
fn every_built_in_scenario_says_what_it_does_what_is_harmless_and_where_that_stands() {
    for scenario in library::scenarios().expect("a test above says why not") {
        let id = &scenario.id;
        assert!(
            scenario.about.is_some_and(|about| about.len() > 60),
            "{id} has no `about`"
        );
        assert!(!scenario.harmless.is_empty(), "{id} names nothing harmless");
        assert!(!scenario.sources.is_empty(), "{id} has no source");
    }
}
