//! Tests of statements of the documents.

mod statements;

use crate::judge::Documented;
use crate::judge::sample::{
    answered, contract, expecting, judged_with, paid, round, sent, transcript,
};
use crate::promise::Level;
use crate::scenario::PrincipalRole;
use crate::transcript::{
    DocumentFacts, Exchange, KeyFacts, OpenApiFacts, OperationFacts, Transcript,
};
use crate::verdict::Verdict;
use std::time::Duration;

fn operation() -> OperationFacts {
    OperationFacts {
        key: Some(KeyFacts {
            name: "Idempotency-Key".to_owned(),
            place: "header".to_owned(),
            required: true,
            format: None,
            min: None,
            max: None,
            pattern: None,
        }),
        statuses: vec!["201".to_owned(), "4XX".to_owned(), "503".to_owned()],
        retry_after: vec!["409".to_owned()],
    }
}

fn documents(operation: OperationFacts) -> DocumentFacts {
    DocumentFacts {
        openapi: Some(Ok(OpenApiFacts {
            operation: Some(operation),
            keyless: Vec::new(),
        })),
        retention: Some(Duration::from_secs(3600)),
        scope: Some("tenant".to_owned()),
        retryable: None,
    }
}

fn with_key(mut exchange: Exchange) -> Exchange {
    let header = ("idempotency-key".to_owned(), "k".to_owned());
    exchange.request.headers.push(header);
    exchange
}

fn told(what: &str, documents: DocumentFacts, again: Exchange) -> (Verdict, Level) {
    let round = round([with_key(paid("first", "pay_1")), again]);
    let transcript = Transcript {
        documents: Some(documents),
        ..transcript(vec![round])
    };
    let lines = "extends: generic\nretention: { min: 1h, max: 1h }\nscope: { principal: tenant }\n";
    let finding = judged_with(
        &expecting(&format!("documented: {{ {what} }}")),
        &contract(lines),
        &transcript,
    );
    (finding.verdict, finding.level)
}

#[test]
fn a_status_that_is_declared_is_documented_and_another_is_not() {
    let status = "what: status, of: again";
    let told = |code| told(status, documents(operation()), answered("again", code));
    assert_eq!(told(422).0, Verdict::Pass);
    assert_eq!(told(503).0, Verdict::Pass);
    assert_eq!(told(500), (Verdict::Fail, Level::Should));
    assert_eq!(told(201).0, Verdict::Skip, "nothing was refused");
}

#[test]
fn a_key_that_is_required_by_the_documents_only_makes_them_false() {
    let required = "what: required, of: again";
    let optional = || {
        let mut own = operation();
        if let Some(key) = &mut own.key {
            key.required = false;
        }
        documents(own)
    };
    let told = |documents, code| told(required, documents, answered("again", code));
    assert_eq!(told(documents(operation()), 400).0, Verdict::Pass);
    assert_eq!(
        told(documents(operation()), 201),
        (Verdict::Fail, Level::Must)
    );
    assert_eq!(told(optional(), 201).0, Verdict::Pass);
    assert_eq!(told(optional(), 400), (Verdict::Fail, Level::Should));
    assert_eq!(told(optional(), 500).0, Verdict::Inconclusive);
}

#[test]
fn the_key_is_where_the_documents_have_it() {
    let again = || answered("again", 201);
    let elsewhere = || {
        let mut own = operation();
        if let Some(key) = &mut own.key {
            "X-Key".clone_into(&mut key.name);
        }
        documents(own)
    };
    assert_eq!(
        told("what: key", documents(operation()), again()).0,
        Verdict::Pass
    );
    assert_eq!(
        told("what: key", elsewhere(), again()),
        (Verdict::Fail, Level::Must)
    );
    let none = OperationFacts {
        key: None,
        ..operation()
    };
    assert_eq!(
        told("what: key", documents(none), again()),
        (Verdict::Fail, Level::Should)
    );
}

#[test]
fn a_retry_after_is_declared_or_sent_for_nothing() {
    let what = "what: retry-after, of: again";
    let with = |code| answered("again", code).header("Retry-After", "1");
    let told = |exchange| told(what, documents(operation()), exchange);
    assert_eq!(told(with(409)).0, Verdict::Pass);
    assert_eq!(told(with(422)), (Verdict::Fail, Level::Should));
    assert_eq!(told(answered("again", 409)), (Verdict::Fail, Level::Must));
    assert_eq!(told(answered("again", 422)).0, Verdict::Skip);
}

