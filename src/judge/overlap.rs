//! `overlap`: a copy of one step was sent while the other step still ran.

use super::ruling::Ruling;
use super::view::{View, began};
use crate::outcome::Meaning;

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str, with: &str) -> Ruling {
    let copies = view.all(of);
    let running = view.all(with);
    if copies.is_empty() {
        return view.never_sent(of);
    }
    if running.is_empty() {
        return view.never_sent(with);
    }
    let met: Vec<usize> = copies
        .iter()
        .filter(|(_, copy)| {
            // A copy that was turned away for its rate met nobody.
            let counts = !copy.outcome.is_within(Meaning::RateLimited.into());
            copy.times.sent.is_some_and(|sent| {
                counts
                    && running.iter().any(|(_, other)| {
                        let over = other.times.last_byte.unwrap_or(other.times.ended);
                        began(other) <= sent && sent < over
                    })
            })
        })
        .map(|(index, _)| *index)
        .collect();
    if met.is_empty() {
        Ruling::broken(format!(
            "no request of `{of}` was sent while `{with}` still ran"
        ))
    } else {
        Ruling::held(format!(
            "{} of {} requests of `{of}` were sent while `{with}` still ran",
            met.len(),
            copies.len()
        ))
        .seen_in(met)
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{answered, paid, round, sent, verdict};
    use crate::transcript::Round;
    use crate::verdict::Verdict;

    fn assumed(round: Round) -> (Verdict, String) {
        verdict("overlap: { of: again, with: first }", round)
    }

    #[test]
    fn a_request_sent_before_the_last_byte_of_the_other_overlaps() {
        let met = round([
            paid("first", "pay_1").at(0, 50),
            paid("again", "pay_1").at(49, 60),
        ]);
        assert_eq!(assumed(met).0, Verdict::Pass);
        let missed = round([
            paid("first", "pay_1").at(0, 50),
            paid("again", "pay_1").at(50, 60),
        ]);
        assert_eq!(assumed(missed).0, Verdict::Fail);
    }

    #[test]
    fn a_copy_that_was_refused_for_its_rate_met_nobody() {
        let limited = round([
            paid("first", "pay_1").at(0, 50),
            answered("again", 429).at(10, 12),
        ]);
        assert_eq!(assumed(limited).0, Verdict::Fail);
    }

    #[test]
    fn one_that_was_sent_before_the_other_or_not_at_all_does_not_overlap() {
        let first = |copy: u32, from: u64, to: u64| paid("first", "pay_1").copy(copy).at(from, to);
        let again = |from: u64| paid("again", "pay_1").at(from, 60);
        assert_eq!(
            assumed(round([first(0, 20, 50), again(20)])).0,
            Verdict::Pass
        );
        assert_eq!(
            assumed(round([first(0, 20, 50), again(19)])).0,
            Verdict::Fail
        );
        let one_of_two = round([first(0, 0, 5), first(1, 10, 50), again(20)]);
        assert_eq!(assumed(one_of_two).0, Verdict::Pass);
        let mut unsent = sent("again").at(20, 30);
        unsent.times.sent = None;
        assert_eq!(assumed(round([first(0, 0, 50), unsent])).0, Verdict::Fail);
    }
}
