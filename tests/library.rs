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
