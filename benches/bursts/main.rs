//! How close together the requests of a burst arrive, and which races they meet: each way to let them
//! go beside plain reqwest, in one run, against a server in a process of its own.
//!
//! `cargo bench --bench bursts [-- --rounds N] [--runs N] [--write FILE.md]`

mod reach;
mod server;
mod stamp;
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
    let sizes = SIZES.map(|copies| format!("{copies} copies"));
    let mut tables = Tables::new(&sizes)?;
    for place in places {
        for technique in Technique::over(place.way) {
            if technique != Technique::Auto {
                tables.fill(&mut reached, place, technique, rounds).await?;
            }
        }
    }
    tables.write(&mut text, rounds)?;
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

/// How far the requests of bursts were apart, seen from three places.
struct Tables {
    /// As they came to the server's machine.
    came: String,
    /// As the server had them whole.
    whole: String,
    /// As they were let go.
    sent: String,
    /// What warm reqwest took over the present protocol, came and whole.
    plain: [[f64; 2]; SIZES.len()],
}

impl Tables {
    fn new(sizes: &[String]) -> Result<Tables, std::fmt::Error> {
        let mut head = String::new();
        heading(&mut head, sizes)?;
        Ok(Tables {
            came: head.clone(),
            whole: head.clone(),
            sent: head,
            plain: [[0.0; 2]; SIZES.len()],
        })
    }

    /// Adds a row to each.
    async fn fill(
        &mut self,
        reached: &mut Reached,
        place: &Place,
        technique: Technique,
        rounds: usize,
    ) -> Result<(), Box<dyn Error>> {
        row(&mut self.came, place, technique)?;
        row(&mut self.whole, place, technique)?;
        if technique.is_ours() {
            row(&mut self.sent, place, technique)?;
        }
        for (size, copies) in SIZES.into_iter().enumerate() {
            let mut spreads = [Vec::new(), Vec::new()];
            let mut sending = Vec::new();
            for round in 0..WARM_UP + rounds {
                let burst = place.burst(technique, copies, "/", "k", round).await?;
                let apart = apart(&burst.bodies)?;
                if round >= WARM_UP {
                    for (all, own) in spreads.iter_mut().zip(apart) {
                        all.push(own);
                    }
                    sending.extend(burst.sending.map(|time| time.as_secs_f64() * 1e6));
                }
            }
            for (seen, mut spreads) in spreads.into_iter().enumerate() {
                let (half, most) = (share(&mut spreads, 50), share(&mut spreads, 90));
                if technique == Technique::ReqwestWarm {
                    self.plain[size][seen] = half;
                }
                let ratio = half / self.plain[size][seen];
                let table = [&mut self.came, &mut self.whole];
                match self.plain[size][seen] > 0.0 {
                    true => write!(table[seen], " {half:.0} / {most:.0} ({ratio:.2}) |")?,
                    false => write!(table[seen], " {half:.0} / {most:.0} |")?,
                }
                if copies == COPIES {
                    reached.spread(place.way, technique, SEEN[seen], ratio);
                }
            }
            if technique.is_ours() {
                let (half, most) = (share(&mut sending, 50), share(&mut sending, 90));
                write!(self.sent, " {half:.0} / {most:.0} |")?;
            }
        }
        writeln!(self.came)?;
        writeln!(self.whole)?;
        if technique.is_ours() {
            writeln!(self.sent)?;
        }
        Ok(())
    }

    fn write(&self, text: &mut String, rounds: usize) -> std::fmt::Result {
        writeln!(
            text,
            "## Arrival spread\n\nFrom the first to the last of the requests of a burst as they came to the server's machine, by the time stamps of its kernel: median and 90th percentile of {rounds} bursts in microseconds, and the median as a ratio to warm reqwest. Of packets that the server read at once the last one counts, which flatters whatever sends many requests over one connection, reqwest over HTTP/2 too.\n\n{}",
            self.came
        )?;
        writeln!(
            text,
            "## Read by the server\n\nThe same, as the server had them whole: what is beyond the arrivals is the time that it takes to read its requests, on the cores that it shares with the client.\n\n{}",
            self.whole
        )?;
        writeln!(
            text,
            "## The sending\n\nHow long the call, or the calls, took that let a burst go: median and 90th percentile in microseconds. A send that wakes the server can itself have to wait for it, where both share the cores.\n\n{}",
            self.sent
        )
    }
}

/// From where the spreads are seen.
const SEEN: [&str; 2] = ["as they came", "as the server had read them"];

/// How far the requests were apart in microseconds, as they came and as they were whole.
fn apart(bodies: &[String]) -> Result<[f64; 2], Box<dyn Error>> {
    let mut times = [Vec::new(), Vec::new()];
    for body in bodies {
        let (came, whole) = body.split_once(' ').ok_or("no times")?;
        times[0].push(came.parse::<u64>()?);
        times[1].push(whole.parse::<u64>()?);
    }
    let [came, whole] = times.map(|times| {
        let least = times.iter().min().copied().unwrap_or_default();
        let most = times.iter().max().copied().unwrap_or_default();
        (most - least) as f64 / 1000.0
    });
    Ok([came, whole])
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
