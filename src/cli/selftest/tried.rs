//! The trying: demos side by side, and alone where luck or quiet is needed.

use super::compared::{Compared, Wrong};
use super::subject::Subject;
use crate::cli::progress::Callback;
use futures::StreamExt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What is tried, and how thoroughly.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The demos.
    pub subjects: Vec<Subject>,
    /// Everything is run, not only what bears on the subject.
    pub full: bool,
    /// How often a flaw is tried that is caught at a rate only.
    pub times: usize,
    /// Demos that run side by side, where luck and quiet are not needed.
    pub at_once: NonZeroUsize,
}

/// What came of a subject.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Which.
    pub subject: Subject,
    /// Each run, the last one last. More than one where luck is needed.
    pub runs: Vec<Compared>,
    /// Runs before that showed nothing of something.
    pub unclear: usize,
    /// How long it took in all.
    pub took: Duration,
}

impl Tried {
    /// Whether the tool is right about it. What is caught at a rate may be missed.
    pub fn is_right(&self) -> bool {
        match self.subject.is_a_matter_of_luck() {
            true => self.runs.iter().all(|run| run.alarms.is_empty()),
            false => self.runs.iter().all(Compared::is_right),
        }
    }

    /// The runs in which it was caught.
    pub fn times_caught(&self) -> usize {
        self.runs
            .iter()
            .filter(|run| !run.caught.is_empty())
            .count()
    }
}

/// Tries what is wanted, and tells of each subject as it is done. The order is that of the wish.
pub async fn try_out(wanted: &Wanted, progress: &Callback) -> Vec<Tried> {
    let total = wanted.subjects.len();
    let done = AtomicUsize::new(0);
    let tell = |subject: Subject| {
        let done = done.fetch_add(1, Ordering::SeqCst) + 1;
        progress(&subject.label(), done, total);
    };
    let numbered = || wanted.subjects.iter().copied().enumerate();
    let (lucky, mut sure): (Vec<_>, Vec<_>) =
        numbered().partition(|(_, subject)| subject.is_a_matter_of_luck());
    // What takes long begins first, so that nothing else waits for it in the end.
    sure.sort_by_key(|(_, subject)| std::cmp::Reverse(subject.extent()));
    let tell = &tell;
    let mut tried: Vec<(usize, Tried)> = futures::stream::iter(sure)
        .map(|(number, subject)| async move {
            let tried = Box::pin(once(subject, wanted.full)).await;
            tell(subject);
            (number, tried)
        })
        .buffer_unordered(wanted.at_once.get())
        .collect()
        .await;
    for (_, tried) in &mut tried {
        let unclear = tried.runs.iter().any(Compared::deserves_another_try);
        if unclear {
            let again = once(tried.subject, wanted.full).await;
            tried.unclear += 1;
            tried.took += again.took;
            tried.runs = again.runs;
        }
    }
    for (number, subject) in lucky {
        let mut all = once(subject, wanted.full).await;
        for _ in 1..wanted.times {
            // Luck bears on what bears on the subject.
            let another = once(subject, false).await;
            all.took += another.took;
            all.runs.extend(another.runs);
        }
        tell(subject);
        tried.push((number, all));
    }
    tried.sort_by_key(|(number, _)| *number);
    tried.into_iter().map(|(_, tried)| tried).collect()
}

async fn once(subject: Subject, full: bool) -> Tried {
    let began = Instant::now();
    let compared = match Box::pin(subject.report(full)).await {
        Ok(report) => Compared::new(subject, &report),
        Err(failure) => Compared {
            missed: vec![Wrong::new(subject.name(), failure.to_string())],
            ..Compared::default()
        },
    };
    Tried {
        subject,
        runs: vec![compared],
        unclear: 0,
        took: began.elapsed(),
    }
}
