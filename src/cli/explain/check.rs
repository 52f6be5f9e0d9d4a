//! Expectations and assumptions in words.

use super::request::{moment, names};
use crate::outcome::Outcome;
use crate::promise::Level;
use crate::scenario::{
    Bound, Check, DocumentedPart, EventClaim, EventPart, Expectation, Marker, OperationRole,
    OutcomeBound, SeekIn,
};

/// `There is at most one effect (a break is a warning; void where the contract allows otherwise)`.
pub(super) fn expectation(expectation: &Expectation) -> String {
    let mut limits = Vec::new();
    match expectation.level {
        Level::Must => {}
        Level::Should => limits.push("a break is a warning".to_owned()),
        Level::Note => limits.push("a break is only noted".to_owned()),
    }
    if let Some(promise) = expectation.unless {
        limits.push(format!(
            "void if the contract's `{}` allows it",
            promise.name()
        ));
    }
    if let Some(condition) = &expectation.condition {
        limits.push(format!("only where `{}` is {}", condition.of, condition.is));
    }
    if limits.is_empty() {
        check(&expectation.check)
    } else {
        format!("{} ({})", check(&expectation.check), limits.join("; "))
    }
}

fn check(check: &Check) -> String {
    match check {
        Check::Effects {
            bound,
            probe,
            operation,
            marker,
            reading,
        } => effects(
            *bound,
            probe.as_deref(),
            *operation,
            marker,
            reading.as_deref(),
        ),
        Check::Outcome { of, bound } => match bound {
            OutcomeBound::Is(set) => format!("Every answer to {} is {}", names(of), words(*set)),
            OutcomeBound::Some(set) => {
                format!("At least one answer to {} is {}", names(of), words(*set))
            }
            OutcomeBound::Never(set) => format!("No answer to {} is {}", names(of), words(*set)),
        },
        Check::Keeps { promise, of } => format!(
            "`{of}` shows what the contract promises for `{}`",
            promise.name()
        ),
        Check::SameResponse { of, r#as } if r#as == "earliest" => format!(
            "{} got the response again that was each key's first success",
            names(of)
        ),
        Check::SameResponse { of, r#as } => {
            format!("{} got the response of `{as}` again", names(of))
        }
        Check::OneResource { of } => format!("All successes of {} name one resource", names(of)),
        Check::TwoResources { of: [one, other] } => {
            format!("The successes of `{one}` and `{other}` name two resources")
        }
        Check::Exists { of } => format!("If `{of}` was a success, its effect exists"),
        Check::NothingForeign { of, from, r#in } => {
            let place = match r#in {
                SeekIn::Everything => "Nothing",
                SeekIn::Secrets => "No cookie or challenge",
            };
            format!(
                "{place} that belongs to the response of `{from}` is in that of {}",
                names(of)
            )
        }
        Check::Counted(claim) => format!(
            "From `{}` to `{}` the API counts as many {} as answers to `{}` are {}",
            claim.from,
            claim.to,
            claim.signal.name(),
            claim.of,
            claim.is
        ),
        Check::Bounded { probe } => match probe {
            Some(probe) => format!("The probe `{probe}` keeps its bound"),
            None => "Every probe with a bound keeps it".to_owned(),
        },
        Check::Events { claim, marker } => format!("{}{}", events(*claim), marked(marker)),
        Check::Documented { part, of } => documented(*part, of.as_deref()),
        Check::Agrees { of, with } => {
            format!("What `{of}` says of the resource is what `{with}` says")
        }
        Check::State {
            reading,
            than,
            same,
            states_only: _,
        } => match same {
            true => format!("The state in `{reading}` is that of `{than}`"),
            false => format!("Something in `{reading}` is not as in `{than}`"),
        },
        Check::TellsApart { of, from } => {
            format!("A program can tell the response of `{of}` from that of `{from}`")
        }
        Check::RetryAfter { of } => {
            format!(
                "A Retry-After is there where it is wanted in the responses of `{of}`, and sound"
            )
        }
        Check::Answered { of, within } => {
            format!("Every copy of `{of}` is answered within {within}")
        }
        Check::Told { of } => {
            format!(
                "If `{of}` is carried out, its answer says so: no failure and no silence hides it"
            )
        }
        Check::Recovered { of, within } => match within {
            Some(within) => format!(
                "`{of}` comes to its end within {}",
                humantime::format_duration(*within)
            ),
            None => format!("`{of}` comes to its end within the declared lock timeout, or 65 s"),
        },
        Check::Unaffected { of, than, factor } => {
            format!("`{of}` takes at most {factor} times as long as `{than}`")
        }
        Check::Status { of, is } => format!("`{of}` is answered with {is}"),
        Check::Header { of, name, matches } => {
            format!("The header {name} in the response of `{of}` matches `{matches}`")
        }
        Check::Json { of, path, equals } => {
            format!("{path} in the response of `{of}` is {equals}")
        }
        Check::Overlap { of, with } => {
            format!("A copy of `{of}` was sent while `{with}` was still running")
        }
        Check::Straddled { of, around } => format!(
            "Copies of `{of}` were sent shortly before and shortly after the moment {}",
            moment(around, of)
        ),
    }
}

