//! `outcome`: what the responses of steps mean, as sets: inside is a pass, disjoint a break, and
//! everything between shows nothing.

use super::ruling::Ruling;
use super::view::{View, got, who};
use crate::outcome::{Meaning, Outcome};
use crate::scenario::OutcomeBound;
use crate::transcript::Exchange;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &[String], bound: OutcomeBound) -> Ruling {
    let mut broken: Vec<(usize, &Exchange)> = Vec::new();
    let mut fits: Vec<usize> = Vec::new();
    let mut nothing: Option<String> = None;
    let mut left_out = 0;
    for step in of {
        let standing = view.standing(step);
        if standing.is_empty() {
            return view.never_sent(step);
        }
        let answered = standing
            .iter()
            .filter(|(_, exchange)| exchange.response.is_some())
            .count();
        let may_lose = view.is_burst(step) && answered >= 2 && answered * 2 >= standing.len();
        for (index, exchange) in standing {
            if exchange.response.is_none() {
                if may_lose {
                    left_out += 1;
                } else {
                    nothing.get_or_insert_with(|| format!("{} {}", who(exchange), got(exchange)));
                }
                continue;
            }
            if repeats(exchange.outcome) && view.outlived(exchange) {
                nothing.get_or_insert_with(|| {
                    format!(
                        "{} was sent after the key's retention had run out",
                        who(exchange)
                    )
                });
                continue;
            }
            match fit(bound, exchange.outcome) {
                Some(true) => fits.push(index),
                Some(false) => broken.push((index, exchange)),
                None => {
                    nothing.get_or_insert_with(|| {
                        format!("{} {}: {}", who(exchange), got(exchange), exchange.outcome)
                    });
                }
            }
        }
    }
    let lost = if left_out == 0 {
        String::new()
    } else {
        format!("; {left_out} copies got no response and are left out")
    };
    if let OutcomeBound::Some(wanted) = bound {
        return match (fits.is_empty(), nothing) {
            (false, _) => Ruling::held(format!("one was {}{lost}", words(wanted))).seen_in(fits),
            (true, Some(why)) => Ruling::nothing(why),
            (true, None) => Ruling::broken(format!("none was {}{lost}", words(wanted)))
                .seen_in(broken.iter().map(|(index, _)| *index)),
        };
    }
    if let Some((_, first)) = broken.first() {
        let wanted = match bound {
            OutcomeBound::Is(wanted) => format!(", and must be {}", words(wanted)),
            _ => String::new(),
        };
        let more = match broken.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let ruling = Ruling::broken(format!(
            "{} {}: {}{wanted}{more}",
            who(first),
            got(first),
            first.outcome
        ))
        .seen_in(broken.iter().map(|(index, _)| *index))
        .weighing(broken.len() as u64);
        // Somebody else's data is harm whatever else went wrong; a second execution after a first
        // one that failed is none.
        let harm = matches!(bound, OutcomeBound::Never(_))
            && broken.iter().any(|(_, exchange)| {
                exchange.outcome.is_within(Meaning::Foreign.into()) && !view.lets_in(exchange)
            });
        return if harm { ruling.standing() } else { ruling };
    }
    match nothing {
        Some(why) => Ruling::nothing(why),
        None => Ruling::held(match (bound, fits.as_slice()) {
            (OutcomeBound::Is(_), [only]) => {
                let exchange = &view.round.exchanges[*only];
                format!(
                    "{} {}: {}{lost}",
                    who(exchange),
                    got(exchange),
                    exchange.outcome
                )
            }
            (OutcomeBound::Is(wanted), all) => {
                format!("all {} responses are {}{lost}", all.len(), words(wanted))
            }
            (_, all) => format!("none of {} responses is that{lost}", all.len()),
        })
        .seen_in(fits),
    }
}

/// Whether an outcome fits a bound; `None` where it may or may not.
fn fit(bound: OutcomeBound, outcome: Outcome) -> Option<bool> {
    match bound {
        OutcomeBound::Is(wanted) | OutcomeBound::Some(wanted) => {
            if outcome.is_within(wanted) {
                Some(true)
            } else {
                outcome.is_disjoint(wanted).then_some(false)
            }
        }
        OutcomeBound::Never(unwanted) => {
            if outcome.is_disjoint(unwanted) {
                Some(true)
            } else {
                outcome.is_within(unwanted).then_some(false)
            }
        }
    }
}

