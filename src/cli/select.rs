//! Which scenarios run: the built-in ones and the user's own, narrowed by id and item.

use super::args::Selection;
use super::compare;
use super::failure::Failure;
use super::files;
use crate::plan::Plan;
use crate::scenario::{Case, Scenario, library};
use crate::yaml;
use std::collections::BTreeSet;
use std::path::Path;

/// The built-in scenarios.
///
/// # Errors
/// A built-in file that does not parse; a test keeps this from happening.
pub fn built_in() -> Result<Vec<Scenario>, Failure> {
    library::scenarios().map_err(Failure::BadFiles)
}

/// The built-in scenarios and those of a folder.
///
/// # Errors
/// When the folder's files are wrong, or one has the id of a built-in scenario.
pub fn all(own: Option<&Path>) -> Result<Vec<Scenario>, Failure> {
    let mut scenarios = built_in()?;
    for scenario in own.map(files::scenarios).transpose()?.unwrap_or_default() {
        if scenarios.iter().any(|other| other.id == scenario.id) {
            return Err(Failure::Usage(format!(
                "`{}` is the id of a built-in scenario: give the file another name",
                scenario.id
            )));
        }
        scenarios.push(scenario);
    }
    Ok(scenarios)
}

/// The scenarios that are selected, with the cases that are.
///
/// # Errors
/// When an id or an item selects nothing.
pub fn selected(scenarios: Vec<Scenario>, by: &Selection) -> Result<Vec<Scenario>, Failure> {
    for wanted in &by.scenario {
        if !scenarios.iter().any(|scenario| touches(wanted, scenario)) {
            return Err(unknown(wanted, &scenarios));
        }
    }
    let mut selected = Vec::new();
    for mut scenario in scenarios {
        let bears = by.item.is_empty()
            || scenario
                .expect
                .iter()
                .any(|(item, _)| by.item.contains(item));
        if !bears {
            continue;
        }
        if !by.scenario.is_empty() {
            let mut cases = std::mem::take(&mut scenario.cases);
            cases.retain(|case| by.scenario.iter().any(|id| is_meant(id, &scenario, case)));
            scenario.cases = cases;
        }
        if !scenario.cases.is_empty() {
            selected.push(scenario);
        }
    }
    if selected.is_empty() {
        return Err(Failure::Usage(
            "no scenario bears on what was selected".to_owned(),
        ));
    }
    Ok(selected)
}

/// Leaves of a plan what failed before, and the part that is asked for. The parts of one selection
/// are the same wherever they are made, and make the whole.
///
/// # Errors
/// When the earlier run cannot be read, or nothing of it is in the plan.
pub fn narrow(plan: &mut Plan, by: &Selection) -> Result<(), Failure> {
    if let Some(file) = &by.only_failed {
        let checks = compare::checks(file)?;
        let failed: BTreeSet<&str> = checks
            .values()
            .filter(|stood| {
                matches!(
                    stood.standing.as_str(),
                    "fail" | "warning" | "known" | "inconclusive"
                )
            })
            .map(|stood| stood.case.as_str())
            .collect();
        plan.cases.retain(|planned| {
            let id = planned
                .scenario
                .case_id(&planned.scenario.cases[planned.case]);
            failed.contains(format!("{}/{id}", planned.subject).as_str())
        });
        if plan.cases.is_empty() {
            return Err(Failure::Usage(format!(
                "nothing that failed in {} can run here",
                file.display()
            )));
        }
    }
    if let Some(shard) = by.shard {
        let mut place = 0;
        plan.cases.retain(|_| {
            place += 1;
            (place - 1) % shard.of == shard.part - 1
        });
    }
    Ok(())
}

fn touches(wanted: &str, scenario: &Scenario) -> bool {
    scenario
        .cases
        .iter()
        .any(|case| is_meant(wanted, scenario, case))
}

/// Whether the case's id is the wanted one or begins with it.
fn is_meant(wanted: &str, scenario: &Scenario, case: &Case) -> bool {
    scenario.case_id(case).starts_with(wanted)
}

fn unknown(wanted: &str, scenarios: &[Scenario]) -> Failure {
    let ids = scenarios.iter().map(|scenario| scenario.id.as_str());
    Failure::Usage(match yaml::nearest(wanted, ids) {
        Some(near) => format!("there is no scenario `{wanted}`: did you mean `{near}`?"),
        None => format!("there is no scenario `{wanted}`: `idemspec list` shows all"),
    })
}

#[cfg(test)]
mod tests {
    use super::selected;
    use crate::checklist::ItemId;
    use crate::cli::args::Selection;
    use crate::promise::Level;
    use crate::scenario::{Case, Check, Expectation, Rounds, Runs, Scenario, Severity};

    fn scenario(id: &str, cases: &[&str]) -> Scenario {
        Scenario {
            id: id.to_owned(),
            title: String::new(),
            severity: Severity::High,
            needs: Vec::new(),
            runs: Runs::PerOperation,
            alone: false,
            rounds: Rounds {
                count: 1,
                valid: 1,
                up_to: 1,
                side_by_side: 1,
            },
            cases: cases
                .iter()
                .map(|name| Case {
                    name: Some((*name).to_owned()),
                    steps: Vec::new(),
                })
                .collect(),
            assume: Vec::new(),
            expect: vec![(
                ItemId::from_name("item-5").expect("an item"),
                Expectation {
                    id: "answered".to_owned(),
                    level: Level::Must,
                    unless: None,
                    check: Check::Exists {
                        of: "first".to_owned(),
                    },
                },
            )],
            about: None,
            harmless: Vec::new(),
            sources: Vec::new(),
        }
    }

    fn by(scenario: &[&str], item: &[&str]) -> Selection {
        Selection {
            scenario: scenario.iter().map(|id| (*id).to_owned()).collect(),
            item: item
                .iter()
                .map(|name| ItemId::from_name(name).expect("an item"))
                .collect(),
            ..Selection::default()
        }
    }

    #[test]
    fn a_case_is_selected_alone() {
        let all = vec![scenario("lost/response", &["reset", "closed"])];
        let found = selected(all, &by(&["lost/response#reset"], &[])).expect("it exists");
        assert_eq!(found[0].cases.len(), 1);
        assert_eq!(found[0].cases[0].name.as_deref(), Some("reset"));
    }

    #[test]
    fn a_wrong_id_names_the_nearest_right_one() {
        let all = vec![scenario("race/burst", &["a"])];
        let failure = selected(all, &by(&["race/bust"], &[])).expect_err("no such scenario");
        assert!(failure.to_string().contains("race/burst"));
    }

    #[test]
    fn a_selection_that_leaves_nothing_is_an_error() {
        let all = vec![scenario("race/burst", &["a"])];
        assert!(selected(all, &by(&[], &["item-9"])).is_err());
    }
}
