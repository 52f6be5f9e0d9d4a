//! From a contract to the demo that keeps it: what is promised is taken in its first alternative,
//! what is unspecified is as the demo is by itself. What the demo cannot be is said, not pretended.

use crate::contract::{
    AfterFailure, Behaviour, Contract, Encoding, Equality, ErrorFormat, FailureClass, KeyKind,
    KeyRules, Kind, Lifetime, OperationScope, Precedence, PrincipalScope, Promised, ReplayMarker,
    RetentionClock, RetryAfter, StatusPattern, written,
};
use crate::demo::policy::{
    Element, Equality as Equal, Expired, Fate, Fates, FirstSent, Form, Gives, InProgress, KeptFrom,
    KeyKind as Kinds, KeyPolicy, Marker, Mismatch, Place, Policy, Precedence as First, Principals,
    Refusal, Replay, Routes, Said, Step, StoreDown, Unkeyed,
};
use regex::Regex;
use std::time::Duration;

/// How long a duplicate waits where the contract does not say it.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a key is kept where the contract does not say it.
const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a key is kept that is kept for good: longer than the demo's clock can be moved.
const FOR_GOOD: Duration = Duration::from_secs(200 * 366 * 24 * 60 * 60);

/// The policy of a demo that keeps a contract.
///
/// # Errors
/// What the demo cannot be, in a sentence: `the demo cannot behave as worldpay: its answers are XML`.
pub fn policy_of(contract: &Contract) -> Result<Policy, String> {
    policy(contract).map_err(|why| format!("the demo cannot behave as {}: {why}", contract.name))
}

/// For how long a demo that keeps a contract keeps a key.
pub fn retention_of(contract: &Contract) -> Duration {
    match &contract.lifetime.value {
        Some(Lifetime::Limited(retention)) => retention.max.unwrap_or(retention.min),
        Some(Lifetime::Forever) => FOR_GOOD,
        None => RETENTION,
    }
}