fn effects(
    bound: Bound,
    probe: Option<&str>,
    operation: OperationRole,
    marker: &Marker,
    reading: Option<&str>,
) -> String {
    let (bound, number) = match bound {
        Bound::AtMost(number) => ("at most", number),
        Bound::AtLeast(number) => ("at least", number),
    };
    let noun = if number == 1 { "effect" } else { "effects" };
    let mut text = format!("There is {bound} {number} {noun}");
    if number != 1 {
        text = text.replacen("is", "are", 1);
    }
    match operation {
        OperationRole::Subject => {}
        OperationRole::Other => text.push_str(" of the other operation"),
        OperationRole::OtherMethod => text.push_str(" of the other method"),
    }
    text.push_str(&marked(marker));
    if let Some(probe) = probe {
        text.push_str(&format!(" by the probe `{probe}`"));
    }
    if let Some(reading) = reading {
        text.push_str(&format!(" in the reading `{reading}`"));
    }
    text
}

/// What is to be documented, and true.
fn documented(part: DocumentedPart, of: Option<&str>) -> String {
    let of = of.unwrap_or_default();
    let what = match part {
        DocumentedPart::Key => "where the key goes".to_owned(),
        DocumentedPart::KeyFormat => format!("what a key looks like, as `{of}` shows"),
        DocumentedPart::Retryable => {
            format!("which errors may be retried, as `{of}` shows")
        }
        DocumentedPart::Required => format!("whether a key is required, as `{of}` shows"),
        DocumentedPart::Status => format!("the status that `{of}` is refused with"),
        DocumentedPart::RetryAfter => format!("the Retry-After that `{of}` is refused with"),
        DocumentedPart::Retention => "for how long a key is remembered".to_owned(),
        DocumentedPart::Scope => "whose keys are one space".to_owned(),
        DocumentedPart::EveryOperation => {
            "a key for every operation that changes something".to_owned()
        }
    };
    format!("The documents say {what}, and it is so")
}

/// What is claimed of events.
fn events(claim: EventClaim) -> String {
    let number = |bound: Bound, one: &str, more: &str| {
        let (word, number) = match bound {
            Bound::AtMost(number) => ("at most", number),
            Bound::AtLeast(number) => ("at least", number),
        };
        let noun = if number == 1 { one } else { more };
        format!("{word} {number} {noun}")
    };
    match claim {
        EventClaim::Ids(bound) => format!(
            "The events that come have {}",
            number(bound, "id between them", "different ids")
        ),
        EventClaim::Deliveries(bound) => {
            format!(
                "There is {} of an event",
                number(bound, "delivery", "deliveries")
            )
        }
        EventClaim::Taken(bound) => format!(
            "Our receiver takes {}",
            number(bound, "event", "different events")
        ),
        EventClaim::Ordered => "The events come in the order of the requests".to_owned(),
        EventClaim::Stable(EventPart::Id) => {
            "An event that is delivered again keeps its id".to_owned()
        }
        EventClaim::Stable(EventPart::Body) => {
            "An event that is delivered again keeps its body".to_owned()
        }
        EventClaim::Stable(EventPart::Signature) => {
            "An event that is delivered again keeps its signature".to_owned()
        }
    }
}

fn marked(marker: &Marker) -> String {
    match marker {
        Marker::Named(name) if name == "main" => String::new(),
        Marker::Named(name) => format!(" marked `{name}`"),
        Marker::FreshEach => " for each copy".to_owned(),
        Marker::Of(step) => format!(" marked like `{step}`"),
    }
}

/// The set by its group's word where it is one, else meaning by meaning.
fn words(set: Outcome) -> String {
    for word in ["success", "refusal", "final"] {
        if Outcome::from_word(word) == Some(set) {
            return format!("a {word}");
        }
    }
    set.to_string()
}

#[cfg(test)]
mod tests {
    use super::expectation;
    use crate::outcome::Outcome;
    use crate::promise::{Level, Promise};
    use crate::scenario::{Bound, Check, Expectation, Marker, OperationRole, OutcomeBound};

    #[test]
    fn limits_of_an_expectation_are_told() {
        let own = Expectation {
            id: "effects-at-most".to_owned(),
            level: Level::Should,
            unless: Some(Promise::Mismatch),
            condition: None,
            check: Check::Effects {
                bound: Bound::AtMost(1),
                probe: None,
                operation: OperationRole::Subject,
                marker: Marker::default(),
                reading: None,
            },
        };
        assert_eq!(
            expectation(&own),
            "There is at most 1 effect (a break is a warning; void if the contract's `mismatch` allows it)"
        );
    }

    #[test]
    fn a_group_of_outcomes_is_told_by_its_word() {
        let own = Expectation {
            id: "outcome".to_owned(),
            level: Level::Must,
            unless: None,
            condition: None,
            check: Check::Outcome {
                of: vec!["retry".to_owned()],
                bound: OutcomeBound::Is(Outcome::SUCCESS),
            },
        };
        assert_eq!(expectation(&own), "Every answer to `retry` is a success");
    }
}
