//! How close together the requests of a burst arrive, and which races they meet: each way to let them
//! go beside plain reqwest, in one run, against a server in a process of its own.
//!
//! `cargo bench --bench bursts [-- --rounds N] [--runs N] [--write FILE.md]`

mod reach;
mod server;
mod technique;

use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reach::Reached;
use server::Window;
use technique::{Place, Technique, Way};

const SIZES: [usize; 5] = [2, 8, 20, 50, 200];
const WINDOWS: [Window; 7] = [
    Window::Of(Duration::from_millis(5)),
    Window::Of(Duration::from_millis(1)),
    Window::Blocking(Duration::from_micros(200)),
    Window::Blocking(Duration::from_micros(50)),
    Window::Of(Duration::from_micros(200)),
    Window::Of(Duration::from_micros(50)),
    Window::Yield,
];
/// Copies of the bursts that look for races.
const COPIES: usize = 20;
/// Copies of the bursts of a run, one after another.
const OF_A_RUN: [usize; 4] = [2, 4, 20, 50];
/// Bursts after which a run gives up.
const ROUNDS_OF_A_RUN: usize = 20;
/// Bursts that are not counted.
const WARM_UP: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    // Whoever built the TLS of reqwest left the choice to us.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "serve") {
        return server::serve();
    }
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    let rounds = value("--rounds").map_or(Ok(30), |count| count.parse())?;
    let runs = value("--runs").map_or(Ok(100), |count| count.parse())?;
    let mut other = Other::start()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let tables = runtime.block_on(measure(&other.places, rounds, runs));
    other.end()?;
    let tables = tables?;
    std::io::stdout().lock().write_all(tables.as_bytes())?;
    if let Some(file) = value("--write") {
        std::fs::write(file, tables)?;
    }
    Ok(())
}

/// The server's process.
struct Other {
    process: Child,
    places: Vec<Place>,
}

impl Other {
    fn start() -> Result<Other, Box<dyn Error>> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = process.stdout.take().ok_or("no output")?;
        let mut lines = BufReader::new(out).lines();
        let ports = lines.next().ok_or("no ports")??;
        let certificate = lines.next().ok_or("no certificate")??;
        let certificate: Vec<u8> = (0..certificate.len() / 2)
            .map(|at| u8::from_str_radix(&certificate[2 * at..2 * at + 2], 16))
            .collect::<Result<_, _>>()?;
        let places = Way::ALL
            .into_iter()
            .zip(ports.split(' '))
            .map(|(way, port)| Place::new(way, port.parse()?, &certificate))
            .collect::<Result<_, Box<dyn Error>>>()?;
        Ok(Other { process, places })
    }

    fn end(&mut self) -> std::io::Result<()> {
        drop(self.process.stdin.take());
        self.process.wait().map(|_| ())
    }
}

