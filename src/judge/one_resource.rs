//! `one-resource`: all successes of one key name one resource.

use super::backends;
use super::ruling::Ruling;
use super::view::{View, number, same_key, succeeded};
use crate::contract::Kind;
use crate::outcome::{Meaning, Outcome};
use crate::transcript::Exchange;
use std::collections::BTreeSet;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &[String]) -> Ruling {
    let mut meant: Vec<(usize, &Exchange)> = of.iter().flat_map(|step| view.all(step)).collect();
    if let Some(step) = of.iter().find(|step| view.all(step).is_empty())
        && meant.is_empty()
    {
        return view.never_sent(step);
    }
    // What the key was asked before, and what it was asked from elsewhere.
    let is_recheck = of.iter().any(|step| view.is_recheck(step));
    if is_recheck || view.round.exchanges.len() > view.own {
        let earlier: Vec<(usize, &Exchange)> = view
            .round
            .exchanges
            .iter()
            .enumerate()
            .filter(|(index, exchange)| match is_recheck {
                true => !of.contains(&exchange.step),
                false => *index >= view.own,
            })
            .filter(|(_, exchange)| meant.iter().any(|(_, own)| same_key(own, exchange)))
            .collect();
        meant.extend(earlier);
        meant.sort_by_key(|(index, _)| *index);
    }
    let mut keys: Vec<Vec<(usize, &Exchange)>> = Vec::new();
    for (index, exchange) in meant.iter().copied() {
        // A look-up carries no key; the scenario says whose operation it asks about.
        let asks = |own: &Exchange| own.lookup.is_some();
        match keys
            .iter_mut()
            .find(|key| same_key(key[0].1, exchange) || asks(key[0].1) || asks(exchange))
        {
            Some(key) => key.push((index, exchange)),
            None => keys.push(vec![(index, exchange)]),
        }
    }
    let mut shown = 0;
    for key in &keys {
        let named: Vec<(usize, &str)> = key
            .iter()
            .filter(|(_, exchange)| !view.outlived(exchange))
            .filter_map(|(index, exchange)| Some((*index, identity(view, exchange)?)))
            .collect();
        let distinct: BTreeSet<&str> = named.iter().map(|(_, identity)| *identity).collect();
        if distinct.len() > 1 {
            let mut ids: Vec<&str> = Vec::new();
            let mut seen = Vec::new();
            for (index, identity) in &named {
                if !ids.contains(identity) {
                    ids.push(identity);
                    seen.push(*index);
                }
            }
            return Ruling::broken(format!(
                "the responses of one key name {} resources: {}",
                number(ids.len()),
                ids.join(", ")
            ))
            .seen_in(seen)
            .weighing(ids.len() as u64);
        }
        if named.len() >= 2 {
            shown += 1;
        }
    }
    if shown > 0 {
        let says = if keys.len() == 1 {
            "every success names the same resource".to_owned()
        } else {
            format!(
                "{shown} of {} keys were shown to name one resource each",
                keys.len()
            )
        };
        let spread = backends::spread(view.case).any(|step| of.iter().any(|own| own == step));
        let says = match spread {
            true => format!(
                "{says} ({})",
                backends::seen(meant.iter().map(|(_, own)| *own))
            ),
            false => says,
        };
        return Ruling::held(says).seen_in(meant.iter().map(|(index, _)| *index));
    }
    let successes = meant
        .iter()
        .filter(|(_, exchange)| succeeded(exchange))
        .count();
    let answered = meant
        .iter()
        .all(|(_, exchange)| exchange.response.is_some());
    if successes == 0 && answered {
        return Ruling::void("void: none of the responses was a success");
    }
    let refused_for_good = |exchange: &Exchange| {
        exchange.outcome.is_within(Outcome::REFUSAL)
            && exchange.outcome.is_disjoint(Outcome::FOR_NOW)
    };
    if meant
        .iter()
        .all(|(_, exchange)| succeeded(exchange) || refused_for_good(exchange))
        && successes == 1
    {
        return Ruling::void("void: one response was a success, and the others were refused");
    }
    Ruling::nothing(match successes {
        0 | 1 => "two successes are needed to compare what they name".to_owned(),
        _ => "the responses name no resource that could be compared".to_owned(),
    })
}

