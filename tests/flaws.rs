//! The proof of the verdicts: with a defect planted in the demo API, exactly the expectations that
//! the defect breaks fail; without one, none does.

use futures::StreamExt;
use idemspec::cli::args::Selection;
use idemspec::cli::run::demo_report;
use idemspec::demo::{Flaw, Options};
use idemspec::grade::Report;
use idemspec::judge::Finding;
use idemspec::promise::Level;
use idemspec::scenario::library;
use idemspec::verdict::Verdict;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::Mutex;

/// Demos that run at once. Most of a run is waiting.
const AT_ONCE: usize = 4;

/// How long a write works: shorter than the demo's own, so that the tests are quick.
const WORK: Duration = Duration::from_millis(30);

/// Cases that few flaws touch, tried with every flaw.
const SAMPLE: [&str; 4] = [
    "replay/exact#plain",
    "payload/changed#value",
    "auth/credentials#none",
    "scope/fresh-key",
];

/// Held by a test that runs demos: the demos of two tests would disturb each other's timing.
static MACHINE: Mutex<()> = Mutex::const_new(());

/// The operation that a name without one means.
const OPERATION: &str = "create-payment";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_flaw_breaks_exactly_what_it_says() {
    let _alone = MACHINE.lock().await;
    let wrong: Vec<String> = futures::stream::iter(Flaw::ALL)
        .map(|flaw| async move { differences(*flaw, &report(*flaw).await) })
        .buffer_unordered(AT_ONCE)
        .collect::<Vec<Vec<String>>>()
        .await
        .concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_correct_demo_is_clean() {
    let _alone = MACHINE.lock().await;
    let options = Options {
        work: WORK,
        ..Options::default()
    };
    let report = demo_report(options, Selection::default(), None)
        .await
        .expect("the demo runs");
    let not_clean: Vec<String> = findings(&report)
        .filter(|finding| matches!(finding.verdict, Verdict::Fail | Verdict::Inconclusive))
        .map(|finding| format!("{}: {}", finding.name, finding.reason))
        .collect();
    assert!(not_clean.is_empty(), "{}", not_clean.join("\n"));
    assert_eq!(report.verdict, Some(Verdict::Pass));
}

/// Two conflicts that look alike break no invariant: only a contract that tells them apart fails them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conflicts_that_look_alike_are_a_warning_where_nothing_is_declared() {
    let _alone = MACHINE.lock().await;
    let options = Options {
        flaw: Some(Flaw::AnswersConflictsAlike),
        work: WORK,
        ..Options::default()
    };
    let selection = Selection {
        scenario: ["payload/changed#value", "payload/in-flight"]
            .map(str::to_owned)
            .to_vec(),
        operation: vec![OPERATION.to_owned()],
        ..Selection::default()
    };
    let report = demo_report(options, selection, Some("generic"))
        .await
        .expect("the demo runs");
    let failed: Vec<(&str, Level)> = findings(&report)
        .filter(|finding| finding.verdict == Verdict::Fail)
        .map(|finding| (finding.name.as_str(), finding.level))
        .collect();
    assert_eq!(
        failed,
        [(
            "create-payment/payload/in-flight/item-7/tells-apart:changed-later+same",
            Level::Should
        )]
    );
    assert_eq!(report.verdict, Some(Verdict::Pass));
}

#[test]
fn each_scenario_catches_a_flaw() {
    /// The demo has no such date under its own contract.
    const NOT_TRIED: [&str; 1] = ["expiry/first-sent"];
    let named: BTreeSet<String> = Flaw::ALL
        .iter()
        .flat_map(|flaw| flaw.breaks())
        .map(|name| Named::read(name).scenario)
        .collect();
    let idle: Vec<String> = library::scenarios()
        .expect("the library is whole")
        .into_iter()
        .map(|scenario| scenario.id)
        .filter(|id| !named.contains(id) && !NOT_TRIED.contains(&id.as_str()))
        .collect();
    assert!(idle.is_empty(), "{idle:?}");
}

