//! The trying: demos side by side, and alone where luck or quiet is needed.

use super::compared::{Compared, Wrong};
use super::subject::Subject;
use crate::cli::progress::Callback;
use futures::StreamExt;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
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

/// What has been tried so far, in the order of the wish.
#[derive(Debug, Default)]
pub struct SoFar(Mutex<BTreeMap<usize, Tried>>);

impl SoFar {
    /// All that is done.
    pub fn all(&self) -> Vec<Tried> {
        self.tried().values().cloned().collect()
    }

    fn note(&self, number: usize, tried: Tried) {
        self.tried().insert(number, tried);
    }

    fn tried(&self) -> MutexGuard<'_, BTreeMap<usize, Tried>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tries what is wanted, and tells of each subject as it is done. What came of it is in `so_far`.
pub async fn try_out(wanted: &Wanted, progress: &Callback, so_far: &SoFar) {
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
    let mut trials = futures::stream::iter(sure)
        .map(|(number, subject)| async move {
            let tried = Box::pin(once(subject, wanted.full)).await;
            (number, tried)
        })
        .buffer_unordered(wanted.at_once.get());
    while let Some((number, tried)) = trials.next().await {
        let subject = tried.subject;
        so_far.note(number, tried);
        tell(subject);
    }
    let unclear = |tried: &Tried| tried.runs.iter().any(Compared::deserves_another_try);
    let again: Vec<(usize, Tried)> = so_far
        .tried()
        .iter()
        .filter(|(_, tried)| unclear(tried))
        .map(|(number, tried)| (*number, tried.clone()))
        .collect();
    for (number, mut tried) in again {
        let again = once(tried.subject, wanted.full).await;
        tried.unclear += 1;
        tried.took += again.took;
        tried.runs = again.runs;
        so_far.note(number, tried);
    }
    for (number, subject) in lucky {
        let mut all = once(subject, wanted.full).await;
        for _ in 1..wanted.times {
            // Luck bears on what bears on the subject.
            let another = once(subject, false).await;
            all.took += another.took;
            all.runs.extend(another.runs);
        }
        so_far.note(number, all);
        tell(subject);
    }
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
