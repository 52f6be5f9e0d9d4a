//! One audit of a client: the command is run for each run of a scenario, each time with a port of
//! its own, and what it sends is written down. Nothing is judged here.

use super::answer::Answers;
use super::book::Book;
use super::clock::Clock;
use super::command::Running;
use super::connection::House;
use super::dealer::Dealer;
use super::door::Door;
use super::subject::Subject;
use super::tls::Authority;
use super::upstream::Upstream;
use crate::scenario::client::{ClientCase, ClientFault, CommandRun, Then};
use crate::target::client::Client;
use crate::transcript::client::{Attempt, ClientRound, RunEnd, RunFacts};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Attempts of one run after which the command is ended: more than any sound client makes.
pub const MOST_ATTEMPTS: usize = 40;

/// The name of the authority's certificate in the folder of the audit.
pub const CERTIFICATE: &str = "ca.pem";

/// How long a slow answer is held back, in time limits of the client.
const HOLD: u32 = 3;

/// What every run of an audit shares.
#[derive(Debug)]
pub struct Audit {
    /// What of the requests is looked at.
    pub subject: Arc<Subject>,
    /// Where requests are let through to.
    pub upstream: Upstream,
    /// How answers of ours look.
    pub answers: Answers,
    /// For clients that speak https.
    pub authority: Arc<Authority>,
    /// A folder of the audit's own, with the authority's certificate in it.
    pub folder: PathBuf,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// What the target file says of the client.
    pub client: Client,
    /// What the base URL has after its host.
    pub base_path: String,
    /// Whether refused connections can be counted here.
    pub counts_refused: bool,
    /// When the audit began.
    pub clock: Clock,
    /// How many commands may run at once.
    pub permits: Arc<Semaphore>,
}

impl Audit {
    /// Runs the command once with nothing in its way.
    pub async fn plain(&self) -> (RunFacts, Vec<Attempt>) {
        let run = CommandRun {
            name: "plain".to_owned(),
            faults: Vec::new(),
            then: Then::Pass,
            killed: false,
            resumes: None,
        };
        self.run(&run, "plain", &self.state("plain")).await
    }

    /// All runs of a case, once; `id` is the case's.
    pub async fn round(&self, id: &str, case: &ClientCase, number: u32) -> ClientRound {
        let mut round = ClientRound {
            number,
            ..ClientRound::default()
        };
        let state = self.state(&format!("{id}-{number}"));
        for run in &case.runs {
            let (facts, attempts) = self.run(run, id, &state).await;
            round.runs.push(facts);
            round.attempts.extend(attempts);
        }
        round
    }

    /// A folder for what the command keeps from one run of a round to the next.
    fn state(&self, name: &str) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let folder = self
            .folder
            .join(name.chars().map(plain).collect::<String>());
        // A command that keeps nothing does not miss it.
        let _ = std::fs::create_dir_all(&folder);
        folder
    }

    async fn run(&self, run: &CommandRun, id: &str, state: &Path) -> (RunFacts, Vec<Attempt>) {
        let permit = self.permits.acquire().await;
        let book = Arc::new(Book::new(self.clock, run.clone(), MOST_ATTEMPTS));
        let began = self.clock.now();
        let lateness = crate::runner::Lateness::measure();
        let refuses = run.faults.contains(&ClientFault::Refuse) && self.counts_refused;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let (end, wrote) = match self.open(address, &book, None, refuses) {
            Ok(door) => {
                let obeyed = self
                    .obey(&book, run, self.variables(run, id, state, door.address))
                    .await;
                door.close().await;
                obeyed
            }
            Err(problem) => (RunEnd::NotStarted(problem), String::new()),
        };
        drop(permit);
        let facts = RunFacts {
            name: run.name.clone(),
            began,
            ended: self.clock.now(),
            end,
            wrote,
            lateness: lateness.usual(),
        };
        (facts, book.attempts())
    }

    /// Opens a door. `counts` asks for refused connections to be counted.
    pub(super) fn open(
        &self,
        address: SocketAddr,
        book: &Arc<Book>,
        dealer: Option<Arc<Dealer>>,
        counts: bool,
    ) -> Result<Door, String> {
        let house = House {
            book: Arc::clone(book),
            dealer,
            subject: Arc::clone(&self.subject),
            upstream: self.upstream.clone(),
            answers: self.answers.clone(),
            authority: Arc::clone(&self.authority),
            hold: self.client.timeout.unwrap_or(Duration::from_secs(10)) * HOLD,
        };
        Door::open(address, Arc::new(house), counts)
            .map_err(|problem| format!("{address} cannot be had: {problem}"))
    }

    /// Runs the command to its end, or ends it.
    async fn obey(
        &self,
        book: &Book,
        run: &CommandRun,
        variables: Vec<(String, String)>,
    ) -> (RunEnd, String) {
        let mut running = match Running::start(&self.command, &variables) {
            Ok(running) => running,
            Err(end) => return (end, String::new()),
        };
        let mut stage = book.watch();
        let mut more = book.watch();
        let end = tokio::select! {
            end = running.ended() => end,
            _ = stage.wait_for(|stage| stage.fired), if run.killed => RunEnd::Killed,
            _ = more.wait_for(|stage| stage.endless) => RunEnd::Endless,
            () = tokio::time::sleep(self.client.patience) => RunEnd::TimedOut,
        };
        let wrote = running.finish().await;
        // What the last request left behind is written down when its connection is found closed.
        tokio::time::sleep(Duration::from_millis(20)).await;
        (end, wrote)
    }

    /// What the command is told.
    fn variables(
        &self,
        run: &CommandRun,
        id: &str,
        state: &Path,
        address: SocketAddr,
    ) -> Vec<(String, String)> {
        let path = &self.base_path;
        let url = format!("http://{address}{path}");
        let https = format!("https://{address}{path}");
        let port = address.port().to_string();
        let ca = self.folder.join(CERTIFICATE).display().to_string();
        let state = state.display().to_string();
        let filled = |text: &str| {
            text.replace("${url}", &url)
                .replace("${https-url}", &https)
                .replace("${host}", &address.ip().to_string())
                .replace("${port}", &port)
                .replace("${ca}", &ca)
        };
        let mut variables: Vec<(String, String)> = [
            ("IDEMSPEC_URL", url.as_str()),
            ("IDEMSPEC_HTTPS_URL", &https),
            ("IDEMSPEC_CA", &ca),
            ("IDEMSPEC_SCENARIO", id),
            ("IDEMSPEC_RUN", &run.name),
            ("IDEMSPEC_STATE", &state),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        if self.client.proxy {
            let proxy = format!("http://{address}");
            for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"] {
                variables.push((name.to_owned(), proxy.clone()));
            }
            for name in ["NO_PROXY", "no_proxy"] {
                variables.push((name.to_owned(), String::new()));
            }
            for name in TRUST {
                variables.push((name.to_owned(), ca.clone()));
            }
        } else {
            for name in ["NO_PROXY", "no_proxy"] {
                variables.push((name.to_owned(), "127.0.0.1,localhost".to_owned()));
            }
        }
        let own = self.client.env.iter();
        variables.extend(own.map(|(name, value)| (name.clone(), filled(value))));
        variables
    }
}

/// The variables by which libraries are told whom to trust: OpenSSL and Go, Node.js, Python's
/// requests, curl, the AWS tools.
const TRUST: [&str; 5] = [
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
];
