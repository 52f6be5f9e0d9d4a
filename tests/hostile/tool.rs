//! The tool as a user runs it, against a target that may do anything. Whatever comes, some things
//! hold: no panic, no secret in any output, no escape on the screen, reports that can be read.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const TOKEN: &str = "hostile-token-5f2b9c71";
pub const PASSWORD: &str = "hostile-password-83ad10";

/// `shop:PASSWORD` as Basic credentials carry it.
const BASIC: &str = "c2hvcDpob3N0aWxlLXBhc3N3b3JkLTgzYWQxMA==";

/// Longer than any run of these tests should take, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A folder with a target file, and a run of the tool in it.
pub struct Tool {
    folder: TempDir,
    more: Vec<String>,
    patience: &'static str,
}

/// What a run brought.
pub struct Seen {
    pub code: Option<i32>,
    pub screen: String,
    pub remarks: String,
    pub junit: quick_junit::Report,
    pub json: serde_json::Value,
    pub took: Duration,
}

impl Tool {
    /// A target at this address, with the usual probe.
    pub fn at(address: SocketAddr) -> Tool {
        let tool = Tool::waiting("300ms");
        let probe = r#"{ request: "GET /payments?reference=${marker}", ids: "$.data[*].id", timeout: 500ms }"#;
        tool.probe(address, probe)
    }

    /// The same, waiting for a minute, which no busy machine needs to read what is long.
    pub fn patient(address: SocketAddr) -> Tool {
        let probe = r#"{ request: "GET /payments?reference=${marker}", ids: "$.data[*].id", timeout: 60s }"#;
        Tool::waiting("60s").probe(address, probe)
    }

    fn waiting(patience: &'static str) -> Tool {
        Tool {
            folder: tempfile::tempdir().expect("a folder"),
            more: Vec::new(),
            patience,
        }
    }

    /// The same with this probe.
    pub fn probe(self, address: SocketAddr, probe: &str) -> Tool {
        let patience = self.patience;
        let target = format!(
            r#"target: Hostile
base-url: http://{address}
key: Idempotency-Key
principals:
  owner: {{ bearer: "${{secret.HOSTILE_TOKEN}}" }}
  other-tenant: {{ basic: "shop:${{secret.HOSTILE_PASSWORD}}" }}
operations:
  create-payment:
    request: {{ method: POST, path: /payments, json: {{ amount: 2000, reference: "${{marker}}" }} }}
    change: {{ json: {{ amount: 2001 }} }}
    identity: $.id
    effects: {{ payments: {probe} }}
settle: 100ms
timeout: 2s
limits: {{ patience: {patience}, wait: 1s }}
"#
        );
        std::fs::write(self.folder.path().join("target.yaml"), target).expect("it is written");
        self
    }

    /// More arguments.
    pub fn with(mut self, arguments: &[&str]) -> Tool {
        self.more
            .extend(arguments.iter().map(|one| (*one).to_owned()));
        self
    }

    /// With this scenario alone, and nothing tried before it.
    pub fn alone(self, id: &str, scenario: &str) -> Tool {
        let file = self.path(&format!("scenarios/{id}.yaml"));
        let folder = file.parent().expect("it is in a folder");
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(&file, scenario).expect("it is written");
        self.with(&["--scenarios", "scenarios", "--scenario", id])
            .with(&["--no-check"])
    }

