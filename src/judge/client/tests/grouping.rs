//! Tests of which attempts are one operation, and of what a run that shows nothing says.

use super::{LOST, first, generic, ms, round, scenario};
use crate::contract::Contract;
use crate::judge::Finding;
use crate::judge::client::operations::operations;
use crate::judge::client::{judge, told_by, wants_more_rounds};
use crate::judge::sample::contract;
use crate::promise::Level;
use crate::scenario::client::{ClientFault, Pause, PauseForm, Says};
use crate::transcript::client::{Attempt, ClientFacts, ClientRound, ClientTranscript, RunEnd};
use crate::verdict::Verdict;

const SAME_KEY: &str = "same-key: { of: one }";

/// A request with this key, name and body; `None` if it was not read.
fn attempt(request: Option<[Option<&str>; 3]>) -> Attempt {
    let mut attempt = round(1, "one", LOST, &[], 0).attempts.remove(0);
    match (request, &mut attempt.request) {
        (Some([key, marker, digest]), Some(own)) => {
            own.key = key.map(str::to_owned);
            own.marker = marker.map(str::to_owned);
            own.body_digest = digest.unwrap_or("d").to_owned();
        }
        _ => {
            attempt.request = None;
            attempt.operation = None;
        }
    }
    attempt
}

/// How many attempts each operation has that is told from the others.
fn grouped(facts: &ClientFacts, attempts: Vec<Attempt>) -> Vec<usize> {
    let scenario = scenario("{ drop: processed }", SAME_KEY);
    let mut whole = round(1, "one", LOST, &[], 0);
    whole.attempts = attempts;
    let command = &scenario.cases[0].runs[1];
    let groups = operations(&whole, command, "pay", facts);
    groups.iter().map(|group| group.attempts.len()).collect()
}

#[test]
fn attempts_that_were_watched_are_one_operation_by_name_key_or_body() {
    let watched = |payloads_differ: bool, two: [[Option<&str>; 3]; 2]| {
        let facts = ClientFacts {
            watched: true,
            payloads_differ,
            ..ClientFacts::default()
        };
        let [one, other] = two;
        let attempts = vec![attempt(None), attempt(Some(one)), attempt(Some(other))];
        grouped(&facts, attempts)
    };
    let (a, b) = (Some("a"), Some("b"));
    let one: [usize; 1] = [3];
    let untold: [usize; 0] = [];
    assert_eq!(
        watched(false, [[None, a, None], [None, a, None]]),
        one,
        "its name"
    );
    assert_eq!(watched(false, [[None, a, None], [None, b, None]]), untold);
    assert_eq!(
        watched(false, [[a, None, None], [a, None, None]]),
        one,
        "its key"
    );
    assert_eq!(watched(false, [[a, None, None], [b, None, None]]), untold);
    assert_eq!(watched(false, [[None, None, a], [None, None, a]]), untold);
    assert_eq!(
        watched(true, [[None, None, a], [None, None, a]]),
        one,
        "its body"
    );
    assert_eq!(watched(true, [[None, None, a], [None, None, b]]), untold);
    let facts = ClientFacts {
        watched: true,
        ..ClientFacts::default()
    };
    assert_eq!(grouped(&facts, vec![attempt(None), attempt(None)]), [2]);
    assert_eq!(
        grouped(&facts, vec![attempt(Some([None, None, None]))]),
        [1]
    );
}

#[test]
fn operations_with_names_are_told_apart_whatever_their_order() {
    let facts = |marked: bool| ClientFacts {
        operations: 2,
        marked,
        ..ClientFacts::default()
    };
    let named = |name: &str| attempt(Some([None, Some(name), None]));
    let mixed = || {
        vec![
            named("a"),
            named("b"),
            attempt(None),
            named("a"),
            named("a"),
        ]
    };
    assert_eq!(
        grouped(&facts(true), mixed()),
        [4, 1],
        "what was not read is of the next"
    );
    let end = vec![named("a"), named("b"), attempt(None)];
    assert_eq!(grouped(&facts(true), end), [1, 2], "or of the last");
    let nameless = |name: Option<&str>| attempt(Some([None, name, None]));
    let two = vec![named("a"), nameless(None), named("a"), nameless(None)];
    assert_eq!(
        grouped(&facts(true), two),
        [2, 2],
        "by time, where one has no name"
    );
    let none: [usize; 0] = [];
    assert_eq!(grouped(&facts(false), mixed()), none);
    assert_eq!(grouped(&facts(true), vec![attempt(None)]), [1]);
    assert_eq!(grouped(&facts(true), Vec::new()), none);
}

