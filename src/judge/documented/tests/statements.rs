//! Tests of plain statements that are held against what was seen: how long, whose, and which errors.

use super::{documents, grade, operation};
use crate::judge::Documented;
use crate::judge::sample::{
    answered, contract, expecting, judged_with, paid, round, sent, transcript,
};
use crate::promise::Level;
use crate::scenario::{OperationRole, PrincipalRole};
use crate::transcript::{DocumentFacts, Exchange, Transcript};
use crate::verdict::Verdict;
use std::time::Duration;

const HOUR: u64 = 3_600;

/// What becomes of the stated retention when the key is used again at this age, in seconds.
fn aged(stated: Option<u64>, age: u64, again: Exchange) -> (Documented, Verdict, Level) {
    let round = round([paid("first", "pay_1").at(0, 10), again.at(60_000, 60_005)]);
    let transcript = Transcript {
        documents: Some(DocumentFacts {
            retention: stated.map(Duration::from_secs),
            ..documents(operation())
        }),
        ..transcript(vec![round.moved(1_000, Duration::from_secs(age))])
    };
    let finding = judged_with(
        &expecting("documented: { what: retention, of: again }"),
        &contract(""),
        &transcript,
    );
    let graded = finding.documented.expect("it is about a statement");
    (graded.grade, finding.verdict, finding.level)
}

#[test]
fn a_stated_retention_is_true_where_the_key_is_known_until_then_and_not_longer() {
    let known = || paid("again", "pay_1");
    let forgotten = || paid("again", "pay_2");
    let of = |age: u64, again: Exchange| aged(Some(HOUR), age, again);
    let hold = (Documented::True, Verdict::Pass);
    let nothing = Documented::NotShown;
    let grade = |age: u64, again: Exchange| {
        let (grade, verdict, _) = of(age, again);
        (grade, verdict)
    };
    assert_eq!(
        grade(HOUR / 2, known()),
        (nothing, Verdict::Skip),
        "too early to tell"
    );
    assert_eq!(grade(HOUR - 60, known()), hold);
    assert_eq!(grade(HOUR, known()), hold);
    assert_eq!(grade(HOUR + 1, forgotten()), hold);
    let broken = (Documented::False, Verdict::Fail, Level::Must);
    assert_eq!(of(HOUR - 60, forgotten()), broken);
    assert_eq!(of(HOUR, forgotten()), broken);
    let longer = (Documented::False, Verdict::Fail, Level::Should);
    assert_eq!(
        of(HOUR + 1, known()),
        longer,
        "a longer memory harms nobody"
    );
    for open in [
        answered("again", 201),
        answered("again", 429),
        answered("again", 500),
    ] {
        assert_eq!(grade(HOUR - 60, open), (nothing, Verdict::Inconclusive));
    }
    for again in [known(), forgotten()] {
        assert_eq!(aged(None, HOUR, again).0, Documented::Undocumented);
    }
}

#[test]
fn without_a_success_before_no_key_has_an_age() {
    let again = vec![answered("first", 500), paid("again", "pay_1")];
    let (grade, verdict) = grade("what: retention, of: again", documents(operation()), again);
    assert_eq!(
        (grade, verdict),
        (Documented::NotShown, Verdict::Inconclusive)
    );
}

#[test]
fn whose_keys_are_one_space_is_seen_by_who_uses_one_again() {
    let grade = |scope: &str, role: PrincipalRole, again: Exchange| {
        let stating = DocumentFacts {
            scope: Some(scope.to_owned()),
            ..documents(operation())
        };
        let exchanges = vec![
            paid("first", "pay_00000001").at(0, 10),
            again.by(role).at(20, 30),
        ];
        let (grade, verdict) = super::grade("what: scope, of: again", stating, exchanges);
        let shown = matches!(verdict, Verdict::Pass | Verdict::Fail);
        assert_eq!(shown, grade != Documented::NotShown, "{verdict:?}");
        grade
    };
    let own = || paid("again", "pay_00000002");
    let shared = || paid("again", "pay_00000001");
    let (yes, no) = (Documented::True, Documented::False);
    for (scope, role, with_own, with_shared) in [
        ("global", PrincipalRole::OtherTenant, no, yes),
        ("credential", PrincipalRole::OtherSession, yes, no),
        ("user", PrincipalRole::OtherTenant, yes, no),
        ("user", PrincipalRole::OtherSession, no, yes),
        ("tenant", PrincipalRole::SameTenant, no, yes),
        ("tenant", PrincipalRole::OtherTenant, yes, no),
    ] {
        assert_eq!(grade(scope, role, own()), with_own, "{scope} {role:?}");
        assert_eq!(
            grade(scope, role, shared()),
            with_shared,
            "{scope} {role:?}"
        );
    }
    let mut elsewhere = own();
    elsewhere.request.url = "http://127.0.0.1/payments/7".to_owned();
    let nothing = Documented::NotShown;
    let theirs = PrincipalRole::OtherTenant;
    assert_eq!(
        grade("tenant", theirs, elsewhere),
        nothing,
        "perhaps another key"
    );
    assert_eq!(grade("tenant", theirs, answered("again", 429)), nothing);
    assert_eq!(grade("tenant", theirs, sent("again")), nothing);
}

/// What becomes of the statement that 5xx may be retried.
fn retried(exchanges: Vec<Exchange>) -> Documented {
    let stating = DocumentFacts {
        retryable: Some(["5xx".to_owned()].into()),
        ..documents(operation())
    };
    let (grade, verdict) = grade("what: retryable, of: again", stating, exchanges);
    let shown = matches!(verdict, Verdict::Pass | Verdict::Fail);
    assert_eq!(shown, grade != Documented::NotShown, "{verdict:?}");
    grade
}