async fn measure(places: &[Place], rounds: usize, runs: usize) -> Result<String, Box<dyn Error>> {
    let mut reached = Reached::default();
    let mut text = format!(
        "# How close together bursts arrive\n\nWritten by `cargo bench --bench bursts`, version {}, on {} cores that the server shared.\n\n",
        env!("CARGO_PKG_VERSION"),
        std::thread::available_parallelism()?
    );
    writeln!(
        text,
        "## Arrival spread\n\nFrom the first to the last of the requests of a burst that the server had whole: median and 90th percentile of {rounds} bursts in microseconds, and the median as a ratio to warm reqwest.\n"
    )?;
    let sizes = SIZES.map(|copies| format!("{copies} copies"));
    heading(&mut text, &sizes)?;
    let mut sent = String::new();
    for place in places {
        let mut plain = [0.0; SIZES.len()];
        for technique in Technique::over(place.way) {
            if technique == Technique::Auto {
                continue;
            }
            row(&mut text, place, technique)?;
            if technique.is_ours() {
                row(&mut sent, place, technique)?;
            }
            for (size, copies) in SIZES.into_iter().enumerate() {
                let mut spreads = Vec::new();
                let mut sending = Vec::new();
                for round in 0..WARM_UP + rounds {
                    let burst = place.burst(technique, copies, "/", "k", round).await?;
                    let times = burst.bodies.iter().map(|at| at.parse::<u64>());
                    let times: Vec<u64> = times.collect::<Result<_, _>>()?;
                    let first = times.iter().min().ok_or("no arrival")?;
                    let last = times.iter().max().ok_or("no arrival")?;
                    if round >= WARM_UP {
                        spreads.push((last - first) as f64 / 1000.0);
                        sending.extend(burst.sending.map(|time| time.as_secs_f64() * 1e6));
                    }
                }
                let (half, most) = (share(&mut spreads, 50), share(&mut spreads, 90));
                if technique == Technique::ReqwestWarm {
                    plain[size] = half;
                }
                let ratio = half / plain[size];
                if copies == COPIES {
                    reached.spread(place.way, technique, ratio);
                }
                write!(text, " {half:.0} / {most:.0} ({ratio:.2}) |")?;
                if technique.is_ours() {
                    let (half, most) = (share(&mut sending, 50), share(&mut sending, 90));
                    write!(sent, " {half:.0} / {most:.0} |")?;
                }
            }
            writeln!(text)?;
            if technique.is_ours() {
                writeln!(sent)?;
            }
        }
    }
    writeln!(
        text,
        "\n## The sending\n\nHow long the call, or the calls, took that let a burst go: median and 90th percentile in microseconds. What the arrivals above have beyond it is the server's own time for its requests; a send that wakes the server can itself have to wait for it, where both share the cores.\n"
    )?;
    heading(&mut text, &sizes)?;
    text.push_str(&sent);
    writeln!(
        text,
        "\n## Races met\n\nBursts of {COPIES} copies, of {rounds}, in which a server that looks a key up and takes it a time later carried out more than one. In a window that sleeps it holds its thread, as a call that blocks; in the others it lets further requests run on it.\n"
    )?;
    heading(&mut text, &WINDOWS.map(Window::name))?;
    for place in places {
        for technique in Technique::over(place.way) {
            row(&mut text, place, technique)?;
            for window in WINDOWS {
                let path = format!("/race/{}", window.name());
                let mut met = 0;
                for round in 0..rounds {
                    let key = format!(
                        "{}-{}-{}-{round}",
                        place.way.name(),
                        technique.name(),
                        window.name()
                    );
                    let burst = place.burst(technique, COPIES, &path, &key, round).await?;
                    let executed = burst.bodies.iter().filter(|says| *says == "executed");
                    met += usize::from(executed.count() > 1);
                }
                write!(text, " {met} |")?;
                reached.met(place.way, technique, window, met, rounds);
            }
            writeln!(text)?;
        }
    }
    found_by_runs(&mut text, &mut reached, places, runs).await?;
    reached.write(&mut text)?;
    Ok(text)
}

/// In how many runs a race is found that has no more than one yield between look-up and claim. A run
/// ends with the first burst that meets it; its bursts are those of `race/burst`.
async fn found_by_runs(
    text: &mut String,
    reached: &mut Reached,
    places: &[Place],
    runs: usize,
) -> Result<(), Box<dyn Error>> {
    writeln!(
        text,
        "\n## The yield window in a run\n\nOf {runs} runs of up to {ROUNDS_OF_A_RUN} bursts, of 2, 4, 20 and 50 copies in turn and let go as in a run, those that met it, and the bursts that this took at most.\n\n| Protocol | Runs | Bursts, median | Bursts, most |\n|---|---|---|---|"
    )?;
    let name = Window::Yield.name();
    for place in places {
        let mut took: Vec<f64> = Vec::new();
        for run in 0..runs {
            for round in 0..ROUNDS_OF_A_RUN {
                // With each rotation the turn shifts, so that every size meets both ways.
                let turn = round + round / OF_A_RUN.len();
                let copies = OF_A_RUN[round % OF_A_RUN.len()];
                let key = format!("{}-run-{run}-{round}", place.way.name());
                let path = format!("/race/{name}");
                let burst = place.burst(Technique::Auto, copies, &path, &key, turn);
                let burst = burst.await?;
                let executed = burst.bodies.iter().filter(|says| *says == "executed");
                if executed.count() > 1 {
                    took.push(round as f64 + 1.0);
                    break;
                }
            }
        }
        let found = took.len();
        reached.found(place.way, found, runs);
        let (half, most) = match found {
            0 => (0.0, 0.0),
            _ => (share(&mut took, 50), share(&mut took, 100)),
        };
        writeln!(text, "| {} | {found} | {half} | {most} |", place.way.name())?;
    }
    Ok(())
}

/// The value below which so many of a hundred lie.
fn share(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * percent / 100]
}

fn heading(text: &mut String, columns: &[String]) -> std::fmt::Result {
    writeln!(text, "| Protocol | Let go by | {} |", columns.join(" | "))?;
    writeln!(text, "|---|---|{}", "---|".repeat(columns.len()))
}

fn row(text: &mut String, place: &Place, technique: Technique) -> std::fmt::Result {
    write!(text, "| {} | {} |", place.way.name(), technique.name())
}
