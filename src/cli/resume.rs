//! The second half of a run: keys that were made another day are sent again, now that they are old
//! enough, and judged with all that happened before.

use super::args::ResumeArgs;
use super::deferred::{self, Deferred};
use super::exit::Exit;
use super::failure::Failure;
use super::gate::Known;
use super::observe::{Observed, Subject, observe};
use super::present::present;
use super::progress::Progress;
use super::record::{self, Recorded, RecordedCase};
use super::run::runtime;
use super::screen;
use super::server::{self, Repeatable};
use super::target::{self, Ready};
use crate::plan::{self, Plan};
use crate::runner::{Effort, Suspended};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

/// Goes on with what `run --defer` has left, as far as it is old enough.
///
/// # Errors
/// When the file or the target file is not what it was, or the target cannot be tried.
pub fn resume(args: &ResumeArgs) -> Result<Exit, Failure> {
    let mut deferred = Deferred::read(&args.state)?;
    Known::read(&args.output.gate)?;
    if !deferred.waiting.is_empty() {
        let ready = ready(args, &deferred)?;
        let now = SystemTime::now();
        let patience = ready.target.limits.wait;
        let early = |rest: &Suspended| rest.due() > now + patience;
        if deferred.waiting.values().all(early) {
            for line in deferred::told(deferred.waiting.values(), now) {
                screen::remark(&format!("too early: {line}"));
            }
            return Ok(Exit::Inconclusive);
        }
        let due = deferred.waiting.keys().copied();
        let due: Vec<usize> = due.filter(|case| !early(&deferred.waiting[case])).collect();
        runtime()?.block_on(go_on(args, &mut deferred, &due, &ready))?;
    }
    let recorded = so_far(&deferred);
    let record = args.record.as_ref();
    let failed = record.and_then(|file| record::write(&recorded, &deferred.texts, file).err());
    let failures = failed.into_iter().collect();
    let presented = present(recorded, &deferred.texts, &args.output, true, failures)?;
    Ok(presented.exit)
}

/// The target as it was, with the contracts that it was held to.
fn ready(args: &ResumeArgs, deferred: &Deferred) -> Result<Ready, Failure> {
    let file = args
        .target
        .clone()
        .unwrap_or_else(|| PathBuf::from(&deferred.recorded.about.file));
    let first = &deferred.first;
    let ready = target::from_file(
        &file,
        &first.set,
        args.secrets.as_deref(),
        &first.allow_hosts,
        None,
    )?
    .spread();
    if ready.digest != first.digest {
        return Err(Failure::Usage(format!(
            "{} is not the target file that the keys were made with: another request with an old key would show nothing; give that file with --target, or begin anew with `run --defer`",
            file.display()
        )));
    }
    target::refuse_live(&ready, args.live)?;
    Ok(Ready {
        contracts: deferred.recorded.contracts.clone(),
        ..ready
    })
}

/// Runs the second half of these cases, and writes down what is left.
async fn go_on(
    args: &ResumeArgs,
    deferred: &mut Deferred,
    due: &[usize],
    ready: &Ready,
) -> Result<(), Failure> {
    let plan = planned(deferred, due, ready)?;
    let halves = due.iter().enumerate();
    let halves: BTreeMap<usize, Suspended> = halves
        .map(|(place, case)| (place, deferred.waiting[case].clone()))
        .collect();
    let progress = Progress::new(args.output.quiet);
    let watch = progress.callback();
    let about = &deferred.recorded.about;
    let subject = Subject {
        ready,
        allow_hosts: &deferred.first.allow_hosts,
        check: !args.no_check,
        again: &about.again,
        places: &deferred.first.places,
        ledger: None,
        repeatable: Repeatable {
            seed: about.seed,
            agreement: None,
            origin: Some(deferred.origin.clone()),
            effort: Effort::default(),
        },
    };
    let seen = observe(subject, &plan, &halves, &watch, server::stop_on_interrupt).await;
    progress.finish();
    take_in(deferred, due, seen?);
    deferred.write(&args.state)
}

/// The plan of what goes on, in the order of `due`.
fn planned(deferred: &Deferred, due: &[usize], ready: &Ready) -> Result<Plan, Failure> {
    let selection = plan::Selection {
        defer: true,
        ..plan::Selection::default()
    };
    let mut cases = Vec::new();
    for case in due {
        let RecordedCase {
            operation,
            scenario,
            case,
            ..
        } = &deferred.recorded.cases[*case];
        let scenarios = [scenario.clone()];
        let all = plan::plan(&ready.target, &ready.contracts, &scenarios, &selection).cases;
        let own = all
            .into_iter()
            .find(|planned| planned.subject == *operation && planned.case == *case);
        match own {
            Some(planned) if planned.skip.is_none() => cases.push(planned),
            other => {
                let why = other.and_then(|planned| planned.skip);
                return Err(Failure::Usage(format!(
                    "{operation}/{} cannot go on: {}",
                    scenario.id,
                    why.unwrap_or_else(|| "the target does not have it any more".to_owned())
                )));
            }
        }
    }
    Ok(Plan { cases })
}

/// Joins what was seen now with what was seen before.
fn take_in(deferred: &mut Deferred, due: &[usize], seen: Observed) {
    let Observed {
        recorded: now,
        mut suspended,
        ..
    } = seen;
    let whole = &mut deferred.recorded;
    whole.about.requests += now.about.requests;
    whole.about.took_micros += now.about.took_micros;
    whole.about.base_urls = now.about.base_urls;
    whole.about.stopped = now.about.stopped;
    whole.about.check = now.about.check;
    whole.headlines = now.headlines;
    let mut cases = now.cases.into_iter();
    for (place, case) in due.iter().enumerate() {
        let own = &mut whole.cases[*case].transcript;
        if let Some(mut seen) = cases.next() {
            let later = std::mem::take(&mut seen.transcript.rounds);
            let mut rounds = std::mem::replace(own, seen.transcript).rounds;
            rounds.extend(later);
            own.rounds = rounds;
        }
        match suspended.remove(&place) {
            Some(rest) => deferred.waiting.insert(*case, rest),
            None => deferred.waiting.remove(case),
        };
    }
}

/// What is known so far; of what still waits, that it does.
fn so_far(deferred: &Deferred) -> Recorded {
    let mut recorded = deferred.recorded.clone();
    let now = SystemTime::now();
    for (case, rest) in &deferred.waiting {
        let broken = &mut recorded.cases[*case].transcript.broken;
        if broken.is_empty() {
            broken.push(format!(
                "its keys are not old enough: resume {}",
                deferred::when(rest)
            ));
        }
    }
    recorded
        .headlines
        .extend(deferred::told(deferred.waiting.values(), now));
    recorded
}
