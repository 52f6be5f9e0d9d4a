//! Tests of what is said of whatever stands in front of the API.

use super::{Seen, in_front};
use crate::judge::reclassified;
use crate::judge::sample::{answered, contract, paid, probe, reading, round, scenario, transcript};
use crate::scenario::{LookupBy, OperationRole, PrincipalRole};
use crate::transcript::{Delivery, Exchange, ProbeFacts, Reading, ReadingKind, Round, Shown};

const REPEATS: &str = "steps:\n  - send: { as: first, key: fresh }\n  - send: { as: again, like: first, times: 3 }\nexpect:\n  item-5:\n    - effects: { at-most: 1 }\n";
const LEDGER: &str = "steps:\n  - recheck: { as: ledger, keys: all, at-most: 9 }\nexpect:\n  item-5:\n    - one-resource: { of: ledger }\n";
const CROWD: &str = "steps:\n  - send: { as: first, key: fresh }\n  - burst: { as: crowd, like: first, copies: 2 }\nexpect:\n  item-5:\n    - effects: { at-most: 1 }\n";
const BURST: &str = "steps:\n  - burst: { as: burst, key: fresh, copies: 4 }\nexpect:\n  item-5:\n    - effects: { at-most: 1 }\n";

fn told(steps: &str, rounds: Vec<Round>) -> Vec<String> {
    let scenario = scenario(steps);
    let contract = contract("");
    let case = &scenario.cases[0];
    let mut whole = transcript(rounds);
    whole.probes = vec![probe("payments")];
    let whole = reclassified(case, &contract, whole);
    in_front(&[Seen {
        operation: "pay",
        case,
        contract: &contract,
        transcript: &whole,
    }])
}

fn marked(exchange: Exchange) -> Exchange {
    exchange.header("Idempotency-Replayed", "true")
}

#[test]
fn a_first_answer_that_is_marked_as_a_replay_was_not_the_first_to_arrive() {
    let plain = |first: Exchange| round([first, marked(paid("again", "pay_1"))]).late(&["pay_1"]);
    let own = || plain(paid("first", "pay_1"));
    let resent = || plain(marked(paid("first", "pay_1")));
    let says = told(REPEATS, vec![own(), resent(), own()]);
    assert!(
        says[0].starts_with(
            "pay: 1 of 3 first answers to a fresh key bear `idempotency-replayed: true`"
        ),
        "{says:?}"
    );
    assert!(told(REPEATS, vec![own(), own()]).is_empty());
    // A mark that is on every answer tells nothing.
    assert!(told(REPEATS, vec![resent(), resent()]).is_empty());
    let raced = round([
        marked(paid("burst", "pay_1").at(0, 50)),
        paid("burst", "pay_1").at(1, 20).copy(1),
    ]);
    assert!(
        told(BURST, vec![raced, own()]).is_empty(),
        "another copy came first"
    );
}

#[test]
fn keys_that_are_asked_again_at_the_end_are_not_fresh() {
    let again = || {
        round([
            marked(paid("ledger", "pay_1")),
            marked(paid("ledger", "pay_1").copy(1)),
        ])
        .late(&["pay_1", "pay_2", "pay_3"])
    };
    let plain = || {
        round([
            paid("ledger", "pay_1"),
            marked(paid("ledger", "pay_1").copy(1)),
        ])
    };
    // The same elsewhere is a first answer with a mark, and too many effects.
    let said = told(REPEATS, vec![again(), plain()]);
    assert!(
        said.iter().any(|line| line.contains("first answers")),
        "{said:?}"
    );
    assert!(
        said.iter().any(|line| line.contains("effects of")),
        "{said:?}"
    );
    assert_eq!(told(LEDGER, vec![again(), plain()]), Vec::<String>::new());
}

#[test]
fn repeats_in_a_row_that_are_treated_differently_met_several_memories() {
    let mixed = round([
        paid("first", "pay_1"),
        paid("again", "pay_1"),
        paid("again", "pay_2").copy(1),
        paid("again", "pay_1").copy(2),
    ]);
    let says = told(REPEATS, vec![mixed]);
    assert!(
        says[0].contains("of 3 repeats of one completed request, 2 were answered from memory and 1 carried out again, with up to two resources"),
        "{says:?}"
    );
    let never = round([
        paid("first", "pay_1"),
        paid("again", "pay_2"),
        paid("again", "pay_3").copy(1),
    ]);
    assert!(told(REPEATS, vec![never]).is_empty(), "no memory at all");
}