fn policy(contract: &Contract) -> Result<Policy, String> {
    let own = Policy::default();
    let replay = first(&contract.replay);
    let refusal = |way: &Behaviour, like: &Refusal| refusal(contract, way, like);
    let reject = |status: u16| Refusal::of(status);
    let in_flight = Refusal {
        retry_after: true,
        ..reject(409)
    };
    Ok(Policy {
        key: key(contract)?,
        principals: match contract.principal_scope.value {
            None | Some(PrincipalScope::Tenant | PrincipalScope::CompanyAccount) => {
                Principals::Tenant
            }
            // A user of the demo may have several tokens, but belongs to one tenant.
            Some(PrincipalScope::User) => Principals::Tenant,
            Some(PrincipalScope::ApiKey) => Principals::Token,
            Some(PrincipalScope::Global) => Principals::Everyone,
        },
        routes: match contract.operation_scope.value {
            None | Some(OperationScope::PerEndpoint) => Routes::Apart,
            Some(OperationScope::GlobalKey) => Routes::Together,
            Some(OperationScope::IgnoresRoute) => Routes::Ignored,
        },
        equality: match contract.equality.value {
            None | Some(Equality::JsonCanonical) => Equal::Json,
            Some(Equality::Bytes) => Equal::Bytes,
            Some(Equality::SelectedFields) => {
                return Err("it does not say which fields of a payload count".to_owned());
            }
        },
        kept_from: match contract.retention.map(|retention| retention.clock) {
            Some(RetentionClock::FirstRequest) => KeptFrom::Start,
            _ => KeptFrom::Completion,
        },
        replay: match replay {
            None => own.replay,
            Some(way) => Replay {
                gives: match way.kind {
                    Kind::ReplayStored => Gives::Stored,
                    Kind::ReplayCurrent => Gives::Current,
                    Kind::ConflictRef => Gives::Conflict(refusal(way, &reject(409))?),
                    other => return Err(cannot("a repeat", other)),
                },
                status: way.status.first().and_then(|status| number(*status)),
                ..own.replay
            },
        },
        marker: marker(&contract.replay_marker, own.marker)?,
        in_progress: match first(&contract.in_progress) {
            None => own.in_progress,
            Some(way) => {
                let look = refusal(way, &in_flight);
                match way.kind {
                    Kind::Reject | Kind::ConflictRef => InProgress::Refuse(look?),
                    Kind::Accepted => InProgress::Accept(refusal(way, &reject(202))?),
                    Kind::WaitThenReplay => {
                        InProgress::Wait(way.max_wait.unwrap_or(PATIENCE), in_flight.clone())
                    }
                    other => return Err(cannot("a duplicate in flight", other)),
                }
            }
        },
        mismatch: match first(&contract.mismatch) {
            None => own.mismatch,
            Some(way) => match way.kind {
                Kind::Reject | Kind::ConflictRef => Mismatch::Refuse(refusal(way, &reject(422))?),
                Kind::ReplayStored | Kind::ReplayCurrent => Mismatch::Replay,
                Kind::ExecuteNew | Kind::Reexecute => Mismatch::Execute,
                other => return Err(cannot("another payload", other)),
            },
        },
        precedence: match contract.precedence.value {
            None | Some(Precedence::Mismatch) => First::Mismatch,
            Some(Precedence::InProgress) => First::InProgress,
        },
        missing: match first(&contract.missing) {
            None => own.missing,
            Some(way) => match way.kind {
                Kind::Reject => Unkeyed::Refuse(refusal(way, &reject(400))?),
                Kind::ExecuteNew | Kind::Reexecute | Kind::Ignore => Unkeyed::Execute,
                other => return Err(cannot("a request without a key", other)),
            },
        },
        malformed: match first(&contract.malformed) {
            None => own.malformed,
            Some(way) if way.kind == Kind::Reject => refusal(way, &reject(400))?,
            Some(way) => return Err(cannot("a malformed key", way.kind)),
        },
        expired: match first(&contract.expired) {
            None => own.expired,
            Some(way) => match way.kind {
                Kind::ExecuteNew | Kind::Reexecute => Expired::Execute,
                Kind::Reject => Expired::Refuse(refusal(way, &reject(412))?),
                other => return Err(cannot("a key after its time", other)),
            },
        },
        after: fates(contract)?,
        store_down: match first(&contract.store_unavailable) {
            None => own.store_down,
            Some(way) => match way.kind {
                Kind::Reject => StoreDown::Refuse(refusal(way, &reject(503))?),
                Kind::ExecuteNew | Kind::Reexecute => StoreDown::Execute,
                other => return Err(cannot("a key that cannot be looked up", other)),
            },
        },
        credentials: own.credentials,
    })
}

/// The first way in which a promise may be kept.
fn first(promised: &Promised<Vec<Behaviour>>) -> Option<&Behaviour> {
    promised.value.as_ref()?.first()
}

fn cannot(to: &str, kind: Kind) -> String {
    format!("it has no `{}` as the answer to {to}", kind.name())
}

fn key(contract: &Contract) -> Result<KeyPolicy, String> {
    let rules = &contract.key;
    let own = KeyPolicy::default();
    let (min, max) = rules.stated;
    Ok(KeyPolicy {
        place: place(contract)?.unwrap_or(own.place),
        form: match rules.encoding {
            Encoding::Raw => Form::Raw,
            Encoding::SfString => Form::Quoted,
            Encoding::Either => Form::Either,
        },
        min: min.unwrap_or(own.min),
        max: max.unwrap_or(own.max),
        characters: rules.charset.clone(),
        kind: match rules.kind {
            KeyKind::Opaque => Kinds::Any,
            KeyKind::Uuid => Kinds::Uuid(None),
            KeyKind::Uuid4 => Kinds::Uuid(Some(4)),
            KeyKind::Uuid5 => Kinds::Uuid(Some(5)),
            KeyKind::Natural => return Err("its keys are names that things have anyway".to_owned()),
        },
        case_sensitive: rules.case_sensitive.value.unwrap_or(own.case_sensitive),
        first_sent: first_sent(contract)?,
    })
}

