//! Pauses between attempts: that there are some, that they vary or grow, and that they have a cap.
//!
//! A machine adds to a pause, so what is compared is how far the middle of the pauses at one place
//! lies above the shortest of them. An attempt that we saw late takes from the pause after it: the
//! shortest tenth, and one at least, is left out, and pauses of which half are alike are not said to
//! vary.

use super::Said;
use super::operations::Operation;
use crate::verdict::Verdict;
use std::time::Duration;

/// Pauses at one place of the row that are needed to say that they vary.
const ENOUGH: usize = 6;

/// Pauses at one place of the row that are needed to say that they do not: those that vary from
/// nothing to twice their middle look steady in one of some hundred rows of six.
const SURE: usize = 10;

/// Pauses no longer than this are none: it is what work takes.
const NONE: Duration = Duration::from_millis(20);

/// A middle that is so far above the shortest shows that pauses vary.
const VARIES: Duration = Duration::from_millis(12);

/// The share of a pause by which its middle must be above the shortest.
const WORTH: f64 = 0.05;

/// A middle that is no further above the shortest shows that they do not.
const STEADY: Duration = Duration::from_millis(8);

/// Pauses at one place of the row from which on a restless machine does not hide that they are steady:
/// it adds to some of them, and leaves enough of them alone.
const MANY: usize = 16;

/// The share of pauses that such a machine leaves alone, at least, so that they lie within
/// [`CLOSE`]. Of pauses that vary by 40 ms, so many do in one of some hundreds of rows.
const ALONE: f64 = 0.4;

/// The share of pauses that lie within [`CLOSE`] of each other where nothing but the machine makes
/// the others differ.
const ALIKE: f64 = 0.5;

/// Pauses that are no longer than half of what work takes are none, where so many of them are.
const MOSTLY: f64 = 0.6;

/// Pauses that differ by no more than this are alike.
const CLOSE: Duration = Duration::from_millis(4);

/// How many times its usual lateness a machine may be late.
const NOISE: u32 = 2;

/// How many times what it may usually be late a busy machine is, now and then.
const LOUDER: u32 = 2;

/// Processes whose start may delay one attempt of a script, and one more for safety.
const PROCESSES: u32 = 3;

/// Pauses grow if the last ones are longer than the first ones by this factor.
const GROWTH: f64 = 1.25;