#[test]
fn repeats_at_once_of_what_was_complete_met_several_memories_too() {
    let crowd = |from: u64| {
        round([
            paid("first", "pay_1").at(0, 50),
            paid("crowd", "pay_1").at(from, from + 10),
            paid("crowd", "pay_2").at(from, from + 60).copy(1),
        ])
        .burst("crowd", 2, 2)
    };
    let says = told(CROWD, vec![crowd(60)]);
    assert!(
        says[0].contains("of 2 repeats of one completed request, 1 were answered from memory and 1 carried out again"),
        "{says:?}"
    );
    let said = told(CROWD, vec![crowd(20)]);
    let disagree = |line: &String| line.contains("instances disagree");
    assert!(!said.iter().any(disagree), "it is a race: {said:?}");
}

#[test]
fn copies_that_were_turned_away_are_counted() {
    let turned = answered("burst", 503)
        .body("<html><center>nginx</center></html>")
        .at(0, 2);
    let burst = round([
        paid("burst", "pay_1").at(0, 50),
        turned.clone().copy(1),
        turned.copy(2),
    ])
    .burst("burst", 3, 3);
    let says = told(BURST, vec![burst]);
    assert!(
        says[0].contains(
            "(503 by nginx, not by the API): of one with 3 copies 2, so that 1 reached the API"
        ),
        "{says:?}"
    );
}

#[test]
fn a_count_that_goes_down_and_up_again_contradicts_itself() {
    let counted = |counts: &[usize]| {
        let ids = ["pay_1", "pay_2"];
        counts.iter().fold(
            round([paid("first", "pay_1"), paid("again", "pay_1")]),
            |round, count| round.read(reading(ReadingKind::Early, &ids[..*count])),
        )
    };
    let says = told(REPEATS, vec![counted(&[1, 0, 1])]);
    assert!(
        says[0].contains("contradicts itself: it was 1, 0, 1"),
        "{says:?}"
    );
    assert!(told(REPEATS, vec![counted(&[0, 1, 1])]).is_empty());
    assert!(
        told(REPEATS, vec![counted(&[1, 1, 0])]).is_empty(),
        "it was removed"
    );
}

#[test]
fn more_effects_than_requests_are_said_as_that() {
    let once = |ids: &[&str]| round([paid("first", "pay_1")]).read(reading(ReadingKind::Late, ids));
    let says = told(REPEATS, vec![once(&["pay_1", "pay_2"])]);
    assert!(
        says[0].contains("2 effects of payments, and no more than 1 request was sent: one request makes two effects"),
        "{says:?}"
    );
    assert!(told(REPEATS, vec![once(&["pay_1"])]).is_empty());
}

#[test]
fn a_request_that_was_sent_after_the_count_explains_none_of_it() {
    let counted_at = |time: u64| {
        let sent = [
            paid("first", "pay_1").at(0, 50),
            paid("again", "pay_1").at(600, 650),
        ];
        let both = reading(ReadingKind::Early, &["pay_1", "pay_2"]);
        told(REPEATS, vec![round(sent).read(both.taken(time))])
    };
    let says = counted_at(300);
    assert!(
        says.iter()
            .any(|line| line.contains("no more than 1 request was sent")),
        "{says:?}"
    );
    assert!(counted_at(700).is_empty(), "the second may have made it");
}

/// What is said where one first answer bears the mark of a replay, with this in between.
fn resent_with(change: impl Fn(&mut Round)) -> bool {
    let own = || round([paid("first", "pay_1"), marked(paid("again", "pay_1"))]).late(&["pay_1"]);
    let mut resent = round([
        marked(paid("first", "pay_1")).at(0, 5),
        marked(paid("again", "pay_1")).at(10, 15),
    ])
    .late(&["pay_1"]);
    change(&mut resent);
    told(REPEATS, vec![own(), resent])
        .iter()
        .any(|line| line.contains("first answers"))
}

