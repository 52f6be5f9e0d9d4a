//! `told`: whoever made an effect was told so. A failure, or no answer at all, to what was carried out
//! hides it from the client, who must find out by a retry.

use super::ruling::Ruling;
use super::view::{View, began, got, number, succeeded, time, who};
use crate::contract::{gateway, hides_outcome};
use crate::transcript::{Exchange, ReadingKind};

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, of: &str) -> Ruling {
    view.gravest_of(of, |exchange| one(view, exchange))
}

fn one(view: &View<'_>, exchange: &Exchange) -> Ruling {
    let whose = format!("{} {}", who(exchange), got(exchange));
    if succeeded(exchange) {
        return Ruling::held(format!("{whose}, and was told"));
    }
    if exchange.fault.is_some() {
        return Ruling::void(format!("void: {whose}, which is our own doing"));
    }
    if !hides_outcome(exchange) {
        return Ruling::void(format!("void: {whose}, which says that nothing was done"));
    }
    let repeats: Vec<&Exchange> = view
        .round
        .exchanges
        .iter()
        .filter(|other| other.key.value == exchange.key.value && began(other) > began(exchange))
        .collect();
    let until = repeats.iter().map(|other| began(other)).min();
    let seen = view.round.readings.iter().rfind(|reading| {
        reading.operation == exchange.operation
            && reading.marker == exchange.marker
            && reading.kind != ReadingKind::Before
            && reading.at >= exchange.times.ended
            && until.is_none_or(|until| reading.at <= until)
    });
    let made = seen.and_then(|seen| Some((seen, seen.shows.as_ref().ok()?.count()?)));
    match made {
        None => Ruling::nothing(format!(
            "{whose}, and whether anything was made could not be seen"
        )),
        Some((_, made)) if made <= 0.0 => {
            Ruling::void(format!("void: {whose}, and nothing was made"))
        }
        Some((seen, _)) => Ruling::broken(format!(
            "{whose}{} although it was carried out: `{}` shows its effect{}",
            by(exchange),
            seen.probe,
            retold(view, exchange, &repeats)
        ))
        // The target may have broken off by itself, which is what this is about.
        .standing(),
    }
}

/// Whose answer it was, if not the API's.
fn by(exchange: &Exchange) -> String {
    let gateway = exchange.response.as_ref().and_then(gateway);
    gateway.map_or_else(String::new, |name| format!(" from {name} in its place,"))
}

