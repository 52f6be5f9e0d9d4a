//! Target files, good and bad.

use std::collections::BTreeMap;
use std::time::Duration;

use super::*;
use crate::hook::HookName;
use crate::target::HttpVersion;
use crate::target::action::Deed;
use crate::target::key::KeyPlace;
use crate::target::operation::Lifetime;
use crate::target::operation::NextPage;
use crate::target::operation::Reading;
use crate::target::principal::Role;
use crate::target::trial::Surroundings;
use crate::target::trial::load_text;
use crate::target::trial::load_with;
use crate::target::trial::target;
use crate::target::trial::usual;

pub(super) const FULL: &str = r#"
version: 1
target: Payments API
x-shared: &post { method: POST }
base-url: [ "http://127.0.0.1:8081", "http://127.0.0.1:${port}/v1" ]
hosts: [ "*.acme.test" ]
contract: { extends: generic, retention: { min: 24h } }
headers: { Acme-Version: 2026-01-01 }
vars: { currency: usd, tenant: "t-${env.SHOP}" }
key: { header: Idempotency-Key, max: 45, format: uuid, quoted: true }
principals:
  owner: { bearer: "${secret.TOKEN}" }
  other-tenant: { headers: { X-API-Key: "${secret.OTHER}" }, vars: { tenant: other } }
  observer: { basic: "reader:${secret.TOKEN}" }
fixtures:
  customer:
    request: { method: POST, path: /customers, json: { name: "${marker}" } }
    per: scenario
    until: { $.state: [ ready, done ] }
    cleanup: DELETE /customers/${customer}
  paid: { operation: create-payment, with: { json: { amount: 5 } }, per: key }
  voucher: { command: make-token, as: owner }
success: { status: 200, $.errors: absent }
volatile: $.fetched_at
operations:
  create-payment:
    request:
      <<: *post
      path: /payments?source=test
      json: { amount: 2000, currency: "${currency}", customer: "${customer}", reference: "${marker}" }
    other: refund
    change: { json: { amount: 2001 } }
    invalid: { json: { amount: -1 } }
    declined: { json: { card: tok_declined } }
    failing: [ { headers: { X-Chaos: before } }, { before: fail-downstream, after: heal-downstream, heals: true } ]
    variants: { dry-run: { query: { dry: 1 }, per-execution: 0 } }
    identity: [ $.id, $.error.resource_id ]
    effects:
      payments:
        request: GET /payments?reference=${request:$.reference}
        ids: $.data[?@.marker == '${marker}'].id
        next: { cursor: $.cursor, query: after }
        settle: 5s
        as: observer
      ledger: { command: "count-ledger ${marker}" }
      stock: { request: GET /stock, value: $.stock, per-effect: 5, bound: 100 }
    read: GET /payments/${identity}
    cleanup: { command: "remove $identity", timeout: 5s }
    lookup: { by-key: "GET /payments?key=${key}", by-identity: "GET /payments/${identity}" }
  refund:
    given: create-payment
    request: { method: POST, path: "/payments/${given.identity}/refunds", form: { payment: "${paid}" } }
    key: none
    success: { status: [ 201, 202 ] }
    result:
      request: GET ${response:header.Location}
      until: { $.status: /done|failed/ }
      every: 1s
mask: [ $.client_secret ]
settle: 500ms
http: 1.1
tls: { verify: false }
limits: { rate: 120/min, in-flight: 3, patience: 5s }
server: { command: "exec ./api --port ${port}", ready: GET /healthz, env: { MODE: test } }
hooks:
  kill: docker kill api
  ready: GET /healthz
  advance-clock: { request: "POST /clock?by=${seconds}", timeout: 3s }
  fail-downstream: ./stub down
  heal-downstream: ./stub up
"#;

pub(super) fn minimal(operation: &str) -> String {
    format!(
        "target: T\nbase-url: http://127.0.0.1:1\noperations:\n  pay:\n    request: {{ method: POST, path: /p, json: {{ amount: 1, list: [1, 2, 3] }} }}\n{operation}"
    )
}

/// The messages of all errors, each with its line.
pub(super) fn errors(text: &str) -> Vec<String> {
    match load_text(text) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(said).collect(),
    }
}

pub(super) fn said(problem: &Diagnostic) -> String {
    let place = problem.place().unwrap_or_default();
    let line = place.split(':').nth(1).unwrap_or("-").to_string();
    let help = problem.help.as_deref().map(|help| format!(" | {help}"));
    format!("{line}: {}{}", problem.message, help.unwrap_or_default())
}

