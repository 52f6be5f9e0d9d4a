//! Which scenarios run: the built-in ones and the user's own, narrowed by id and item.

use super::args::Selection;
use super::compare;
use super::failure::Failure;
use super::files;
use crate::checklist::ItemId;
use crate::plan::Plan;
use crate::scenario::client::{ClientCase, ClientScenario};
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
            return Err(taken(&scenario.id));
        }
        scenarios.push(scenario);
    }
    Ok(scenarios)
}

/// The built-in scenarios about clients and those of a folder.
///
/// # Errors
/// When the folder's files are wrong, or one has the id of a built-in scenario.
pub fn all_client(own: Option<&Path>) -> Result<Vec<ClientScenario>, Failure> {
    let mut scenarios = library::client_scenarios().map_err(Failure::BadFiles)?;
    let own = own.map(files::client_scenarios).transpose()?;
    for scenario in own.unwrap_or_default() {
        if scenarios.iter().any(|other| other.id == scenario.id) {
            return Err(taken(&scenario.id));
        }
        scenarios.push(scenario);
    }
    Ok(scenarios)
}

fn taken(id: &str) -> Failure {
    Failure::Usage(format!(
        "`{id}` is the id of a built-in scenario: give the file another name"
    ))
}

/// The scenarios that are selected, with the cases that are.
///
/// # Errors
/// When an id or an item selects nothing.
pub fn selected(scenarios: Vec<Scenario>, by: &Selection) -> Result<Vec<Scenario>, Failure> {
    narrowed(scenarios, by)
}

/// The scenarios about clients that are selected, with the cases that are.
///
/// # Errors
/// When an id or an item selects nothing.
pub fn selected_client(
    scenarios: Vec<ClientScenario>,
    by: &Selection,
) -> Result<Vec<ClientScenario>, Failure> {
    narrowed(scenarios, by)
}

/// What can be selected by its id, its cases and its items.
trait Selectable {
    type Case;
    fn id(&self) -> &str;
    fn items(&self) -> Vec<ItemId>;
    fn case_id(&self, case: &Self::Case) -> String;
    fn cases(&mut self) -> &mut Vec<Self::Case>;
    fn all_cases(&self) -> &[Self::Case];
}

impl Selectable for Scenario {
    type Case = Case;
    fn id(&self) -> &str {
        &self.id
    }
    fn items(&self) -> Vec<ItemId> {
        self.expect.iter().map(|(item, _)| *item).collect()
    }
    fn case_id(&self, case: &Case) -> String {
        Scenario::case_id(self, case)
    }
    fn cases(&mut self) -> &mut Vec<Case> {
        &mut self.cases
    }
    fn all_cases(&self) -> &[Case] {
        &self.cases
    }
}

impl Selectable for ClientScenario {
    type Case = ClientCase;
    fn id(&self) -> &str {
        &self.id
    }
    fn items(&self) -> Vec<ItemId> {
        self.expect.iter().map(|(item, _)| *item).collect()
    }
    fn case_id(&self, case: &ClientCase) -> String {
        ClientScenario::case_id(self, case)
    }
    fn cases(&mut self) -> &mut Vec<ClientCase> {
        &mut self.cases
    }
    fn all_cases(&self) -> &[ClientCase] {
        &self.cases
    }
}

fn narrowed<S: Selectable>(scenarios: Vec<S>, by: &Selection) -> Result<Vec<S>, Failure> {
    for wanted in &by.scenario {
        let touches = |scenario: &S| {
            let mut cases = scenario.all_cases().iter();
            cases.any(|case| scenario.case_id(case).starts_with(wanted))
        };
        if !scenarios.iter().any(touches) {
            return Err(unknown(wanted, scenarios.iter().map(S::id)));
        }
    }
    let mut selected = Vec::new();
    for mut scenario in scenarios {
        let items = scenario.items();
        if !by.item.is_empty() && !by.item.iter().any(|item| items.contains(item)) {
            continue;
        }
        if !by.scenario.is_empty() {
            let mut cases = std::mem::take(scenario.cases());
            cases.retain(|case| {
                let id = scenario.case_id(case);
                by.scenario.iter().any(|wanted| id.starts_with(wanted))
            });
            *scenario.cases() = cases;
        }
        if !scenario.all_cases().is_empty() {
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
        shard.narrow(&mut plan.cases);
    }
    Ok(())
}

fn unknown<'a>(wanted: &str, ids: impl Iterator<Item = &'a str>) -> Failure {
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
                    condition: None,
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
