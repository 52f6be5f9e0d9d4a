//! What several places can run at the same time with the same keys: repeats of one whole request,
//! which may come in any order and from anywhere. All else would be in its own way.

use super::{Lane, Plan, PlannedCase};
use crate::scenario::{Case, Key, Request, Step, Wait};
use crate::target::Target;
use crate::target::placeholder::Placeholder;

impl Plan {
    /// Leaves out what several places cannot run at once, with the reason.
    pub fn narrow_to_vantage(&mut self, target: &Target) {
        for planned in self.cases.iter_mut().filter(|case| case.skip.is_none()) {
            planned.skip = unfit(planned, target)
                .map(|why| format!("several places cannot run it at once: {why}"));
        }
    }
}

/// Why several places cannot run a case at once.
fn unfit(planned: &PlannedCase, target: &Target) -> Option<String> {
    match planned.lane {
        Lane::Timed | Lane::Shared => {}
        Lane::Alone | Lane::Last | Lane::Crash | Lane::Clock => {
            return Some("it needs the target for itself".to_owned());
        }
    }
    let operation = target.operation(&planned.subject)?;
    let mut own = None;
    operation.request.each_placeholder(&mut |placeholder| {
        own = own.or(match placeholder {
            Placeholder::Fixture(_) => Some("a fixture"),
            Placeholder::GivenIdentity => Some("a resource to work on"),
            Placeholder::Prepared(_) => Some("an answer to prepare"),
            Placeholder::SinkUrl => Some("a receiver of events"),
            _ => None,
        });
    });
    if let Some(own) = own {
        return Some(format!("each would have {own} of its own"));
    }
    let case = &planned.scenario.cases[planned.case];
    case.leaves().find_map(|step| unfit_step(case, step))
}

fn unfit_step(case: &Case, step: &Step) -> Option<String> {
    match step {
        Step::Send { request, .. } | Step::Burst { request, .. } | Step::Retry { request, .. } => {
            let first = case.leaves().filter_map(Step::request).next()?;
            (!repeats(first, request))
                .then(|| format!("`{}` is no mere repeat of `{}`", request.name, first.name))
        }
        Step::Wait(Wait::For(_) | Wait::Settled | Wait::RetryAfter(_)) | Step::Read { .. } => None,
        Step::Together(_)
        | Step::Wait(Wait::Deliveries { .. } | Wait::Arrivals { .. } | Wait::OwnRetries)
        | Step::Elapse { .. }
        | Step::Hook { .. }
        | Step::Prepare { .. }
        | Step::Cleanup { .. }
        | Step::Lookup(_)
        | Step::Sink { .. }
        | Step::Signals { .. }
        | Step::Recheck { .. } => Some("it does more than send requests".to_owned()),
    }
}

/// Whether a request is the first one of its case, or the very same again, whole.
fn repeats(first: &Request, request: &Request) -> bool {
    let is_first = first.name == request.name;
    let key = match &request.key {
        None => !is_first,
        Some(Key::Fresh) => is_first,
        Some(Key::Of { twist: None, .. }) => !is_first,
        Some(_) => false,
    };
    let whole = request.fault.is_none()
        && request.forms.is_none()
        && request.first_sent.is_none()
        && request.marker.is_none()
        && request.given_other.is_none()
        && request.chosen_name.is_none()
        && request.only_if.is_none()
        && request.prepared.is_none()
        && request.operation.is_none()
        && request.principal.is_none();
    // A slow one is the same to everybody; what fails at first would fail for one place only.
    let variants = match is_first {
        true => request.variants.iter().all(|name| name == "slow"),
        false => request.variants.is_empty(),
    };
    key && whole && variants && (is_first || request.like.is_some())
}

#[cfg(test)]
mod tests {
    use crate::contract::named;
    use crate::plan::{Plan, Selection, plan};
    use crate::scenario::library;
    use crate::target::trial::target;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    /// The ids that are left of those that begin so.
    fn left(request: &str, prefix: &str) -> Vec<String> {
        let target = target(&format!(
            "target: T\nbase-url: http://127.0.0.1:1\nkey: Idempotency-Key\nfixtures: {{ thing: {{ request: POST /things, value: $.id, per: scenario }} }}\noperations:\n  pay:\n    request: {{ method: POST, path: /p, json: {{ a: 1, r: \"{request}\" }} }}\n    change: {{ json: {{ a: 2 }} }}\n    variants: {{ slow: {{ json: {{ slow: true }} }} }}\n    identity: $.id\n    effects: {{ p: {{ request: \"GET /p?r=${{marker}}\", ids: \"$[*].id\" }} }}\n"
        ));
        let contract = named("generic").expect("it is built in");
        let contracts = BTreeMap::from([("pay".to_owned(), contract)]);
        let scenarios = library::scenarios().expect("they are sound");
        let scenarios: Vec<_> = scenarios.into_iter().map(Arc::new).collect();
        let mut all: Plan = plan(&target, &contracts, &scenarios, &Selection::default());
        all.narrow_to_vantage(&target);
        let runs = all.cases.iter().filter(|case| case.skip.is_none());
        runs.map(|case| case.scenario.case_id(&case.scenario.cases[case.case]))
            .filter(|id| id.starts_with(prefix))
            .collect()
    }

    #[test]
    fn repeats_of_one_request_run_everywhere_and_nothing_else_does() {
        let races = left("${marker}", "race/");
        for id in ["race/burst", "race/edge", "race/during", "race/last-byte"] {
            assert!(
                races.iter().any(|race| race.starts_with(id)),
                "{id}: {races:?}"
            );
        }
        let replays = left("${marker}", "replay/exact");
        assert!(!replays.is_empty());
        for topic in ["payload/", "scope/", "auth/", "expiry/", "crash/", "lost/"] {
            assert_eq!(left("${marker}", topic), [] as [String; 0], "{topic}");
        }
        assert_eq!(
            left("${marker}", "failure/"),
            ["failure/hidden#plain", "failure/hidden#slow"]
        );
    }

    #[test]
    fn a_request_that_is_another_one_in_each_place_is_left_out() {
        assert_eq!(left("${marker} ${thing}", ""), [] as [String; 0]);
    }
}