pub(super) fn warnings(text: &str) -> Vec<String> {
    let loaded = load_text(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    loaded.warnings.iter().map(said).collect()
}

#[test]
fn a_file_with_everything_is_read() {
    let target = target(FULL);
    assert_eq!(target.name, "Payments API");
    assert_eq!(target.base_urls.len(), 2);
    let second = target.base_urls[1].resolve(|_| Some(9)).expect("a URL");
    assert_eq!(second.as_str(), "http://127.0.0.1:9/v1");
    assert!(target.base_urls[1].resolve(|_| None).is_err());
    assert!(target.contract.is_some());
    assert!(matches!(target.key, Some(KeyPlace::At { .. })));
    assert_eq!(target.principals.len(), 3);
    assert_eq!(target.http, HttpVersion::Http1);
    assert_eq!(target.settle, Duration::from_millis(500));
    assert_eq!(target.timeout, Duration::from_secs(30));
    assert_eq!(target.limits.rate, Some(2.0));
    assert_eq!(target.limits.in_flight, Some(3));
    assert_eq!(target.limits.requests, None);
    assert_eq!(target.limits.patience, Duration::from_secs(5));
    assert!(matches!(
        target
            .hooks
            .get(HookName::AdvanceClock)
            .expect("a hook")
            .what,
        Deed::Request(_)
    ));
    assert!(matches!(
        target.hooks.get(HookName::Kill).expect("a hook").what,
        Deed::Command(_)
    ));
    assert_eq!(target.secrets.len(), 2);
    assert_eq!(target.looks_live, None);
    assert_eq!(
        target.fixture("customer").expect("it").per,
        Lifetime::Scenario
    );
    let payment = target.operation("create-payment").expect("it");
    assert_eq!(payment.success.to_string(), "status: 200, $.errors: absent");
    assert_eq!(payment.volatile.len(), 1);
    assert_eq!(payment.identity.len(), 2);
    assert_eq!(payment.variants.len(), 6);
    let [payments, ledger, stock] = payment.effects.as_slice() else {
        panic!("three probes");
    };
    assert!(matches!(payments.next, Some(NextPage::Cursor { .. })));
    assert_eq!(payments.reader, Some(Role::Observer));
    assert_eq!(payments.sharing(&target), Lifetime::Key);
    assert_eq!(ledger.sharing(&target), Lifetime::Scenario);
    assert!(matches!(ledger.reading, Reading::Value(_)));
    assert_eq!(stock.sharing(&target), Lifetime::Run);
    assert_eq!((stock.per_effect, stock.bound), (5.0, Some(100.0)));
    assert_eq!(target.other(payment).expect("declared").name, "refund");
    let refund = target.operation("refund").expect("it");
    assert_eq!(
        target.other(refund).expect("the first").name,
        "create-payment"
    );
    assert!(target.principals[&Role::OtherTenant].has_credentials());
    assert_eq!(refund.key, Some(KeyPlace::None));
    assert_eq!(refund.given.as_deref(), Some("create-payment"));
    assert_eq!(refund.success.to_string(), "status: [201, 202]");
}

#[test]
fn limits_depend_on_where_the_target_is() {
    let local = target(&minimal(""));
    assert_eq!(local.limits.rate, None);
    let remote = target(&minimal("").replace("http://127.0.0.1:1", "https://api.acme.test"));
    assert_eq!(remote.limits.rate, Some(5.0));
    assert_eq!(remote.limits.effects, Some(200));
}

#[test]
fn dates_and_versions_stay_text() {
    let text = minimal("headers: { Version: 2025-01-23, N: 1.10 }\n");
    let target = target(&text);
    let values: Vec<String> = target
        .headers
        .iter()
        .map(|pair| pair.value.as_ref().expect("a value").to_string())
        .collect();
    assert_eq!(values, ["2025-01-23", "1.10"]);
}

#[test]
fn hosts_must_be_named() {
    let text = minimal("").replace("http://127.0.0.1:1", "${env.URL:-https://pay.acme.test}");
    assert_eq!(
        errors(&text),
        ["2: refused to send to pay.acme.test: it came from URL | add it to hosts or --allow-host"]
    );
    assert!(errors(&(text.clone() + "hosts: [ \"*.acme.test\" ]\n")).is_empty());
    let options = Options {
        allow_hosts: vec!["pay.acme.test".to_string()],
        ..Options::default()
    };
    assert!(load_with(&text, &options, &usual()).is_ok());
    let literal = minimal("").replace(
        "http://127.0.0.1:1",
        "https://api.acme.test:8443/${env.SHOP}",
    );
    let target = target(&literal);
    assert_eq!(target.allowed_hosts(), ["api.acme.test"]);
    assert!(target.allows("API.acme.test", &[]) && target.allows("127.0.0.1", &[]));
    assert!(!target.allows("169.254.169.254", &[]));
    let absolute = minimal("    read: GET https://evil.test/p/${identity}\n");
    assert_eq!(
        errors(&absolute),
        [
            "6: refused to send to evil.test: it is no host of the target | add it to hosts or --allow-host"
        ]
    );
}

#[test]
fn live_targets_are_noticed() {
    let live = |url: &str| target(&minimal("").replace("http://127.0.0.1:1", url)).looks_live;
    assert_eq!(live("https://api.sandbox.acme.test"), None);
    assert_eq!(
        live("https://pay.prod.acme.test").as_deref(),
        Some("pay.prod.acme.test looks live (`prod` in its name)")
    );
    assert_eq!(live("https://delivery.acme.test"), None);
    let surroundings = Surroundings {
        variables: BTreeMap::from([("KEY", "sk_live_verysecretvalue")]),
        files: BTreeMap::new(),
    };
    let text = minimal("principals: { owner: { bearer: \"${secret.KEY}\" } }\n");
    let loaded = load_with(&text, &Options::default(), &surroundings).expect("loads");
    let sign = loaded.target.looks_live.expect("a sign");
    assert_eq!(sign, "127.0.0.1 looks live (sk_live_ in KEY)");
}

#[test]
fn secrets_come_from_three_places_and_are_never_shown() {
    let text = minimal(
        "principals: { owner: { headers: { A: \"${secret.A}\", B: \"${secret.B}\", C: \"${secret.C}\", D: \"${secret.D:-dd}\" } } }\n",
    );
    let surroundings = Surroundings {
        variables: BTreeMap::from([("A", "from-env"), ("B_FILE", "b.txt")]),
        files: BTreeMap::from([("b.txt", "from-file\n")]),
    };
    let options = Options {
        secrets: BTreeMap::from([("C".to_string(), "from-list".to_string())]),
        ..Options::default()
    };
    let target = load_with(&text, &options, &surroundings)
        .expect("loads")
        .target;
    let values: Vec<&str> = target
        .secrets
        .iter()
        .map(|secret| secret.reveal())
        .collect();
    assert_eq!(values, ["from-env", "from-file", "from-list", "dd"]);
    let debug = format!("{target:?}");
    assert!(!debug.contains("from-env") && !debug.contains("from-file"));
}

#[test]
fn overlays_replace_and_merge_by_name_and_null_removes() {
    let base = r#"
target: Base
base-url: http://127.0.0.1:1
settle: 5s
limits: { rate: 1/s, in-flight: 2 }
vars: { a: one, b: two }
hooks: { kill: x }
operations:
  pay: { request: POST /p, identity: $.id }
  refund: { request: POST /r }
"#;
    let surroundings = Surroundings {
        files: BTreeMap::from([
            ("base.yaml", base),
            (
                "middle.yaml",
                "extends: base.yaml\nlimits: { rate: 2/s }\nvars: { b: null, c: three }\n",
            ),
        ]),
        ..usual()
    };
    let top = "extends: middle.yaml\ntarget: Top\nhooks: null\noperations: { pay: { request: POST /p2 }, refund: null }\n";
    let options = Options {
        set: vec![("c".to_string(), "four".to_string())],
        ..Options::default()
    };
    let target = load_with(top, &options, &surroundings)
        .expect("loads")
        .target;
    assert_eq!(target.name, "Top");
    assert_eq!(target.settle, Duration::from_secs(5));
    assert_eq!(
        (target.limits.rate, target.limits.in_flight),
        (Some(2.0), None)
    );
    assert_eq!(target.vars.keys().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(
        target.vars["c"],
        crate::target::tree::Tree::Text(crate::target::placeholder::Template::literal("four"))
    );
    assert!(target.hooks.declared.is_empty());
    assert_eq!(target.operations.len(), 1);
    assert_eq!(target.operations[0].request.path.to_string(), "/p2");
    assert!(target.operations[0].identity.is_empty());
}

#[test]
fn a_missing_base_a_circle_and_an_unknown_var_are_refused() {
    let surroundings = Surroundings {
        files: BTreeMap::from([
            ("a.yaml", "extends: b.yaml\n"),
            ("b.yaml", "extends: a.yaml\n"),
        ]),
        ..usual()
    };
    let message = |text: &str, set: &[(&str, &str)]| {
        let set = set
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()));
        let options = Options {
            set: set.collect(),
            ..Options::default()
        };
        said(&load_with(text, &options, &surroundings).expect_err("refused")[0])
    };
    assert_eq!(
        message("extends: nothing.yaml\n", &[]),
        "1: `nothing.yaml` cannot be read: No such file"
    );
    assert_eq!(
        message("extends: a.yaml\n", &[]),
        "1: files extend each other: a.yaml → b.yaml → a.yaml"
    );
    let vars = minimal("vars: { location: x, merchant: y }\n");
    assert_eq!(
        message(&vars, &[("locaton", "z")]),
        "-: --set: no var `locaton`; vars are location, merchant | did you mean `location`?"
    );
}

#[test]
fn files_that_are_no_target_say_what_is_missing() {
    assert_eq!(
        errors("- a\n"),
        ["1: a target file is a map, beginning with `target: NAME`"]
    );
    let errors = errors("target: T\n");
    for field in ["base-url", "operations"] {
        let needs = format!("1: a target needs `{field}`");
        assert!(
            errors.iter().any(|error| error.starts_with(&needs)),
            "{errors:?}"
        );
    }
}