/// What the retries were told, and how many effects there are after them.
fn retold(view: &View<'_>, exchange: &Exchange, repeats: &[&Exchange]) -> String {
    let Some(told) = repeats.iter().find(|other| succeeded(other)) else {
        return match repeats.len() {
            0 => String::new(),
            1 => "; a retry was not told either".to_owned(),
            tries => format!("; {} retries were not told either", number(tries)),
        };
    };
    let after = time(began(told).saturating_sub(exchange.times.ended));
    let last = view
        .round
        .readings
        .iter()
        .rfind(|reading| reading.marker == exchange.marker && reading.at >= told.times.ended);
    let effects = last
        .and_then(|reading| reading.shows.as_ref().ok()?.count())
        .map_or_else(String::new, |count| match count as u64 {
            1 => ", with one effect in all".to_owned(),
            more => format!(", with {more} effects in all"),
        });
    format!("; a retry {after} later {}{effects}", got(told))
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{answered, millis, paid, reading, round, sent, verdict};
    use crate::scenario::OperationRole;
    use crate::transcript::{Ending, Exchange, Reading, ReadingKind, Round};
    use crate::verdict::Verdict;

    const TOLD: &str = "told: { of: first }";

    fn closed(step: &str) -> Exchange {
        Exchange {
            ending: Ending::ClosedByTarget("gone".to_owned()),
            ..sent(step)
        }
    }

    /// A first try, what was there after it, and a retry that is given the result.
    fn tried(first: Exchange, there: &[&str]) -> Round {
        round([first.at(0, 100), paid("again", "pay_1").at(600, 610)])
            .read(reading(ReadingKind::Early, there).taken(300))
            .late(&["pay_1"])
    }

    #[test]
    fn a_failure_that_hides_an_effect_is_named_with_what_a_retry_tells() {
        let (hidden, says) = verdict(TOLD, tried(answered("first", 504), &["pay_1"]));
        assert_eq!(hidden, Verdict::Fail, "{says}");
        assert!(
            says.contains("shows its effect; a retry 500 ms later"),
            "{says}"
        );
        assert!(says.contains("with one effect in all"), "{says}");
        let (broken_off, says) = verdict(TOLD, tried(closed("first"), &["pay_1"]));
        assert_eq!(broken_off, Verdict::Fail, "{says}");
    }

    #[test]
    fn a_failure_that_did_nothing_hides_nothing() {
        let (verdict_of, says) = verdict(TOLD, tried(answered("first", 503), &[]));
        assert_eq!(verdict_of, Verdict::Skip, "{says}");
        let (refused, _) = verdict(TOLD, tried(answered("first", 409), &["pay_1"]));
        assert_eq!(refused, Verdict::Skip);
    }

    #[test]
    fn retries_that_are_not_told_either_are_counted() {
        let never = round([
            answered("first", 504).at(0, 100),
            answered("again", 504).at(600, 610),
            answered("again", 409).at(1100, 1110),
        ])
        .read(reading(ReadingKind::Early, &["pay_1"]).taken(300))
        .late(&["pay_1"]);
        let (hidden, says) = verdict(TOLD, never);
        assert_eq!(hidden, Verdict::Fail, "{says}");
        assert!(says.ends_with("two retries were not told either"), "{says}");
    }

    #[test]
    fn a_success_tells_and_what_we_cut_ourselves_is_no_fault_of_the_target() {
        let (told, _) = verdict(TOLD, tried(paid("first", "pay_1"), &["pay_1"]));
        assert_eq!(told, Verdict::Pass);
        let (cut, says) = verdict(
            TOLD,
            tried(sent("first").hung_up(50, Some(false)), &["pay_1"]),
        );
        assert_eq!(cut, Verdict::Skip);
        assert!(says.ends_with("which is our own doing"), "{says}");
    }

    #[test]
    fn only_what_was_seen_between_the_failure_and_the_next_try_was_made_by_it() {
        let judged = |tries: &[(u64, &str)], change: fn(&mut Reading)| {
            let failed = answered("first", 500).at(0, 100);
            let tries = tries
                .iter()
                .map(|(at, key)| answered("again", 409).key(Some(key)).at(*at, at + 10));
            let mut seen = reading(ReadingKind::Early, &["pay_1"]).taken(300);
            change(&mut seen);
            verdict(TOLD, round(std::iter::once(failed).chain(tries)).read(seen)).0
        };
        let unchanged: fn(&mut Reading) = |_| {};
        let (hidden, unseen) = (Verdict::Fail, Verdict::Inconclusive);
        assert_eq!(judged(&[], unchanged), hidden);
        assert_eq!(judged(&[(600, "k")], unchanged), hidden);
        assert_eq!(judged(&[(150, "o"), (600, "k")], unchanged), hidden);
        assert_eq!(
            judged(&[(200, "k"), (600, "k")], unchanged),
            unseen,
            "the retry may have made it"
        );
        let foreign: [fn(&mut Reading); 4] = [
            |seen| seen.operation = OperationRole::Other,
            |seen| seen.marker = "o".to_owned(),
            |seen| seen.kind = ReadingKind::Before,
            |seen| seen.at = millis(99),
        ];
        for change in foreign {
            assert_eq!(judged(&[(600, "k")], change), unseen);
        }
        assert_eq!(judged(&[(600, "k")], |seen| seen.at = millis(100)), hidden);
        assert_eq!(judged(&[(300, "k")], unchanged), hidden);
    }

    #[test]
    fn how_many_effects_there_are_after_the_retry_is_told() {
        let (_, says) = verdict(
            TOLD,
            tried(answered("first", 504), &["pay_1"]).late(&["pay_1", "pay_2"]),
        );
        assert!(says.ends_with("with 2 effects in all"), "{says}");
        let untold = round([
            answered("first", 504).at(0, 100),
            answered("again", 504).at(600, 610),
        ])
        .read(reading(ReadingKind::Early, &["pay_1"]).taken(300));
        let (_, says) = verdict(TOLD, untold);
        assert!(says.ends_with("; a retry was not told either"), "{says}");
    }
}