#[test]
fn an_operation_ends_with_a_success_that_was_let_through() {
    let facts = ClientFacts {
        operations: 2,
        ..ClientFacts::default()
    };
    let with = |fault: ClientFault, status: Option<u16>| Attempt {
        fault,
        status,
        ..attempt(Some([Some("k"), None, None]))
    };
    let passed = |status: u16| with(ClientFault::Pass, Some(status));
    assert_eq!(grouped(&facts, vec![passed(299), passed(201)]), [1, 1]);
    assert_eq!(
        grouped(&facts, vec![passed(300), passed(201), passed(201)]),
        [2, 1]
    );
    let kept_back = with(LOST, Some(201));
    assert_eq!(
        grouped(&facts, vec![kept_back, passed(201), passed(201)]),
        [2, 1]
    );
    let silent = with(ClientFault::Pass, None);
    assert_eq!(
        grouped(&facts, vec![silent, passed(201), passed(201)]),
        [2, 1]
    );
}

#[test]
fn how_attempts_are_told_apart_is_said() {
    let said = |operations: usize, [watched, marked, payloads_differ]: [bool; 3]| {
        told_by(&ClientFacts {
            operations,
            watched,
            marked,
            payloads_differ,
            ..ClientFacts::default()
        })
    };
    let (yes, no) = (true, false);
    let named = "the payload names its operation";
    assert_eq!(said(1, [yes, yes, yes]), named);
    assert!(said(1, [yes, no, yes]).contains("key or payload"));
    assert!(said(1, [yes, no, no]).ends_with("with the same key is the same operation"));
    assert_eq!(
        said(1, [no, yes, no]),
        "one run of the command is one operation"
    );
    assert_eq!(said(2, [no, yes, no]), named);
    assert_eq!(said(2, [no, no, yes]), "an operation ends with its success");
}

/// The finding on these rounds of the runs `own` and `one`.
fn found(
    expect: &str,
    contract: &Contract,
    facts: ClientFacts,
    rounds: Vec<ClientRound>,
) -> Finding {
    let scenario = scenario("{ drop: processed }", expect);
    let transcript = ClientTranscript { facts, rounds };
    judge("pay", &scenario, &scenario.cases[0], contract, &transcript).remove(0)
}

fn facts() -> ClientFacts {
    ClientFacts {
        has_lookup: true,
        ..super::facts()
    }
}

/// One round of both runs, each with these attempts.
fn both(number: u32, own: Vec<Attempt>, one: Vec<Attempt>, end: &RunEnd) -> ClientRound {
    let mut whole = round(number, "own", LOST, &[], 0);
    let mut other = whole.runs[0].clone();
    other.name = "one".to_owned();
    whole.runs[0].end = end.clone();
    whole.runs.push(other);
    let own = own.into_iter().map(|attempt| Attempt {
        run: "own".to_owned(),
        ..attempt
    });
    whole.attempts = own.chain(one).collect();
    whole
}

fn keyed(key: &str) -> Attempt {
    attempt(Some([Some(key), None, None]))
}

#[test]
fn a_key_survives_where_it_does_so_in_each_round() {
    let judged = |second: &str| {
        let rounds = vec![
            both(1, vec![keyed("a")], vec![keyed("a")], &RunEnd::Killed),
            both(2, vec![keyed("b")], vec![keyed(second)], &RunEnd::Killed),
        ];
        found(
            "key-survives: { of: one, from: own }",
            &generic(),
            facts(),
            rounds,
        )
        .verdict
    };
    assert_eq!(judged("b"), Verdict::Pass);
    assert_eq!(judged("a"), Verdict::Fail, "that of the other round");
}

#[test]
fn who_asked_in_one_round_has_not_asked_in_another() {
    let judged = |second: bool| {
        let asked = || Attempt {
            operation: None,
            looks_up: true,
            ..keyed("k")
        };
        let tried = |number: u32, asks: bool| {
            let one = std::iter::once(keyed("k")).chain(asks.then(asked));
            both(number, Vec::new(), one.collect(), &RunEnd::Exited(1))
        };
        let rounds = vec![tried(1, true), tried(2, second)];
        found("looks-up: { of: one }", &generic(), facts(), rounds).verdict
    };
    assert_eq!(judged(true), Verdict::Pass);
    assert_eq!(judged(false), Verdict::Fail);
}

#[test]
fn one_of_two_retries_with_the_refused_credentials_is_one_too_many() {
    let refused = |credentials: &str| {
        let mut attempt = keyed("k");
        attempt.fault = ClientFault::Answer {
            says: Says::Status(401),
            pause: None,
        };
        attempt.status = Some(401);
        let request = attempt.request.as_mut().expect("it was read");
        request.credentials = Some(credentials.to_owned());
        attempt
    };
    let judged = |all: &[&str]| {
        let mut whole = round(1, "one", LOST, &[], 0);
        whole.attempts = all.iter().map(|own| refused(own)).collect();
        let mut scenario = scenario("{ answer: 401 }", "not-retried: { of: one }");
        for run in &mut scenario.cases[0].runs {
            run.faults = vec![whole.attempts[0].fault];
        }
        first(&scenario, facts(), vec![whole]).verdict
    };
    assert_eq!(judged(&["old", "new"]), Verdict::Pass);
    assert_eq!(judged(&["old", "new", "old"]), Verdict::Fail);
}

