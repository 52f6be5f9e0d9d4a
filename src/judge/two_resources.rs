//! `two-resources`: two successes of two keys name two resources.

use super::ruling::Ruling;
use super::view::{View, got, succeeded, who};

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &[String; 2]) -> Ruling {
    let mut pair = Vec::new();
    for step in of {
        let Some((index, exchange)) = view.standing(step).last().copied() else {
            return view.never_sent(step);
        };
        let Some(response) = &exchange.response else {
            return Ruling::nothing(format!("{} {}", who(exchange), got(exchange)));
        };
        if !succeeded(exchange) {
            return Ruling::void(format!(
                "void: {} was {}, not a success",
                who(exchange),
                exchange.outcome
            ));
        }
        pair.push((index, response.identity.as_deref()));
    }
    let seen = pair.iter().map(|(index, _)| *index).collect::<Vec<_>>();
    match (pair[0].1, pair[1].1) {
        (Some(one), Some(other)) if one == other => Ruling::broken(format!(
            "`{}` and `{}` were both given {one}: two keys, one resource",
            of[0], of[1]
        ))
        .seen_in(seen),
        (Some(one), Some(other)) => {
            Ruling::held(format!("{one} and {other}: two resources")).seen_in(seen)
        }
        _ => Ruling::nothing("the responses name no resource that could be compared"),
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{answered, paid, round, sent, verdict};
    use crate::verdict::Verdict;

    const CLAIM: &str = "two-resources: { of: [first, again] }";

    #[test]
    fn two_keys_name_two_resources_or_break_it() {
        let two = round([
            paid("first", "pay_1"),
            paid("again", "pay_2").key(Some("l")),
        ]);
        assert_eq!(verdict(CLAIM, two).0, Verdict::Pass);
        let one = round([
            paid("first", "pay_1"),
            paid("again", "pay_1").key(Some("l")),
        ]);
        let (verdict, reason) = verdict(CLAIM, one);
        assert_eq!(verdict, Verdict::Fail);
        assert!(reason.contains("both given pay_1"), "{reason}");
    }

    #[test]
    fn a_refusal_makes_it_void_and_a_lost_response_shows_nothing() {
        let refused = round([paid("first", "pay_1"), answered("again", 422)]);
        assert_eq!(verdict(CLAIM, refused).0, Verdict::Skip);
        let lost = round([paid("first", "pay_1"), sent("again")]);
        assert_eq!(verdict(CLAIM, lost).0, Verdict::Inconclusive);
        let unnamed = round([answered("first", 204), answered("again", 204)]);
        assert_eq!(verdict(CLAIM, unnamed).0, Verdict::Inconclusive);
    }
}
