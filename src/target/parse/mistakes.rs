//! Tests of what mistakes in a target file are told.

use super::tests::FULL;
use super::tests::errors;
use super::tests::minimal;
use super::tests::warnings;
use crate::target::trial::load_text;

#[test]
fn features_that_are_not_built_are_refused_by_name() {
    for (text, feature, line) in [
        (minimal("    extends: other\n"), "extends", 6),
        (
            minimal("    change: { graphql: { query: x } }\n"),
            "graphql",
            6,
        ),
    ] {
        let errors = errors(&text);
        let expected = format!("{line}: `{feature}` is not supported yet");
        assert!(errors.contains(&expected), "{expected} in {errors:?}");
    }
    assert_eq!(
        errors(&minimal("    identity: \"//item[@a]\"\n")),
        [
            "6: the XML path `//item[@a]` is not understood: `[@a]` is no number from 1 on | /a/b, //b, b[2], * for any name, and text() or @name at the end"
        ]
    );
}

#[test]
fn credentials_that_are_asked_for_or_made_are_told_what_they_need() {
    let owner = |fields: &str| minimal(&format!("principals: {{ owner: {{ {fields} }} }}\n"));
    for (fields, expected) in [
        (
            "oauth2: { client-id: a }",
            "`oauth2` needs `token-url` and `client-id`",
        ),
        (
            "oauth2: { token-url: \"http://127.0.0.1/t\", client-id: a }",
            "`oauth2` needs a `client-secret`",
        ),
        (
            "token: { value: $.t }",
            "a token comes from a `request` or a `command`",
        ),
        (
            "headers: { A: \"${token}\" }",
            "${token} needs `token` or `oauth2` beside the principal's headers",
        ),
        (
            "basic: \"a:b\", token: { command: login }",
            "the token is used nowhere, and there is an Authorization",
        ),
        (
            "token: { request: \"POST /login?m=${marker}\" }",
            "${marker} has no value when a token is asked for",
        ),
        (
            "sign: { sigv4: { service: a } }",
            "`sigv4` needs `service` and `region`",
        ),
        (
            "sign: { sigv4: { service: a, region: b } }",
            "AWS_ACCESS_KEY_ID is not set: export AWS_ACCESS_KEY_ID=…, or put it into a file and set AWS_ACCESS_KEY_ID_FILE, or --secrets FILE",
        ),
    ] {
        let errors = errors(&owner(fields));
        let expected = format!("6: {expected}");
        let told = errors.iter().any(|error| error.starts_with(&expected));
        assert!(told, "{expected} in {errors:?}");
    }
}

