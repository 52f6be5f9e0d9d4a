//! What the OpenAPI document says of the key: where it goes, what it looks like, whether it is required.

use super::{false_of, true_of, undocumented};
use crate::judge::ruling::Ruling;
use crate::judge::view::{View, got, who};
use crate::promise::Level;
use crate::transcript::{Exchange, KeyFacts, OperationFacts};
use regex::Regex;

/// Characters of a UUID as it is written (RFC 9562, section 4).
const UUID: u64 = 36;

/// The key is where the document has it.
pub(super) fn place(view: &View<'_>, operation: &OperationFacts) -> Ruling {
    let used = view.round.exchanges.iter().find(|exchange| {
        exchange.key.value.is_some()
            && exchange
                .response
                .as_ref()
                .is_some_and(|response| response.success)
    });
    let Some(used) = used else {
        return Ruling::nothing("no request with a key was a success").about("key");
    };
    let Some(declared) = &operation.key else {
        let says = "the operation takes a key, and the OpenAPI document declares none";
        return undocumented(says).about("key");
    };
    let sent_there = match declared.place.as_str() {
        "header" => used
            .request
            .headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(&declared.name)),
        "query" => used.request.url.contains(&format!("{}=", declared.name)),
        _ => used
            .request
            .body
            .as_deref()
            .is_some_and(|body| body.contains(&format!("\"{}\"", declared.name))),
    };
    let KeyFacts { name, place, .. } = declared;
    let ruling = match sent_there {
        true => true_of(format!("the key is in the {place} `{name}`")),
        false => false_of(format!(
            "the key works elsewhere than in the {place} `{name}`, where the OpenAPI document has it"
        )),
    };
    ruling.about("key")
}

/// Why a key is none by what the document says of its form; `None` where it is one.
fn unfit(declared: &KeyFacts, key: &str) -> Option<String> {
    let length = key.chars().count() as u64;
    if declared.format.as_deref() == Some("uuid") && length != UUID {
        return Some("it is no UUID".to_owned());
    }
    if let Some(min) = declared.min.filter(|min| length < *min) {
        return Some(format!("it is shorter than {min} characters"));
    }
    if let Some(max) = declared.max.filter(|max| length > *max) {
        return Some(format!("it is longer than {max} characters"));
    }
    let pattern = declared.pattern.as_deref()?;
    // A pattern of another dialect says nothing to us.
    let fits = Regex::new(pattern).map_or(true, |pattern| pattern.is_match(key));
    (!fits).then(|| format!("it does not match {pattern}"))
}

/// A key of the documented form is taken, and another one is not.
pub(super) fn format(operation: &OperationFacts, exchange: &Exchange) -> Ruling {
    let about = "form of the key";
    let (Some(response), Some(key)) = (&exchange.response, &exchange.key.value) else {
        return Ruling::nothing(format!("{} {}", who(exchange), got(exchange))).about(about);
    };
    let Some(declared) = &operation.key else {
        return Ruling::void("void: the OpenAPI document declares no key");
    };
    let refused = (400..500).contains(&response.status);
    if !response.success && !refused {
        return Ruling::nothing(format!("{} {}", who(exchange), got(exchange))).about(about);
    }
    let says_nothing = declared.format.is_none()
        && declared.min.is_none()
        && declared.max.is_none()
        && declared.pattern.is_none();
    let length = key.chars().count();
    let ruling = match (unfit(declared, key), response.success) {
        (None, true) if says_nothing => Ruling::void(format!(
            "void: no form of the key is declared, and a key of {length} characters was taken"
        )),
        (None, false) if says_nothing => undocumented(format!(
            "a key of {length} characters was refused with {}, and the OpenAPI document does not say what a key looks like",
            response.status
        )),
        (None, true) => true_of(format!("a key of {length} characters is one")),
        (None, false) => false_of(format!(
            "a key of {length} characters was refused with {}, and by the OpenAPI document it is one",
            response.status
        )),
        (Some(why), false) => true_of(format!(
            "a key of {length} characters is none: {why}, and was refused"
        )),
        (Some(why), true) => false_of(format!(
            "a key of {length} characters was taken, and by the OpenAPI document it is none: {why}"
        ))
        .at_level(Level::Should),
    };
    ruling.about(about)
}

/// A key that is required is required.
pub(super) fn required(operation: &OperationFacts, exchange: &Exchange) -> Ruling {
    let about = "key is required";
    let Some(response) = &exchange.response else {
        return Ruling::nothing(format!("{} {}", who(exchange), got(exchange))).about(about);
    };
    let Some(declared) = &operation.key else {
        return Ruling::void("void: the OpenAPI document declares no key");
    };
    let ruling = match (declared.required, response.success) {
        (true, true) => false_of(format!(
            "the key is required, and {} without one {}",
            who(exchange),
            got(exchange)
        )),
        (false, false) if response.status < 500 => undocumented(format!(
            "{} without a key {}, and the OpenAPI document does not say that a key is required",
            who(exchange),
            got(exchange)
        )),
        (_, false) if response.status >= 500 => {
            Ruling::nothing(format!("{} {}", who(exchange), got(exchange)))
        }
        (true, _) => true_of("a key is required"),
        (false, _) => true_of("a key may be left out"),
    };
    ruling.about(about)
}
