//! What idemspec itself costs: to start, for each request, and in memory; beside programs that do
//! nothing else, in one run. Linux only: it reads `/proc`.
//!
//! `cargo bench --bench costs [-- --quick] [--whole] [--write FILE.md]`; quick is to see that it works,
//! and whole is the suite for all operations of the demo API, which takes seven minutes.

mod peer;
mod process;
mod suite;

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use clap::Parser;
use peer::Peer;
use process::{Cost, cost};
use suite::suite;

/// Starts that are timed.
const STARTS: usize = 40;
/// Requests of one round.
const ROUND: u32 = 20;
/// Rounds, in which what a start costs is left out by subtracting the fewest from the most.
const FEW: u32 = 5;
const MANY: u32 = 250;
/// Rounds of which the memory is measured.
const GROWTH: [u32; 3] = [5, 50, 500];
/// The part of the suite that a quick run makes.
const QUICK: [&str; 4] = ["--scenario", "replay/exact", "--scenario", "race/burst"];
/// The operation that the suite is run for, unless it is run for all.
const ONE: [&str; 2] = ["--operation", "create-payment"];
/// Times that each cost is measured, or once in a quick run; the smallest counts, since a busy machine only adds.
const TIMES: usize = 3;
const IDEMSPEC: &str = env!("CARGO_BIN_EXE_idemspec");

