//! From a curl command to the text of the file, and what must never stand in it.

use super::curl::Curl;
use super::draft::{Counting, Draft};
use super::{IDS, check};
use std::path::Path;

fn draft(line: &str) -> Draft {
    let curl = Curl::parse(line, &|_| Err("no files here".to_owned())).expect("it is understood");
    Draft::of(&curl, None).expect("it says what to test")
}

/// The file, which must be a good target.
fn text(line: &str) -> String {
    let counting = Counting::Request {
        request: "GET /payments?reference=${marker}".to_owned(),
        ids: IDS.to_owned(),
    };
    let text = draft(line).text(&counting);
    if let Err(problem) = check(Path::new("a.yaml"), &text) {
        panic!("{problem}\n{text}");
    }
    text
}

#[test]
fn the_commonest_curl_becomes_a_whole_file() {
    let line = r#"curl -X POST https://api.acme.test/payments -H 'Authorization: Bearer s3cr3t' -H 'Idempotency-Key: x' -H 'Content-Type: application/json' -d '{"amount":2000,"currency":"EUR","reference":"order-1"}'"#;
    assert_eq!(
        text(line),
        r#"target: Acme
base-url: https://api.acme.test
key: Idempotency-Key
principals:
  owner: { bearer: "${secret.ACME_TOKEN}" }
operations:
  create-payment:
    request:
      method: POST
      path: /payments
      json: { amount: 2000, currency: EUR, reference: "${marker}" }
    change: { json: { amount: 2001 } }
    invalid: { json: { amount: -1 } }
    identity: $.id
    effects:
      payments: { request: "GET /payments?reference=${marker}", ids: "$.data[*].id" }
"#
    );
    let draft = draft(line);
    assert_eq!(draft.secrets, ["ACME_TOKEN"]);
    assert_eq!(
        draft.summary,
        "Read: POST https://api.acme.test/payments, JSON, 3 headers"
    );
}

#[test]
fn no_secret_stands_in_the_file_or_in_what_is_said() {
    let line = r#"curl https://me:s3cr3t0@api.acme.test/payments?api_key=s3cr3t1\&page=1 \
        -H 'Authorization: Token s3cr3t2' -H 'X-Api-Key: s3cr3t3' -H 'Cookie: sid=s3cr3t4' \
        -b 'a=s3cr3t5' -u 'name:s3cr3t6' -H 'X-Odd: sk_live_s3cr3t7' \
        --json '{"password":"s3cr3t8","card":{"cvc":"s3cr3t9"},"reference":"r","n":1}'"#;
    let file = text(line);
    assert!(!file.contains("s3cr3t"), "{file}");
    let said = super::read_back(&draft(line));
    assert!(!said.contains("s3cr3t"), "{said}");
    assert!(
        file.contains("basic: \"name:${secret.ACME_PASSWORD}\""),
        "{file}"
    );
    assert!(
        file.contains("X-Api-Key: \"${secret.ACME_API_KEY}\""),
        "{file}"
    );
    assert!(file.contains("path: \"/payments?page=1\""), "{file}");
    assert!(
        file.contains("query: { api_key: \"${secret.ACME_API_KEY}\" }"),
        "{file}"
    );
    assert!(
        file.contains("password: \"${secret.ACME_PASSWORD}\""),
        "{file}"
    );
}

#[test]
fn an_api_key_as_a_user_name_is_the_secret() {
    let file = text(
        "curl https://api.stripe.com/v1/charges -u sk_test_4eC39Hq: -d amount=2000 -d 'description=an order'",
    );
    assert!(file.contains("basic: \"${secret.STRIPE_KEY}:\""), "{file}");
    assert!(
        file.contains("form: { amount: \"2000\", description: \"${marker}\" }"),
        "{file}"
    );
    assert!(
        file.contains("change: { form: { amount: \"2001\" } }"),
        "{file}"
    );
}

#[test]
fn a_variable_of_the_shell_keeps_its_name() {
    let file =
        text("curl http://localhost:1/orders -H \"Authorization: Bearer $MY_TOKEN\" -d note=x");
    assert!(file.contains("bearer: \"${secret.MY_TOKEN}\""), "{file}");
}

