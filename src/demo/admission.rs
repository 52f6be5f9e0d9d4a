//! How a write is let in: authentication, authorisation, validation, the key. In this order, and
//! all of it before anything is remembered.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT};
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use http_body_util::LengthLimitError;
use serde_json::Value;
use uuid::Uuid;

use super::answer::{Answer, Problem};
use super::batch::has_equal_items;
use super::behaviour::{Behaviour, is_slow, prefers_async};
use super::call::{Call, Line, Slot};
use super::caller::{Caller, GRANTEE, GUEST, no_grant};
use super::edge::{accepts_gzip, compressed};
use super::fingerprint::{Ingredients, fingerprint, with_route};
use super::flaw::Flaw;
use super::key::{self, Sent};
use super::keyed::Keyed;
use super::multipart;
use super::operation::{Command, Operation};
use super::policy::{Credentials, Fate, Marker, Mismatch, Place, Principals, Routes};
use super::routes::malformed;
use super::seats::Peer;
use super::store::Stored;

/// The largest body, in bytes: 1 MiB.
const LARGEST: usize = 1024 * 1024;

/// Lets a write in and has it performed, or refuses it; and marks the answer as the policy wants.
pub async fn write(
    api: Arc<Keyed>,
    operation: Operation,
    request: Request,
) -> Result<Answer, Answer> {
    let policy = Arc::clone(&api.policy);
    let echo = match (&policy.marker, &policy.key.place) {
        (Marker::KeyEcho(_), Place::Header(name)) => request.headers().get(name.as_str()).cloned(),
        _ => None,
    };
    let echo = echo.and_then(|key| Some(key.to_str().ok()?.to_owned()));
    // Compression is no part of an answer: a replay may be asked for without it.
    let compresses = accepts_gzip(request.headers()) && !api.flaws.has(Flaw::StoresCompressedBytes);
    let dress = |answer: Answer| {
        let answer = answer.marked(&policy.marker, echo.as_deref());
        match compresses {
            true => compressed(answer),
            false => answer,
        }
    };
    let admitted = admit(api, operation, request).await;
    admitted.map(dress).map_err(dress)
}

