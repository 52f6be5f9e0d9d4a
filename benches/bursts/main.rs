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
                    let burst = place.burst(technique, COPIES, &path, &key, round).await?;
                    let executed = burst.bodies.iter().filter(|says| *says == "executed");
                    met += usize::from(executed.count() > 1);
                }
                write!(text, " {met} |")?;
            }
            writeln!(text)?;
        }
    }
    Ok(text)
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
