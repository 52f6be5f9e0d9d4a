//! The audit of the demo client, as the command `idemspec client --habit NAME` and the self-test
//! make it.

use super::{Job, audited};
use crate::cli::args::Selection;
use crate::cli::failure::Failure;
use crate::cli::progress::Callback;
use crate::cli::record::Texts;
use crate::cli::select;
use crate::cli::target;
use crate::demo_client::Habit;
use crate::grade::{ClientInfo, Report};
use crate::scenario::client::ClientScenario;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

/// The hidden command that is the demo client.
pub const COMMAND: &str = "demo-client";

/// The target file of the demo client's API: the demo, which also takes requests without a key, and
/// says what is to be retried.
const TARGET: &str = include_str!("demo-client-target.yaml");

/// What the contract asks for, but not of a client that gives up at once.
const STATUSES: &str = "    statuses: [409, 429, 5xx]\n";

/// What only a client knows that keeps its keys on disk.
const RESUMES: &str = "  resumes: true\n";
const LONGEST_PAUSE: &str = "  longest-pause: 500ms\n";
const LOOKUP: &str = "    lookup: { by-reference: GET /payments }\n";

/// The habits whose retries for ever show more than the other scenarios do.
const LASTING: [Habit; 8] = [
    Habit::Correct,
    Habit::PausesAlike,
    Habit::RetriesInLayers,
    Habit::NeverPauses,
    Habit::RetriesForEver,
    Habit::NeverLooksUp,
    Habit::NeverCapsPauses,
    Habit::RetriesAtOnceFirst,
];

/// The scenarios that show the most of a habit in a short time.
pub fn telling(habit: Habit) -> Selection {
    let scenarios = match LASTING.contains(&habit) {
        true => &["client/backoff", "client/intents"][..],
        false => &[
            "client/error",
            "client/in-progress",
            "client/intents",
            "client/kept-alive",
            "client/lost",
            "client/refused",
            "client/restart",
            "client/retry-after",
            "client/slow",
        ],
    };
    Selection {
        scenario: scenarios.iter().map(|id| (*id).to_owned()).collect(),
        ..Selection::default()
    }
}

/// Whether what a habit breaks depends on how late this machine is: then it may stay unshown.
pub fn is_about_time(finding: &str) -> bool {
    finding.contains("client/backoff")
}

/// The report on the demo client with a habit. `program` is this program; `scenarios` narrows what is
/// run, by ids.
///
/// # Errors
/// When the audit cannot begin.
pub async fn habit_report(
    program: &Path,
    habit: Habit,
    selection: &Selection,
    jobs: usize,
    progress: &Callback,
) -> Result<Report, Failure> {
    let job = job(program, habit, selection, jobs)?;
    Ok(audited(&job, progress).await?.report())
}

/// The audit of the demo client with a habit.
pub(super) fn job(
    program: &Path,
    habit: Habit,
    selection: &Selection,
    jobs: usize,
) -> Result<Job, Failure> {
    let scenarios = select::selected_client(select::all_client(None)?, selection)?;
    let scenarios: Vec<Arc<ClientScenario>> = scenarios.into_iter().map(Arc::new).collect();
    Ok(Job {
        ready: target::from_text("the demo client's target file", &text(habit))?,
        texts: Texts::of_clients(&scenarios, None)?,
        scenarios,
        operation: None,
        upstream: None,
        about: ClientInfo::default(),
        record: None,
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        time: None,
        command: vec![
            program.display().to_string(),
            COMMAND.to_owned(),
            habit.name().to_owned(),
        ],
        jobs,
    })
}

fn text(habit: Habit) -> String {
    match habit {
        Habit::KeepsKeyOnDisk => {
            TARGET
                .replacen("  #resumes\n", RESUMES, 1)
                .replacen("    #lookup\n", LOOKUP, 1)
        }
        Habit::LosesKeyAtRestart => TARGET.replacen("  #resumes\n", RESUMES, 1),
        Habit::NeverLooksUp => TARGET.replacen("    #lookup\n", LOOKUP, 1),
        Habit::NeverCapsPauses => TARGET.replacen("  #longest-pause\n", LONGEST_PAUSE, 1),
        Habit::NeverRetries | Habit::SendsNoKeyAndNeverRetries | Habit::ResendsOnKeptConnection => {
            TARGET.replacen(STATUSES, "", 1)
        }
        _ => TARGET.to_owned(),
    }
}
