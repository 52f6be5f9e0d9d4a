use crate::judge::sample::{answered, contract, expecting, judged_with, paid, round, transcript};
use crate::promise::Level;
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
            max: None,
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
    for openapi in [None, Some(Err("404".to_owned()))] {
        let unread = DocumentFacts {
            openapi,
            ..documents(operation())
        };
        assert_eq!(told("what: key", unread, again()).0, Verdict::Inconclusive);
    }
}
