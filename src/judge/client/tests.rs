//! Pauses and waits are judged by written attempts: what varies, what grows, what is too little.

mod attempts;
mod grouping;

use super::judge;
use crate::contract::{self, Contract};
use crate::judge::Finding;
use crate::scenario::client::{ClientFault, ClientScenario, DropAt, Pause, PauseForm, Says, parse};
use crate::transcript::client::{
    Attempt, AttemptRequest, ClientFacts, ClientRound, ClientTranscript, RunEnd, RunFacts,
};
use crate::verdict::Verdict;
use crate::yaml::Source;
use std::sync::Arc;
use std::time::Duration;

fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

fn scenario(faults: &str, expect: &str) -> ClientScenario {
    let text = format!(
        "title: T\nside: client\nsteps:\n  - run: {{ as: own, faults: [ {faults} ], then: repeat }}\n  - run: {{ as: one, faults: [ {faults} ], then: repeat }}\nexpect:\n  item-7:\n    - {expect}\n"
    );
    let source = Source {
        name: "t.yaml".to_owned(),
        text,
    };
    parse("client/t", Arc::new(source)).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn generic() -> Contract {
    contract::resolve(None).expect("generic")
}

/// One run whose attempts have these pauses between them; each takes 1 ms.
fn round(number: u32, run: &str, fault: ClientFault, pauses: &[u64], late: u64) -> ClientRound {
    let mut began = ms(100);
    let mut attempts = Vec::new();
    for pause in pauses.iter().map(Some).chain([None]) {
        attempts.push(Attempt {
            run: run.to_owned(),
            operation: Some("pay".to_owned()),
            looks_up: false,
            connection: 1,
            reused: false,
            protocol: "HTTP/1.1".to_owned(),
            began,
            ended: began + ms(1),
            fault,
            request: Some(AttemptRequest {
                method: "POST".to_owned(),
                target: "/pay".to_owned(),
                headers: Vec::new(),
                key: Some("k".to_owned()),
                marker: None,
                body_bytes: 2,
                body_digest: "d".to_owned(),
                credentials: None,
                body: "{}".to_owned(),
            }),
            status: None,
            asked_back: None,
            trouble: None,
        });
        began += ms(1 + pause.copied().unwrap_or_default());
    }
    ClientRound {
        number,
        runs: vec![RunFacts {
            name: run.to_owned(),
            began: Duration::ZERO,
            ended: began,
            end: RunEnd::Exited(1),
            wrote: String::new(),
            lateness: ms(late),
        }],
        attempts,
    }
}

const LOST: ClientFault = ClientFault::Drop {
    at: DropAt::Processed,
    close: crate::scenario::Close::Fin,
};

fn facts() -> ClientFacts {
    ClientFacts {
        operations: 1,
        most_attempts: 40,
        ..ClientFacts::default()
    }
}

/// The first finding of a scenario's only case.
fn first(scenario: &ClientScenario, facts: ClientFacts, rounds: Vec<ClientRound>) -> Finding {
    let transcript = ClientTranscript { facts, rounds };
    judge("pay", scenario, &scenario.cases[0], &generic(), &transcript).remove(0)
}

/// The verdict on the runs `one` with these pauses, one round each.
fn verdict<P: AsRef<[u64]>>(expect: &str, rounds: &[P], late: u64) -> (Verdict, String) {
    let scenario = scenario("{ drop: processed }", expect);
    let rounds = rounds
        .iter()
        .zip(1..)
        .map(|(pauses, number)| round(number, "one", LOST, pauses.as_ref(), late));
    let finding = first(&scenario, facts(), rounds.collect());
    (finding.verdict, finding.reason)
}

const STEADY: [[u64; 2]; 12] = [[500, 1000]; 12];
const VARIED: [[u64; 2]; 7] = [
    [410, 700],
    [480, 990],
    [520, 810],
    [390, 770],
    [450, 940],
    [500, 720],
    [440, 830],
];

#[test]
fn pauses_that_vary_hold_and_steady_ones_fail_once_there_are_enough_of_them() {
    let varies = "varies: { of: one }";
    assert_eq!(verdict(varies, &STEADY, 0).0, Verdict::Fail);
    assert_eq!(verdict(varies, &VARIED, 0).0, Verdict::Pass);
    assert_eq!(verdict(varies, &VARIED[..5], 0).0, Verdict::Inconclusive);
    assert_eq!(verdict(varies, &STEADY[..8], 0).0, Verdict::Inconclusive);
    assert_eq!(verdict(varies, &[[0_u64; 0]; 6], 0).0, Verdict::Skip);
}

#[test]
fn a_late_machine_makes_no_pause_vary_and_no_steady_pause_pass() {
    let varies = "varies: { of: one }";
    let (verdict_late, reason) = verdict(varies, &VARIED, 60);
    assert_eq!(verdict_late, Verdict::Inconclusive, "{reason}");
    assert_eq!(
        verdict(varies, &STEADY, 60).0,
        Verdict::Fail,
        "lateness never makes steady"
    );
}

#[test]
fn steady_pauses_are_seen_through_a_restless_machine_once_there_are_many() {
    // Every second pause is late by up to 60 ms.
    let late = |round: u64, pause: u64| match round % 2 {
        0 => pause + round % 3,
        _ => pause + 20 + (round * 37) % 40,
    };
    let rounds: Vec<[u64; 2]> = (0..18)
        .map(|round| [late(round, 500), late(round + 1, 1000)])
        .collect();
    let varies = "varies: { of: one }";
    assert_eq!(verdict(varies, &rounds[..12], 40).0, Verdict::Inconclusive);
    assert_eq!(verdict(varies, &rounds, 40).0, Verdict::Fail);
    let alike: Vec<[u64; 2]> = (0..18)
        .map(|round| [late(round, 500), late(round + 1, 500)])
        .collect();
    let grows = "grows: { of: one }";
    assert_eq!(verdict(grows, &alike, 300).0, Verdict::Fail);
    // Pauses that vary by 60 ms on the same machine stay open.
    let rounds: Vec<[u64; 2]> = (0..18)
        .map(|round| {
            [
                late(round, 500 + (round * 17) % 60),
                1000 + (round * 23) % 60,
            ]
        })
        .collect();
    assert_eq!(verdict(varies, &rounds, 40).0, Verdict::Inconclusive);
}

#[test]
fn a_busy_machine_makes_no_fixed_pause_vary_grow_or_be() {
    // A script that sleeps for a second, as it was seen with ten processes for each processor.
    let seen = [
        [1034_u64, 1003, 1008],
        [1016, 1035, 1551],
        [1011, 1017, 1019],
        [1023, 1044, 1043],
        [1039, 1009, 1014],
        [1082, 1071, 1103],
        [1034, 1012, 1054],
        [1014, 1153, 1019],
        [1161, 1037, 1170],
        [1027, 1034, 1020],
        [1181, 1050, 1568],
        [1043, 1016, 1057],
    ];
    let varies = verdict("varies: { of: one }", &seen, 16);
    assert_eq!(varies.0, Verdict::Inconclusive, "{}", varies.1);
    let few = [
        [8, 7, 7],
        [13, 9, 17],
        [14, 10, 17],
        [18, 13, 24],
        [33, 22, 54],
        [50, 40, 110],
    ];
    let few = few.map(|row: [u64; 3]| row.map(|late| 100 + late));
    let varies = verdict("varies: { of: one }", &few, 3);
    assert_eq!(varies.0, Verdict::Inconclusive, "{}", varies.1);
    let grows = verdict("grows: { of: one }", &seen, 16);
    assert_ne!(grows.0, Verdict::Pass, "{}", grows.1);
    let none: Vec<[u64; 3]> = seen
        .iter()
        .map(|row| row.map(|pause| pause - 1001))
        .collect();
    let pauses = verdict("pauses: { of: one }", &none, 16);
    assert_eq!(pauses.0, Verdict::Inconclusive, "{}", pauses.1);
}

#[test]
fn a_pause_beyond_the_cap_fails() {
    let capped = "capped: { of: one, at-most: 1s }";
    assert_eq!(verdict(capped, &[[500_u64, 900]; 2], 0).0, Verdict::Pass);
    assert_eq!(verdict(capped, &[[500_u64, 1500]; 2], 0).0, Verdict::Fail);
    assert_eq!(verdict(capped, &[[500_u64, 1000]; 2], 0).0, Verdict::Pass);
    assert_eq!(verdict(capped, &[[0_u64; 0]; 2], 0).0, Verdict::Skip);
}

#[test]
fn pauses_grow_or_vary() {
    let grows = "grows: { of: one }";
    assert_eq!(verdict(grows, &STEADY, 0).0, Verdict::Pass);
    assert_eq!(verdict(grows, &[[500_u64, 505]; 12], 0).0, Verdict::Fail);
    assert_eq!(verdict(grows, &[[500_u64]; 12], 0).0, Verdict::Skip);
    assert_eq!(
        verdict(grows, &[[500_u64, 505]; 12], 200).0,
        Verdict::Inconclusive
    );
}

#[test]
fn no_pause_at_all_fails_and_a_missing_first_one_does_not() {
    let pauses = "pauses: { of: one }";
    assert_eq!(verdict(pauses, &[[2_u64, 3]; 6], 0).0, Verdict::Fail);
    assert_eq!(verdict(pauses, &[[2_u64, 900]; 6], 0).0, Verdict::Pass);
}

#[test]
fn an_attempt_that_was_seen_late_makes_no_fixed_pause_vary() {
    // The second of four attempts is seen up to 40 ms late, in two of six runs.
    let late = |late: u64| [100 + late, 100 - late, 101];
    let seen = [late(0), late(30), late(0), late(40), late(1), late(0)];
    let (verdict, reason) = verdict("varies: { of: one }", &seen, 0);
    assert_eq!(verdict, Verdict::Inconclusive, "{reason}");
}

#[test]
fn pauses_that_vary_from_nothing_on_are_not_taken_for_none() {
    let pauses = "pauses: { of: one }";
    let short = [[3_u64, 9], [18, 44], [9, 19], [31, 2], [15, 16], [19, 70]];
    let (judged, reason) = verdict(pauses, &short, 0);
    assert_eq!(judged, Verdict::Inconclusive, "{reason}");
    // A busy machine holds some of those up that do not pause at all.
    let none = [[3_u64, 9], [8, 44], [4, 3], [31, 2], [5, 3], [4, 5]];
    let (judged, reason) = verdict(pauses, &none, 0);
    assert_eq!(judged, Verdict::Fail, "{reason}");
}

#[test]
fn attempts_have_a_bound_and_layers_are_named() {
    let attempts = "attempts: { of: one, at-most: 6 }";
    let (verdict_of_nine, reason) = verdict(attempts, &[[5_u64, 5, 300, 5, 5, 300, 5, 5]], 0);
    assert_eq!(verdict_of_nine, Verdict::Fail);
    assert!(reason.contains("3 times 3"), "{reason}");
    assert_eq!(verdict(attempts, &[[5_u64, 5]], 0).0, Verdict::Pass);
    assert_eq!(verdict(attempts, &[[0_u64; 0]], 0).0, Verdict::Skip);
}

/// The verdict on a client that by itself waits `own` and, asked for 2 s, waits `waited`.
fn waits(own: u64, waited: u64, form: PauseForm) -> Verdict {
    let fault = ClientFault::Answer {
        says: Says::Status(503),
        pause: Some(Pause {
            time: ms(2000),
            form,
        }),
    };
    let expect = "waits: { of: one, than: own }";
    let mut scenario = scenario("{ answer: { status: 503, retry-after: 2s } }", expect);
    for run in &mut scenario.cases[0].runs {
        run.faults = vec![fault];
    }
    let mut whole = round(1, "one", fault, &[waited], 0);
    let end = whole.attempts[0].ended;
    whole.attempts[0].asked_back = Some(end + ms(2000));
    let by_itself = round(1, "own", fault, &[own], 0);
    whole.runs.extend(by_itself.runs);
    whole.attempts.extend(by_itself.attempts);
    first(&scenario, facts(), vec![whole]).verdict
}

#[test]
fn retry_after_is_shown_only_where_it_asks_for_more() {
    assert_eq!(waits(500, 2010, PauseForm::Seconds), Verdict::Pass);
    assert_eq!(
        waits(500, 1990, PauseForm::Seconds),
        Verdict::Pass,
        "tolerance"
    );
    assert_eq!(waits(500, 1900, PauseForm::Seconds), Verdict::Fail);
    assert_eq!(
        waits(500, 1100, PauseForm::Date),
        Verdict::Pass,
        "whole seconds"
    );
    assert_eq!(waits(500, 900, PauseForm::Date), Verdict::Fail);
    assert_eq!(waits(2500, 2500, PauseForm::Seconds), Verdict::Inconclusive);
}

#[test]
fn an_operation_that_met_no_fault_does_not_stand_for_one_that_did() {
    let text = "title: T\nside: client\nsteps:\n  - run: { as: one, faults: [ pass, { drop: processed } ] }\nexpect:\n  item-1:\n    - not-blind: { of: one }\n";
    let source = Source {
        name: "t.yaml".to_owned(),
        text: text.to_owned(),
    };
    let scenario = parse("client/t", Arc::new(source)).expect("it is a scenario");
    let verdict = |warm: bool, again: bool| {
        let mut round = round(1, "one", LOST, &[10, 10], 0);
        for attempt in &mut round.attempts {
            if let Some(request) = &mut attempt.request {
                request.key = None;
            }
        }
        for place in [0, 2] {
            round.attempts[place].fault = ClientFault::Pass;
            round.attempts[place].status = Some(201);
        }
        round.attempts[1].reused = warm;
        if !again {
            round.attempts.truncate(2);
        }
        let transcript = ClientTranscript {
            facts: ClientFacts {
                operations: 2,
                most_attempts: 40,
                ..ClientFacts::default()
            },
            rounds: vec![round],
        };
        judge(
            "pay",
            &scenario,
            &scenario.cases[0],
            &generic(),
            &transcript,
        )[0]
        .verdict
    };
    assert_eq!(verdict(true, true), Verdict::Fail);
    assert_eq!(
        verdict(false, true),
        Verdict::Fail,
        "it is as blind on a new connection"
    );
    assert_eq!(verdict(true, false), Verdict::Pass);
    assert_eq!(verdict(false, false), Verdict::Skip);
}

#[test]
fn what_a_run_that_did_not_end_sent_is_not_all_that_it_would_send() {
    let judged = |expect: &str, pauses: &[u64], ends: [RunEnd; 2]| {
        let scenario = scenario("{ drop: processed }", expect);
        let rounds = ends.into_iter().zip(1..).map(|(end, number)| {
            let mut round = round(number, "one", LOST, pauses, 0);
            round.runs[0].end = end;
            round
        });
        first(&scenario, facts(), rounds.collect()).verdict
    };
    let (done, open) = (|| RunEnd::Exited(1), || RunEnd::TimedOut);
    let capped = "capped: { of: one, at-most: 1s }";
    assert_eq!(judged(capped, &[500], [done(), done()]), Verdict::Pass);
    assert_eq!(
        judged(capped, &[500], [done(), open()]),
        Verdict::Inconclusive
    );
    assert_eq!(judged(capped, &[1_500], [done(), open()]), Verdict::Fail);
    let pauses = "pauses: { of: one }";
    assert_eq!(judged(pauses, &[], [done(), done()]), Verdict::Skip);
    assert_eq!(judged(pauses, &[], [done(), open()]), Verdict::Inconclusive);
}

#[test]
fn one_place_of_the_row_is_enough_for_a_pause_and_for_a_pause_that_varies() {
    let pauses = "pauses: { of: one }";
    assert_eq!(verdict(pauses, &[[900_u64, 2]; 6], 0).0, Verdict::Pass);
    assert_eq!(verdict(pauses, &[[21_u64, 2]; 6], 0).0, Verdict::Pass);
    assert_eq!(verdict(pauses, &[[20_u64, 2]; 6], 0).0, Verdict::Fail);
    assert_eq!(
        verdict(pauses, &[[19_u64]; 5], 0).0,
        Verdict::Inconclusive,
        "too few"
    );
    assert_eq!(verdict(pauses, &[[10_u64]; 5], 0).0, Verdict::Fail);
    assert_eq!(verdict(pauses, &[[19_u64]; 6], 0).0, Verdict::Fail);
    let varies = "varies: { of: one }";
    let second = VARIED.map(|[_, pause]| [2, pause]);
    assert_eq!(verdict(varies, &second, 0).0, Verdict::Pass);
    assert_eq!(
        verdict(varies, &[[2_u64, 20]; 12], 0).0,
        Verdict::Skip,
        "there are none"
    );
    assert_eq!(verdict(varies, &[[2_u64, 21]; 12], 0).0, Verdict::Fail);
    assert_eq!(
        verdict(varies, &[[2_u64, 500]; 9], 0).0,
        Verdict::Inconclusive
    );
    assert_eq!(verdict(varies, &[[2_u64, 500]; 10], 0).0, Verdict::Fail);
    let grows = "grows: { of: one }";
    assert_eq!(verdict(grows, &[[2_u64, 500]; 12], 0).0, Verdict::Pass);
    assert_eq!(
        verdict(grows, &[[2_u64, 20]; 12], 0).0,
        Verdict::Skip,
        "there are none"
    );
    assert_eq!(
        verdict(grows, &[[500_u64, 625]; 12], 0).0,
        Verdict::Fail,
        "by a quarter"
    );
    assert_eq!(verdict(grows, &[[500_u64, 626]; 12], 0).0, Verdict::Pass);
    assert_eq!(
        verdict(grows, &[[500_u64, 700]; 12], 100).0,
        Verdict::Inconclusive
    );
}
