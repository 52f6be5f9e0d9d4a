//! The whole suite against the demo API: how long it took, and how long it had to take.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Cases that the runner lets run side by side at most.
const AT_ONCE: f64 = 8.0;

/// How a run went, in seconds.
pub struct Suite {
    /// From its start to its end, as its report says.
    pub wall: f64,
    /// What it could not do without; see [`critical_path`].
    pub critical: f64,
    /// Before the first case: whether the target works, and how fast.
    pub before: f64,
    /// Between cases, until effects could be read for the last time: a target has its time to settle.
    pub settling: f64,
    /// Cases that ran.
    pub cases: usize,
    /// Those of them that ran alone.
    pub alone: usize,
    /// All cases, one after another.
    pub in_turn: f64,
}

/// Runs it, or what is selected of it.
pub fn suite(folder: &Path, selection: &[&str]) -> Result<Suite, Box<dyn Error>> {
    let report = folder.join("suite.json");
    let json = format!("json={}", report.display());
    let mut command = Command::new(crate::IDEMSPEC);
    command.args(["demo", "--no-check", "-q", "--report", &json]);
    command.args(selection);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null());
    // A busy machine may leave a check unshown, which is no matter here.
    let ended = command.status()?;
    let text = std::fs::read_to_string(&report)
        .map_err(|problem| format!("no report of the suite ({ended}): {problem}"))?;
    critical_path(&serde_json::from_str(&text)?)
}

/// The longest chain of a run, by the times of its own requests: what came before the first case, each
/// case that no other one overlapped, of the cases that ran side by side the longest, or their sum
/// over as many as may run at once, if that is more, and the time after these until the last late reading
/// before the next case, which would disturb it.
fn critical_path(report: &Value) -> Result<Suite, Box<dyn Error>> {
    let cases = report["scenarios"].as_array().ok_or("no scenarios")?;
    let mut spans: Vec<(f64, f64)> = cases.iter().filter_map(span).collect();
    spans.sort_by(|one, other| one.0.total_cmp(&other.0));
    let before = spans.first().ok_or("no case ran")?.0;
    let late: Vec<f64> = cases.iter().flat_map(late_readings).collect();
    let mut groups: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut until = f64::NEG_INFINITY;
    for span in &spans {
        match groups.last_mut() {
            Some(group) if span.0 < until => group.push(*span),
            _ => groups.push(vec![*span]),
        }
        until = until.max(span.1);
    }
    let length = |span: &(f64, f64)| span.1 - span.0;
    let chain: f64 = groups
        .iter()
        .map(|group| {
            let longest = group.iter().map(length).fold(0.0, f64::max);
            longest.max(group.iter().map(length).sum::<f64>() / AT_ONCE)
        })
        .sum();
    let mut settling = 0.0;
    for (at, group) in groups.iter().enumerate() {
        let end = group.iter().map(|span| span.1).fold(0.0, f64::max);
        let next = groups.get(at + 1).map_or(f64::INFINITY, |next| next[0].0);
        let between = late.iter().filter(|at| (end..next).contains(at));
        settling += between.fold(end, |last, at| last.max(*at)) - end;
    }
    let wall = report["about"]["took_micros"].as_f64().ok_or("no time")?;
    Ok(Suite {
        wall: wall / 1e6,
        critical: (before + chain + settling) / 1e6,
        before: before / 1e6,
        settling: settling / 1e6,
        cases: spans.len(),
        alone: groups.iter().filter(|group| group.len() == 1).count(),
        in_turn: spans.iter().map(length).sum::<f64>() / 1e6,
    })
}

/// When the late readings of a case were taken, in microseconds.
fn late_readings(case: &Value) -> Vec<f64> {
    let rounds = case["rounds"].as_array().into_iter().flatten();
    let readings = rounds.filter_map(|round| round["readings"].as_array());
    let late = readings
        .flatten()
        .filter(|reading| reading["kind"] == "late");
    late.filter_map(|reading| reading["at_micros"].as_f64())
        .collect()
}

/// From the first thing that a case did to the last, late readings aside; in microseconds.
fn span(case: &Value) -> Option<(f64, f64)> {
    let mut times: Vec<f64> = Vec::new();
    for round in case["rounds"].as_array()? {
        let all = |name: &str| round[name].as_array().into_iter().flatten();
        // What is sent once more at the end stands there with its first answer, from long before.
        let own = all("exchanges").filter(|exchange| exchange["step"] != "earliest");
        for exchange in own {
            let own = &exchange["micros"];
            let began = [&own["released"], &own["sent"], &own["ended"]];
            times.extend(began.into_iter().find_map(Value::as_f64));
            times.extend(own["ended"].as_f64());
        }
        let early = all("readings").filter(|reading| reading["kind"] != "late");
        times.extend(early.filter_map(|reading| reading["at_micros"].as_f64()));
        for hook in all("hooks") {
            times.extend(hook["at_micros"].as_f64());
            times.extend(hook["over_micros"].as_f64());
        }
    }
    let first = times.iter().copied().reduce(f64::min)?;
    Some((first, times.into_iter().fold(first, f64::max)))
}