/// What a success names, or a refusal that stands for one; a late answer counts too.
fn identity<'a>(view: &View<'_>, exchange: &'a Exchange) -> Option<&'a str> {
    if let Some(response) = exchange.response.as_ref().filter(|own| !own.success)
        && exchange.outcome.is_within(Meaning::Replayed.into())
    {
        let ways = view.contract.replay.value.iter().flatten();
        return ways
            .filter(|way| way.kind == Kind::ConflictRef)
            .find_map(|way| way.named(response));
    }
    let late = exchange.late.as_ref().filter(|late| late.success);
    exchange
        .response
        .as_ref()
        .filter(|_| succeeded(exchange))
        .or(late)?
        .identity
        .as_deref()
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{
        answered, contract, expecting, judged, paid, response, round, scenario, sent, verdict,
    };
    use crate::scenario::LookupBy;
    use crate::verdict::Verdict;

    const CLAIM: &str = "one-resource: { of: [first, again] }";

    #[test]
    fn two_successes_of_one_key_name_one_resource_or_break_it() {
        let same = round([paid("first", "pay_1"), paid("again", "pay_1")]);
        assert_eq!(verdict(CLAIM, same).0, Verdict::Pass);
        let two = round([paid("first", "pay_1"), paid("again", "pay_2")]);
        let (verdict, reason) = verdict(CLAIM, two);
        assert_eq!(verdict, Verdict::Fail);
        assert_eq!(
            reason,
            "the responses of one key name two resources: pay_1, pay_2"
        );
    }

    #[test]
    fn a_conflict_names_a_resource_where_the_contract_says_where() {
        let lines = "extends: generic\non: { replay: { outcome: conflict-ref, json: { $.reason: ^used$, $.of: . } } }";
        let finding = |id: &str| {
            let body = format!("{{\"reason\":\"used\",\"of\":\"{id}\"}}");
            let exchanges = [paid("first", "pay_1"), answered("again", 409).body(&body)];
            judged(&expecting(CLAIM), &contract(lines), vec![round(exchanges)])
        };
        assert_eq!(finding("pay_1").verdict, Verdict::Pass);
        assert_eq!(finding("pay_2").verdict, Verdict::Fail);
    }

    #[test]
    fn one_success_is_not_enough_and_none_is_void() {
        let one = round([paid("first", "pay_1"), answered("again", 409)]);
        assert_eq!(verdict(CLAIM, one).0, Verdict::Inconclusive);
        let none = round([answered("first", 500), answered("again", 500)]);
        assert_eq!(verdict(CLAIM, none).0, Verdict::Skip);
        let refused = round([paid("first", "pay_1"), answered("again", 400)]);
        assert_eq!(verdict(CLAIM, refused).0, Verdict::Skip);
        let lost = round([sent("first"), answered("again", 500)]);
        assert_eq!(verdict(CLAIM, lost).0, Verdict::Inconclusive);
    }

    #[test]
    fn successes_without_identities_cannot_be_compared() {
        let blind = round([answered("first", 204), answered("again", 204)]);
        assert_eq!(verdict(CLAIM, blind).0, Verdict::Inconclusive);
    }

    #[test]
    fn two_keys_may_name_two_resources() {
        let keys = round([
            paid("first", "pay_1").key(Some("a")),
            paid("first", "pay_1").key(Some("a")).copy(1),
            paid("again", "pay_2").key(Some("b")),
        ]);
        assert_eq!(verdict(CLAIM, keys).0, Verdict::Pass);
    }

    #[test]
    fn an_answer_that_came_too_late_counts_all_the_same() {
        let mut gone = sent("first");
        let mut late = response(201);
        late.identity = Some("pay_1".to_owned());
        gone.late = Some(late);
        let two = round([gone, paid("again", "pay_2")]);
        assert_eq!(verdict(CLAIM, two).0, Verdict::Fail);
    }

    #[test]
    fn the_recheck_is_held_against_all_earlier_answers_of_each_key() {
        let ledger = scenario(
            "runs: at-end\nsteps:\n  - recheck: { as: ledger, keys: all, at-most: 500 }\nexpect:\n  item-5:\n    - one-resource: { of: ledger }\n",
        );
        let flipped = round([
            paid("first", "pay_1").key(Some("a")),
            paid("other", "pay_2").key(Some("b")),
            paid("ledger", "pay_1").key(Some("a")),
            paid("ledger", "pay_3").key(Some("b")).copy(1),
        ]);
        let finding = judged(&ledger, &contract(""), vec![flipped]);
        assert_eq!(finding.verdict, Verdict::Fail);
        assert!(
            finding.reason.contains("pay_2, pay_3"),
            "{}",
            finding.reason
        );
    }

    #[test]
    fn two_successes_of_each_key_are_needed() {
        let one_each = round([
            paid("first", "pay_1").key(Some("a")),
            paid("again", "pay_2").key(Some("b")),
        ]);
        let (shown, reason) = verdict(CLAIM, one_each);
        assert_eq!(shown, Verdict::Inconclusive, "{reason}");
        let one_of_two = round([
            paid("first", "pay_1").key(Some("a")),
            paid("first", "pay_1").key(Some("a")).copy(1),
            paid("again", "pay_2").key(Some("b")),
        ]);
        let (shown, reason) = verdict(CLAIM, one_of_two);
        assert_eq!(shown, Verdict::Pass);
        assert_eq!(reason, "1 of 2 keys were shown to name one resource each");
    }

    #[test]
    fn a_step_that_was_never_sent_hides_no_second_resource() {
        let (none, reason) = verdict(CLAIM, round([]));
        assert_eq!(none, Verdict::Inconclusive);
        assert_eq!(reason, "`first` was never sent");
        let two = round([paid("first", "pay_1"), paid("first", "pay_2").copy(1)]);
        assert_eq!(verdict(CLAIM, two).0, Verdict::Fail, "`again` is missing");
    }

    #[test]
    fn a_step_that_is_not_meant_may_name_another_resource() {
        let other = round([
            paid("first", "pay_1"),
            paid("again", "pay_1"),
            paid("other", "pay_2"),
        ]);
        assert_eq!(verdict(CLAIM, other).0, Verdict::Pass);
    }

    #[test]
    fn a_key_of_which_only_the_recheck_succeeded_was_not_shown_by_another_key() {
        let ledger = scenario(
            "runs: at-end\nsteps:\n  - recheck: { as: ledger, keys: all, at-most: 500 }\nexpect:\n  item-5:\n    - one-resource: { of: ledger }\n",
        );
        let round = round([
            paid("first", "pay_1").key(Some("b")),
            paid("again", "pay_1").key(Some("b")),
            answered("first", 500).key(Some("a")),
            paid("ledger", "pay_2").key(Some("a")),
        ]);
        let finding = judged(&ledger, &contract(""), vec![round]);
        assert_eq!(finding.verdict, Verdict::Inconclusive, "{}", finding.reason);
    }

    #[test]
    fn what_a_look_up_finds_is_held_against_the_success_that_it_asks_about() {
        let judged = |claim: &str, found: &str| {
            let mut asked = answered("again", 200).naming(found).key(None);
            asked.lookup = Some(LookupBy::Reference);
            verdict(claim, round([paid("first", "pay_1"), asked])).0
        };
        for claim in [CLAIM, "one-resource: { of: [again, first] }"] {
            assert_eq!(judged(claim, "pay_1"), Verdict::Pass);
            assert_eq!(judged(claim, "pay_2"), Verdict::Fail);
        }
    }

    #[test]
    fn only_what_stands_for_a_success_names_a_resource() {
        let failed = round([paid("first", "pay_1"), answered("again", 500)]);
        assert_eq!(verdict(CLAIM, failed).0, Verdict::Inconclusive);
        let refused = answered("again", 409).naming("pay_2");
        let refused = round([paid("first", "pay_1"), refused]);
        assert_eq!(verdict(CLAIM, refused).0, Verdict::Inconclusive);
        let mut gone = sent("again");
        let mut late = response(500);
        late.identity = Some("pay_2".to_owned());
        gone.late = Some(late);
        let gone = round([paid("first", "pay_1"), gone]);
        assert_eq!(verdict(CLAIM, gone).0, Verdict::Inconclusive);
    }

    #[test]
    fn a_refusal_of_another_payload_names_nothing_although_it_looks_like_a_conflict() {
        let lines = "extends: generic\non: { replay: { outcome: conflict-ref, json: { $.reason: ^used$, $.of: . } } }";
        let conflict = answered("again", 409).body(r#"{"reason":"used","of":"pay_2"}"#);
        let round = round([paid("first", "pay_1"), conflict.intent("changed")]);
        let finding = judged(&expecting(CLAIM), &contract(lines), vec![round]);
        assert_eq!(finding.verdict, Verdict::Skip, "{}", finding.reason);
    }
}