#[test]
fn each_mistake_gets_its_message_and_place() {
    for (text, expected) in [
        (
            minimal("    effects: { e: { command: \"psql ${env.DB}\" } }\n"),
            "6: commands are run by the shell with your environment: write $DB",
        ),
        (
            minimal("    effects: { e: { request: \"GET /p/${identity}\", state: $ } }\n"),
            "6: a probe runs also when no response came: use ${marker}, ${unique}, ${key} or ${request:…}",
        ),
        (
            minimal("    effects: { e: { command: \"count $identity\" } }\n"),
            "6: a probe runs also when no response came: use ${marker}, ${unique}, ${key} or ${request:…}",
        ),
        (
            minimal("    read: \"GET /p/{{id}}\"\n"),
            "6: placeholders are ${id}, not {{id}}",
        ),
        (
            minimal("    read: \"GET /p/${{ id }}\"\n"),
            "6: placeholders are ${id}, not ${{id}}",
        ),
        (
            minimal("    read: GET /p/$response.body#/data/id\n"),
            "6: here: ${response:$.data.id}",
        ),
        (
            minimal("    change: { form: { a: 1 } }\n"),
            "6: the request's body is json",
        ),
        (minimal("settle: 2\n"), "6: a duration needs a unit: 2s"),
        (
            minimal("    request2: x\n"),
            "6: unknown field `request2` in the operation `pay` | did you mean `request`?",
        ),
        (
            minimal("    change: { jsn: { amount: 2 } }\n"),
            "6: unknown field `jsn` in a patch | did you mean `json`?",
        ),
        (
            minimal("principals: { alice: { bearer: \"${secret.TOKEN}\" } }\n"),
            "6: unknown role `alice`: roles are owner, other-tenant, same-tenant, other-session, read-only, expired, revoked, observer, anonymous: scenarios ask for a role, not a name",
        ),
        (
            minimal("fixtures: { f: { operation: pya } }\n"),
            "6: unknown operation `pya` | did you mean `pay`?",
        ),
        (
            minimal("    change: { json: { a: \"${markr}\" } }\n"),
            "6: unknown placeholder ${markr} | did you mean ${marker}?",
        ),
        (
            minimal("    change: { json: { a: \"${SHOP}\" } }\n"),
            "6: unknown placeholder ${SHOP} | did you mean ${env.SHOP}?",
        ),
        (
            minimal("    change: { json: { a: \"${env.NOWHERE}\" } }\n"),
            "6: NOWHERE is not set: export NOWHERE=…",
        ),
        (
            minimal("principals: { owner: { bearer: \"${secret.T}\" } }\n"),
            "6: T is not set: export T=…, or put it into a file and set T_FILE, or --secrets FILE",
        ),
        (
            minimal("principals: { owner: { bearer: \"${env.TOKEN}\" } }\n"),
            "6: this is a credential and uses ${env.TOKEN}: write ${secret.TOKEN}, or it will be printed",
        ),
        (
            minimal("    change: { json: { a: \"${uuid}\" } }\n"),
            "6: ${uuid} in a body changes the payload in every retry: use ${unique}",
        ),
        (
            minimal("    read: GET /p/${request:$.id}\n"),
            "6: ${request:$.id} has no value in `read` and `cleanup`",
        ),
        (
            minimal("    change: { json: { a: \"${given.identity}\" } }\n"),
            "6: ${given.identity} needs `given: OPERATION` beside the request",
        ),
        (
            minimal("vars: { a: 1 }\nfixtures: { a: { request: GET /a } }\n"),
            "7: `a` is both a var and a fixture",
        ),
        (
            minimal("fixtures: { a: { request: \"GET /${b}\" }, b: { request: \"GET /${a}\" } }\n"),
            "6: fixtures depend on each other: a → b → a",
        ),
        (
            minimal("    given: b\n  b: { request: POST /b, given: pay }\n"),
            "6: operations are given to each other: pay → b → pay",
        ),
        (
            minimal(
                "    change: { json: { a: \"${f}\" } }\n  b: { request: \"POST /${f}\" }\nfixtures: { f: { operation: b } }\n",
            ),
            "8: fixtures depend on each other: f → f",
        ),
        (
            minimal("fixtures: { a: { request: \"GET /${marker}\" } }\n"),
            "6: the fixture is made once per run and uses ${marker}, which is new for each scenario: write per: scenario",
        ),
        (
            minimal("    success: { status: { is: 2 } }\n"),
            "6: unknown matcher: values are a scalar, a list (any of), /regex/, present, absent, or 2xx",
        ),
        (
            minimal("    effects: { e: { request: GET /p } }\n"),
            "6: the probe `e` needs one of `ids`, `count`, `value` and `state`",
        ),
        (
            minimal("hooks: { kil: x }\n"),
            "6: unknown hook `kil` | did you mean `kill`?",
        ),
        (
            minimal("    effects: { e: { request: GET /p, ids: $.a, as: observer } }\n"),
            "6: there is no principal `observer`",
        ),
        (
            minimal("key: { json: \"$.a[*]\" }\n"),
            "6: the key's place is one node: a path such as $.meta.key",
        ),
        (
            minimal("vars: { marker: x }\n"),
            "6: `marker` is a name of ours",
        ),
        (
            minimal("tls: { verify: false }\n").replace("http://127.0.0.1:1", "https://a.test"),
            "6: `verify: false` is for loopback only",
        ),
    ] {
        let errors = errors(&text);
        assert!(
            errors.iter().any(|error| error == expected),
            "{expected}\nis not in {errors:#?}"
        );
    }
}

#[test]
fn old_json_paths_get_the_new_form() {
    let errors = errors(&minimal("    identity: $.[*].id\n"));
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0].starts_with("6: `$.[*].id` is no JSONPath"),
        "{errors:?}"
    );
    assert!(
        errors[0].ends_with("RFC 9535: write `$[*].id`"),
        "{errors:?}"
    );
}

#[test]
fn two_bodies_are_refused_with_both_places() {
    let text = minimal("").replace("json: {", "form: { a: 1 }, json: {");
    let problems = load_text(&text).expect_err("two bodies");
    assert_eq!(problems[0].message, "one body: json at 5:56, form at 5:40");
    assert_eq!(problems[0].related.len(), 1);
}

#[test]
fn a_placeholder_is_marked_where_it_stands() {
    let problems = load_text(&minimal("    read: GET /p/${identiti}\n")).expect_err("a typo");
    assert_eq!(
        problems[0].span.as_ref().expect("a place").text(),
        "${identiti}"
    );
}

#[test]
fn all_problems_are_told_at_once_in_the_order_of_the_file() {
    let text = minimal("    identity: nothing\nsettle: 2\nhooks: { kil: x }\n");
    let lines: Vec<String> = errors(&text)
        .iter()
        .map(|error| error.chars().take(1).collect())
        .collect();
    assert_eq!(lines, ["6", "7", "8"]);
}

#[test]
fn doubtful_things_are_warned_of() {
    assert_eq!(
        warnings(&minimal("    change: { json: { amount: 10.00 } }\n")),
        ["6: is the number 10.0; quote it if the API wants \"10.00\""]
    );
    assert_eq!(
        warnings(&minimal("    change: { json: { list: [1] } }\n")),
        ["6: replaces 3 entries by 1: lists are not merged"]
    );
    let foreign = warnings(&minimal("    change: { json: { amount: \"{{x}}\" } }\n"));
    assert_eq!(foreign, ["6: placeholders are ${x}, not {{x}}"]);
    assert_eq!(
        warnings(&minimal(
            "    variants: { dryrun: { query: { dry: 1 } }, mine: { path: /q } }\n"
        )),
        ["6: no scenario of ours uses a variant `dryrun` | did you mean `dry-run`?"]
    );
    let literal = warnings(&minimal("principals: { owner: { bearer: abc } }\n"));
    assert!(literal[0].contains("holds no ${secret…}"), "{literal:?}");
    assert!(warnings(FULL).is_empty(), "{:?}", warnings(FULL));
}
