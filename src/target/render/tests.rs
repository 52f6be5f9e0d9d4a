//! Requests from YAML to bytes.

use super::*;
use crate::target::principal::Role;
use crate::target::trial;
use crate::target::trial::Fixed;
use crate::target::trial::Trial;

/// A target with one operation.
fn yaml(top: &str, request: &str) -> String {
    format!(
        "target: T\nbase-url: http://127.0.0.1:8080/v1\n{top}\noperations:\n  pay:\n    request: {request}\n"
    )
}

fn rendered(top: &str, request: &str) -> Rendered {
    trial::render(&yaml(top, request), &[])
}

fn body(rendered: &Rendered) -> &str {
    std::str::from_utf8(rendered.body.as_deref().unwrap_or_default()).expect("text")
}

fn header<'a>(rendered: &'a Rendered, name: &str) -> Vec<&'a str> {
    let all = rendered.headers.iter();
    all.filter(|(header, _)| header == name)
        .map(|(_, value)| std::str::from_utf8(value).expect("text"))
        .collect()
}

#[test]
fn a_sole_placeholder_keeps_its_type_and_others_become_text() {
    let request = "{ method: POST, path: /p, json: { a: \"${number}\", b: \"n ${number}\", c: \"${vars_too}\", d: 7, e: \"$${x}\" } }";
    let top = "vars: { vars_too: [1, x] }\nfixtures: { number: { request: GET /n } }";
    assert_eq!(
        body(&rendered(top, request)),
        r#"{"a":42,"b":"n 42","c":[1,"x"],"d":7,"e":"${x}"}"#
    );
}

#[test]
fn values_in_paths_and_queries_are_encoded() {
    let top = "fixtures: { odd: { request: GET /n } }";
    let request =
        "{ method: POST, path: \"/p/${odd}?f=a%3D${odd}&g=1\", query: { h i: \"${odd}&\" } }";
    let odd = "it%27s%20%22a%2Fb%22";
    assert_eq!(
        rendered(top, request).path_and_query,
        format!("/v1/p/{odd}?f=a%3D{odd}&g=1&h%20i={odd}%26")
    );
}

