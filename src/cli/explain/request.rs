//! Requests, moments and faults in words.

use crate::scenario::{
    Close, Fault, Key, KeyShape, KeyTwist, Marker, Moment, OperationRole, PrincipalRole, Request,
    ResponsePart, Signature, When,
};

/// `the request of `lost` again, without a key, as other-tenant`.
pub(super) fn request(request: &Request) -> String {
    let mut parts = vec![base(request)];
    if !request.variants.is_empty() {
        parts.push(format!("in the variant {}", names(&request.variants)));
    }
    if let Some(forms) = &request.forms
        && !forms.is_empty()
    {
        parts.push(format!("written differently ({})", forms.join(", ")));
    }
    parts.extend(request.key.as_ref().map(key));
    parts.extend(request.first_sent.map(|date| format!("with {date}")));
    parts.extend(request.principal.map(principal));
    parts.extend(request.marker.as_ref().and_then(marker));
    if request.given_other == Some(true) {
        parts.push("on the second resource".to_owned());
    }
    if let Some(name) = &request.chosen_name {
        parts.push(format!("on a resource called `{name}`"));
    }
    if let Some(step) = &request.only_if {
        parts.push(format!("only if the resource is as `{step}` left it"));
    }
    if let Some(step) = &request.prepared {
        parts.push(format!("with what `{step}` was answered"));
    }
    if request.signature != Signature::Good {
        parts.push(format!("with {}", request.signature.says()));
    }
    if request.new_connection {
        parts.push("on a new connection".to_owned());
    }
    if request.to_each {
        parts.push("spread over all replicas".to_owned());
    }
    if let Some(at) = &request.at {
        parts.push(format!("starting {}", moment(at, &request.name)));
    }
    if let Some(own) = &request.fault {
        parts.push(format!("and {}", fault(own, &request.name)));
    }
    parts.join(", ")
}

fn base(request: &Request) -> String {
    let operation = match request.operation {
        None | Some(OperationRole::Subject) => "",
        Some(OperationRole::Other) => " to another operation",
        Some(OperationRole::OtherMethod) => " with another method on the same resource",
    };
    match &request.like {
        None if operation.is_empty() => "the plain request".to_owned(),
        None => format!("a request{operation}"),
        Some(like) => {
            let which = like
                .which
                .map(|outcome| format!(" (its first copy that was {outcome})"))
                .unwrap_or_default();
            format!("the request of `{}`{which} again{operation}", like.of)
        }
    }
}

fn key(key: &Key) -> String {
    match key {
        Key::Fresh => "with a fresh key".to_owned(),
        Key::FreshEach => "each copy with a fresh key".to_owned(),
        Key::Of { step, twist } => format!("with the key of `{step}`{}", twisted(*twist)),
        Key::Shaped {
            length,
            shape,
            twist,
        } => {
            let length = length
                .map(|length| format!(" of {length} characters"))
                .unwrap_or_default();
            let shape = match shape {
                None => "",
                Some(KeyShape::Uuid) => " that is a UUID",
                Some(KeyShape::Letters) => " of letters only",
                Some(KeyShape::ControlByte) => " with a control byte in it",
            };
            format!("with a fresh key{length}{shape}{}", twisted(*twist))
        }
        Key::None => "without a key".to_owned(),
        Key::Empty => "with an empty key".to_owned(),
        Key::Blank => "with a space for a key".to_owned(),
        Key::Text(text) => format!("with the key `{text}`"),
    }
}

fn twisted(twist: Option<KeyTwist>) -> &'static str {
    match twist {
        None => "",
        Some(KeyTwist::OtherTail) => " but for its last character",
        Some(KeyTwist::OtherCase) => " in the other case",
        Some(KeyTwist::Accent) => " with an accent on one letter",
        Some(KeyTwist::SentTwice) => " in two header lines",
        Some(KeyTwist::Joined) => " twice in one line",
        Some(KeyTwist::Quoted) => " in the other encoding",
    }
}

fn principal(principal: PrincipalRole) -> String {
    match principal {
        PrincipalRole::Nobody => "without credentials".to_owned(),
        PrincipalRole::Wrong => "with junk for credentials".to_owned(),
        other => format!("sent by {}", other.name()),
    }
}

fn marker(marker: &Marker) -> Option<String> {
    match marker {
        Marker::Named(name) if name == "main" => None,
        Marker::Named(name) => Some(format!("marked `{name}`")),
        Marker::FreshEach => Some("each copy marked on its own".to_owned()),
        Marker::Of(step) => Some(format!("marked like `{step}`")),
    }
}

/// `when the last byte of `first` was sent`; `own` is the step where the moment names none.
pub(super) fn moment(moment: &Moment, own: &str) -> String {
    let step = moment.of.as_deref().unwrap_or(own);
    let event = match moment.when {
        When::Connected => format!("`{step}` is connected"),
        When::Sent => format!("the last byte of `{step}` was sent"),
        When::FirstByte => format!("the first byte of the response to `{step}` came"),
        When::LastByte => format!("the last byte of the response to `{step}` came"),
        When::Ended => format!("`{step}` ended"),
        When::Effect => format!("the effect of `{step}` was first seen"),
    };
    match (&moment.plus, &moment.spread) {
        (_, Some([from, to])) => format!("from {from} to {to} after {event}"),
        (Some(plus), None) => format!("{plus} after {event}"),
        (None, None) => format!("when {event}"),
    }
}

fn fault(fault: &Fault, own: &str) -> String {
    match fault {
        Fault::BeforeRequest { close } => {
            format!(
                "we close the connection{} before a byte of it",
                closed(*close)
            )
        }
        Fault::MidBody { share, close } => format!(
            "we close the connection{} after {} of its body",
            closed(*close),
            percent(*share)
        ),
        Fault::HangUp { at, close } => {
            format!("we hang up{} {}", closed(*close), moment(at, own))
        }
        Fault::DropResponse { after, close } => {
            let part = match after {
                ResponsePart::FirstByte => "as soon as it comes",
                ResponsePart::Headers => "after its headers",
            };
            format!("we drop its response{} {part}", closed(*close))
        }
        Fault::MidResponse { share, close } => format!(
            "we close the connection{} after {} of the response's body",
            closed(*close),
            percent(*share)
        ),
        Fault::Stall { share, time } => format!(
            "we stop after {} of its body and send the rest {} later",
            percent(*share),
            humantime::format_duration(*time)
        ),
        Fault::AwaitContinue { at_most, close } => format!(
            "its headers ask for 100 Continue, and when that has come, or {} later, {}",
            humantime::format_duration(*at_most),
            match close {
                Some(close) =>
                    format!("we close the connection{} without its body", closed(*close)),
                None => "we send its body".to_owned(),
            }
        ),
        Fault::Timeout { after } => {
            format!("we give up after {after} and leave the connection open")
        }
    }
}

fn closed(close: Close) -> &'static str {
    match close {
        Close::Fin => "",
        Close::Rst => " abruptly",
        Close::RstStream => " (the HTTP/2 stream only)",
    }
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// `` `a`, `b` ``.
pub(super) fn names(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::moment;
    use crate::scenario::{Moment, TimeSpan, When};

    #[test]
    fn a_moment_without_a_step_is_about_the_step_itself() {
        let at = Moment {
            when: When::Sent,
            of: None,
            plus: Some(TimeSpan::from_text("50% latency").expect("a share")),
            spread: None,
        };
        assert_eq!(
            moment(&at, "lost"),
            "50% latency after the last byte of `lost` was sent"
        );
    }
}
