//! Keys, bodies and what is sent again, by written attempts: kept, broken, and not shown.

use super::{LOST, facts, generic, round};
use crate::contract::Contract;
use crate::judge::client::judge;
use crate::judge::sample::contract;
use crate::promise::Level;
use crate::scenario::client::{ClientFault, ClientScenario, Says, parse};
use crate::transcript::client::{
    Attempt, AttemptRequest, ClientFacts, ClientRound, ClientTranscript, RunEnd,
};
use crate::verdict::Verdict;
use crate::yaml::Source;
use std::sync::Arc;

const fn answer(status: u16) -> ClientFault {
    ClientFault::Answer {
        says: Says::Status(status),
        pause: None,
    }
}

/// A request that met this fault, with this key.
fn attempt(fault: ClientFault, key: Option<&str>) -> Attempt {
    let mut attempt = round(1, "one", fault, &[], 0).attempts.remove(0);
    attempt.status = match fault {
        ClientFault::Pass => Some(201),
        ClientFault::Answer {
            says: Says::Status(status),
            ..
        } => Some(status),
        _ => None,
    };
    attempt.with(|request| request.key = key.map(str::to_owned))
}

impl Attempt {
    fn with(mut self, change: impl FnOnce(&mut AttemptRequest)) -> Attempt {
        change(self.request.as_mut().expect("it was read"));
        self
    }

    fn of_run(mut self, run: &str) -> Attempt {
        self.run = run.to_owned();
        self
    }
}