async fn admit(api: Arc<Keyed>, operation: Operation, request: Request) -> Result<Answer, Answer> {
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    let memory = api.memory_of(peer.map(|ConnectInfo(Peer(peer))| peer.port()));
    let (head, body) = request.into_parts();
    let peer = head.extensions.get::<ConnectInfo<Peer>>().copied();
    let headers = head.headers;
    let query = head.uri.query();
    let key_of = |body: Option<&Value>| {
        let sent = Sent {
            headers: &headers,
            query,
            body,
        };
        key::read(sent, &api.policy, api.flaws)
    };
    let authorized =
        Caller::authenticate(&headers).and_then(|caller| caller.authorize_write().map(|()| caller));
    let caller = match authorized {
        Ok(caller) => caller,
        Err(refusal) => {
            if api.policy.credentials == Credentials::AfterValidation {
                let body = valid(&operation, &headers, body).await?;
                key_of(Some(&body))?;
            }
            return Err(refuse(&api, &operation, key_of(None), refusal).await);
        }
    };
    if caller.token == GRANTEE && api.switches.is_revoked() {
        return Err(refuse(&api, &operation, key_of(None), no_grant()).await);
    }
    if api.flaws.has(Flaw::StoresUnauthorized)
        && let Ok(Some(key)) = key_of(None)
        && let Some(refusal) = api.stored_refusal(&operation, &key)
    {
        return Err(refusal);
    }
    let behaviour = Behaviour::read(&headers)?;
    let slow = is_slow(&headers)?;
    let boundary = match operation {
        Operation::Pay { .. } => multipart::boundary(&headers),
        _ => None,
    };
    if boundary.is_none() {
        expect_json(&headers)?;
    }
    let slot = |key: &str| Slot {
        tenant: match api.policy.principals {
            _ if api.flaws.has(Flaw::SharesKeysBetweenTenants) => "anyone",
            Principals::Everyone => "anyone",
            Principals::Tenant => caller.tenant,
            Principals::Token => caller.token,
        }
        .to_owned(),
        operation: match api.policy.routes {
            Routes::Apart => format!("{}{memory}", operation.scope(api.flaws)),
            Routes::Together | Routes::Ignored => format!("any{memory}"),
        },
        key: {
            let key = key::compared(key, &api.policy, api.flaws);
            match &operation {
                Operation::PayFor { account } if api.flaws.has(Flaw::JoinsScopeWithColons) => {
                    format!("{account}:{key}")
                }
                _ => key,
            }
        },
    };
    let mut bytes = match key_of(None) {
        Ok(Some(key)) if api.flaws.has(Flaw::ClaimsAtHeaders) => {
            // Nothing frees this claim when the body never arrives in full.
            let claim = api.in_flight.claim(&slot(&key), "").map(ManuallyDrop::new);
            let bytes = read_body(&headers, body).await?;
            drop(claim.map(ManuallyDrop::into_inner));
            bytes
        }
        _ => read_body(&headers, body).await?,
    };
    let mut body: Value = match &boundary {
        Some(boundary) => {
            let body = multipart::read(boundary, &bytes)
                .ok_or_else(|| malformed("The body is no multipart form."))?;
            // What stands for its bytes is what it means: clients make up a boundary each time.
            bytes = Bytes::from(body.to_string());
            body
        }
        None => parse(&bytes)?,
    };
    let key = key_of(Some(&body));
    // What carries the key is no part of what is asked for.
    if let (Place::Member(name), Value::Object(members)) = (&api.policy.key.place, &mut body) {
        members.remove(name);
    }
    let mut fingerprint = fingerprint(
        Ingredients {
            operation: &operation.scope(api.flaws),
            body: &body,
            bytes: &bytes,
            user_agent: headers
                .get(USER_AGENT)
                .map(|agent| agent.as_bytes())
                .unwrap_or_default(),
            boundary: boundary.as_deref().unwrap_or_default(),
            now: api.clock.now(),
            equality: api.policy.equality,
        },
        api.flaws,
    );
    if api.flaws.has(Flaw::KeepsOneBucketForGuests) && caller.tenant == GUEST {
        fingerprint.clear();
    }
    if api.policy.routes == Routes::Ignored {
        fingerprint = with_route(&fingerprint, &operation.label());
    }
    let by_payload = matches!(api.policy.mismatch, Mismatch::Execute)
        || api.flaws.has(Flaw::ExecutesChangedPayload);
    let slot = |key: &str| match by_payload {
        _ if key.is_empty() && api.flaws.has(Flaw::TakesPayloadForKey) => Slot {
            tenant: "anyone".to_owned(),
            ..slot(&fingerprint)
        },
        true => slot(&format!("{key} {fingerprint}")),
        false => slot(key),
    };
    let mut command = match operation.command(&body) {
        Ok(command) => command,
        Err(refusal) if api.policy.after.validation != Fate::Forgotten => Command::Refuse(refusal),
        Err(refusal) => {
            if api.flaws.has(Flaw::StoresValidationFailures)
                && let Ok(Some(key)) = key
            {
                keep(&api, slot(&key), fingerprint, &refusal).await?;
            }
            return Err(refusal);
        }
    };
    let key = key?;
    api.check_date(&headers, key.as_deref())?;
    if behaviour == Some(Behaviour::Limited)
        && let Err(refusal) = api.switches.take(Instant::now())
    {
        if api.flaws.has(Flaw::StoresRateLimits)
            && let Some(key) = &key
        {
            keep(&api, slot(key), fingerprint.clone(), &refusal).await?;
        }
        if api.policy.after.rate_limited == Fate::Forgotten {
            return Err(refusal);
        }
        command = Command::Refuse(refusal);
    }
    if api.flaws.has(Flaw::CrashesOnEqualItems) && has_equal_items(&body) {
        return Err(Answer::internal());
    }
    let unprotected = match operation {
        Operation::Refund => api.flaws.has(Flaw::IgnoresKeyOnRefunds),
        Operation::Batch => api.flaws.has(Flaw::IgnoresKeyOnBatches),
        _ => false,
    } || (prefers_async(&headers) && api.flaws.has(Flaw::IgnoresKeyWhenAsync));
    let line = Line::default();
    let call = Call {
        tenant: caller.tenant,
        slot: key.as_deref().filter(|_| !unprotected).map(slot),
        key,
        fingerprint,
        id: format!("{}_{}", command.prefix(), Uuid::new_v4().simple()),
        command,
        behaviour,
        compressed: api.flaws.has(Flaw::StoresCompressedBytes) && accepts_gzip(&headers),
        slow,
        started: api.clock.now(),
        port: peer.map_or(0, |ConnectInfo(Peer(peer))| peer.port()),
        line: line.clone(),
    };
    // The write runs in a task of its own: a client that hangs up must not cancel it.
    let _held = line.hold();
    if let Some(page) = api.not_passed_on(&call) {
        return Ok(page);
    }
    let call = Arc::new(call);
    let performed = Arc::clone(&api).perform(Arc::clone(&call));
    api.awaited(&call, tokio::spawn(performed)).await
}