#[test]
fn the_key_may_stand_in_the_body() {
    let file =
        text(r#"curl http://localhost:1/orders --json '{"idempotency_key":"k","note":"x","n":1}'"#);
    assert!(
        file.contains("key: { json: \"$.idempotency_key\" }"),
        "{file}"
    );
    assert!(!file.contains("idempotency_key:"), "{file}");
    let file = text("curl http://localhost:1/orders -d request_id=k -d note=x");
    assert!(file.contains("key: { form: \"request_id\" }"), "{file}");
}

#[test]
fn a_quoted_key_stays_quoted() {
    let file = text(r#"curl http://localhost:1/o -H 'Idempotency-Key: "abc"' -d note=x"#);
    assert!(
        file.contains("key: { header: Idempotency-Key, quoted: true }"),
        "{file}"
    );
}

#[test]
fn another_header_can_be_the_key_and_one_is_proposed_without_any() {
    let file = text("curl http://localhost:1/o -H 'X-Request-Id: abc' -d note=x");
    assert!(file.contains("key: X-Request-Id"), "{file}");
    let file = text("curl http://localhost:1/o -d note=x");
    assert!(file.contains("key: Idempotency-Key"), "{file}");
}

#[test]
fn what_browsers_add_is_left_out_and_what_the_api_needs_is_kept() {
    let line = "curl http://localhost:1/o -H 'sec-fetch-mode: cors' -H 'User-Agent: x' -H 'Acme-Version: 2026-01-01' -H 'Accept: application/json' -d note=x";
    let file = text(line);
    assert!(!file.contains("sec-fetch"), "{file}");
    assert!(!file.contains("User-Agent"), "{file}");
    assert!(file.contains("Acme-Version: \"2026-01-01\""), "{file}");
    assert!(
        draft(line)
            .remarks
            .iter()
            .any(|remark| remark.contains("sec-fetch-mode"))
    );
}

#[test]
fn another_content_type_is_kept() {
    let file = text(
        r#"curl http://localhost:1/o -H 'Content-Type: application/vnd.api+json' -d '{"note":"x"}'"#,
    );
    assert!(
        file.contains("Content-Type: \"application/vnd.api+json\""),
        "{file}"
    );
    let file = text("curl http://localhost:1/o -H 'Content-Type: text/xml' -d '<a>${x}</a>'");
    assert!(file.contains("text: \"<a>$${x}</a>\""), "{file}");
}

#[test]
fn json_without_its_header_is_meant_as_json() {
    let line = r#"curl http://localhost:1/o -d '{"note":"x"}'"#;
    assert!(text(line).contains("json: { note: \"${marker}\" }"));
    assert!(
        draft(line)
            .remarks
            .iter()
            .any(|remark| remark.contains("application/json"))
    );
}

#[test]
fn what_looks_like_a_placeholder_is_none() {
    let file = text(r#"curl http://localhost:1/o --json '{"note":"x","text":"${marker} {{y}}"}'"#);
    assert!(file.contains("$${marker}"), "{file}");
}

#[test]
fn certificates_go_unchecked_on_this_machine_only() {
    let file = text("curl -k https://localhost:1/o -d note=x");
    assert!(file.contains("tls: { verify: false }"), "{file}");
    let line = "curl -k https://api.acme.test/o -d note=x";
    assert!(!text(line).contains("verify"));
    assert!(
        draft(line)
            .remarks
            .iter()
            .any(|remark| remark.contains("-k"))
    );
}

#[test]
fn a_live_host_is_warned_of() {
    let remarks = draft("curl https://api.acme.com/o -d note=x").remarks;
    assert!(
        remarks.iter().any(|remark| remark.contains("live")),
        "{remarks:?}"
    );
}

#[test]
fn a_big_body_is_written_over_several_lines() {
    let file = text(
        r#"curl http://localhost:1/orders --json '{"customer":{"email":"a@b.c","name":"A long name of somebody"},"items":[{"sku":"abc","quantity":1},{"sku":"def","quantity":2}],"description":"The first order"}'"#,
    );
    assert!(
        file.contains("        email: \"${unique}@example.com\"\n")
            || file.contains("customer: { email: \"${unique}@example.com\""),
        "{file}"
    );
    assert!(file.contains("description: \"${marker}\""), "{file}");
    assert!(file.contains("{ sku: abc, quantity: 2 }"), "{file}");
}

#[test]
fn effects_can_be_counted_by_a_command_or_not_at_all() {
    let draft = draft("curl http://localhost:1/orders -d note=x");
    let text = draft.text(&Counting::Command("wc -l < \"$marker\".log".to_owned()));
    check(Path::new("a.yaml"), &text).expect("it is a target");
    assert!(
        text.contains(r#"orders: { command: "wc -l < \"$marker\".log" }"#),
        "{text}"
    );
    let text = draft.text(&Counting::None);
    check(Path::new("a.yaml"), &text).expect("it is a target");
    assert!(!text.contains("effects"), "{text}");
}

#[test]
fn a_request_that_changes_nothing_is_refused() {
    let curl = Curl::parse("curl http://localhost:1/x", &|_| Err(String::new())).expect("curl");
    assert!(
        Draft::of(&curl, None)
            .expect_err("it reads")
            .contains("GET")
    );
}
