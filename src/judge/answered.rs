//! `answered`: every copy got its answer in time. Beside `recovered` and `unaffected` the only
//! check that a missing response breaks.

use super::ruling::Ruling;
use super::view::{View, got, time, took, who};
use crate::scenario::TimeSpan;
use crate::transcript::{Delivery, Ending};

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str, within: TimeSpan) -> Ruling {
    let standing = view.standing(of);
    if standing.is_empty() {
        return view.never_sent(of);
    }
    let Some(plain) = view.span(within) else {
        return Ruling::nothing(format!("`{within}` is not known"));
    };
    let rulings: Vec<Ruling> = standing
        .into_iter()
        .map(|(index, exchange)| {
            let name = who(exchange);
            let own = view.span_for(within, exchange);
            let limit = own.unwrap_or(plain);
            let own_doing = exchange.ending == Ending::HungUp
                || exchange.delivery == Delivery::NotSent
                || exchange.fault.is_some();
            let ruling = if exchange.response.is_none() {
                if own_doing {
                    Ruling::nothing(format!("{name} {}", got(exchange)))
                } else {
                    Ruling::broken(format!("{name} {}", got(exchange)))
                }
            } else if took(exchange) <= limit {
                Ruling::held(format!("answered within {}", time(took(exchange))))
            } else if own.is_none() {
                // A share of the plain request's latency says nothing about a slow variant.
                Ruling::nothing(format!(
                    "{name} was answered after {}, and the latency of its variant is not known",
                    time(took(exchange))
                ))
            } else if took(exchange) <= limit + view.may_be_late() {
                Ruling::nothing(format!(
                    "{name} was answered after {}, later than {}, but this machine is busy and may have held it up",
                    time(took(exchange)),
                    time(limit)
                ))
            } else {
                Ruling::broken(format!(
                    "{name} was answered after {}, later than {}",
                    time(took(exchange)),
                    time(limit)
                ))
            };
            ruling
                .weighing(u64::try_from(took(exchange).as_millis()).unwrap_or(u64::MAX))
                .seen_in([index])
        })
        .collect();
    Ruling::gravest(rulings).unwrap_or_else(|| view.never_sent(of))
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{
        answered, contract, expecting, judged_with, paid, round, sent, transcript, verdict,
    };
    use crate::scenario::{OperationRole, PrincipalRole};
    use crate::transcript::{Delivery, Ending, Latency, LatencyOf};
    use crate::verdict::Verdict;
    use std::time::Duration;

    #[test]
    fn an_answer_in_time_holds_and_a_late_or_missing_one_breaks_it() {
        let claim = "answered: { of: again, within: 1s }";
        let quick = round([answered("again", 409).at(0, 900)]);
        assert_eq!(verdict(claim, quick).0, Verdict::Pass);
        let slow = round([paid("again", "pay_1").at(0, 1_100)]);
        assert_eq!(verdict(claim, slow).0, Verdict::Fail);
        assert_eq!(verdict(claim, round([sent("again")])).0, Verdict::Fail);
        let mut ours = sent("again");
        ours.ending = Ending::HungUp;
        assert_eq!(verdict(claim, round([ours])).0, Verdict::Inconclusive);
    }

    #[test]
    fn the_plain_latency_says_nothing_about_a_slow_variant() {
        let claim = "answered: { of: again, within: 300% latency }";
        let plain = round([paid("again", "pay_1").at(0, 51)]);
        assert_eq!(verdict(claim, plain).0, Verdict::Fail);
        let slow = round([paid("again", "pay_1").variant("slow").at(0, 51)]);
        assert_eq!(verdict(claim, slow).0, Verdict::Inconclusive);
    }

    #[test]
    fn a_slow_variant_is_held_against_its_own_latency() {
        let claim = "answered: { of: again, within: 300% latency }";
        let after = |end| {
            let slow = round([paid("again", "pay_1").variant("slow").at(0, end)]);
            let mut transcript = transcript(vec![slow]);
            transcript.further_latencies = vec![LatencyOf {
                operation: OperationRole::Subject,
                principal: PrincipalRole::Owner,
                variants: vec!["slow".to_owned()],
                latency: Latency {
                    p50: Duration::from_millis(80),
                    p99: Duration::from_millis(80),
                },
            }];
            judged_with(&expecting(claim), &contract(""), &transcript).verdict
        };
        assert_eq!(after(240), Verdict::Pass);
        assert_eq!(after(241), Verdict::Inconclusive);
        assert_eq!(after(260), Verdict::Inconclusive);
        assert_eq!(after(261), Verdict::Fail);
    }

    #[test]
    fn a_busy_machine_may_hold_an_answer_up() {
        let claim = "answered: { of: again, within: 1s }";
        let after = |end| verdict(claim, round([paid("again", "pay_1").at(0, end)]).busy(30)).0;
        assert_eq!(after(1_000), Verdict::Pass);
        assert_eq!(after(1_600), Verdict::Inconclusive);
        assert_eq!(after(1_601), Verdict::Fail);
    }

    #[test]
    fn what_we_did_ourselves_breaks_nothing() {
        let claim = "answered: { of: again, within: 1s }";
        let mut unsent = sent("again");
        unsent.delivery = Delivery::NotSent;
        assert_eq!(verdict(claim, round([unsent])).0, Verdict::Inconclusive);
        let mut cut = sent("again").hung_up(3, Some(false));
        cut.ending = Ending::TimedOut;
        assert_eq!(verdict(claim, round([cut])).0, Verdict::Inconclusive);
        let none = verdict(claim, round([paid("first", "pay_1")]));
        assert_eq!(none.0, Verdict::Inconclusive, "it was never sent");
    }

    #[test]
    fn a_share_of_what_was_not_measured_shows_nothing() {
        let claim = "answered: { of: again, within: 300% latency }";
        let mut transcript = transcript(vec![round([paid("again", "pay_1")])]);
        transcript.latency = None;
        let judged = judged_with(&expecting(claim), &contract(""), &transcript);
        assert_eq!(judged.verdict, Verdict::Inconclusive, "{}", judged.reason);
    }

    #[test]
    fn the_latency_of_another_operation_or_variant_is_not_its_own() {
        let claim = "answered: { of: again, within: 300% latency }";
        let slow = round([paid("again", "pay_1").variant("slow").at(0, 300)]);
        let mut transcript = transcript(vec![slow]);
        let measured = |operation: OperationRole, variant: &str| LatencyOf {
            operation,
            principal: PrincipalRole::Owner,
            variants: vec![variant.to_owned()],
            latency: Latency {
                p50: Duration::from_millis(10),
                p99: Duration::from_millis(10),
            },
        };
        transcript.further_latencies = vec![
            measured(OperationRole::Other, "slow"),
            measured(OperationRole::Subject, "large"),
        ];
        let judged = judged_with(&expecting(claim), &contract(""), &transcript);
        assert_eq!(judged.verdict, Verdict::Inconclusive, "{}", judged.reason);
    }
}
