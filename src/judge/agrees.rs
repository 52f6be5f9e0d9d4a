//! `agrees`: what a look-up says of a resource is what another answer says of it.
//!
//! Only members that both answers have are compared, and none that the target calls volatile.

use super::ruling::Ruling;
use super::view::{View, got, who};
use crate::contract::same_json;
use crate::transcript::Exchange;
use serde_json::{Map, Value};

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str, with: &str) -> Ruling {
    let last = |step: &str| view.standing(step).last().copied();
    let (Some((at, one)), Some((other_at, other))) = (last(of), last(with)) else {
        let missing = if last(of).is_none() { of } else { with };
        return view.never_sent(missing);
    };
    for exchange in [one, other] {
        let named = exchange
            .response
            .as_ref()
            .filter(|response| response.success)
            .and_then(|response| response.identity.as_ref());
        if named.is_none() {
            return Ruling::nothing(format!("{} {}", who(exchange), got(exchange)));
        }
    }
    let identity = |exchange: &Exchange| exchange.response.as_ref()?.identity.clone();
    if identity(one) != identity(other) {
        return Ruling::void(format!(
            "void: `{of}` and `{with}` name different resources"
        ));
    }
    let (Some((name, described)), Some((other_name, other_described))) =
        (resource(one), resource(other))
    else {
        return Ruling::void("void: an answer names the resource and does not describe it");
    };
    if name != other_name {
        return Ruling::void(format!(
            "void: `{of}` and `{with}` describe different things of one operation"
        ));
    }
    let mut compared = 0;
    for (member, value) in described {
        let Some(again) = other_described.get(member).filter(|_| member != name) else {
            continue;
        };
        if !is_scalar(value) || !is_scalar(again) {
            continue;
        }
        if !same_json(value, again) {
            return Ruling::broken(format!(
                "{member} is {value} in `{of}` and {again} in `{with}`"
            ))
            .seen_in([at, other_at]);
        }
        compared += 1;
    }
    if compared == 0 {
        return Ruling::void("void: the two answers have nothing but the identity in common");
    }
    Ruling::held(format!("`{of}` says what `{with}` says")).seen_in([at, other_at])
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// The object in an answer that holds its identity, and under which name.
fn resource(exchange: &Exchange) -> Option<(&String, &Map<String, Value>)> {
    let response = exchange.response.as_ref()?;
    holder(response.stable_json.as_ref()?, response.identity.as_ref()?)
}

fn holder<'a>(json: &'a Value, identity: &str) -> Option<(&'a String, &'a Map<String, Value>)> {
    let is_it = |value: &Value| match value {
        Value::String(text) => text == identity,
        Value::Number(number) => number.to_string() == identity,
        _ => false,
    };
    match json {
        Value::Object(map) => map
            .iter()
            .find(|(_, value)| is_it(value))
            .map(|(name, _)| (name, map))
            .or_else(|| map.values().find_map(|value| holder(value, identity))),
        Value::Array(list) => list.iter().find_map(|value| holder(value, identity)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{answered, paid, round, verdict};
    use crate::transcript::Exchange;
    use crate::verdict::Verdict;

    fn judged(one: &str, other: &str) -> (Verdict, String) {
        let found = paid("first", "pay_1").body(one);
        let again = paid("again", "pay_1").body(other);
        verdict("agrees: { of: first, with: again }", round([found, again]))
    }

    #[test]
    fn what_both_say_must_be_the_same() {
        let paid = r#"{"id":"pay_1","status":"succeeded","at":1}"#;
        assert_eq!(
            judged(r#"{"data":[{"id":"pay_1","status":"succeeded"}]}"#, paid).0,
            Verdict::Pass
        );
        assert_eq!(
            judged(r#"{"id":"pay_1","at":1.0}"#, paid).0,
            Verdict::Pass,
            "another notation of one number"
        );
        let (verdict, reason) = judged(r#"{"data":[{"id":"pay_1","status":"pending"}]}"#, paid);
        assert_eq!(verdict, Verdict::Fail);
        assert_eq!(
            reason,
            "status is \"pending\" in `first` and \"succeeded\" in `again`"
        );
    }

    #[test]
    fn what_cannot_be_compared_does_not_break_it() {
        let bare = r#"{"id":"pay_1"}"#;
        assert_eq!(judged(bare, bare).0, Verdict::Skip);
        let change = r#"{"id":"chg_1","change":"pay_1","status":"x"}"#;
        assert_eq!(
            judged(change, r#"{"id":"pay_1","status":"y"}"#).0,
            Verdict::Skip
        );
        let other = verdict(
            "agrees: { of: first, with: again }",
            round([paid("first", "pay_1"), paid("again", "pay_2")]),
        );
        assert_eq!(other.0, Verdict::Skip, "one-resource tells of it");
        let lost = verdict(
            "agrees: { of: first, with: again }",
            round([
                crate::judge::sample::answered("first", 404),
                paid("again", "pay_1"),
            ]),
        );
        assert_eq!(lost.0, Verdict::Inconclusive);
    }

    #[test]
    fn what_is_no_plain_value_is_not_compared() {
        let with = |value: &str| format!(r#"{{"id":"pay_1","amount":1,"card":{value}}}"#);
        let (list, map, text) = (with("[1]"), with(r#"{"a":1}"#), with(r#""visa""#));
        for (one, other) in [
            (&list, &map),
            (&list, &text),
            (&text, &list),
            (&map, &text),
            (&text, &map),
        ] {
            assert_eq!(judged(one, other).0, Verdict::Pass, "{one} {other}");
        }
        assert_eq!(judged(&text, &with(r#""master""#)).0, Verdict::Fail);
    }

    #[test]
    fn a_number_may_be_the_identity() {
        let numbered = |status: &str| {
            let body = format!(r#"{{"id":7,"status":"{status}"}}"#);
            let mut exchange = paid("first", "7").body(&body);
            if let Some(response) = &mut exchange.response {
                response.identity = Some("7".to_owned());
            }
            exchange
        };
        let judged = |status: &str| {
            let again = Exchange {
                step: "again".to_owned(),
                ..numbered(status)
            };
            let round = round([numbered("paid"), again]);
            verdict("agrees: { of: first, with: again }", round).0
        };
        assert_eq!(judged("paid"), Verdict::Pass);
        assert_eq!(judged("open"), Verdict::Fail);
    }

    #[test]
    fn an_answer_that_never_came_or_describes_nothing_shows_nothing() {
        let claim = "agrees: { of: first, with: again }";
        let of = |exchange: Exchange| verdict(claim, round([exchange]));
        let (judged, reason) = of(paid("first", "pay_1"));
        assert_eq!(judged, Verdict::Inconclusive);
        assert_eq!(reason, "`again` was never sent");
        let (judged, reason) = of(paid("again", "pay_1"));
        assert_eq!(judged, Verdict::Inconclusive);
        assert_eq!(reason, "`first` was never sent");
        // Named in a header, as it were.
        let bare = |step: &str| paid(step, "pay_1").body("[]");
        let mut both = [bare("first"), bare("again")];
        for exchange in &mut both {
            let response = exchange.response.as_mut().expect("it was answered");
            response.identity = Some("pay_1".to_owned());
        }
        assert_eq!(verdict(claim, round(both)).0, Verdict::Skip);
        let refused = answered("first", 409).naming("pay_1");
        let (judged, _) = verdict(claim, round([refused, paid("again", "pay_1")]));
        assert_eq!(judged, Verdict::Inconclusive, "no success");
    }
}