/// A set in the words of the scenario, where it is one of its groups.
fn words(set: Outcome) -> String {
    ["success", "refusal", "final", "replayed"]
        .into_iter()
        .find(|word| Outcome::from_word(word) == Some(set))
        .map_or_else(|| set.to_string(), str::to_owned)
}

/// Whether it says something about a repeat: executed or replayed.
fn repeats(outcome: Outcome) -> bool {
    outcome.is_within(Outcome::SUCCESS)
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{
        answered, contract, expecting, judged, paid, round, scenario, sent, verdict,
    };
    use crate::scenario::{PrincipalRole, Scenario};
    use crate::transcript::Exchange;
    use crate::verdict::Verdict;

    #[test]
    fn a_set_inside_holds_and_a_disjoint_one_breaks() {
        let claim = "outcome: { of: again, is: replayed }";
        let same = round([paid("first", "pay_1"), paid("again", "pay_1")]);
        assert_eq!(verdict(claim, same).0, Verdict::Pass);
        let other = round([paid("first", "pay_1"), paid("again", "pay_2")]);
        let (verdict, reason) = verdict(claim, other);
        assert_eq!(verdict, Verdict::Fail);
        assert_eq!(
            reason,
            "`again` got 201 and was given pay_2: executed, and must be replayed"
        );
    }

    #[test]
    fn an_open_set_shows_nothing_either_way() {
        let open = || round([sent("first"), paid("again", "pay_1")]);
        let is = verdict("outcome: { of: again, is: executed }", open());
        assert_eq!(is.0, Verdict::Inconclusive);
        let never = verdict("outcome: { of: again, never: executed }", open());
        assert_eq!(never.0, Verdict::Inconclusive);
        let success = verdict("outcome: { of: again, is: success }", open());
        assert_eq!(success.0, Verdict::Pass);
    }

    #[test]
    fn a_step_without_a_response_shows_nothing_and_passes_never() {
        let lost = || round([paid("first", "pay_1"), sent("again")]);
        for claim in [
            "outcome: { of: again, is: replayed }",
            "outcome: { of: again, never: server-error }",
            "outcome: { of: again, some: replayed }",
        ] {
            let (verdict, reason) = verdict(claim, lost());
            assert_eq!(verdict, Verdict::Inconclusive, "{claim}");
            assert!(reason.contains("no response (timed out)"), "{reason}");
        }
    }

    #[test]
    fn a_step_that_was_never_sent_shows_nothing() {
        let claim = "outcome: { of: again, never: server-error }";
        let (verdict, reason) = verdict(claim, round([paid("first", "pay_1")]));
        assert_eq!(verdict, Verdict::Inconclusive);
        assert_eq!(reason, "`again` was never sent");
    }

    #[test]
    fn only_the_last_attempt_of_a_retry_counts() {
        let claim = "outcome: { of: again, is: replayed }";
        let mut second = paid("again", "pay_1");
        second.attempt = 1;
        let retried = round([paid("first", "pay_1"), answered("again", 409), second]);
        assert_eq!(verdict(claim, retried).0, Verdict::Pass);
    }

    fn burst() -> Scenario {
        scenario(
            "steps:\n  - burst: { as: burst, key: fresh, copies: 4 }\nexpect:\n  item-5:\n    - outcome: { of: burst, never: server-error }\n",
        )
    }

    fn copies(exchanges: Vec<Exchange>) -> (Verdict, String) {
        let copies = exchanges
            .into_iter()
            .zip(0..)
            .map(|(exchange, copy)| exchange.copy(copy).at(0, 10));
        let finding = judged(
            &burst(),
            &contract(""),
            vec![round(copies).burst("burst", 4, 4)],
        );
        (finding.verdict, finding.reason)
    }

    #[test]
    fn lost_copies_of_a_burst_are_left_out_while_half_are_answered() {
        let (paid, lost) = (|| paid("burst", "pay_1"), || sent("burst"));
        let (verdict, reason) = copies(vec![paid(), paid(), lost(), lost()]);
        assert_eq!(verdict, Verdict::Pass);
        assert!(reason.contains("2 copies got no response"), "{reason}");
        assert_eq!(
            copies(vec![paid(), lost(), lost(), lost()]).0,
            Verdict::Inconclusive
        );
    }

    #[test]
    fn one_copy_that_failed_breaks_it_for_all() {
        let (verdict, reason) = copies(vec![paid("burst", "pay_1"), answered("burst", 500)]);
        assert_eq!(verdict, Verdict::Fail);
        assert_eq!(reason, "copy 2 of `burst` got 500: server-error");
    }

    #[test]
    fn some_needs_one_and_breaks_when_all_are_known_and_none_is() {
        let claim = "outcome: { of: again, some: rate-limited }";
        let limited = round([paid("first", "pay_1"), answered("again", 429)]);
        assert_eq!(verdict(claim, limited).0, Verdict::Pass);
        let none = round([paid("first", "pay_1"), paid("again", "pay_1")]);
        assert_eq!(verdict(claim, none).0, Verdict::Fail);
    }

    #[test]
    fn a_foreign_answer_says_who_got_what() {
        let claim = "outcome: { of: again, never: [success, foreign] }";
        let leak = round([
            paid("first", "pay_00000001"),
            paid("again", "pay_00000001").by(PrincipalRole::Nobody),
        ]);
        let (verdict, reason) = verdict(claim, leak);
        assert_eq!(verdict, Verdict::Fail);
        assert_eq!(
            reason,
            "`again` (nobody) got 201 and was given pay_00000001: foreign"
        );
    }

    #[test]
    fn a_broken_assumption_hides_no_leak_but_excuses_a_second_execution() {
        let assuming = |never: &str| {
            scenario(&format!(
                "steps:\n  - send: {{ as: first, key: fresh }}\n  - send: {{ as: again, like: first }}\nassume:\n  - outcome: {{ of: first, is: unauthorized }}\nexpect:\n  item-5:\n    - outcome: {{ of: again, never: {never} }}\n"
            ))
        };
        let leak = round([
            paid("first", "pay_00000001"),
            paid("again", "pay_00000001").by(PrincipalRole::OtherTenant),
        ]);
        let finding = judged(&assuming("foreign"), &contract(""), vec![leak]);
        assert_eq!(finding.verdict, Verdict::Fail, "{}", finding.reason);
        let retried = round([answered("first", 500), paid("again", "pay_1")]);
        let finding = judged(
            &assuming("[executed, replayed]"),
            &contract(""),
            vec![retried],
        );
        assert_eq!(finding.verdict, Verdict::Inconclusive);
        assert!(finding.reason.starts_with("assumed, but not so"));
    }

    #[test]
    fn a_repeat_after_the_retention_says_nothing() {
        let contract = contract("extends: generic\nretention: { min: 1s }");
        let claim = expecting("outcome: { of: again, never: executed }");
        let late = round([
            paid("first", "pay_1").at(0, 5),
            paid("again", "pay_2").at(1_500, 1_505),
        ]);
        let finding = judged(&claim, &contract, vec![late]);
        assert_eq!(finding.verdict, Verdict::Inconclusive, "{}", finding.reason);
    }

    #[test]
    fn of_a_burst_half_may_be_lost_and_of_a_send_none() {
        let steps = |copies: &str| {
            scenario(&format!(
                "steps:\n  - {copies}\nexpect:\n  item-5:\n    - outcome: {{ of: burst, is: success }}\n"
            ))
        };
        let burst = steps("burst: { as: burst, key: fresh, copies: 5 }");
        let send = steps("send: { as: burst, key: fresh, times: 5 }");
        let of = |scenario: &Scenario, answered: u32, lost: u32| {
            let paid = (0..answered).map(|copy| paid("burst", "pay_1").copy(copy));
            let all = answered + lost;
            let gone = (answered..all).map(|copy| sent("burst").copy(copy));
            let round = round(paid.chain(gone)).burst("burst", all, 2);
            judged(scenario, &contract(""), vec![round]).verdict
        };
        assert_eq!(of(&burst, 2, 2), Verdict::Pass);
        assert_eq!(of(&burst, 2, 3), Verdict::Inconclusive);
        assert_eq!(of(&burst, 3, 3), Verdict::Pass);
        assert_eq!(of(&burst, 1, 1), Verdict::Inconclusive);
        assert_eq!(of(&send, 4, 1), Verdict::Inconclusive);
        assert_eq!(of(&send, 5, 0), Verdict::Pass);
    }

    #[test]
    fn a_failure_after_the_retention_is_one_all_the_same() {
        let contract = contract("extends: generic\nretention: { min: 1s }");
        let claim = expecting("outcome: { of: again, never: server-error }");
        let late = round([
            paid("first", "pay_1").at(0, 5),
            answered("again", 500).at(9_000, 9_005),
        ]);
        let finding = judged(&claim, &contract, vec![late]);
        assert_eq!(finding.verdict, Verdict::Fail, "{}", finding.reason);
    }
}