fn first_sent(contract: &Contract) -> Result<Option<FirstSent>, String> {
    let Some(companion) = contract.key.first_sent().filter(|own| own.required) else {
        return Ok(None);
    };
    let look = |promised: &Promised<Vec<Behaviour>>| match first(promised) {
        None => Ok(Refusal::of(400)),
        Some(way) if way.kind == Kind::Reject => refusal(contract, way, &Refusal::of(400)),
        Some(way) => Err(cannot("a key without its date", way.kind)),
    };
    Ok(Some(FirstSent {
        header: companion.header.clone(),
        missing: look(&contract.companion_missing)?,
        malformed: look(&contract.companion_malformed)?,
    }))
}

fn place(contract: &Contract) -> Result<Option<Place>, String> {
    let KeyRules {
        header,
        json,
        query,
        form,
        ..
    } = &contract.key;
    if let Some(name) = header {
        return Ok(Some(Place::Header(name.clone())));
    }
    if let Some(name) = query {
        return Ok(Some(Place::Query(name.clone())));
    }
    if form.is_some() {
        return Err("its keys are form fields, and the demo reads JSON".to_owned());
    }
    let Some(path) = json else {
        return match keyless(contract) {
            true => Ok(Some(Place::Nothing)),
            false => Ok(None),
        };
    };
    match &steps(path)?[..] {
        [Step::Member(name)] => Ok(Some(Place::Member(name.clone()))),
        _ => Err(format!(
            "its keys are at {path}, and the demo looks at the top of the body"
        )),
    }
}

/// Whether a contract is about something else than keys: it promises things, but none of a key.
fn keyless(contract: &Contract) -> bool {
    let about_keys = [
        &contract.replay,
        &contract.in_progress,
        &contract.mismatch,
        &contract.missing,
    ];
    !contract.sources.is_empty() && about_keys.iter().all(|promised| promised.value.is_none())
}

fn marker(promised: &Promised<ReplayMarker>, own: Marker) -> Result<Marker, String> {
    Ok(match &promised.value {
        None => own,
        Some(ReplayMarker::Header { name, value, first }) => Marker::Header {
            name: name.clone(),
            value: value.clone(),
            first: first.clone(),
        },
        Some(ReplayMarker::Json { path, value, first }) => Marker::Member {
            path: steps(&written(path))?,
            value: value.clone(),
            first: first.clone(),
        },
        Some(ReplayMarker::KeyEcho(name)) => Marker::KeyEcho(name.clone()),
        Some(ReplayMarker::Status(_) | ReplayMarker::None) => Marker::Nothing,
    })
}

fn fates(contract: &Contract) -> Result<Fates, String> {
    let fate = |class| -> Option<Fate> {
        Some(match contract.after(class).value? {
            AfterFailure::NotConsumed
            | AfterFailure::Reexecuted
            | AfterFailure::Resumed
            | AfterFailure::StoredOrReexecuted => Fate::Forgotten,
            AfterFailure::Stored => Fate::Stored,
            AfterFailure::ConsumedBlocked => Fate::Blocked,
        })
    };
    if fate(FailureClass::Auth).is_some_and(|fate| fate != Fate::Forgotten) {
        return Err("it remembers who was refused, and the demo asks who calls first".to_owned());
    }
    let declined = fate(FailureClass::BusinessDeclined);
    Ok(Fates {
        validation: fate(FailureClass::PreExecutionValidation).unwrap_or(Fate::Forgotten),
        declined: declined
            .or_else(|| fate(FailureClass::Executed4xx))
            .unwrap_or(Fate::Forgotten),
        server_error: fate(FailureClass::Server5xx).unwrap_or(Fate::Forgotten),
        rate_limited: fate(FailureClass::RateLimited).unwrap_or(Fate::Forgotten),
    })
}