/// The body of a write if it is a valid one, whoever sent it.
async fn valid(operation: &Operation, headers: &HeaderMap, body: Body) -> Result<Value, Answer> {
    expect_json(headers)?;
    let body = parse(&read_body(headers, body).await?)?;
    operation.command(&body)?;
    Ok(body)
}

fn parse(bytes: &[u8]) -> Result<Value, Answer> {
    serde_json::from_slice(bytes)
        .map_err(|error| malformed(&format!("The body is not JSON: {error}.")))
}

/// Makes a refusal the answer of a key.
async fn keep(
    api: &Keyed,
    slot: Slot,
    fingerprint: String,
    refusal: &Answer,
) -> Result<(), Answer> {
    let row = Stored {
        slot,
        fingerprint,
        answer: refusal.clone(),
        completed: api.clock.now(),
    };
    let kept = api.store.keep(row, api.expired()).await;
    kept.map_err(|_| Answer::internal())
}

/// Answers a write whose caller is not known, or may not write.
async fn refuse(
    api: &Keyed,
    operation: &Operation,
    key: Result<Option<String>, Answer>,
    refusal: Answer,
) -> Answer {
    let Ok(Some(key)) = key else {
        return refusal;
    };
    let looks = api.flaws.has(Flaw::LooksUpBeforeAuthentication)
        || (refusal == no_grant() && api.flaws.has(Flaw::ReplaysAfterRevocation));
    let stores =
        refusal.status == StatusCode::UNAUTHORIZED && api.flaws.has(Flaw::StoresUnauthorized);
    if !looks && !stores {
        return refusal;
    }
    match api.find_of_anyone(operation, &key).await {
        Some(stored) if looks => api.replay(stored),
        Some(_) => refusal,
        None => {
            if stores {
                api.store_refusal(operation, &key, &refusal);
            }
            refusal
        }
    }
}

fn expect_json(headers: &HeaderMap) -> Result<(), Answer> {
    let declared = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(|media_type| media_type.trim().to_ascii_lowercase());
    let is_json = declared.is_some_and(|media_type| {
        media_type == "application/json"
            || (media_type.starts_with("application/") && media_type.ends_with("+json"))
    });
    if is_json {
        return Ok(());
    }
    let detail = "Send the body as application/json.";
    Err(Answer::problem(Problem::UnsupportedMediaType, detail))
}

async fn read_body(headers: &HeaderMap, body: Body) -> Result<Bytes, Answer> {
    let too_large = || Answer::problem(Problem::TooLarge, "The body may have at most 1 MiB.");
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.parse::<u64>().ok());
    if length.is_some_and(|length| length > LARGEST as u64) {
        return Err(too_large());
    }
    to_bytes(body, LARGEST).await.map_err(|error| {
        if error.into_inner().is::<LengthLimitError>() {
            return too_large();
        }
        malformed("The body did not arrive in full.")
    })
}