/// The report of a run of what the flaw breaks and of the sample.
async fn report(flaw: Flaw) -> Report {
    let named: Vec<Named> = flaw.breaks().iter().map(|name| Named::read(name)).collect();
    let mut operation: Vec<String> = named.iter().map(|name| name.operation.clone()).collect();
    operation.push(OPERATION.to_owned());
    operation.sort();
    operation.dedup();
    let scenario = named
        .iter()
        .map(Named::selects)
        .chain(SAMPLE.map(str::to_owned))
        .collect();
    let options = Options {
        flaw: Some(flaw),
        work: WORK,
        ..Options::default()
    };
    let selection = Selection {
        scenario,
        operation,
        ..Selection::default()
    };
    demo_report(options, selection, None)
        .await
        .unwrap_or_else(|failure| panic!("{}: {failure}", flaw.name()))
}

/// What should have failed and did not, and what failed and should not have.
fn differences(flaw: Flaw, report: &Report) -> Vec<String> {
    let must: Vec<&Finding> = findings(report)
        .filter(|finding| finding.level == Level::Must)
        .collect();
    let breaks: Vec<Named> = flaw.breaks().iter().map(|name| Named::read(name)).collect();
    let may: Vec<Named> = flaw
        .may_break()
        .iter()
        .map(|name| Named::read(name))
        .collect();
    let mut wrong = Vec::new();
    for name in &breaks {
        let mut meant = must
            .iter()
            .filter(|finding| finding.verdict != Verdict::Skip && name.means(&finding.name))
            .peekable();
        if meant.peek().is_none() {
            wrong.push(format!("{}: nothing is {}", flaw.name(), name.whole()));
        }
        for finding in meant.filter(|finding| finding.verdict != Verdict::Fail) {
            wrong.push(format!(
                "{}: {} did not fail: {:?}: {}",
                flaw.name(),
                finding.name,
                finding.verdict,
                finding.reason
            ));
        }
    }
    for finding in must
        .iter()
        .filter(|finding| finding.verdict == Verdict::Fail)
    {
        let said = breaks.iter().chain(&may);
        if !said.clone().any(|name| name.means(&finding.name)) {
            wrong.push(format!(
                "{}: {} failed: {}",
                flaw.name(),
                finding.name,
                finding.reason
            ));
        }
    }
    wrong
}

fn findings(report: &Report) -> impl Iterator<Item = &Finding> {
    report.scenarios.iter().flat_map(|case| &case.findings)
}

/// A name in the list of what a flaw breaks: `[operation:]scenario[#case]/item-N/id`, where the
/// case `*` is every case that applies.
struct Named {
    operation: String,
    scenario: String,
    case: Option<String>,
    /// The item and the id.
    rest: String,
}

impl Named {
    fn read(text: &str) -> Named {
        let (operation, text) = text
            .split_once(':')
            .filter(|(operation, _)| !operation.contains('/'))
            .unwrap_or((OPERATION, text));
        let at = text.find("/item-").expect("a name has an item");
        let (case_id, rest) = text.split_at(at);
        let (scenario, case) = match case_id.split_once('#') {
            Some((scenario, case)) => (scenario, Some(case.to_owned())),
            None => (case_id, None),
        };
        Named {
            operation: operation.to_owned(),
            scenario: scenario.to_owned(),
            case,
            rest: rest.to_owned(),
        }
    }

    /// The case or the scenario, as it is selected.
    fn selects(&self) -> String {
        match self.case.as_deref() {
            None | Some("*") => self.scenario.clone(),
            Some(case) => format!("{}#{case}", self.scenario),
        }
    }

    /// Whether a finding has this name.
    fn means(&self, finding: &str) -> bool {
        let own = format!("{}/{}", self.operation, self.scenario);
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

    fn whole(&self) -> String {
        let case = self
            .case
            .as_ref()
            .map_or(String::new(), |case| format!("#{case}"));
        format!("{}:{}{case}{}", self.operation, self.scenario, self.rest)
    }
}

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
    assert_eq!(refunds.operation, "create-refund");
    assert_eq!(refunds.selects(), "race/burst");
}