    /// Where a file of the run is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command, not yet started.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_idemspec"));
        command
            .current_dir(self.folder.path())
            .env("HOSTILE_TOKEN", TOKEN)
            .env("HOSTILE_PASSWORD", PASSWORD)
            .env("RUST_BACKTRACE", "0")
            .args(["run", "target.yaml", "--seed", "7"])
            .args(["--report", "junit=out/report.xml"])
            .args(["--report", "json=out/report.json"])
            .args(["--report", "console=out/report.txt"])
            .args(&self.more);
        command
    }

    /// Another command in the same folder, with the same secrets.
    pub fn other(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_idemspec"));
        command
            .current_dir(self.folder.path())
            .env("HOSTILE_TOKEN", TOKEN)
            .env("HOSTILE_PASSWORD", PASSWORD)
            .args(arguments);
        command
    }

    /// Runs it to its end, and checks what always holds.
    pub fn run(&self) -> Seen {
        let began = Instant::now();
        let output = assert_cmd::Command::from_std(self.command())
            .timeout(PATIENCE)
            .output()
            .expect("it runs");
        self.seen(&output, began.elapsed())
    }

    /// Checks what always holds.
    pub fn seen(&self, output: &Output, took: Duration) -> Seen {
        let screen = String::from_utf8(output.stdout.clone()).expect("the screen shows text");
        let remarks = String::from_utf8(output.stderr.clone()).expect("remarks are text");
        let read = |name| {
            std::fs::read_to_string(self.path(name))
                .unwrap_or_else(|why| panic!("{name}: {why}\n{screen}\n{remarks}"))
        };
        let files = ["out/report.xml", "out/report.json", "out/report.txt"].map(read);
        for text in [&screen, &remarks].into_iter().chain(&files) {
            for secret in [TOKEN, PASSWORD, BASIC] {
                let at = text.find(secret);
                assert!(at.is_none(), "{secret} is shown: {}", around(text, at));
            }
        }
        for text in [&screen, &remarks, &files[0], &files[2]] {
            let at = text.find(|c: char| c.is_control() && c != '\n');
            assert!(at.is_none(), "a control character: {}", around(text, at));
        }
        // JSON has escapes of its own for what a terminal obeys.
        assert!(!files[1].contains('\u{1b}'));
        assert!(!remarks.contains("panicked"), "{remarks}");
        let junit = quick_junit::Report::deserialize_from_str(&files[0]).expect("JUnit is XML");
        let json = serde_json::from_str(&files[1]).expect("the JSON report is JSON");
        Seen {
            code: output.status.code(),
            screen,
            remarks,
            junit,
            json,
            took,
        }
    }
}

fn around(text: &str, at: Option<usize>) -> String {
    let at = at.unwrap_or_default();
    text.chars()
        .skip(text[..at].chars().count().saturating_sub(120))
        .take(240)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

impl Seen {
    /// JUnit cases that passed.
    pub fn passed(&self) -> Vec<String> {
        self.cases(|status| matches!(status, quick_junit::TestCaseStatus::Success { .. }))
    }

    /// JUnit cases that failed.
    pub fn failed(&self) -> Vec<String> {
        self.cases(|status| {
            matches!(
                status,
                quick_junit::TestCaseStatus::NonSuccess {
                    kind: quick_junit::NonSuccessKind::Failure,
                    ..
                }
            )
        })
    }

    fn cases(&self, wanted: impl Fn(&quick_junit::TestCaseStatus) -> bool) -> Vec<String> {
        // The suite `target` is about the target file: that a host answers at all is no finding.
        let cases = self
            .junit
            .test_suites
            .iter()
            // What the target file says is held against the target in a suite of its own.
            .filter(|suite| suite.name.as_str() != "target")
            .flat_map(|suite| &suite.test_cases);
        cases
            .filter(|case| wanted(&case.status))
            .map(|case| case.name.to_string())
            .collect()
    }

    /// That the target could not be tried: exit 4, said on the screen, nothing passed or failed.
    pub fn is_unable(&self, says: &str) {
        assert_eq!(self.code, Some(4), "{}\n{}", self.screen, self.remarks);
        self.shows(says);
        assert_eq!(self.passed(), Vec::<String>::new());
        assert_eq!(self.failed(), Vec::<String>::new());
    }

    /// That the screen says this, whatever the line breaks.
    pub fn shows(&self, says: &str) {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words(&self.screen).contains(says),
            "`{says}` is not on the screen:\n{}\n{}",
            self.screen,
            self.remarks
        );
    }
}