#[test]
fn a_marked_first_answer_tells_only_where_nothing_else_explains_it() {
    assert!(resent_with(|_| {}));
    assert!(!resent_with(|round| {
        round.exchanges[0] = marked(answered("first", 409)).at(0, 5);
    }));
    assert!(!resent_with(|round| {
        let first = round.exchanges[0].clone();
        round.exchanges[0] = first.hung_up(3, Some(false));
    }));
    assert!(!resent_with(|round| {
        round
            .exchanges
            .push(paid("again", "pay_1").copy(1).at(3, 8));
    }));
    assert!(resent_with(|round| {
        let other = paid("other", "pay_2").key(Some("o")).at(3, 8);
        round.exchanges.push(other);
    }));
}

#[test]
fn a_mark_that_replays_do_not_always_bear_tells_nothing() {
    let unmarked = || round([paid("first", "pay_1"), paid("again", "pay_1")]).late(&["pay_1"]);
    let marked_first = round([
        marked(paid("first", "pay_1")),
        marked(paid("again", "pay_1")),
    ]);
    let rounds = vec![unmarked(), marked_first.late(&["pay_1"])];
    assert!(told(REPEATS, rounds).is_empty());
    let with = |name: &str, value: &str| {
        let own = |exchange: Exchange| exchange.header(name, value);
        let plain =
            || round([paid("first", "pay_1"), own(paid("again", "pay_1"))]).late(&["pay_1"]);
        let early = round([own(paid("first", "pay_1")), own(paid("again", "pay_1"))]);
        told(REPEATS, vec![plain(), early.late(&["pay_1"])]).len()
    };
    assert_eq!(with("X-Replayed", "true"), 1);
    assert_eq!(with("X-Cached", "true"), 0, "it does not speak of repeats");
    assert_eq!(with("X-Replayed", "false"), 0);
}

#[test]
fn only_unchanged_repeats_in_a_row_are_said_to_have_met_several_memories() {
    let disagree = |change: fn(&mut Exchange)| {
        let mut replayed = paid("again", "pay_1").at(20, 25);
        change(&mut replayed);
        let round = round([
            paid("first", "pay_1").at(0, 5),
            paid("again", "pay_2").copy(1).at(10, 15),
            replayed,
        ]);
        told(REPEATS, vec![round])
            .iter()
            .any(|line| line.contains("instances disagree"))
    };
    assert!(disagree(|_| {}));
    assert!(!disagree(|own| own.key.value = Some("o".to_owned())));
    assert!(!disagree(|own| own.request.intent = "changed".to_owned()));
    assert!(!disagree(|own| own.principal = PrincipalRole::OtherTenant));
    assert!(!disagree(|own| own.operation = OperationRole::Other));
    assert!(!disagree(|own| own.forms = vec!["reordered".to_owned()]));
    let with = |change: fn(Round) -> Round| {
        let round = round([
            paid("first", "pay_1"),
            paid("again", "pay_2"),
            paid("again", "pay_1").copy(1),
        ]);
        told(REPEATS, vec![change(round)]).len()
    };
    assert_eq!(with(|own| own), 1);
    assert_eq!(
        with(|own| own.killed(8)),
        0,
        "a hook has reasons of its own"
    );
}

#[test]
fn of_bursts_the_one_is_told_of_which_the_most_was_turned_away() {
    let burst = |reached: u32, away: u32| {
        let turned = (0..away).map(|_| answered("burst", 429).at(0, 2));
        let paid = (0..reached).map(|_| paid("burst", "pay_1").at(0, 50));
        round(paid.chain(turned)).burst("burst", reached + away, 2)
    };
    for rounds in [
        vec![burst(3, 1), burst(1, 2)],
        vec![burst(1, 2), burst(3, 1)],
    ] {
        let says = told(BURST, rounds);
        assert!(
            says[0].contains("(429): of one with 3 copies 2"),
            "{says:?}"
        );
    }
}

#[test]
fn only_readings_of_one_thing_contradict_each_other_and_only_when_they_rise_again() {
    let counted = |change: fn(&mut Reading)| {
        let read = |count: usize| reading(ReadingKind::Early, &["pay_1"][..count]);
        let mut last = read(1);
        change(&mut last);
        let round = round([paid("first", "pay_1")])
            .read(read(1))
            .read(read(0))
            .read(last);
        told(REPEATS, vec![round]).len()
    };
    assert_eq!(counted(|_| {}), 1);
    assert_eq!(counted(|last| last.marker = "o".to_owned()), 0);
    assert_eq!(
        counted(|last| last.principal = PrincipalRole::OtherTenant),
        0
    );
    assert_eq!(counted(|last| last.shows = Ok(Shown::Ids(Vec::new()))), 0);
}

