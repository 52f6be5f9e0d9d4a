//! `bounded`: what a probe shows keeps its declared bound.

use super::ruling::Ruling;
use super::view::View;
use crate::transcript::{Exchange, ReadingKind};

/// Rules on one round.
pub(super) fn rule(view: &View<'_>, probe: Option<&str>) -> Ruling {
    let mut rulings = Vec::new();
    for facts in &view.transcript.probes {
        let Some(bound) = facts
            .bound
            .filter(|_| probe.is_none_or(|name| name == facts.name))
        else {
            continue;
        };
        let used = |exchange: &Exchange| exchange.operation == facts.operation;
        if !view.round.exchanges.iter().any(used) {
            continue;
        }
        let readings: Vec<_> = view
            .round
            .readings
            .iter()
            .filter(|reading| reading.probe == facts.name && reading.operation == facts.operation)
            .collect();
        let highest = readings
            .iter()
            .filter_map(|reading| reading.shows.as_ref().ok()?.count())
            .fold(None, |most: Option<f64>, value| {
                Some(most.map_or(value, |most| most.max(value)))
            });
        let settled = readings
            .iter()
            .any(|reading| reading.kind == ReadingKind::Late && reading.shows.is_ok());
        rulings.push(match highest {
            Some(value) if value > bound => Ruling::broken(format!(
                "`{}` shows {value}, above its bound of {bound}",
                facts.name
            ))
            .weighing((value - bound).ceil() as u64),
            Some(value) if settled => Ruling::held(format!(
                "`{}` shows {value}, within its bound of {bound}",
                facts.name
            )),
            _ => Ruling::nothing(format!(
                "`{}` was not read once everything had settled",
                facts.name
            )),
        });
    }
    Ruling::gravest(rulings).unwrap_or_else(|| Ruling::nothing("there is no probe with a bound"))
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{
        contract, expecting, judged_with, paid, reading, round, transcript,
    };
    use crate::scenario::OperationRole;
    use crate::transcript::{Reading, ReadingKind, Shown};
    use crate::verdict::Verdict;

    fn spent(amounts: &[(ReadingKind, f64)], bound: Option<f64>) -> Verdict {
        let mut round = round([paid("first", "pay_1")]);
        for (kind, amount) in amounts {
            round = round.read(reading(kind.clone(), &[]).shows(Shown::Count(*amount)));
        }
        let mut transcript = transcript(vec![round]);
        transcript.probes[0].bound = bound;
        judged_with(&expecting("bounded: {}"), &contract(""), &transcript).verdict
    }

    #[test]
    fn the_highest_reading_keeps_the_bound_or_breaks_it() {
        let (early, late) = (ReadingKind::Early, ReadingKind::Late);
        assert_eq!(spent(&[(late.clone(), 100.0)], Some(100.0)), Verdict::Pass);
        assert_eq!(spent(&[(late.clone(), 101.0)], Some(100.0)), Verdict::Fail);
        assert_eq!(
            spent(&[(early.clone(), 101.0), (late.clone(), 90.0)], Some(100.0)),
            Verdict::Fail
        );
        assert_eq!(spent(&[(early, 90.0)], Some(100.0)), Verdict::Inconclusive);
        assert_eq!(spent(&[(late, 90.0)], None), Verdict::Inconclusive);
    }

    #[test]
    fn the_bound_of_an_operation_that_was_not_used_says_nothing() {
        let late = reading(ReadingKind::Late, &[]).shows(Shown::Count(1.0));
        let mut transcript = transcript(vec![round([paid("first", "pay_1")]).read(late)]);
        transcript.probes[0].bound = Some(1.0);
        let mut other = transcript.probes[0].clone();
        other.operation = OperationRole::Other;
        transcript.probes.push(other);
        let judged = judged_with(&expecting("bounded: {}"), &contract(""), &transcript);
        assert_eq!(judged.verdict, Verdict::Pass);
    }

    #[test]
    fn only_the_readings_of_the_probe_itself_count() {
        let read = |change: fn(&mut Reading)| {
            let own = reading(ReadingKind::Late, &[]).shows(Shown::Count(1.0));
            let mut other = reading(ReadingKind::Late, &[]).shows(Shown::Count(9.0));
            change(&mut other);
            let round = round([paid("first", "pay_1")]).read(own).read(other);
            let mut transcript = transcript(vec![round]);
            transcript.probes[0].bound = Some(2.0);
            judged_with(&expecting("bounded: {}"), &contract(""), &transcript).verdict
        };
        assert_eq!(read(|_| {}), Verdict::Fail);
        assert_eq!(
            read(|other| other.probe = "other".to_owned()),
            Verdict::Pass
        );
        assert_eq!(
            read(|other| other.operation = OperationRole::Other),
            Verdict::Pass
        );
        assert_eq!(
            read(|other| other.shows = Err("none".to_owned())),
            Verdict::Pass
        );
    }

    #[test]
    fn one_probe_can_be_named() {
        let judged = |name: &str| {
            let late = reading(ReadingKind::Late, &[]).shows(Shown::Count(9.0));
            let mut transcript = transcript(vec![round([paid("first", "pay_1")]).read(late)]);
            transcript.probes[0].bound = Some(2.0);
            let claim = format!("bounded: {{ probe: {name} }}");
            judged_with(&expecting(&claim), &contract(""), &transcript).verdict
        };
        assert_eq!(judged("payments"), Verdict::Fail);
        assert_eq!(judged("stock"), Verdict::Inconclusive);
    }

    #[test]
    fn a_late_reading_that_failed_is_none() {
        let early = reading(ReadingKind::Early, &[]).shows(Shown::Count(1.0));
        let failed = reading(ReadingKind::Late, &[]).failed("GET answered 500");
        let round = round([paid("first", "pay_1")]).read(early).read(failed);
        let mut transcript = transcript(vec![round]);
        transcript.probes[0].bound = Some(2.0);
        let judged = judged_with(&expecting("bounded: {}"), &contract(""), &transcript);
        assert_eq!(judged.verdict, Verdict::Inconclusive, "{}", judged.reason);
    }
}
