//! The test of the tool itself: a demo with each flaw, which must be caught by the checks that it
//! breaks and by no other, and with each way to behave that is right, which must be left alone.

mod compared;
mod named;
mod page;
mod screen;
mod subject;
mod tried;

use super::args::SelftestArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::progress::Progress;
use super::run::wide_runtime;
use super::server::asked_to_end;
use crate::demo::{Flaw, VARIANTS};
use crate::demo_client::Habit;
use std::time::{Duration, Instant};

pub use compared::{Compared, Wrong};
pub use subject::Subject;
pub use tried::{SoFar, Tried, Wanted, try_out};

/// What came of a selftest.
struct Done {
    /// What was tried.
    tried: Vec<Tried>,
    /// How much there was to try.
    of: usize,
    /// Whether it went to its end.
    is_whole: bool,
    /// How long it took.
    took: Duration,
}

/// Tries the tool on the demo's flaws and variants, and shows what it caught, missed and took
/// offence at.
///
/// Ctrl-C ends it with what was tried by then.
///
/// # Errors
/// When nothing is selected, or the result cannot be written.
pub fn selftest(args: &SelftestArgs) -> Result<Exit, Failure> {
    let mut subjects = selected(args);
    if let Some(part) = args.part {
        part.narrow(&mut subjects);
    }
    let wanted = Wanted {
        subjects,
        full: args.full,
        times: args.times,
        at_once: args.at_once,
    };
    if wanted.subjects.is_empty() {
        return Err(Failure::Usage("this part has nothing in it".to_owned()));
    }
    let began = Instant::now();
    let progress = Progress::new(args.quiet);
    let so_far = SoFar::default();
    let is_whole = wide_runtime()?.block_on(async {
        let callback = progress.callback();
        tokio::select! {
            () = try_out(&wanted, &callback, &so_far) => true,
            true = asked_to_end() => false,
        }
    });
    progress.finish();
    let done = Done {
        tried: so_far.all(),
        of: wanted.subjects.len(),
        is_whole,
        took: began.elapsed(),
    };
    super::screen::say(&screen::render(&done, args.verbose))?;
    if let Some(file) = &args.report {
        files::write(file, &page::render(&done, args.full)).map_err(|problem| {
            Failure::Unable(format!("cannot write {}: {problem}", file.display()))
        })?;
    }
    Ok(match done.tried.iter().all(Tried::is_right) {
        true if is_whole => Exit::Clean,
        true => Exit::Inconclusive,
        false => Exit::Failed,
    })
}

/// The correct demo, every flaw, every variant under two contracts, and the demo client with every
/// habit.
pub fn everything() -> Vec<Subject> {
    let flaws = Flaw::ALL.iter().map(|flaw| Subject::Flawed(*flaw));
    let variants = VARIANTS
        .iter()
        .flat_map(|variant| [Subject::Allowed(variant), Subject::Unpromised(variant)]);
    [Subject::Correct]
        .into_iter()
        .chain(flaws)
        .chain(variants)
        .chain(Habit::ALL.map(Subject::Client))
        .collect()
}

fn selected(args: &SelftestArgs) -> Vec<Subject> {
    let mut subjects = everything();
    if !args.flaw.is_empty() || !args.variant.is_empty() || !args.habit.is_empty() {
        subjects.retain(|subject| match subject {
            Subject::Correct => false,
            Subject::Flawed(flaw) => args.flaw.contains(flaw),
            Subject::Client(habit) => args.habit.contains(habit),
            Subject::Allowed(variant) | Subject::Unpromised(variant) => args
                .variant
                .iter()
                .any(|wanted| wanted.name == variant.name),
        });
    }
    subjects
}

#[cfg(test)]
mod tests {
    use super::everything;
    use crate::cli::args::Shard;
    use std::collections::BTreeSet;

    #[test]
    fn the_parts_make_the_whole() {
        let names = |subjects: Vec<super::Subject>| -> BTreeSet<String> {
            subjects.into_iter().map(super::Subject::label).collect()
        };
        let all = names(everything());
        assert_eq!(all.len(), everything().len());
        let mut together = BTreeSet::new();
        for part in 1..=3 {
            let mut some = everything();
            Shard { part, of: 3 }.narrow(&mut some);
            let some = names(some);
            assert!(together.is_disjoint(&some));
            together.extend(some);
        }
        assert_eq!(together, all);
    }
}
