use super::Document;

const YAML: &str = r##"
openapi: 3.1.0
info: { title: Payments, version: "1" }
servers: [ { url: "https://api.acme.test/v1/" } ]
paths:
  /payments:
    parameters: [ { $ref: "#/components/parameters/Key" } ]
    post:
      responses:
        "201": { description: made }
        "409": { description: in progress, headers: { Retry-After: { schema: { type: integer } } } }
        4XX: { description: refused }
    get: { responses: { "200": { description: all } } }
  /payments/{id}:
    patch: { responses: { "200": { description: changed }, default: { description: else } } }
  /payments/all:
    post:
      requestBody:
        content: { application/json: { schema: { $ref: "#/components/schemas/Batch" } } }
      responses: { "201": { description: made } }
components:
  parameters:
    Key: { name: Idempotency-Key, in: header, required: true, schema: { type: string, format: uuid, maxLength: 36 } }
  schemas:
    Batch:
      allOf:
        - { type: object, required: [ idempotency_key ], properties: { idempotency_key: { type: string } } }
"##;

#[test]
fn keys_statuses_and_retry_after_are_read() {
    let document = Document::read(YAML).expect("it is a document");
    assert_eq!(document.title, "Payments");
    let pay = document
        .operation("POST", "/v1/payments")
        .expect("declared");
    let key = pay.key.as_ref().expect("a key");
    assert_eq!(
        (key.name.as_str(), key.place.as_str()),
        ("Idempotency-Key", "header")
    );
    assert_eq!((key.required, key.max), (true, Some(36)));
    assert_eq!(key.format.as_deref(), Some("uuid"));
    assert!(pay.declares(409) && pay.declares(422) && !pay.declares(503));
    assert!(pay.declares_retry_after(409) && !pay.declares_retry_after(422));
    let batch = document
        .operation("post", "/payments/all")
        .expect("declared");
    assert_eq!(
        batch.key.as_ref().map(|key| key.place.as_str()),
        Some("body")
    );
}

#[test]
fn a_path_with_parameters_stands_for_any_and_default_for_nothing() {
    let document = Document::read(YAML).expect("it is a document");
    let change = document.operation("PATCH", "/v1/payments/${given.identity}");
    assert!(!change.expect("declared").declares(422));
    assert!(document.operation("PATCH", "/v1/payments").is_none());
    let keyless: Vec<&str> = document
        .without_a_key()
        .map(|operation| operation.path.as_str())
        .collect();
    assert_eq!(keyless, ["/payments/{id}"]);
}

#[test]
fn json_is_read_like_yaml_and_what_is_neither_is_named() {
    let json =
        r#"{"openapi":"3.0.3","info":{"title":"A"},"paths":{"/a":{"post":{"responses":{}}}}}"#;
    assert_eq!(
        Document::read(json)
            .expect("it is a document")
            .operations
            .len(),
        1
    );
    for (text, says) in [
        ("{", "no JSON"),
        ("a: [", "no YAML"),
        ("swagger: '2.0'", "Swagger 2.0"),
        ("title: x", "no OpenAPI document"),
        ("openapi: 3.0.0\npaths: {}", "no operation"),
    ] {
        let problem = Document::read(text).expect_err(text);
        assert!(problem.contains(says), "{text}: {problem}");
    }
}

#[test]
fn references_that_go_in_circles_end() {
    let text = "openapi: 3.0.0\npaths:\n  /a: { $ref: '#/paths/~1a' }\n  /b: { post: { responses: {} } }\n";
    assert_eq!(
        Document::read(text)
            .expect("it is a document")
            .operations
            .len(),
        1
    );
}