#[test]
fn every_body_kind_is_written() {
    let json = rendered(
        "",
        "{ method: POST, path: /p, json: { b: 1, a: [null, true] } }",
    );
    assert_eq!(body(&json), r#"{"b":1,"a":[null,true]}"#);
    assert_eq!(header(&json, "Content-Type"), ["application/json"]);
    let form = rendered(
        "",
        "{ method: POST, path: /p, form: { a: 1, m: { x: y z }, l: [true] } }",
    );
    assert_eq!(body(&form), "a=1&m[x]=y+z&l[0]=true");
    assert_eq!(
        header(&form, "Content-Type"),
        ["application/x-www-form-urlencoded"]
    );
    let text = rendered(
        "",
        "{ method: POST, path: /p, text: \"hello ${marker}\", headers: { content-type: text/csv } }",
    );
    assert_eq!(body(&text), "hello m1");
    assert_eq!(header(&text, "content-type"), ["text/csv"]);
    assert!(header(&text, "Content-Type").is_empty());
    let none = rendered("headers: { Content-Type: application/json }", "DELETE /p");
    assert_eq!(none.body, None);
    assert!(header(&none, "Content-Type").is_empty());
}

#[test]
fn the_key_goes_where_the_place_says() {
    let post = "{ method: POST, path: /p, json: { a: 1 } }";
    let in_header = rendered("key: Idempotency-Key", post);
    assert_eq!(header(&in_header, "Idempotency-Key"), ["key-1"]);
    let in_query = rendered("key: { query: requestId }", post);
    assert_eq!(in_query.path_and_query, "/v1/p?requestId=key-1");
    let in_json = rendered("key: { json: \"$.meta.keys[0]\" }", post);
    assert_eq!(body(&in_json), r#"{"a":1,"meta":{"keys":["key-1"]}}"#);
    let in_form = rendered(
        "key: { form: Token }",
        "{ method: POST, path: /p, form: { a: 1 } }",
    );
    assert_eq!(body(&in_form), "a=1&Token=key-1");
    let written = rendered(
        "key: X-Other",
        "{ method: POST, path: /p, json: { k: \"a-${key}\" } }",
    );
    assert_eq!(body(&written), r#"{"k":"a-key-1"}"#);
    assert!(header(&written, "X-Other").is_empty());
    let quoted = rendered("key: { header: K, quoted: true }", post);
    assert_eq!(header(&quoted, "K"), ["\"key-1\""]);
}

#[test]
fn what_was_sent_can_be_selected_in_json_and_forms() {
    let select = |rendered: &Rendered, selector: &str| {
        rendered.select(&Selector::parse(selector).expect("a selector"))
    };
    let form = rendered(
        "key: { form: k }",
        "{ method: POST, path: /p, form: { m: { r: \"${marker}\" } } }",
    );
    assert_eq!(select(&form, "$.m.r"), [serde_json::json!("m1")]);
    assert_eq!(select(&form, "$.k"), [serde_json::json!("key-1")]);
    let json = rendered(
        "key: K",
        "{ method: POST, path: /p, json: { r: \"${marker}\" } }",
    );
    assert_eq!(select(&json, "$.r"), [serde_json::json!("m1")]);
    assert_eq!(select(&json, "header.k"), [serde_json::json!("key-1")]);
}

#[test]
fn debug_shows_no_credentials() {
    let shown = format!("{:?}", rendered(PRINCIPALS, POST));
    assert!(shown.contains("Authorization"));
    assert!(!shown.contains("abcdefgh") && !shown.contains("zyxwvuts"));
}

#[test]
fn a_key_can_be_left_out_sent_twice_quoted_or_raw() {
    let yaml = yaml(
        "key: K",
        "{ method: POST, path: /p, json: { a: 1 }, headers: { k: own } }",
    );
    let with = |key: KeyUse| {
        Trial {
            key,
            ..Trial::default()
        }
        .render(&yaml)
        .expect("renders")
    };
    let values = |key| {
        let rendered = with(key);
        let all = rendered.headers.into_iter();
        all.filter(|(name, _)| name.eq_ignore_ascii_case("k"))
            .map(|(_, value)| value)
            .collect::<Vec<_>>()
    };
    assert!(values(KeyUse::None).is_empty());
    assert_eq!(
        values(KeyUse::Lines(vec!["a".to_string(), "b".to_string()])),
        [b"a".to_vec(), b"b".to_vec()]
    );
    let quoted = KeyUse::Value {
        text: "a\"b".to_string(),
        quoted: Some(true),
    };
    assert_eq!(values(quoted), [b"\"a\\\"b\"".to_vec()]);
    assert_eq!(values(KeyUse::Raw(vec![1, 0xff])), [vec![1, 0xff]]);
    let broken = Trial {
        key: KeyUse::value("a\r\nX: y"),
        ..Trial::default()
    }
    .render(&yaml);
    assert!(matches!(broken, Err(RenderError::Invalid(_))));
}

#[test]
fn a_key_that_cannot_be_sent_twice_is_not_applicable() {
    let yaml = yaml("key: { query: k }", "POST /p");
    let key = KeyUse::Lines(vec!["a".to_string()]);
    let error = Trial {
        key,
        ..Trial::default()
    }
    .render(&yaml);
    assert!(matches!(error, Err(RenderError::NotApplicable(_))));
}

const PRINCIPALS: &str = "headers: { X-Version: 1, X-Own: target }\nprincipals:\n  owner: { bearer: \"${secret.TOKEN}\", headers: { Cookie: a=b, X-Tenant: acme, X-Sig: \"s-${secret.OTHER}\" }, query: { api_key: \"${secret.OTHER}\" } }\n  other-tenant: { basic: \"${secret.TOKEN}:\" }\n  same-tenant: { bearer: literal-token }";
const POST: &str = "{ method: POST, path: /p, json: { a: 1, token: \"${secret.TOKEN}\" }, headers: { X-Own: request } }";

#[test]
fn headers_come_from_request_target_and_principal() {
    let rendered = rendered(PRINCIPALS, POST);
    let names: Vec<&str> = rendered
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "X-Own",
            "X-Version",
            "Content-Type",
            "Authorization",
            "Cookie",
            "X-Tenant",
            "X-Sig"
        ]
    );
    assert_eq!(header(&rendered, "X-Own"), ["request"]);
    assert_eq!(
        header(&rendered, "Authorization"),
        ["Bearer abcdefgh12345678"]
    );
    assert_eq!(rendered.path_and_query, "/v1/p?api_key=zyxwvuts87654321");
}

#[test]
fn basic_credentials_are_encoded() {
    let trial = Trial {
        role: Role::OtherTenant,
        ..Trial::default()
    };
    let rendered = trial.render(&yaml(PRINCIPALS, POST)).expect("renders");
    assert_eq!(
        header(&rendered, "Authorization"),
        ["Basic YWJjZGVmZ2gxMjM0NTY3ODo="]
    );
}

#[test]
fn without_credentials_everything_that_a_secret_went_into_is_left_out() {
    let trial = Trial {
        credentials: Credentials::Without,
        ..Trial::default()
    };
    let rendered = trial.render(&yaml(PRINCIPALS, POST)).expect("renders");
    let names: Vec<&str> = rendered
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["X-Own", "X-Version", "Content-Type", "X-Tenant"]);
    assert_eq!(rendered.path_and_query, "/v1/p");
    assert_eq!(body(&rendered), r#"{"a":1}"#);
    let literal = Trial {
        role: Role::SameTenant,
        ..trial
    };
    let rendered = literal.render(&yaml(PRINCIPALS, POST)).expect("renders");
    assert!(header(&rendered, "Authorization").is_empty());
}

#[test]
fn wrong_credentials_have_the_same_shape_and_are_the_same_again() {
    let with = |role, seed| {
        let credentials = Credentials::Wrong { seed };
        let trial = Trial {
            role,
            credentials,
            ..Trial::default()
        };
        trial.render(&yaml(PRINCIPALS, POST)).expect("renders")
    };
    let first = with(Role::Owner, 1);
    let token = header(&first, "Authorization")[0];
    assert_eq!(token.len(), "Bearer abcdefgh12345678".len());
    assert!(token.starts_with("Bearer "));
    assert!(!token.contains("abcdefgh12345678"));
    assert!(!first.path_and_query.contains("zyxwvuts87654321"));
    assert_eq!(first, with(Role::Owner, 1));
    assert_ne!(first.headers, with(Role::Owner, 2).headers);
    let literal = with(Role::SameTenant, 1);
    assert_ne!(header(&literal, "Authorization"), ["Bearer literal-token"]);
    let cookie = header(&first, "Cookie")[0];
    assert!(cookie.starts_with("a=") && cookie != "a=b", "{cookie}");
}

#[test]
fn forms_change_bytes_but_not_the_intent() {
    let yaml = yaml(
        "key: K",
        "{ method: POST, path: /p, json: { amount: 2000, m: \"${marker}\" } }",
    );
    let plain = trial::render(&yaml, &[]);
    let with = |form| {
        Trial {
            forms: &[form],
            ..Trial::default()
        }
        .render(&yaml)
        .expect("applies")
    };
    for (form, expected) in [
        (Form::Reordered, "{\"m\":\"m1\",\"amount\":2000}"),
        (Form::NumberForm, "{\"amount\":2000.0,\"m\":\"m1\"}"),
        (
            Form::Escaped,
            "{\"\\u0061mount\":2000,\"\\u006d\":\"\\u006d1\"}",
        ),
        (Form::Spaced, "{\n  \"amount\" : 2000,\n  \"m\" : \"m1\"\n}"),
    ] {
        let rendered = with(form);
        assert_eq!(body(&rendered), expected);
        assert_eq!(rendered.intent, plain.intent);
    }
    assert!(with(Form::Chunked).chunked);
    assert_eq!(header(&with(Form::AcceptGzip), "Accept-Encoding"), ["gzip"]);
    assert_eq!(
        header(&with(Form::AcceptIdentity), "Accept-Encoding"),
        ["identity"]
    );
    assert_eq!(header(&with(Form::OtherUserAgent), "User-Agent").len(), 1);
    let ids = with(Form::OtherRequestId);
    assert_eq!(
        header(&ids, "X-Request-Id"),
        ["01234567-89ab-4cde-8f01-23456789abcd"]
    );
    assert_eq!(
        header(&ids, "traceparent"),
        ["00-0123456789ab4cde8f0123456789abcd-8f0123456789abcd-01"]
    );
    let upper = with(Form::UpperCaseHeaders);
    assert!(upper.upper_case_headers);
    assert_eq!(header(&upper, "CONTENT-TYPE"), ["application/json"]);
}

#[test]
fn a_request_id_that_is_the_key_stays() {
    let yaml = yaml("key: X-Request-Id", "POST /p");
    let trial = Trial {
        forms: &[Form::OtherRequestId],
        ..Trial::default()
    };
    let rendered = trial.render(&yaml).expect("applies");
    assert_eq!(header(&rendered, "X-Request-Id"), ["key-1"]);
    assert_eq!(header(&rendered, "traceparent").len(), 1);
}

#[test]
fn forms_that_do_not_apply_say_so() {
    for (form, request) in [
        (Form::Spaced, "{ method: POST, path: /p, form: { a: 1 } }"),
        (
            Form::Reordered,
            "{ method: POST, path: /p, json: { a: 1 } }",
        ),
        (Form::Chunked, "DELETE /p"),
        (
            Form::NewBoundary,
            "{ method: POST, path: /p, json: { a: 1 } }",
        ),
    ] {
        let trial = Trial {
            forms: &[form],
            ..Trial::default()
        };
        let error = trial.render(&yaml("", request));
        assert!(
            matches!(error, Err(RenderError::NotApplicable(_))),
            "{form:?}"
        );
    }
}

#[test]
fn intent_knows_no_key_no_secret_and_no_uuid() {
    let yaml = yaml(
        PRINCIPALS,
        "{ method: POST, path: /p, json: { k: \"${key}\", s: \"${secret.TOKEN}\" }, headers: { X: \"${uuid}\" } }",
    );
    let with = |key: &str, credentials| {
        let trial = Trial {
            key: KeyUse::value(key),
            credentials,
            ..Trial::default()
        };
        trial.render(&yaml).expect("renders").intent
    };
    let first = with("a", Credentials::Normal);
    assert_eq!(first, with("b", Credentials::Without));
    assert!(!String::from_utf8_lossy(&first).contains("abcdefgh"));
}

#[test]
fn patches_merge_one_after_another() {
    let yaml = yaml(
        "",
        "{ method: POST, path: \"/p?dry=0\", json: { a: 1, b: { c: 2 } } }",
    );
    let target = trial::target(&yaml.replace(
        "operations:\n  pay:\n",
        "operations:\n  pay:\n    variants:\n      one: { json: { a: 3, b: { d: 4 } }, query: { dry: 1 } }\n      two: { json: { a: null, e: \"${filler:3}\" }, path: /q }\n",
    ));
    let patches: Vec<&Patch> = target.operations[0]
        .variants
        .iter()
        .map(|variant| &variant.patch)
        .collect();
    let rendered = trial::render(&yaml, &patches);
    assert_eq!(body(&rendered), r#"{"b":{"c":2,"d":4},"e":"abc"}"#);
    assert_eq!(rendered.path_and_query, "/v1/q?dry=1");
}

#[test]
fn a_path_from_a_response_is_taken_as_it_is() {
    let yaml = yaml("hosts: [other.test]", "POST /p");
    let target = trial::target(
        &(yaml
            + "    result: { request: \"GET ${response:header.Location}\", until: { status: 200 } }\n    effects: { e: { request: \"GET ${request:$.path}\", ids: $.id } }\n"),
    );
    let base = target.base_urls[0].resolve(|_| None).expect("a URL");
    let render_it = |request: &Request| {
        render(&Recipe {
            target: &target,
            base: &base,
            request,
            patches: &[],
            forms: &[],
            key: None,
            principal: &target.principals[&Role::Owner],
            credentials: Credentials::Normal,
            token: None,
            values: &Fixed,
        })
        .expect("renders")
    };
    let result = target.operations[0].result.as_ref().expect("a result");
    let rendered = render_it(&result.request);
    assert_eq!(rendered.origin, "https://other.test");
    assert_eq!(rendered.path_and_query, "/ops/1?x=y");
    let crate::target::operation::ProbeSource::Request(request) =
        &target.operations[0].effects[0].source
    else {
        panic!("a request");
    };
    let rendered = render_it(request);
    assert_eq!(rendered.origin, "http://127.0.0.1:8080");
    assert_eq!(rendered.path_and_query, "/sent/path");
}

#[test]
fn a_probe_selector_is_filled_in_and_quotes_cannot_break_it() {
    let yaml = yaml("fixtures: { odd: { request: GET /n } }", "POST /p")
        + "    effects: { e: { request: GET /l, ids: \"$[?@.n == '${odd}'].id\" } }\n";
    let target = trial::target(&yaml);
    let template = target.operations[0].effects[0].reading.selector();
    let owner = &target.principals[&Role::Owner];
    let selector = selector(template, &target, owner, &Fixed).expect("a selector");
    let list = serde_json::json!([{"n": "it's \"a/b\"", "id": 1}, {"n": "x", "id": 2}]);
    assert_eq!(selector.select_in(&list), [serde_json::json!(1)]);
}

#[test]
fn commands_get_values_by_their_environment() {
    let yaml = yaml(
        "vars: { db: \"d $x\" }\nfixtures: { shop: { request: GET /s }, unused: { request: GET /u } }",
        "POST /p",
    ) + "    effects: { e: { command: \"count ${marker} $shop $db $HOME\" } }\n";
    let target = trial::target(&yaml);
    let crate::target::operation::ProbeSource::Command(command) =
        &target.operations[0].effects[0].source
    else {
        panic!("a command");
    };
    assert_eq!(command.script, "count ${marker} $shop $db $HOME");
    let owner = &target.principals[&Role::Owner];
    let environment = command::environment(command, &target, owner, &Fixed).expect("values");
    let get = |name: &str| {
        environment
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!(get("marker"), Some("m1"));
    assert_eq!(get("db"), Some("d $x"));
    assert_eq!(get("shop"), Some("f-shop"));
    assert_eq!(get("unused"), None);
    assert_eq!(get("seconds"), None);
}