/// A refusal that fits all that a promise says of it; what it does not say is as in `like`.
fn refusal(contract: &Contract, way: &Behaviour, like: &Refusal) -> Result<Refusal, String> {
    let mut look = like.clone();
    if !way.xml.is_empty() {
        look.xml = Some(element(way)?);
        look.media_type = "text/xml".to_owned();
    }
    // The usual status, where that is one of those that are promised.
    let usual = way.names_status(look.status);
    if let Some(status) = way.status.first().and_then(|status| number(*status))
        && !usual
    {
        look.status = status;
    }
    if let Some(pattern) = &way.content_type {
        look.media_type = match text(pattern)? {
            Said::Text(media_type) => media_type,
            Said::Resource => look.media_type,
        };
    }
    for (path, pattern) in &way.json {
        look.members.push((steps(&written(path))?, text(pattern)?));
    }
    for (name, pattern) in &way.headers {
        look.headers.push((name.clone(), text(pattern)?));
    }
    match &way.retry_after {
        None => {}
        Some(RetryAfter::Header) => look.retry_after = true,
        Some(RetryAfter::Json(path)) => {
            look.members
                .push((steps(&written(path))?, Said::Text("1".to_owned())));
        }
    }
    if contract.errors.value == Some(ErrorFormat::Graphql) {
        return Err("its answers are GraphQL".to_owned());
    }
    Ok(look)
}

/// The element that a refusal in XML has.
fn element(way: &Behaviour) -> Result<Element, String> {
    let mut element = Element::default();
    for (path, pattern) in &way.xml {
        let path = path.to_string();
        let unknown = || format!("the demo does not write what is at `{path}`");
        let Said::Text(said) = text(pattern)? else {
            return Err(unknown());
        };
        let (name, part) = path
            .strip_prefix("//")
            .and_then(|path| path.split_once('/'))
            .ok_or_else(unknown)?;
        if !element.name.is_empty() && element.name != name {
            return Err(unknown());
        }
        element.name = name.to_owned();
        match part.strip_prefix('@') {
            Some(attribute) => element.attributes.push((attribute.to_owned(), said)),
            None if part == "text()" => element.text = said,
            None => return Err(unknown()),
        }
    }
    Ok(element)
}

fn number(status: StatusPattern) -> Option<u16> {
    match status {
        StatusPattern::Exact(number) => Some(number),
        StatusPattern::Class(hundreds) => Some(hundreds * 100),
        StatusPattern::SameAsFirst => None,
    }
}

/// A text that a pattern matches, where the pattern is plain text; "anything" is the id of what the
/// first request made, since that is what contracts ask for so.
fn text(pattern: &Regex) -> Result<Said, String> {
    let whole = pattern.as_str();
    if matches!(whole, "." | ".+" | ".*" | "^.+$") {
        return Ok(Said::Resource);
    }
    let bare = whole.trim_start_matches("(?i)");
    let bare = bare.strip_prefix('^').unwrap_or(bare);
    let bare = bare.strip_suffix('$').unwrap_or(bare);
    let inner = bare.strip_prefix("(?:").or_else(|| bare.strip_prefix('('));
    let bare = inner
        .and_then(|inner| inner.strip_suffix(')'))
        .unwrap_or(bare);
    let one = bare.split('|').next().unwrap_or_default().replace('\\', "");
    if pattern.is_match(&one) {
        return Ok(Said::Text(one));
    }
    Err(format!("no plain text is `{whole}`"))
}

/// The steps to a place that a path leads to. What stands anywhere stands under `error`.
pub(super) fn steps(path: &str) -> Result<Vec<Step>, String> {
    let unknown = || format!("the demo does not write what is at `{path}`");
    let member = |name: &str| Step::Member(name.to_owned());
    let mut rest = path.strip_prefix('$').ok_or_else(unknown)?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("..") {
            if steps.is_empty() {
                steps.push(member("error"));
            }
            rest = after;
        } else if let Some(after) = rest.strip_prefix('.') {
            rest = after;
        }
        if let Some(after) = rest.strip_prefix('[') {
            let (inner, after) = after.split_once(']').ok_or_else(unknown)?;
            let quotes = ['\'', '"'];
            steps.push(match inner.trim_matches(quotes) {
                name if inner.starts_with(quotes) => member(name),
                "*" | "0" => Step::Item,
                _ => return Err(unknown()),
            });
            rest = after;
            continue;
        }
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        steps.push(match name {
            "" => return Err(unknown()),
            // Any member will do.
            "*" => member("type"),
            name => member(name),
        });
        rest = after;
    }
    Ok(steps)
}