#[test]
fn retention_and_scope_are_held_against_the_contract() {
    let again = || answered("again", 201);
    let stated = |hours: Option<u64>, scope: Option<&str>| DocumentFacts {
        retention: hours.map(|hours| Duration::from_secs(hours * 3600)),
        scope: scope.map(str::to_owned),
        ..documents(operation())
    };
    let kept = |hours| told("what: retention", stated(hours, None), again());
    assert_eq!(kept(Some(1)).0, Verdict::Pass);
    assert_eq!(kept(Some(24)), (Verdict::Fail, Level::Must));
    assert_eq!(kept(None), (Verdict::Fail, Level::Should));
    let scoped = |scope| told("what: scope", stated(None, scope), again());
    assert_eq!(scoped(Some("account")).0, Verdict::Pass);
    assert_eq!(scoped(Some("user")), (Verdict::Fail, Level::Must));
    assert_eq!(scoped(None), (Verdict::Fail, Level::Should));
}

#[test]
fn operations_without_a_key_are_listed_and_documents_that_were_not_read_show_nothing() {
    let again = || answered("again", 201);
    let mut some = documents(operation());
    if let Some(Ok(openapi)) = &mut some.openapi {
        openapi.keyless.push("POST /refunds".to_owned());
    }
    assert_eq!(
        told("what: every-operation", some, again()),
        (Verdict::Fail, Level::Note)
    );
    let all = documents(operation());
    assert_eq!(told("what: every-operation", all, again()).0, Verdict::Pass);
    for (openapi, verdict) in [
        (None, Verdict::Skip),
        (Some(Err("404".to_owned())), Verdict::Inconclusive),
    ] {
        let unread = DocumentFacts {
            openapi,
            ..documents(operation())
        };
        assert_eq!(told("what: key", unread, again()).0, verdict);
    }
}

/// The verdict on these parts over this round, under a contract of these lines.
fn judged(
    what: &str,
    documents: Option<DocumentFacts>,
    lines: &str,
    exchanges: Vec<Exchange>,
) -> (Verdict, Level) {
    let transcript = Transcript {
        documents,
        ..transcript(vec![round(exchanges)])
    };
    let claim = format!("documented: {{ {what} }}");
    let finding = judged_with(&expecting(&claim), &contract(lines), &transcript);
    (finding.verdict, finding.level)
}

const KEPT: &str =
    "extends: generic\nretention: { min: 1h, max: 2h }\nscope: { principal: tenant }\n";
const SILENT: &str = "extends: generic";

#[test]
fn what_was_not_read_or_sent_shows_nothing() {
    let nothing = Verdict::Inconclusive;
    let first = || vec![with_key(paid("first", "pay_1"))];
    let what = "what: status, of: again";
    assert_eq!(judged(what, None, KEPT, first()).0, Verdict::Skip);
    let unread = |openapi| DocumentFacts {
        openapi,
        ..documents(operation())
    };
    let unnamed = judged(what, Some(unread(None)), KEPT, first());
    assert_eq!(unnamed.0, Verdict::Skip);
    let failed = unread(Some(Err("404".to_owned())));
    assert_eq!(judged(what, Some(failed), KEPT, first()).0, nothing);
    let unsent = judged(what, Some(documents(operation())), KEPT, first());
    assert_eq!(unsent.0, nothing);
    for what in ["required", "status", "retry-after"] {
        let lost = vec![with_key(paid("first", "pay_1")), sent("again")];
        let what = format!("what: {what}, of: again");
        let judged = judged(&what, Some(documents(operation())), KEPT, lost);
        assert_eq!(judged.0, nothing, "{what}");
    }
    let failed = vec![with_key(paid("first", "pay_1")), answered("again", 500)];
    let required = judged(
        "what: required, of: again",
        Some(documents(operation())),
        KEPT,
        failed,
    );
    assert_eq!(required.0, nothing);
    let mut keyless = operation();
    keyless.key = None;
    let refused = vec![answered("again", 400)];
    let none = judged(
        "what: required, of: again",
        Some(documents(keyless)),
        KEPT,
        refused,
    );
    assert_eq!(none.0, Verdict::Skip);
}