#[test]
fn a_wait_that_a_contract_asks_for_has_its_strength() {
    let level = |lines: &str| {
        let fault = ClientFault::Answer {
            says: Says::Status(503),
            pause: Some(Pause {
                time: ms(2_000),
                form: PauseForm::Seconds,
            }),
        };
        let mut scenario = scenario(
            "{ answer: { status: 503, retry-after: 2s } }",
            "waits: { of: one, than: own }",
        );
        for run in &mut scenario.cases[0].runs {
            run.faults = vec![fault];
        }
        let mut whole = round(1, "one", fault, &[100], 0);
        whole.attempts[0].asked_back = Some(whole.attempts[0].ended + ms(2_000));
        let by_itself = round(1, "own", fault, &[100], 0);
        whole.runs.extend(by_itself.runs);
        whole.attempts.extend(by_itself.attempts);
        let transcript = ClientTranscript {
            facts: facts(),
            rounds: vec![whole],
        };
        let contract = contract(&format!("extends: generic\n{lines}"));
        let found = judge("pay", &scenario, &scenario.cases[0], &contract, &transcript).remove(0);
        assert_eq!(found.verdict, Verdict::Fail, "{}", found.reason);
        found.level
    };
    let asks = |names: &str| {
        level(&format!(
            "retry: {{ honours: [{names}], strength: should }}"
        ))
    };
    assert_eq!(asks("retry-after"), Level::Should);
    assert_eq!(asks("date, Retry-After"), Level::Should);
    assert_eq!(asks("date"), Level::Must, "the scenario's own");
    assert_eq!(level(""), Level::Must);
}

#[test]
fn a_run_that_shows_nothing_says_why() {
    let told = |change: &dyn Fn(&mut ClientRound), facts: ClientFacts| {
        let mut whole = round(1, "one", LOST, &[10, 10], 0);
        change(&mut whole);
        let finding = found(SAME_KEY, &generic(), facts, vec![whole]);
        let wants_more = wants_more_rounds(std::slice::from_ref(&finding));
        assert_eq!(wants_more, finding.verdict == Verdict::Inconclusive);
        (finding.verdict, finding.reason)
    };
    let (pass, none) = (Verdict::Pass, Verdict::Inconclusive);
    assert_eq!(told(&|_| {}, facts()).0, pass);
    let silent = |wrote: &'static str| {
        let change = move |round: &mut ClientRound| {
            round.attempts.clear();
            round.runs[0].wrote = wrote.to_owned();
        };
        told(&change, facts())
    };
    let (verdict, why) = silent("first\nno such host");
    assert_eq!(verdict, none);
    assert_eq!(
        why,
        "the command sent no request of pay; it wrote: no such host"
    );
    assert!(silent("").1.ends_with("; it wrote nothing"));
    let untold = ClientFacts {
        operations: 2,
        ..facts()
    };
    let keyless = |round: &mut ClientRound| {
        for request in round.attempts.iter_mut().flat_map(|own| &mut own.request) {
            request.key = None;
        }
    };
    let (verdict, why) = told(&keyless, untold);
    assert_eq!(verdict, none);
    assert!(why.contains("cannot be told"), "{why}");
    let passed = |round: &mut ClientRound| {
        for attempt in &mut round.attempts {
            attempt.fault = ClientFault::Pass;
        }
    };
    let (verdict, why) = told(&passed, facts());
    assert_eq!(verdict, none);
    assert!(why.contains("the fault did not fire"), "{why}");
    let trouble = |fault: ClientFault, status: Option<u16>| {
        let change = move |round: &mut ClientRound| {
            let broken = &mut round.attempts[1];
            (broken.fault, broken.status) = (fault, status);
            broken.trouble = Some("the target closed the connection".to_owned());
        };
        told(&change, facts())
    };
    let (verdict, why) = trouble(LOST, None);
    assert_eq!(verdict, none);
    assert_eq!(why, "the target closed the connection");
    assert_eq!(trouble(LOST, Some(201)).0, pass);
    assert_eq!(
        trouble(ClientFault::Slow, None).0,
        pass,
        "it was cut off on purpose"
    );
}

#[test]
fn refused_connections_are_judged_only_where_they_can_be_counted() {
    let told = |counts_refused: bool| {
        let mut whole = round(1, "one", LOST, &[10], 0);
        for attempt in &mut whole.attempts {
            attempt.fault = ClientFault::Refuse;
        }
        let mut scenario = scenario("{ drop: processed }", SAME_KEY);
        for run in &mut scenario.cases[0].runs {
            run.faults = vec![ClientFault::Refuse];
        }
        let facts = ClientFacts {
            counts_refused,
            ..facts()
        };
        let transcript = ClientTranscript {
            facts,
            rounds: vec![whole],
        };
        let found = judge(
            "pay",
            &scenario,
            &scenario.cases[0],
            &generic(),
            &transcript,
        )
        .remove(0);
        (found.verdict, found.reason.contains("CAP_NET_RAW"))
    };
    assert_eq!(told(false), (Verdict::Inconclusive, true));
    assert_eq!(told(true), (Verdict::Pass, false));
}