/// What a bare program would have.
#[derive(Parser)]
#[command(version)]
struct Bare {
    /// Something to parse.
    #[arg(long)]
    seed: Option<u64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("bare") => {
            let bare = Bare::parse_from(&arguments);
            return bare
                .seed
                .map_or(Ok(()), |seed| Err(seed.to_string().into()));
        }
        Some("reqwest") => return peer::with_reqwest(&arguments[1], arguments[2].parse()?),
        Some("hyper") => return peer::with_hyper(&arguments[1], arguments[2].parse()?),
        _ => {}
    }
    let folder = std::env::temp_dir().join(format!("idemspec-costs-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("scenarios/own"))?;
    let is_given = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let (quick, whole) = (is_given("--quick"), is_given("--whole"));
    let measured = measure(&folder, quick, whole);
    std::fs::remove_dir_all(&folder)?;
    let text = measured?;
    std::io::stdout().lock().write_all(text.as_bytes())?;
    let write = arguments.iter().position(|argument| argument == "--write");
    if let Some(file) = write.and_then(|at| arguments.get(at + 1)) {
        std::fs::write(file, text)?;
    }
    Ok(())
}

fn measure(folder: &Path, quick: bool, whole: bool) -> Result<String, Box<dyn Error>> {
    let times = if quick { 1 } else { TIMES };
    let own = std::env::current_exe()?;
    let own = own.to_str().ok_or("a path that is no text")?;
    let mut text = format!(
        "# What idemspec costs\n\nWritten by `cargo bench --bench costs`, version {}, on {} cores that the server shared.\n\n",
        env!("CARGO_PKG_VERSION"),
        std::thread::available_parallelism()?
    );

    let starts = |command: &[&str]| -> Result<f64, Box<dyn Error>> {
        let mut times = Vec::new();
        for _ in 0..STARTS {
            times.push(cost(command)?.wall.as_secs_f64() * 1000.0);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[STARTS / 2])
    };
    let bare = starts(&[own, "bare", "--version"])?;
    let ours = starts(&[IDEMSPEC, "--version"])?;
    writeln!(
        text,
        "## Start\n\nMedian of {STARTS} starts with `--version`.\n\n| Program | ms | Ratio |\n|---|---|---|\n| with clap and nothing else | {bare:.2} | 1.00 |\n| idemspec | {ours:.2} | {:.2} |\n",
        ours / bare
    )?;

    let peer = Peer::start()?;
    let requests = f64::from((MANY - FEW) * ROUND);
    let each = |run: &dyn Fn(u32) -> Result<Cost, Box<dyn Error>>| -> Result<f64, Box<dyn Error>> {
        let mut least = f64::INFINITY;
        for _ in 0..times {
            let (few, many) = (run(FEW)?, run(MANY)?);
            least = least.min((many.cpu.as_secs_f64() - few.cpu.as_secs_f64()) / requests * 1e6);
        }
        Ok(least)
    };
    let program = |name: &'static str| {
        let url = peer.url.clone();
        move |rounds: u32| cost(&[own, name, &url, &(rounds * ROUND).to_string()])
    };
    let audit = |rounds: u32, record: bool| -> Result<Cost, Box<dyn Error>> {
        let target = folder.join("target.yaml");
        std::fs::write(&target, target_file(&peer.url))?;
        std::fs::write(folder.join("scenarios/own/many.yaml"), scenario(rounds))?;
        let target = target.display().to_string();
        let scenarios = folder.join("scenarios").display().to_string();
        let json = format!("json={}", folder.join("report.json").display());
        let mut command = vec![IDEMSPEC, "run", &target, "--scenarios", &scenarios];
        command.extend(["--scenario", "own/many", "--no-check", "-q"]);
        if record {
            command.extend(["--report", &json]);
        }
        cost(&command)
    };
    let reqwest = each(&program("reqwest"))?;
    let hyper = each(&program("hyper"))?;
    let recorded = each(&|rounds| audit(rounds, false))?;
    writeln!(
        text,
        "## A request\n\nCPU time of the client for one POST with its response on a warm connection, from {} to {} of them, the least of {times} measurements. What idemspec does includes its record and its verdicts.\n\n| Client | us | Ratio |\n|---|---|---|\n| reqwest | {reqwest:.0} | 1.00 |\n| hyper | {hyper:.0} | {:.2} |\n| idemspec, recorded and judged | {recorded:.0} | {:.2} |\n",
        FEW * ROUND,
        MANY * ROUND,
        hyper / reqwest,
        recorded / reqwest
    )?;

    writeln!(
        text,
        "## Memory\n\nThe most that a run with a JSON report ever held.\n\n| Requests | MiB | KiB for each beyond those above |\n|---|---|---|"
    )?;
    let mut before: Option<(u32, f64)> = None;
    let mut slopes = Vec::new();
    for rounds in GROWTH.into_iter().filter(|rounds| !quick || *rounds < MANY) {
        let (requests, peak) = (rounds * ROUND, audit(rounds, true)?.peak_kib as f64);
        let slope = before.map(|(fewer, less)| (peak - less) / f64::from(requests - fewer));
        let says = slope.map_or_else(|| "-".to_owned(), |slope| format!("{slope:.1}"));
        writeln!(text, "| {requests} | {:.1} | {says} |", peak / 1024.0)?;
        slopes.extend(slope);
        before = Some((requests, peak));
    }
    peer.stop();

    let selection: &[&str] = match (quick, whole) {
        (true, _) => &QUICK,
        (false, false) => &ONE,
        (false, true) => &[],
    };
    let run = suite(folder, selection)?;
    let to_path = run.wall / run.critical;
    writeln!(
        text,
        "\n## The suite\n\n`idemspec demo --no-check{}{}`: {} cases, {} of them alone. The critical path is counted from the times of the run's own requests: the {:.1} s before the first case, each case that no other one overlapped, of those that ran side by side the longest, or an eighth of their sum if that is more, and {:.1} s between cases until effects could be read for the last time.\n\n| | s | Ratio |\n|---|---|---|\n| critical path | {:.1} | 1.00 |\n| wall time | {:.1} | {to_path:.2} |\n| all cases one after another | {:.1} | {:.2} |",
        if selection.is_empty() { "" } else { " " },
        selection.join(" "),
        run.cases,
        run.alone,
        run.before,
        run.settling,
        run.critical,
        run.wall,
        run.in_turn,
        run.in_turn / run.critical
    )?;

    writeln!(
        text,
        "\n## Reach\n\n| What | Wanted | Measured | Reached |\n|---|---|---|---|"
    )?;
    let growing = slopes.iter().copied().fold(0.0, f64::max);
    let least = slopes.iter().copied().fold(f64::INFINITY, f64::min);
    for (what, at_most, measured) in [
        (
            "start, to a program with clap and nothing else",
            2.0,
            ours / bare,
        ),
        (
            "CPU time of a recorded request, to reqwest",
            1.5,
            recorded / reqwest,
        ),
        ("wall time of the suite, to its critical path", 1.3, to_path),
        // A line has one slope; more than a quarter apart is none.
        (
            "memory: the steepest slope, to the flattest",
            1.25,
            growing / least,
        ),
    ] {
        let is_reached = if measured <= at_most { "yes" } else { "no" };
        writeln!(
            text,
            "| {what} | at most {at_most:.2} | {measured:.2} | {is_reached} |"
        )?;
    }
    Ok(text)
}

fn target_file(url: &str) -> String {
    format!(
        "target: A peer\nbase-url: {url}\nkey: Idempotency-Key\noperations:\n  pay:\n    request:\n      method: POST\n      path: /pay\n      json: {{ amount: 2000, reference: \"${{marker}}\" }}\n    identity: $.id\n"
    )
}

fn scenario(rounds: u32) -> String {
    format!(
        "title: Many requests\nseverity: low\nabout: They cost something.\nneeds: [key]\nrounds: {{ count: {rounds} }}\nsteps:\n  - send: {{ as: many, key: fresh, times: {ROUND} }}\nexpect:\n  item-5:\n    - outcome: {{ of: many, is: success }}\n"
    )
}
