//! The built-in scenarios parse, and every item and flaw that they speak of exists.

use idemspec::scenario::{Step, library, parse};
use idemspec::yaml::Source;
use std::sync::Arc;

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

/// `UPDATE_GOLDEN=1` writes the table anew.
#[test]
fn the_readme_holds_the_table_of_what_is_checked() {
    const MARKS: [&str; 2] = ["<!-- checks -->\n", "<!-- end of checks -->"];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).expect("the readme");
    let table = idemspec::cli::checks::table().expect("the library is whole");
    let [before, after] = MARKS;
    let (head, rest) = readme.split_once(before).expect("its beginning is marked");
    let (held, tail) = rest.split_once(after).expect("its end is marked");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let written = format!("{head}{before}{table}{after}{tail}");
        std::fs::write(path, written).expect("the readme can be written");
    } else {
        assert!(
            held == table,
            "the table in the readme is stale: `idemspec list checks`"
        );
    }
    assert_eq!(table.lines().count(), 11, "a line for each item");
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

#[test]
fn time_that_elapses_at_a_moment_does_so_beside_the_step_that_it_names() {
    let read = |steps: &str| {
        let text = format!(
            "title: A test\nsteps:\n{steps}\nexpect:\n  item-4:\n    - effects: {{ at-most: 1 }}\n"
        );
        let source = Source {
            name: "test.yaml".to_owned(),
            text,
        };
        parse("own/test", Arc::new(source), false)
    };
    let send = "send: { as: first, key: fresh }";
    let elapse = "elapse: { time: 20% retention, at: { when: sent, of: first } }";
    let beside = read(&format!(
        "  - together:\n      - {send}\n      - {elapse}\n"
    ));
    let scenario = beside.unwrap_or_else(|problems| panic!("{problems:?}"));
    let Step::Together(steps) = &scenario.cases[0].steps[0] else {
        panic!("it is no together");
    };
    assert!(matches!(&steps[1], Step::Elapse { at: Some(_), .. }));
    assert!(read(&format!("  - {send}\n  - {elapse}\n")).is_err());
    assert!(read(&format!("  - {send}\n  - elapse: 90% retention\n")).is_ok());
}

#[test]
fn every_client_scenario_parses_and_says_what_it_does_and_where_that_stands() {
    let scenarios = library::client_scenarios().unwrap_or_else(|problems| {
        let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
        panic!("{}", text.join("\n"));
    });
    assert!(scenarios.len() >= 10, "only {}", scenarios.len());
    for scenario in scenarios {
        let id = &scenario.id;
        assert!(
            scenario.about.is_some_and(|about| about.len() > 60),
            "{id} has no `about`"
        );
        assert!(!scenario.harmless.is_empty(), "{id} names nothing harmless");
        assert!(!scenario.sources.is_empty(), "{id} has no source");
    }
}