#[test]
fn effects_are_more_than_the_requests_that_can_have_made_them() {
    let doubled = |change: fn(&mut Exchange), ids: &[&str]| {
        let mut other = paid("again", "pay_1");
        change(&mut other);
        let round = round([paid("first", "pay_1"), other]).late(ids);
        told(REPEATS, vec![round])
            .iter()
            .any(|line| line.contains("no more than"))
    };
    let two = ["pay_1", "pay_2"];
    assert!(!doubled(|_| {}, &two));
    assert!(doubled(|other| other.marker = "o".to_owned(), &two));
    assert!(doubled(
        |other| other.operation = OperationRole::Other,
        &two
    ));
    assert!(doubled(|other| other.lookup = Some(LookupBy::Key), &two));
    assert!(doubled(|other| other.delivery = Delivery::NotSent, &two));
    let read = |change: fn(&mut Reading), before: Option<fn(&mut Reading)>| {
        let mut late = reading(ReadingKind::Late, &two);
        change(&mut late);
        let mut round = round([paid("first", "pay_1")]);
        if let Some(change) = before {
            let mut before = reading(ReadingKind::Before, &[]);
            change(&mut before);
            round = round.read(before);
        }
        told(REPEATS, vec![round.read(late)]).len()
    };
    assert_eq!(read(|_| {}, None), 1);
    assert_eq!(read(|late| late.probe = "other".to_owned(), None), 0);
    assert_eq!(read(|late| late.operation = OperationRole::Other, None), 0);
    assert_eq!(
        read(|late| late.marker = "o".to_owned(), None),
        0,
        "nothing was sent for it"
    );
    assert_eq!(
        read(|_| {}, Some(|_| {})),
        0,
        "others may make effects there"
    );
    let of_another = |before: &mut Reading| before.probe = "other".to_owned();
    assert_eq!(read(|_| {}, Some(of_another)), 1);
}

#[test]
fn a_probe_with_a_bound_and_one_of_another_operation_count_no_effects() {
    let said = |change: fn(&mut ProbeFacts)| {
        let scenario = scenario(REPEATS);
        let contract = contract("");
        let round = round([paid("first", "pay_1")]).late(&["pay_1", "pay_2"]);
        let mut whole = transcript(vec![round]);
        change(&mut whole.probes[0]);
        let seen = Seen {
            operation: "pay",
            case: &scenario.cases[0],
            contract: &contract,
            transcript: &whole,
        };
        in_front(&[seen]).len()
    };
    assert_eq!(said(|_| {}), 1);
    assert_eq!(said(|probe| probe.bound = Some(9.0)), 0);
    assert_eq!(said(|probe| probe.operation = OperationRole::Other), 0);
    assert_eq!(
        said(|probe| probe.per_execution = 2.0),
        0,
        "one execution shows two"
    );
    assert_eq!(said(|probe| probe.per_execution = 0.5), 1);
}

#[test]
fn a_burst_has_no_first_answer_and_a_changed_request_no_replay() {
    let line = |rounds: Vec<Round>, steps: &str| {
        told(steps, rounds)
            .iter()
            .any(|line| line.contains("first answers"))
    };
    let replay = || marked(paid("burst", "pay_1").copy(1).at(20, 25));
    let burst = |first: Exchange| round([first.at(0, 5), replay()]).late(&["pay_1"]);
    let first = || paid("burst", "pay_1");
    let rounds = vec![burst(first()), burst(marked(first()))];
    assert!(
        !line(rounds, BURST),
        "any of its copies may have come first"
    );
    let changed = || marked(paid("again", "pay_1")).intent("changed");
    let pair = |first: Exchange| round([first, changed()]).late(&["pay_1"]);
    let rounds = vec![
        pair(paid("first", "pay_1")),
        pair(marked(paid("first", "pay_1"))),
    ];
    assert!(!line(rounds, REPEATS), "it repeats nothing");
}