#[test]
fn a_key_is_where_the_documents_have_it_and_of_their_form() {
    let claimed =
        |what: &str, place: &str, format: Option<&str>, max: Option<u64>, used: Exchange| {
            let mut own = operation();
            own.key = Some(KeyFacts {
                name: "Idempotency-Key".to_owned(),
                place: place.to_owned(),
                required: true,
                format: format.map(str::to_owned),
                min: None,
                max,
                pattern: None,
            });
            judged(what, Some(documents(own)), KEPT, vec![used])
        };
    let formed =
        |format, max, used| claimed("what: key-format, of: first", "header", format, max, used);
    let judged = |place, format, max, used| claimed("what: key", place, format, max, used);
    let used = || with_key(paid("first", "pay_1").key(Some("abc")));
    assert_eq!(judged("header", None, None, used()).0, Verdict::Pass);
    assert_eq!(formed(None, Some(3), used()).0, Verdict::Pass);
    let formless = (Verdict::Fail, Level::Should);
    assert_eq!(formed(None, Some(2), used()), formless);
    assert_eq!(formed(Some("uuid"), None, used()), formless);
    let uuid = "0c9b7c1e-2f37-4f0b-8a56-91d2b1f0e7aa";
    let by_uuid = with_key(paid("first", "pay_1").key(Some(uuid)));
    assert_eq!(formed(Some("uuid"), None, by_uuid).0, Verdict::Pass);
    let elsewhere = (Verdict::Fail, Level::Must);
    assert_eq!(judged("query", None, None, used()), elsewhere);
    assert_eq!(judged("body", None, None, used()), elsewhere);
    let mut in_query = paid("first", "pay_1");
    in_query.request.url += "?Idempotency-Key=k";
    assert_eq!(
        judged("query", None, None, in_query.clone()).0,
        Verdict::Pass
    );
    assert_eq!(judged("header", None, None, in_query), elsewhere);
    let mut in_body = paid("first", "pay_1");
    in_body.request.body = Some("{\"Idempotency-Key\":\"k\"}".to_owned());
    assert_eq!(judged("body", None, None, in_body).0, Verdict::Pass);
    // A key that was refused, or a success without one, shows nothing of it.
    let refused = with_key(answered("first", 400));
    assert_eq!(
        judged("query", None, None, refused).0,
        Verdict::Inconclusive
    );
    let keyless = paid("first", "pay_1").key(None);
    assert_eq!(
        judged("query", None, None, keyless).0,
        Verdict::Inconclusive
    );
}

#[test]
fn what_the_documents_and_the_contract_state_is_held_against_each_other() {
    let hours = |hours: Option<u64>, scope: Option<&str>| DocumentFacts {
        openapi: None,
        retention: hours.map(|hours| Duration::from_secs(3600 * hours)),
        scope: scope.map(str::to_owned),
        retryable: None,
    };
    let none = Vec::new;
    let retention =
        |stated, lines| judged("what: retention", Some(hours(stated, None)), lines, none());
    assert_eq!(retention(Some(1), KEPT).0, Verdict::Pass);
    assert_eq!(retention(Some(2), KEPT).0, Verdict::Pass);
    assert_eq!(retention(Some(3), KEPT).0, Verdict::Fail);
    assert_eq!(retention(Some(0), KEPT).0, Verdict::Fail);
    assert_eq!(retention(None, KEPT), (Verdict::Fail, Level::Should));
    assert_eq!(retention(Some(1), SILENT).0, Verdict::Inconclusive);
    assert_eq!(retention(None, SILENT).0, Verdict::Inconclusive);
    let open = "extends: generic\nretention: { min: 1h }\n";
    assert_eq!(retention(Some(9), open).0, Verdict::Pass, "at least");
    let scope = |stated, lines| judged("what: scope", Some(hours(None, stated)), lines, none());
    assert_eq!(scope(Some("tenant"), KEPT).0, Verdict::Pass);
    assert_eq!(scope(Some("global"), KEPT).0, Verdict::Fail);
    assert_eq!(scope(None, KEPT), (Verdict::Fail, Level::Should));
    assert_eq!(scope(Some("tenant"), SILENT).0, Verdict::Inconclusive);
    assert_eq!(scope(None, SILENT).0, Verdict::Inconclusive);
}

