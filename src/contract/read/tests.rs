//! Overrides, files, and what is refused.

use super::{resolve, resolve_with};
use crate::contract::{Contract, Kind, Lifetime, PrincipalScope, ReplayMarker, Required};
use crate::promise::Strength;
use crate::yaml::{self, Node, Source};
use std::sync::Arc;

fn node(text: &str) -> Node {
    let source = Source {
        name: "target.yaml".to_owned(),
        text: text.to_owned(),
    };
    yaml::parse(Arc::new(source)).unwrap_or_else(|problem| panic!("{problem}"))
}

fn contract(text: &str) -> Contract {
    resolve(Some(&node(text))).unwrap_or_else(|problem| panic!("{problem}"))
}

fn refusal(text: &str) -> String {
    match resolve(Some(&node(text))) {
        Ok(_) => panic!("it was taken"),
        Err(problem) => format!("{} {}", problem.message, problem.help.unwrap_or_default()),
    }
}

/// A reader of these files.
fn files<'a>(
    files: &'a [(&'a str, &'a str)],
) -> impl Fn(&str, &str) -> Result<Source, String> + 'a {
    move |path, _from| {
        let found = files.iter().find(|(name, _)| *name == path);
        let (name, text) = found.ok_or("there is no such file")?;
        Ok(Source {
            name: (*name).to_owned(),
            text: (*text).to_owned(),
        })
    }
}

#[test]
fn an_override_replaces_one_promise_and_leaves_the_others() {
    let own = contract("extends: demo\non: { mismatch: { outcome: reject, status: 409 } }");
    assert_eq!(own.name, "demo+");
    let mismatch = &own.mismatch.value.as_ref().expect("declared")[0];
    assert!(mismatch.names_status(409) && !mismatch.names_status(422));
    assert_eq!(own.mismatch.strength, Strength::Must);
    assert!(own.replay.is_declared());
    assert_eq!(contract("extends: demo").name, "demo");
    let elsewhere = contract("extends: demo\nkey: { json: $.key }");
    assert_eq!(elsewhere.key.header, None);
    assert_eq!(elsewhere.key.place().as_deref(), Some("$.key of the body"));
}

#[test]
fn a_contract_may_stand_in_a_file_and_extend_another_one() {
    let there = [
        (
            "ours.yaml",
            "contract: ours\nextends: base.yml\nscope: { principal: user }",
        ),
        (
            "base.yml",
            "extends: demo\non: { replay: { outcome: replay-current } }",
        ),
    ];
    let ours = resolve_with(Some(&node("ours.yaml")), &files(&there))
        .unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(ours.name, "ours");
    assert_eq!(ours.principal_scope.value, Some(PrincipalScope::User));
    assert_eq!(
        ours.replay.value.expect("declared")[0].kind,
        Kind::ReplayCurrent
    );
    let over = node("extends: ours.yaml\nlock-timeout: 3s");
    let over =
        resolve_with(Some(&over), &files(&there)).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(over.name, "ours+");
}

#[test]
fn a_file_that_is_missing_or_leads_back_to_itself_is_refused() {
    let round = [("a.yaml", "extends: b.yaml"), ("b.yaml", "extends: a.yaml")];
    let message = |name: &str| {
        resolve_with(Some(&node(name)), &files(&round))
            .expect_err("it cannot be resolved")
            .message
    };
    assert_eq!(message("a.yaml"), "a.yaml extends itself");
    assert_eq!(
        message("c.yaml"),
        "cannot read c.yaml: there is no such file"
    );
    assert!(resolve(Some(&node("a.yaml"))).is_err());
}

#[test]
fn mistakes_are_named_with_what_is_right() {
    assert!(refusal("stripe").contains("did you mean `"));
    assert!(refusal("extends: [demo]").contains("a profile or a file"));
    assert!(refusal("on: { mismatch: { status: 409 } }").contains("outcome"));
    assert!(
        refusal("on: { mismatch: { any-of: [ { outcome: reject } ], status: 409 } }")
            .contains("any-of")
    );
    assert!(refusal("on: { mismatch: { outcome: reject, status: 600 } }").contains("409"));
    assert!(refusal("on: { mismatch: { outcome: reject, status: 9xx } }").contains("409"));
    assert!(
        refusal("on: { mismatch: { outcome: reject, xml: { \"//a[last()]\": x } } }")
            .contains("//a[last()]")
    );
    assert!(
        refusal("on: { mismatch: { outcome: reject, json: { code: x } } }").contains("JSONPath")
    );
    assert!(refusal("retention: { max: 24h }").contains("min"));
    assert!(refusal("retention: { min: 24h, forever: true }").contains("forever"));
    assert!(refusal("replay-marker: { header: X, status: 200 }").contains("replay marker"));
    assert!(refusal("replay-marker: { status: 200, value: x }").contains("replay marker"));
    assert!(refusal("on: { mismatched: unspecified }").contains("mismatch"));
    assert!(refusal("after: { server-4xx: unspecified }").contains("server-5xx"));
}

#[test]
fn short_and_long_ways_to_write_a_promise_say_the_same() {
    let short = contract("key: { required: true }\nscope: { principal: tenant }");
    assert_eq!(short.key.required.value, Some(Required::Required));
    assert_eq!(short.principal_scope.strength, Strength::Must);
    let long = contract("key: { required: { is: auto-generated, strength: may, source: x } }");
    assert_eq!(long.key.required.value, Some(Required::AutoGenerated));
    assert_eq!(long.key.required.strength, Strength::May);
    assert_eq!(long.key.required.source.as_deref(), Some("x"));
    let forever = contract("retention: { forever: true, strength: should }");
    assert_eq!(forever.lifetime.value, Some(Lifetime::Forever));
    assert_eq!(forever.lifetime.strength, Strength::Should);
    assert_eq!(forever.retention, None);
    let marker = contract("replay-marker: { json: $.replayed, value: true, first: false }");
    assert!(matches!(
        marker.replay_marker.value,
        Some(ReplayMarker::Json { value, first: Some(first), .. }) if value == "true" && first == "false"
    ));
}