#[test]
fn a_retry_that_fails_although_its_cause_is_gone_makes_the_statement_false() {
    let of = |before: &[&str], now: &[&str], retry: u16| {
        let with = |exchange: Exchange, variants: &[&str]| {
            variants
                .iter()
                .fold(exchange, |own, name| own.variant(name))
        };
        let failed = with(answered("first", 503).at(0, 10), before);
        retried(vec![failed, with(answered("again", retry).at(20, 30), now)])
    };
    for healed in ["fails-once", "fails-after-once"] {
        assert_eq!(of(&[healed], &[healed], 503), Documented::False, "{healed}");
    }
    for gone in ["rate-limited", "times-out"] {
        assert_eq!(of(&[gone], &[], 500), Documented::False, "{gone}");
        assert_eq!(of(&[gone], &[gone], 500), Documented::NotShown, "{gone}");
    }
    assert_eq!(
        of(&["fails", "rate-limited"], &["fails"], 500),
        Documented::False
    );
    assert_eq!(
        of(&["fails"], &[], 500),
        Documented::NotShown,
        "it may fail for another"
    );
    assert_eq!(of(&[], &[], 500), Documented::False);
    assert_eq!(
        of(&["fails"], &["fails"], 500),
        Documented::NotShown,
        "it fails for good"
    );
    assert_eq!(
        of(&["fails"], &["fails"], 409),
        Documented::False,
        "it is blocked"
    );
}

#[test]
fn a_retry_that_makes_a_second_effect_makes_the_statement_false() {
    let judged = |payments: &[&str]| {
        let failed = answered("first", 503).at(0, 10);
        let round = round([failed, paid("again", "pay_2").at(20, 30)]).late(payments);
        let transcript = Transcript {
            documents: Some(DocumentFacts {
                retryable: Some(["503".to_owned()].into()),
                ..documents(operation())
            }),
            ..transcript(vec![round])
        };
        let claim = expecting("documented: { what: retryable, of: again }");
        judged_with(&claim, &contract(""), &transcript).verdict
    };
    assert_eq!(judged(&["pay_2"]), Verdict::Pass);
    assert_eq!(judged(&["pay_1", "pay_2"]), Verdict::Fail);
}

#[test]
fn only_the_last_failed_try_of_the_very_key_is_retried() {
    let failed = |status: u16| answered("first", status).at(0, 10);
    let again = || paid("again", "pay_1").at(60_000, 60_005);
    assert_eq!(retried(vec![failed(503), again()]), Documented::True);
    let nothing = Documented::NotShown;
    let not_before: [fn(Exchange) -> Exchange; 5] = [
        |other| other.key(Some("o")),
        |other| other.on(OperationRole::Other),
        |other| other.by(PrincipalRole::OtherTenant),
        |other| other.at(70_000, 70_005),
        |other| Exchange {
            step: "again".to_owned(),
            ..other
        },
    ];
    for change in not_before {
        assert_eq!(retried(vec![change(failed(503)), again()]), nothing);
    }
    let keyless = |exchange: Exchange| exchange.key(None);
    assert_eq!(
        retried(vec![keyless(failed(503)), keyless(again())]),
        nothing
    );
    assert_eq!(
        retried(vec![paid("first", "pay_1"), again()]),
        nothing,
        "nothing failed"
    );
    assert_eq!(
        retried(vec![failed(503), sent("again").at(20, 30)]),
        nothing
    );
    let two = |one: u16, other: u16| {
        retried(vec![
            failed(one),
            answered("first", other).copy(1).at(20, 30),
            again(),
        ])
    };
    assert_eq!(two(422, 503), Documented::True);
    assert_eq!(
        two(503, 422),
        Documented::Undocumented,
        "that is what was retried"
    );
}

#[test]
fn a_key_that_does_not_match_the_documented_pattern_has_not_its_form() {
    let shaped = |pattern: &str, code: u16| {
        let mut own = operation();
        if let Some(key) = &mut own.key {
            key.pattern = Some(pattern.to_owned());
        }
        let exchanges = vec![answered("again", code)];
        grade("what: key-format, of: again", documents(own), exchanges)
    };
    let (yes, no) = (Documented::True, Documented::False);
    assert_eq!(shaped("^k$", 201), (yes, Verdict::Pass));
    assert_eq!(shaped("^k$", 400), (no, Verdict::Fail));
    assert_eq!(shaped("^[0-9]+$", 201), (no, Verdict::Fail));
    assert_eq!(shaped("^[0-9]+$", 400), (yes, Verdict::Pass));
    assert_eq!(
        shaped("(?<", 201),
        (yes, Verdict::Pass),
        "a dialect that we do not know"
    );
    let open = (Documented::NotShown, Verdict::Inconclusive);
    assert_eq!(shaped("^k$", 500), open);
    let lost = grade(
        "what: key-format, of: again",
        documents(operation()),
        vec![sent("again")],
    );
    assert_eq!(lost, open);
}

#[test]
fn where_no_key_is_documented_it_has_no_form() {
    let mut keyless = operation();
    keyless.key = None;
    let transcript = Transcript {
        documents: Some(documents(keyless)),
        ..transcript(vec![round([answered("again", 201)])])
    };
    let claim = expecting("documented: { what: key-format, of: again }");
    let finding = judged_with(&claim, &contract(""), &transcript);
    assert_eq!(finding.verdict, Verdict::Skip, "{}", finding.reason);
}