/// The grade that an expectation gives after these exchanges, and whether it fails.
fn grade(what: &str, documents: DocumentFacts, exchanges: Vec<Exchange>) -> (Documented, Verdict) {
    let transcript = Transcript {
        documents: Some(documents),
        ..transcript(vec![round(exchanges)])
    };
    let finding = judged_with(
        &expecting(&format!("documented: {{ {what} }}")),
        &contract("extends: generic"),
        &transcript,
    );
    let graded = finding.documented.expect("it is about a statement");
    (graded.grade, finding.verdict)
}

#[test]
fn a_form_of_the_key_is_held_against_keys_that_were_taken_and_refused() {
    let shaped = |min, max| {
        let mut own = operation();
        if let Some(key) = &mut own.key {
            (key.min, key.max) = (min, max);
        }
        documents(own)
    };
    let grade = |documents, code| {
        let exchanges = vec![with_key(paid("first", "pay_1")), answered("again", code)];
        grade("what: key-format, of: again", documents, exchanges)
    };
    let pass = |grade| (grade, Verdict::Pass);
    let fail = |grade| (grade, Verdict::Fail);
    assert_eq!(
        grade(shaped(Some(1), Some(255)), 201),
        pass(Documented::True)
    );
    assert_eq!(grade(shaped(Some(40), None), 400), pass(Documented::True));
    assert_eq!(grade(shaped(Some(40), None), 201), fail(Documented::False));
    assert_eq!(grade(shaped(Some(1), None), 400), fail(Documented::False));
    assert_eq!(
        grade(shaped(None, None), 400),
        fail(Documented::Undocumented)
    );
    assert_eq!(
        grade(shaped(None, None), 201),
        (Documented::NotShown, Verdict::Skip)
    );
}

#[test]
fn a_retry_after_an_error_makes_the_statement_true_false_or_missing() {
    let stating = |words: Option<&[&str]>| DocumentFacts {
        retryable: words.map(|words| words.iter().map(|word| (*word).to_owned()).collect()),
        ..documents(operation())
    };
    let after = |words, status: u16, retry: Exchange| {
        let failed = answered("first", status).at(0, 10).variant("fails-once");
        let retry = retry.at(20, 30).variant("fails-once");
        grade(
            "what: retryable, of: again",
            stating(words),
            vec![failed, retry],
        )
    };
    let taken = || paid("again", "pay_1");
    let class: Option<&[&str]> = Some(&["409", "5xx"]);
    let pass = (Documented::True, Verdict::Pass);
    assert_eq!(after(class, 503, taken()), pass);
    assert_eq!(
        after(class, 503, answered("again", 422)),
        (Documented::False, Verdict::Fail)
    );
    assert_eq!(
        after(class, 429, taken()),
        (Documented::Undocumented, Verdict::Fail)
    );
    assert_eq!(after(class, 422, answered("again", 422)), pass);
    assert_eq!(
        after(None, 503, taken()),
        (Documented::Undocumented, Verdict::Fail)
    );
    assert_eq!(
        after(None, 503, answered("again", 503)),
        (Documented::NotShown, Verdict::Skip)
    );
}

#[test]
fn a_scope_is_true_where_another_tenant_has_keys_of_its_own() {
    let stating = |scope: Option<&str>| DocumentFacts {
        scope: scope.map(str::to_owned),
        ..documents(operation())
    };
    let theirs = |exchange: Exchange| Exchange {
        principal: PrincipalRole::OtherTenant,
        ..exchange.at(20, 30)
    };
    let grade = |scope, theirs| {
        let exchanges = vec![paid("first", "pay_1").at(0, 10), theirs];
        grade("what: scope, of: again", stating(scope), exchanges).0
    };
    let own = || theirs(paid("again", "pay_2"));
    let refused = || theirs(answered("again", 422));
    assert_eq!(grade(Some("tenant"), own()), Documented::True);
    assert_eq!(grade(Some("global"), own()), Documented::False);
    assert_eq!(grade(None, own()), Documented::Undocumented);
    assert_eq!(grade(Some("tenant"), refused()), Documented::False);
    assert_eq!(
        grade(Some("tenant"), theirs(answered("again", 500))),
        Documented::NotShown
    );
}