/// The command run twice, `one` and `two`, with one expectation.
fn expecting(expect: &str) -> ClientScenario {
    let text = format!(
        "title: T\nside: client\nsteps:\n  - run: {{ as: one, faults: [ {{ drop: processed }} ] }}\n  - run: {{ as: two, faults: [ {{ drop: processed }} ] }}\nexpect:\n  item-1:\n    - {expect}\n"
    );
    let source = Source {
        name: "t.yaml".to_owned(),
        text,
    };
    parse("client/t", Arc::new(source)).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// One round of these attempts; the runs ended like this.
fn ended(attempts: Vec<Attempt>, end: &RunEnd) -> ClientRound {
    let mut whole = round(1, "one", LOST, &[], 0);
    whole.runs[0].end = end.clone();
    let mut other = whole.runs[0].clone();
    other.name = "two".to_owned();
    whole.runs.push(other);
    whole.attempts = attempts;
    whole
}

struct Told {
    verdict: Verdict,
    level: Level,
    reason: String,
    evidence: usize,
}

fn told_of(expect: &str, contract: &Contract, facts: ClientFacts, round: ClientRound) -> Told {
    let mut scenario = expecting(expect);
    // Whatever befell the attempts is what the scenario asked for.
    for run in &mut scenario.cases[0].runs {
        let met = round
            .attempts
            .iter()
            .find(|attempt| attempt.run == run.name);
        run.faults = met.map(|attempt| attempt.fault).into_iter().collect();
    }
    let transcript = ClientTranscript {
        facts,
        rounds: vec![round],
    };
    let found = judge("pay", &scenario, &scenario.cases[0], contract, &transcript).remove(0);
    Told {
        verdict: found.verdict,
        level: found.level,
        reason: found.reason,
        evidence: found.evidence.len(),
    }
}

fn told(expect: &str, contract: &Contract, attempts: Vec<Attempt>) -> Told {
    let round = ended(attempts, &RunEnd::Exited(1));
    told_of(expect, contract, facts(), round)
}

fn verdict(expect: &str, attempts: Vec<Attempt>) -> Verdict {
    told(expect, &generic(), attempts).verdict
}

fn lost(key: Option<&str>) -> Attempt {
    attempt(LOST, key)
}

fn passed(key: Option<&str>) -> Attempt {
    attempt(ClientFault::Pass, key)
}

#[test]
fn the_first_attempt_bears_a_key_where_one_is_asked_for() {
    let sent = "key-sent: { of: one }";
    let k = Some("k");
    assert_eq!(verdict(sent, vec![lost(k), passed(k)]), Verdict::Pass);
    assert_eq!(verdict(sent, vec![lost(None), passed(k)]), Verdict::Fail);
    assert_eq!(verdict(sent, vec![lost(None), passed(None)]), Verdict::Skip);
    let asked = contract("extends: generic\nkey: { required: { is: required, strength: must } }");
    let none = told(sent, &asked, vec![lost(None), passed(None)]);
    assert_eq!(none.verdict, Verdict::Fail, "{}", none.reason);
    let one = told(sent, &asked, vec![lost(k), passed(k)]);
    assert_eq!(one.verdict, Verdict::Pass);
}

#[test]
fn all_attempts_of_an_operation_bear_one_key() {
    let same = "same-key: { of: one }";
    let (a, b) = (Some("a"), Some("b"));
    assert_eq!(verdict(same, vec![lost(a), passed(a)]), Verdict::Pass);
    let other = told(same, &generic(), vec![lost(a), lost(a), passed(b)]);
    assert_eq!(other.verdict, Verdict::Fail);
    assert!(other.reason.starts_with("attempt 3 "), "{}", other.reason);
    assert_eq!(verdict(same, vec![lost(None), passed(b)]), Verdict::Fail);
    assert_eq!(verdict(same, vec![lost(None), passed(None)]), Verdict::Skip);
    assert_eq!(verdict(same, vec![lost(a)]), Verdict::Skip, "never again");
}

#[test]
fn what_is_sent_again_has_the_same_body() {
    let same = "same-body: { of: one }";
    let again = |digest: &str| {
        let digest = digest.to_owned();
        passed(Some("k")).with(|request| request.body_digest = digest)
    };
    let first = || lost(Some("k"));
    assert_eq!(verdict(same, vec![first(), again("d")]), Verdict::Pass);
    assert_eq!(verdict(same, vec![first(), again("e")]), Verdict::Fail);
    assert_eq!(verdict(same, vec![first()]), Verdict::Skip);
}

#[test]
fn two_operations_bear_two_keys() {
    let new = "new-key: { of: [one, two] }";
    let pair = |a: Option<&str>, b: Option<&str>| vec![passed(a), passed(b).of_run("two")];
    assert_eq!(verdict(new, pair(Some("a"), Some("b"))), Verdict::Pass);
    let shared = told(new, &generic(), pair(Some("a"), Some("a")));
    assert_eq!(shared.verdict, Verdict::Fail);
    assert_eq!(shared.evidence, 2, "both are shown");
    assert_eq!(verdict(new, pair(None, None)), Verdict::Skip);
    let one = verdict(new, pair(Some("a"), None));
    assert_eq!(one, Verdict::Inconclusive);
    let named = |first: &str, second: &str| {
        let mut both = pair(Some("a"), Some("a"));
        for (attempt, name) in both.iter_mut().zip([first, second]) {
            let request = attempt.request.as_mut().expect("it was read");
            request.marker = Some(name.to_owned());
        }
        verdict(new, both)
    };
    assert_eq!(named("order", "order"), Verdict::Inconclusive, "one order");
    assert_eq!(named("order-1", "order-2"), Verdict::Fail);
}

#[test]
fn a_key_that_came_again_of_itself_may_be_one_operation() {
    let new = "new-key: { of: [one, two] }";
    let of_both = |end: &RunEnd, marker: Option<&str>| {
        let mut both = vec![passed(Some("a")), passed(Some("a")).of_run("two")];
        for (number, attempt) in both.iter_mut().enumerate() {
            let request = attempt.request.as_mut().expect("it was read");
            request.marker = marker.map(|marker| format!("{marker}-{number}"));
        }
        told_of(new, &generic(), facts(), ended(both, end)).verdict
    };
    assert_eq!(of_both(&RunEnd::Quiet, None), Verdict::Inconclusive);
    assert_eq!(of_both(&RunEnd::Quiet, Some("order")), Verdict::Fail);
    assert_eq!(of_both(&RunEnd::Exited(0), None), Verdict::Fail);
}

/// The verdict on two operations with these keys.
fn form(contract: &Contract, one: &str, two: &str) -> Told {
    let both = vec![passed(Some(one)), passed(Some(two)).of_run("two")];
    told("key-form: { of: [one, two] }", contract, both)
}

#[test]
fn a_key_cannot_be_guessed_from_another_one() {
    let judged = |one: &str, two: &str| {
        let told = form(&generic(), one, two);
        (told.verdict, told.level)
    };
    let uuids = [
        "5fb57aa0-6f4c-4c0e-9d5e-6a8f3f0f1c11",
        "0c9b7c1e-2f37-4f0b-8a56-91d2b1f0e7aa",
    ];
    assert_eq!(judged(uuids[0], uuids[1]).0, Verdict::Pass);
    let counted = (Verdict::Fail, Level::Should);
    assert_eq!(judged("order-000000000041", "order-000000000042"), counted);
    assert_eq!(judged("41", "42"), counted, "short");
    // Eleven hexadecimal digits that differ are 44 bits, ten are 40, and nine 36.
    let base = "00000000000000000000";
    let differing = |digits: usize| format!("{}{}", "f".repeat(digits), &base[digits..]);
    assert_eq!(judged(base, &differing(10)).0, Verdict::Pass);
    assert_eq!(judged(base, &differing(9)), counted);
    // Twelve digits are just under 40 bits, and 13 just above; of letters eight are enough.
    assert_eq!(judged("000000000000", "111111111111"), counted);
    assert_eq!(judged("0000000000000", "1111111111111").0, Verdict::Pass);
    assert_eq!(judged("zzzzzzzz", "yyyyyyyy").0, Verdict::Pass);
    assert_eq!(judged("zzzzzzz", "yyyyyyy"), counted);
    // What one of them has more counts too, and equal keys tell nothing of the next one.
    assert_eq!(
        judged("zzzz", "zzzzzzzzzzzz"),
        counted,
        "the first is short"
    );
    assert_eq!(judged(uuids[0], uuids[0]).0, Verdict::Pass);
}

#[test]
fn a_key_names_nobody_and_is_what_the_contract_asks_for() {
    let random = "0c9b7c1e-2f37-4f0b-8a56-91d2b1f0e7aa";
    let judged = |contract: &Contract, key: &str| form(contract, key, random).verdict;
    let generic = generic();
    assert_eq!(
        judged(&generic, "ada@example.com-5fb57aa06f4c"),
        Verdict::Fail
    );
    assert_eq!(judged(&generic, "DE89370400440532013000"), Verdict::Fail);
    let uuids = contract("extends: generic\nkey: { kind: uuid }");
    assert_eq!(judged(&uuids, random), Verdict::Pass);
    assert_eq!(judged(&uuids, "a-long-key-that-is-no-uuid"), Verdict::Fail);
    let none = told(
        "key-form: { of: [one, two] }",
        &generic,
        vec![passed(None), passed(None).of_run("two")],
    );
    assert_eq!(none.verdict, Verdict::Skip);
    let quoted = contract("extends: ietf-draft-07");
    let both = |one: &str, two: &str| form(&quoted, one, two).verdict;
    let quotes = |key: &str| format!("\"{key}\"");
    let other = "5fb57aa0-6f4c-4c0e-9d5e-6a8f3f0f1c11";
    assert_eq!(both(&quotes(random), &quotes(other)), Verdict::Pass);
    assert_eq!(both(random, &quotes(other)), Verdict::Fail);
}

#[test]
fn without_a_key_nothing_is_sent_again_that_may_be_done() {
    let blind = "not-blind: { of: one }";
    let twice = |fault: ClientFault| verdict(blind, vec![attempt(fault, None), passed(None)]);
    assert_eq!(twice(LOST), Verdict::Fail);
    assert_eq!(twice(answer(500)), Verdict::Fail);
    assert_eq!(twice(answer(429)), Verdict::Pass, "it turned work away");
    let k = Some("k");
    assert_eq!(verdict(blind, vec![lost(k), passed(k)]), Verdict::Pass);
    assert_eq!(verdict(blind, vec![lost(k), passed(None)]), Verdict::Pass);
    assert_eq!(verdict(blind, vec![lost(None)]), Verdict::Pass);
    let put = |attempt: Attempt| attempt.with(|request| request.method = "PUT".to_owned());
    let puts = vec![put(lost(None)), put(passed(None))];
    assert_eq!(verdict(blind, puts), Verdict::Skip);
    let mut unread = lost(None);
    unread.request = None;
    unread.operation = None;
    assert_eq!(verdict(blind, vec![unread]), Verdict::Inconclusive);
}

const RULES: &str =
    "extends: generic\nretry: { statuses: [409, 5xx], never: [400], strength: should }";

#[test]
fn what_the_contract_asks_for_is_sent_again() {
    let retried = "retried: { of: one }";
    let rules = contract(RULES);
    let first = |status: u16| attempt(answer(status), Some("k"));
    let judged = |contract: &Contract, attempts: Vec<Attempt>| {
        let told = told(retried, contract, attempts);
        (told.verdict, told.level)
    };
    let again = vec![first(409), passed(Some("k"))];
    assert_eq!(judged(&rules, again).0, Verdict::Pass);
    let given_up = (Verdict::Fail, Level::Should);
    assert_eq!(judged(&rules, vec![first(409)]), given_up);
    assert_eq!(judged(&rules, vec![first(502)]), given_up, "a whole class");
    assert_eq!(judged(&rules, vec![first(400)]).0, Verdict::Skip);
    assert_eq!(judged(&generic(), vec![first(409)]).0, Verdict::Skip);
    let unfinished = ended(vec![first(409)], &RunEnd::TimedOut);
    let told = told_of(retried, &rules, facts(), unfinished);
    assert_eq!(told.verdict, Verdict::Inconclusive);
}

#[test]
fn what_was_refused_for_good_is_left_alone() {
    let left = "not-retried: { of: one }";
    let rules = contract(RULES);
    let first = |status: u16| attempt(answer(status), Some("k"));
    let again = || passed(Some("k"));
    let judged = |contract: &Contract, attempts: Vec<Attempt>| {
        let told = told(left, contract, attempts);
        (told.verdict, told.level)
    };
    assert_eq!(judged(&rules, vec![first(400)]).0, Verdict::Pass);
    let broken = |level: Level| (Verdict::Fail, level);
    let declared = vec![first(400), again()];
    assert_eq!(judged(&rules, declared), broken(Level::Should));
    let silent = judged(&rules, vec![first(422), again()]);
    assert_eq!(silent, broken(Level::Must), "the scenario's own level");
    let asked_for = vec![first(409), again()];
    assert_eq!(judged(&rules, asked_for).0, Verdict::Skip);
    let other = || again().with(|request| request.credentials = Some("other".to_owned()));
    let renewed = vec![first(401), other()];
    assert_eq!(judged(&rules, renewed).0, Verdict::Pass, "a new token");
    assert_eq!(judged(&rules, vec![first(401), again()]).0, Verdict::Fail);
    assert_eq!(judged(&rules, vec![first(400), other()]).0, Verdict::Fail);
    for (end, wanted) in [
        (RunEnd::TimedOut, Verdict::Inconclusive),
        (RunEnd::Watched, Verdict::Inconclusive),
        (RunEnd::Quiet, Verdict::Pass),
    ] {
        let told = told_of(left, &rules, facts(), ended(vec![first(400)], &end));
        assert_eq!(told.verdict, wanted, "{end:?}");
    }
}

#[test]
fn whoever_gives_up_asks_what_became_of_it() {
    let asks = "looks-up: { of: one }";
    let known = ClientFacts {
        has_lookup: true,
        ..facts()
    };
    let looked_up = || {
        let mut attempt = passed(None);
        attempt.operation = None;
        attempt.looks_up = true;
        attempt
    };
    let judged = |facts: &ClientFacts, attempts: Vec<Attempt>, end: &RunEnd| {
        told_of(asks, &generic(), facts.clone(), ended(attempts, end)).verdict
    };
    let given_up = RunEnd::Exited(1);
    let k = Some("k");
    assert_eq!(judged(&known, vec![lost(k)], &given_up), Verdict::Fail);
    let asked = vec![lost(k), looked_up()];
    assert_eq!(judged(&known, asked, &given_up), Verdict::Pass);
    let before = vec![looked_up(), lost(k)];
    assert_eq!(
        judged(&known, before, &given_up),
        Verdict::Fail,
        "too early"
    );
    assert_eq!(judged(&facts(), vec![lost(k)], &given_up), Verdict::Skip);
    let ended = judged(&known, vec![lost(k)], &RunEnd::TimedOut);
    assert_eq!(ended, Verdict::Inconclusive);
    let watched = ClientFacts {
        watched: true,
        ..known.clone()
    };
    let quiet = judged(&watched, vec![lost(k)], &RunEnd::Quiet);
    assert_eq!(quiet, Verdict::Inconclusive);
}

#[test]
fn attempts_that_find_no_end_are_too_many() {
    let attempts = "attempts: { of: one, at-most: 3 }";
    let judged = |number: usize, end: &RunEnd| {
        let all = (0..number).map(|_| lost(Some("k"))).collect();
        told_of(attempts, &generic(), facts(), ended(all, end)).verdict
    };
    let given_up = RunEnd::Exited(1);
    assert_eq!(judged(3, &given_up), Verdict::Pass);
    assert_eq!(judged(4, &given_up), Verdict::Fail);
    assert_eq!(judged(3, &RunEnd::Endless), Verdict::Fail);
    assert_eq!(judged(3, &RunEnd::TimedOut), Verdict::Inconclusive);
    assert_eq!(judged(1, &RunEnd::TimedOut), Verdict::Inconclusive);
}

#[test]
fn a_key_that_a_killed_run_sent_is_used_again() {
    let survives = "key-survives: { of: two, from: one }";
    let judged = |first: &RunEnd, old: Option<&str>, new: Option<&str>| {
        let mut round = ended(vec![lost(old), passed(new).of_run("two")], first);
        round.runs[1].end = RunEnd::Exited(0);
        told_of(survives, &generic(), facts(), round).verdict
    };
    let (a, b) = (Some("a"), Some("b"));
    assert_eq!(judged(&RunEnd::Killed, a, a), Verdict::Pass);
    assert_eq!(judged(&RunEnd::Killed, a, b), Verdict::Fail);
    assert_eq!(judged(&RunEnd::Killed, a, None), Verdict::Fail);
    assert_eq!(judged(&RunEnd::Killed, None, b), Verdict::Skip);
    assert_eq!(judged(&RunEnd::Exited(1), a, a), Verdict::Inconclusive);
}

#[test]
fn an_operation_that_fails_outweighs_one_that_holds() {
    let same = "same-key: { of: [one, two] }";
    let both = |second: &str| {
        let two = |attempt: Attempt| attempt.of_run("two");
        vec![
            lost(Some("a")),
            passed(Some("a")),
            two(lost(Some("b"))),
            two(passed(Some(second))),
        ]
    };
    assert_eq!(verdict(same, both("b")), Verdict::Pass);
    let one = told(same, &generic(), both("c"));
    assert_eq!((one.verdict, one.evidence), (Verdict::Fail, 2));
    let mut each = both("c");
    each[1] = passed(Some("d"));
    let two = told(same, &generic(), each);
    assert_eq!((two.verdict, two.evidence), (Verdict::Fail, 4));
    let mut few = both("b");
    few.truncate(3);
    assert_eq!(verdict(same, few), Verdict::Pass, "one held");
}

#[test]
fn a_pause_may_be_as_long_as_the_target_file_says() {
    let capped = "capped: { of: one, at-most: 1s }";
    let judged = |longest: Option<u64>, pause: u64, end: &RunEnd| {
        let mut whole = round(1, "one", LOST, &[pause], 0);
        whole.runs[0].end = end.clone();
        let facts = ClientFacts {
            longest_pause: longest.map(super::ms),
            ..facts()
        };
        told_of(capped, &generic(), facts, whole).verdict
    };
    let given_up = RunEnd::Exited(1);
    assert_eq!(judged(None, 1000, &given_up), Verdict::Pass);
    assert_eq!(judged(None, 1001, &given_up), Verdict::Fail);
    assert_eq!(judged(Some(500), 501, &given_up), Verdict::Fail);
    assert_eq!(judged(Some(2000), 1900, &given_up), Verdict::Pass);
    assert_eq!(judged(None, 900, &RunEnd::TimedOut), Verdict::Inconclusive);
}

#[test]
fn what_did_not_happen_shows_nothing() {
    let same = "same-key: { of: one }";
    let none = told(same, &generic(), Vec::new());
    assert_eq!(none.verdict, Verdict::Inconclusive, "{}", none.reason);
    let elsewhere = |change: fn(&mut Attempt)| {
        let mut attempts = vec![lost(Some("a")), passed(Some("a"))];
        attempts.iter_mut().for_each(change);
        verdict(same, attempts)
    };
    assert_eq!(elsewhere(|_| {}), Verdict::Pass);
    let other = elsewhere(|attempt| attempt.operation = Some("refund".to_owned()));
    assert_eq!(other, Verdict::Inconclusive, "nothing of this operation");
    let gone = elsewhere(|attempt| {
        attempt.trouble = Some("the API cannot be reached".to_owned());
        attempt.status = None;
    });
    assert_eq!(gone, Verdict::Inconclusive);
    let mut unstarted = ended(vec![lost(Some("a")), passed(Some("a"))], &RunEnd::Killed);
    unstarted.runs[0].end = RunEnd::NotStarted("no such file".to_owned());
    let told = told_of(same, &generic(), facts(), unstarted);
    assert_eq!(told.verdict, Verdict::Inconclusive, "{}", told.reason);
}
