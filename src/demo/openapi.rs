//! The demo's own OpenAPI document, as its policy has it; flaws make it lie.

use serde_json::{Map, Value, json};

use super::flaw::Flaw;
use super::flaws::Flaws;
use super::policy::{InProgress, Mismatch, Place, Policy, Refusal, Unkeyed};

/// The document.
pub fn document(policy: &Policy, flaws: Flaws) -> Value {
    let pay = write(policy, flaws, 201, "Make a payment");
    let refund = write(policy, flaws, 201, "Make a refund");
    let change = write(policy, flaws, 200, "Change a payment");
    let read = |summary: &str| {
        json!({"summary": summary, "responses": {
            "200": {"description": "found"},
            "401": {"description": "no known credentials"},
            "404": {"description": "nothing there"},
        }})
    };
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Demo payments API", "version": env!("CARGO_PKG_VERSION")},
        "paths": {
            "/payments": {"get": read("List payments"), "post": pay},
            "/payments/{id}": {
                "get": read("Read a payment"),
                "patch": change,
                "delete": keyless(204, "Delete a payment"),
            },
            "/mandates/{name}": {
                "get": read("Read a mandate"),
                "put": keyless(200, "Make a mandate, or make it anew"),
            },
            "/redemptions": {"get": read("List redemptions"), "post": keyless(201, "Redeem a coupon")},
            "/orders": {"get": read("List orders"), "post": keyless(201, "Order a cart as it was seen")},
            "/refunds": {"get": read("List refunds"), "post": refund},
            "/refunds/{id}": {"get": read("Read a refund")},
        },
    })
}

/// An operation that takes no key: its meaning, a bound or a version protects it.
fn keyless(made: u16, summary: &str) -> Value {
    let mut responses = Map::new();
    for (status, description) in [
        (made, "done"),
        (400, "no valid request"),
        (401, "no known credentials"),
        (403, "may read only"),
        (404, "nothing there"),
        (409, "used up, or no longer as it was seen"),
    ] {
        responses.insert(status.to_string(), json!({"description": description}));
    }
    json!({"summary": summary, "responses": responses})
}

/// An operation that needs a key.
fn write(policy: &Policy, flaws: Flaws, made: u16, summary: &str) -> Value {
    let mut responses = Map::new();
    let mut declare = |status: u16, description: &str, retry_after: bool| {
        let mut response = json!({"description": description});
        if retry_after {
            response["headers"] = json!({"Retry-After": {"schema": {"type": "integer"}}});
        }
        // A status with two meanings keeps the one that says more.
        let known = responses.get(&status.to_string());
        if known.is_none_or(|known| known.get("headers").is_none()) {
            responses.insert(status.to_string(), response);
        }
    };
    declare(made, "done", false);
    declare(400, "no valid request, or no valid key", false);
    declare(401, "no known credentials", false);
    declare(402, "declined", false);
    declare(403, "may read only", false);
    declare(404, "nothing there", false);
    declare(413, "too large", false);
    declare(415, "no JSON", false);
    declare(422, "not valid", false);
    declare(500, "failed; send it again", false);
    declare(504, "given up; send it again", false);
    let mut refusal = |look: &Refusal, description: &str| {
        declare(look.status, description, look.retry_after);
    };
    if let Mismatch::Refuse(look) = &policy.mismatch {
        refusal(look, "the key was used for another request");
    }
    let (InProgress::Refuse(look) | InProgress::Wait(_, look) | InProgress::Accept(look)) =
        &policy.in_progress;
    refusal(look, "a request with this key is being worked on");
    refusal(&policy.malformed, "no valid key");
    let required = match &policy.missing {
        Unkeyed::Refuse(look) => {
            refusal(look, "no key");
            true
        }
        Unkeyed::Execute => false,
    };
    if flaws.has(Flaw::DocumentsNoConflict) {
        responses.remove("409");
    }
    if flaws.has(Flaw::DocumentsRetryAfterNobodySends) {
        responses["422"]["headers"] = json!({"Retry-After": {"schema": {"type": "integer"}}});
    }
    let schema =
        json!({"type": "string", "minLength": policy.key.min, "maxLength": policy.key.max});
    let mut properties = Map::new();
    let mut parameters = Vec::new();
    match &policy.key.place {
        _ if flaws.has(Flaw::DocumentsKeyElsewhere) => parameters.push(json!({
            "name": "X-Idempotency-Key", "in": "header", "required": required, "schema": schema,
        })),
        Place::Header(name) => parameters.push(json!({
            "name": name, "in": "header", "required": required, "schema": schema,
        })),
        Place::Query(name) => parameters.push(json!({
            "name": name, "in": "query", "required": required, "schema": schema,
        })),
        Place::Member(name) => {
            properties.insert(name.clone(), schema);
        }
        Place::Nothing => {}
    }
    let members: Vec<&String> = properties.keys().filter(|_| required).collect();
    let body = json!({"type": "object", "required": members, "properties": properties});
    json!({
        "summary": summary,
        "parameters": parameters,
        "requestBody": {"content": {"application/json": {"schema": body}}},
        "responses": responses,
    })
}
