//! How close together the requests of a burst arrive, and which races they meet: each way to let them
//! go beside plain reqwest, in one run, against a server in a process of its own.
//!
//! `cargo bench --bench bursts [-- --rounds N] [-- --write FILE.md]`

mod server;
mod technique;

use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use server::Window;
use technique::{Place, Technique, Way};

const SIZES: [usize; 5] = [2, 8, 20, 50, 200];
const WINDOWS: [Window; 5] = [
    Window::Of(Duration::from_millis(5)),
    Window::Of(Duration::from_millis(1)),
    Window::Of(Duration::from_micros(200)),
    Window::Of(Duration::from_micros(50)),
    Window::Yield,
];
/// Copies of the bursts that look for races.
const COPIES: usize = 20;
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
    let mut other = Other::start()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let tables = runtime.block_on(measure(&other.places, rounds));
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

async fn measure(places: &[Place], rounds: usize) -> Result<String, Box<dyn Error>> {
    let mut text = format!(
        "# How close together bursts arrive\n\nWritten by `cargo bench --bench bursts`, version {}, on {} cores that the server shared.\n\n",
        env!("CARGO_PKG_VERSION"),
        std::thread::available_parallelism()?
    );
    writeln!(
        text,
        "## Arrival spread\n\nFrom the first to the last of the requests of a burst that the server had whole: median and 90th percentile of {rounds} bursts in microseconds, and the median as a ratio to warm reqwest.\n"
    )?;
    heading(&mut text, &SIZES.map(|copies| format!("{copies} copies")))?;
    for place in places {
        let mut plain = [0.0; SIZES.len()];
        for technique in Technique::over(place.way) {
            if technique == Technique::Auto {
                continue;
            }
            row(&mut text, place, technique)?;
            for (size, copies) in SIZES.into_iter().enumerate() {
                let mut spreads = Vec::new();
                for round in 0..WARM_UP + rounds {
                    let arrivals = place.burst(technique, copies, "/", "k", round).await?;
                    let times = arrivals.iter().map(|at| at.parse::<u64>());
                    let times: Vec<u64> = times.collect::<Result<_, _>>()?;
                    let first = times.iter().min().ok_or("no arrival")?;
                    let last = times.iter().max().ok_or("no arrival")?;
                    spreads.push((last - first) as f64 / 1000.0);
                }
                spreads.drain(..WARM_UP);
                spreads.sort_by(f64::total_cmp);
                let at = |share: usize| spreads[(spreads.len() - 1) * share / 100];
                if technique == Technique::ReqwestWarm {
                    plain[size] = at(50);
                }
                let ratio = at(50) / plain[size];
                write!(text, " {:.0} / {:.0} ({ratio:.2}) |", at(50), at(90))?;
            }
            writeln!(text)?;
        }
    }
    writeln!(
        text,
        "\n## Races met\n\nBursts of {COPIES} copies, of {rounds}, in which a server that looks a key up and takes it a time later carried out more than one.\n"
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
                    let bodies = place.burst(technique, COPIES, &path, &key, round).await?;
                    met +=
                        usize::from(bodies.iter().filter(|says| *says == "executed").count() > 1);
                }
                write!(text, " {met} |")?;
            }
            writeln!(text)?;
        }
    }
    Ok(text)
}

fn heading(text: &mut String, columns: &[String]) -> std::fmt::Result {
    writeln!(text, "| Protocol | Let go by | {} |", columns.join(" | "))?;
    writeln!(text, "|---|---|{}", "---|".repeat(columns.len()))
}

fn row(text: &mut String, place: &Place, technique: Technique) -> std::fmt::Result {
    write!(text, "| {} | {} |", place.way.name(), technique.name())
}