/// The pauses at each place of the row, over all operations, each place sorted.
fn rows(operations: &[Operation<'_>]) -> Vec<Vec<Duration>> {
    let mut rows: Vec<Vec<Duration>> = Vec::new();
    for operation in operations {
        for (index, pause) in operation.pauses().into_iter().enumerate() {
            if rows.len() <= index {
                rows.push(Vec::new());
            }
            rows[index].push(pause);
        }
    }
    for row in &mut rows {
        row.sort_unstable();
    }
    rows
}

/// The middle of a sorted row.
fn middle(row: &[Duration]) -> Duration {
    match row.len() {
        0 => Duration::ZERO,
        length if length % 2 == 1 => row[length / 2],
        length => (row[length / 2 - 1] + row[length / 2]) / 2,
    }
}

/// `506 ms, 1003 ms`.
fn in_words(rows: &[Vec<Duration>]) -> String {
    let middles: Vec<String> = rows
        .iter()
        .map(|row| format!("{} ms", middle(row).as_millis()))
        .collect();
    middles.join(", ")
}

fn count(rows: &[Vec<Duration>]) -> usize {
    rows.iter().map(Vec::len).sum()
}

/// All rows, or why there is nothing to say.
fn seen(operations: &[Operation<'_>]) -> Result<Vec<Vec<Duration>>, Said> {
    let rows = rows(operations);
    if !rows.is_empty() {
        return Ok(rows);
    }
    let unfinished = operations
        .iter()
        .any(|operation| operation.run.end.is_unfinished());
    Err(match operations.first() {
        _ if unfinished => Said::not_shown("the command had not ended when its time was over"),
        None => Said::not_shown("nothing was sent"),
        Some(first) => Said::does_not_apply(format!("it sent nothing again ({})", first.met())),
    })
}

/// What this machine may add to a pause by its own lateness.
fn noise(operations: &[Operation<'_>]) -> Duration {
    let late = operations.iter().map(|operation| operation.run.lateness);
    late.max().unwrap_or_default() * NOISE
}

/// What it may add beyond that: as much as it adds to the start of the command from one run to the
/// next.
fn restlessness(operations: &[Operation<'_>]) -> Duration {
    let mut starts: Vec<Duration> = operations
        .iter()
        .filter_map(|operation| {
            let (_, first) = operation.attempts.first()?;
            Some(first.began.saturating_sub(operation.run.began))
        })
        .collect();
    starts.sort_unstable();
    spread(&starts)
}

/// How far the middle of a sorted row must lie above its shortest to show that pauses vary: few of
/// them come out apart by chance, and a spread of a few hundredths brings nobody back at another time.
fn bar(row: &[Duration], noise: Duration) -> Duration {
    let least = VARIES.max(noise).max(middle(row).mul_f64(WORTH));
    match row.len() < SURE {
        true => least * 2,
        false => least,
    }
}

/// How far the middle of a sorted row lies above the shortest of it.
fn spread(row: &[Duration]) -> Duration {
    middle(row).saturating_sub(shortest(row))
}

/// The shortest of a sorted row, the shortest tenth left out, and one at least where there are enough.
fn shortest(row: &[Duration]) -> Duration {
    let left_out = (row.len() / 10).max(usize::from(row.len() >= ENOUGH));
    row.get(left_out).copied().unwrap_or_default()
}

/// The largest share of a sorted row that is alike.
fn alike(row: &[Duration]) -> f64 {
    let close = |from: &Duration| {
        let to = *from + CLOSE;
        row.iter()
            .filter(|pause| from <= *pause && **pause <= to)
            .count()
    };
    row.iter().map(close).max().unwrap_or_default() as f64 / row.len().max(1) as f64
}

/// Whether a sorted row is of no pauses at all: nearly all are what work takes, or most are far less.
fn are_none(row: &[Duration]) -> bool {
    let nearly_all = row
        .get(row.len() * 9 / 10)
        .is_none_or(|pause| *pause <= NONE);
    let short = row.iter().filter(|pause| **pause <= NONE / 2).count();
    nearly_all || short as f64 >= MOSTLY * row.len() as f64
}

/// Whether a sorted row is seen to be steady in spite of a restless machine.
fn is_steady(row: &[Duration]) -> bool {
    row.len() >= MANY && left_alone(row) >= ALONE
}

/// The share of a sorted row that lies close to the shortest of it, the shortest tenth left out.
fn left_alone(row: &[Duration]) -> f64 {
    let shortest = shortest(row);
    let close = row.iter().filter(|pause| **pause <= shortest + CLOSE);
    close.count() as f64 / row.len().max(1) as f64
}

/// What pauses must stand above so that they are shown to be there, or to vary: a machine that is
/// busy is late by far more than usual now and then, and later still where each attempt is a process.
fn loudness(operations: &[Operation<'_>]) -> Duration {
    (noise(operations) * LOUDER).max(restlessness(operations) * PROCESSES)
}

/// Whether there is a pause between attempts; the first one may be missing.
pub(super) fn there_are(operations: &[Operation<'_>]) -> Said {
    let rows = match seen(operations) {
        Ok(rows) => rows,
        Err(said) => return said,
    };
    let longest = rows.iter().map(|row| middle(row)).max().unwrap_or_default();
    let words = in_words(&rows);
    let number = count(&rows);
    let often = rows.iter().filter(|row| row.len() >= ENOUGH);
    let surely = often.map(|row| shortest(row)).max() > Some(NONE);
    if surely || longest > NONE.max(loudness(operations)) {
        return Said::held(format!("pauses of {words} (middle of {number} in all)"));
    }
    if longest > NONE {
        return Said::not_shown(format!(
            "pauses of {words} cannot be told from the lateness of this machine ({} ms)",
            loudness(operations).as_millis()
        ));
    }
    // Pauses that vary from nothing on may have come out short.
    if !rows.iter().all(|row| are_none(row)) {
        return Said::not_shown(format!(
            "pauses of {words} (middle of {number} in all) may be short ones or none"
        ));
    }
    let most = rows.iter().flatten().max().copied().unwrap_or_default();
    if number < ENOUGH && most > NONE / 2 {
        return Said::not_shown(format!("{number} pauses are too few to tell: {words}"));
    }
    broken(
        format!("no pause between attempts: {words} (middle of {number} in all)"),
        operations,
    )
}

/// Whether pauses vary. A late machine makes them vary and never makes them steady.
pub(super) fn vary(operations: &[Operation<'_>]) -> Said {
    let rows = match seen(operations) {
        Ok(rows) => rows,
        Err(said) => return said,
    };
    if rows.iter().all(|row| middle(row) <= NONE) {
        return Said::does_not_apply("there are no pauses that could vary");
    }
    let judged: Vec<&Vec<Duration>> = rows
        .iter()
        .filter(|row| row.len() >= ENOUGH && middle(row) > NONE)
        .collect();
    let number = count(&rows);
    let words = in_words(&rows);
    let noise = loudness(operations);
    let widest = judged.iter().map(|row| spread(row)).max();
    let varies = |row: &&Vec<Duration>| spread(row) > bar(row, noise) && alike(row) < ALIKE;
    if judged.iter().any(varies) {
        return Said::held(format!("{number} pauses vary around {words}"));
    }
    let most = rows.iter().map(Vec::len).max().unwrap_or_default();
    if widest.is_none() {
        return Said::not_shown(format!(
            "{most} pauses at one place of the row are too few to say whether they vary; {ENOUGH} are needed"
        ));
    }
    if widest > Some(STEADY) && !judged.iter().all(|row| is_steady(row)) {
        return Said::not_shown(format!(
            "{number} pauses around {words} differ by about as much as this machine is late ({} ms)",
            noise.as_millis()
        ));
    }
    if most < SURE {
        return Said::not_shown(format!(
            "{most} pauses at one place of the row are too few to say that they do not vary; {SURE} are needed"
        ));
    }
    broken(
        format!(
            "pauses do not vary: {words} (middle of {number} in all), so many clients come back at once"
        ),
        operations,
    )
}

/// Whether pauses grow. Those that vary need not.
pub(super) fn grow(operations: &[Operation<'_>]) -> Said {
    let rows = match seen(operations) {
        Ok(rows) => rows,
        Err(said) => return said,
    };
    let words = in_words(&rows);
    if rows.iter().all(|row| middle(row) <= NONE) {
        return Said::does_not_apply("there are no pauses that could grow");
    }
    let [first, .., last] = &rows[..] else {
        return Said::does_not_apply(format!("there is one pause only: {words}"));
    };
    // Those that were left alone tell how long the others were meant to be.
    let (from, to) = (shortest(first), shortest(last));
    let noise = match is_steady(first) && is_steady(last) {
        true => CLOSE,
        false => noise(operations),
    };
    let grown = from.mul_f64(GROWTH);
    if to > grown && to > from + noise {
        return Said::held(format!("pauses grow: {words}"));
    }
    let varies = vary(operations);
    match varies.verdict {
        Verdict::Pass => {
            Said::does_not_apply(format!("pauses vary around {words}, so they need not grow"))
        }
        Verdict::Inconclusive => varies,
        _ if grown < from + noise || to > grown => Said::not_shown(format!(
            "whether pauses of {words} grow cannot be told from the lateness of this machine ({} ms)",
            noise.as_millis()
        )),
        _ => broken(format!("pauses do not grow: {words}"), operations),
    }
}

/// Whether no pause is longer than a bound.
pub(super) fn capped(operations: &[Operation<'_>], at_most: Duration) -> Said {
    let rows = match seen(operations) {
        Ok(rows) => rows,
        Err(said) => return said,
    };
    let longest = rows.iter().flatten().max().copied().unwrap_or_default();
    let says = humantime::format_duration(Duration::from_millis(
        u64::try_from(longest.as_millis()).unwrap_or(u64::MAX),
    ));
    if longest > at_most {
        return broken(format!("a pause of {says}"), operations);
    }
    let unfinished = operations
        .iter()
        .any(|operation| operation.run.end.is_unfinished());
    match unfinished {
        true => Said::not_shown(format!(
            "the longest pause was {says} when the command's time was over"
        )),
        false => Said::held(format!("the longest pause was {says}")),
    }
}

fn broken(reason: String, operations: &[Operation<'_>]) -> Said {
    let said = Said::broken(reason);
    match operations.first() {
        Some(first) => said.seen_in(first),
        None => said,
    }
}

#[cfg(test)]
mod tests;
