//! What a user does first, with the binary as it is: help, lists, explanations, checks of files, and
//! the mistakes that everybody makes on a command line.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A target on a listener that nobody answers from.
const TARGET: &str = r#"target: Payments
base-url: ${env.URL}
key: Idempotency-Key
operations:
  create-payment:
    request: { method: POST, path: /payments, json: { amount: 2000, reference: "${marker}" } }
    change: { json: { amount: 2001 } }
    identity: $.id
    effects: { payments: { request: "GET /payments?reference=${marker}", ids: "$.data[*].id" } }
"#;

const SCENARIO: &str = "title: A retry pays once
steps:
  - send: { as: first, key: fresh }
  - retry: { as: again, like: first }
expect:
  item-5:
    - effects: { at-most: 1 }
";

/// A folder with a good target, a bad one and a good scenario.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("it is written");
    };
    write("target.yaml", TARGET);
    write("bad.yaml", &TARGET.replace("identity:", "idnetity:"));
    write("retry.yaml", SCENARIO);
    folder
}

fn idemspec(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_idemspec"));
    command
        .current_dir(folder)
        .env("URL", "http://127.0.0.1:9")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("NO_COLOR")
        .env("COLUMNS", "100")
        .args(arguments);
    command
}

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Runs it to its end. What goes into a pipe holds no escapes, and nothing panics.
fn run(folder: &Path, arguments: &[&str]) -> Said {
    said(
        idemspec(folder, arguments).output().expect("it runs"),
        arguments,
    )
}

fn said(output: Output, arguments: &[&str]) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it says text");
    let said = Said {
        code: output.status.code(),
        out: text(output.stdout),
        err: text(output.stderr),
    };
    for text in [&said.out, &said.err] {
        assert!(!text.contains('\u{1b}'), "{arguments:?}: {text:?}");
        assert!(!text.contains("panicked"), "{arguments:?}: {text}");
    }
    said
}

/// Runs it, and checks that it is refused as a mistake of the command line or of a file.
fn refused(folder: &Path, arguments: &[&str], says: &str) {
    let said = run(folder, arguments);
    assert_eq!(
        said.code,
        Some(2),
        "{arguments:?}: {}{}",
        said.out,
        said.err
    );
    let all = format!("{}{}", said.out, said.err);
    assert!(
        all.contains(says),
        "{arguments:?}: `{says}` is not in: {all}"
    );
}

#[test]
fn help_says_what_there_is_and_how_it_is_called() {
    let folder = folder();
    let help = run(folder.path(), &["--help"]);
    assert_eq!(help.code, Some(0));
    for command in [
        "run", "check", "demo", "serve", "init", "lint", "list", "explain",
    ] {
        assert!(
            help.out.contains(&format!("\n  {command} ")),
            "{}",
            help.out
        );
        let own = run(folder.path(), &[command, "--help"]);
        assert_eq!(own.code, Some(0));
        assert!(
            own.out.contains(&format!("Usage: idemspec {command}")),
            "{}",
            own.out
        );
    }
    let version = run(folder.path(), &["--version"]);
    assert_eq!(
        version.out,
        concat!("idemspec ", env!("CARGO_PKG_VERSION"), "\n")
    );
    // Without a command, help is what is meant.
    let nothing = run(folder.path(), &[]);
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("Usage: idemspec"), "{}", nothing.err);
}

#[test]
fn lists_have_a_line_for_each_thing_and_each_can_be_explained() {
    let folder = folder();
    for (what, some) in [
        ("scenarios", "race/burst"),
        ("items", "item-9"),
        ("contracts", "generic"),
        ("promises", "in-progress"),
        ("flaws", "ignores-keys"),
    ] {
        let list = run(folder.path(), &["list", what]);
        assert_eq!(list.code, Some(0), "{}", list.err);
        let names: Vec<&str> = list
            .out
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert!(names.contains(&some), "{what}: {names:?}");
        for name in [names[0], some] {
            let about = run(folder.path(), &["explain", name]);
            assert_eq!(about.code, Some(0), "{name}: {}", about.err);
            assert!(about.out.lines().count() > 1, "{name}: {}", about.out);
        }
    }
    let usual = run(folder.path(), &["list"]);
    assert_eq!(usual.out, run(folder.path(), &["list", "scenarios"]).out);
}

#[test]
fn explanations_say_why_it_matters_and_where_it_comes_from() {
    let folder = folder();
    let item = run(folder.path(), &["explain", "item-5"]).out;
    assert!(
        item.contains("Why it matters:") && item.contains("Source:"),
        "{item}"
    );
    assert!(item.contains("race/burst"), "{item}");
    assert_eq!(item, run(folder.path(), &["explain", "5"]).out);
    let scenario = run(folder.path(), &["explain", "race/burst"]).out;
    assert!(scenario.starts_with("race/burst"), "{scenario}");
    assert!(scenario.contains("Steps:"), "{scenario}");
    refused(
        folder.path(),
        &["explain", "race/bust"],
        "did you mean `race/burst`?",
    );
}

#[test]
fn lint_tells_good_files_from_bad_ones() {
    let folder = folder();
    let good = run(folder.path(), &["lint", "target.yaml", "retry.yaml"]);
    assert_eq!(
        (good.code, good.out.as_str()),
        (Some(0), "2 files: 0 errors, 0 warnings\n")
    );
    let bad = run(
        folder.path(),
        &["lint", "target.yaml", "bad.yaml", "nowhere.yaml", "."],
    );
    assert_eq!(bad.code, Some(2));
    assert!(bad.out.contains("bad.yaml:8:5"), "{}", bad.out);
    assert!(bad.out.contains("cannot read nowhere.yaml"), "{}", bad.out);
    assert!(bad.out.contains(". is a folder"), "{}", bad.out);
    assert!(
        bad.out.ends_with("4 files: 3 errors, 0 warnings\n"),
        "{}",
        bad.out
    );
    refused(
        folder.path(),
        &["run", "bad.yaml"],
        "did you mean `identity`?",
    );
}

#[test]
fn a_dry_run_and_a_lint_send_nothing() {
    let folder = folder();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("it can be asked");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    for arguments in [
        ["run", "target.yaml", "--dry-run"].as_slice(),
        &["lint", "target.yaml"],
    ] {
        let output = idemspec(folder.path(), arguments)
            .env("URL", &url)
            .output()
            .expect("it runs");
        let said = said(output, arguments);
        assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
        if arguments.contains(&"--dry-run") {
            assert!(
                said.out.contains("create-payment/race/burst"),
                "{}",
                said.out
            );
            assert!(said.out.contains("nothing was sent"), "{}", said.out);
        }
    }
    assert!(listener.accept().is_err(), "somebody connected");
}

#[test]
fn a_host_that_the_file_does_not_name_is_refused_before_anything_is_sent() {
    let folder = folder();
    let began = Instant::now();
    for arguments in [
        ["run", "target.yaml"].as_slice(),
        &["run", "target.yaml", "--allow-host", "other.example"],
        &["run", "target.yaml", "--dry-run"],
        &["lint", "target.yaml"],
    ] {
        // An address that is kept for documentation: nobody answers from there (RFC 5737).
        let output = idemspec(folder.path(), arguments)
            .env("URL", "http://192.0.2.1:8080")
            .output()
            .expect("it runs");
        let said = said(output, arguments);
        assert_eq!(
            said.code,
            Some(2),
            "{arguments:?}: {}{}",
            said.out,
            said.err
        );
        let all = said.out + &said.err;
        assert!(
            all.contains("refused to send to 192.0.2.1: it came from URL"),
            "{all}"
        );
        assert!(all.contains("--allow-host"), "{all}");
    }
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    let allowed = idemspec(
        folder.path(),
        &[
            "run",
            "target.yaml",
            "--dry-run",
            "--allow-host",
            "192.0.2.1",
        ],
    )
    .env("URL", "http://192.0.2.1:8080")
    .output()
    .expect("it runs");
    assert_eq!(allowed.status.code(), Some(0));
}

#[test]
fn what_looks_live_needs_to_be_said_aloud() {
    let folder = folder();
    let text = TARGET.replace("${env.URL}", "https://pay.prod.example");
    std::fs::write(folder.path().join("live.yaml"), text).expect("it is written");
    refused(
        folder.path(),
        &["run", "live.yaml"],
        "--live, or use the sandbox",
    );
}

#[test]
fn mistakes_on_the_command_line_say_what_to_write() {
    let folder = folder();
    let folder = folder.path();
    for (arguments, says) in [
        (
            ["run", "target.yaml", "--scenario", "race/bust"].as_slice(),
            "did you mean `race/burst`?",
        ),
        (
            &["run", "target.yaml", "--scenario", "qqq"],
            "`idemspec list` shows all",
        ),
        (&["run", "target.yaml", "--item", "10"], "items 1 to 9"),
        (
            &["run", "target.yaml", "--operation", "create-paymnt"],
            "did you mean `create-payment`?",
        ),
        (
            &["run", "target.yaml", "--operation", "qqq"],
            "the target has create-payment",
        ),
        (
            &["run", "target.yaml", "--contract", "generik"],
            "did you mean `generic`?",
        ),
        (
            &["run", "target.yaml", "--report", "pdf=x"],
            "console, junit, json",
        ),
        (
            &["run", "target.yaml", "--report", "junit"],
            "write FORMAT=FILE",
        ),
        (&["run", "target.yaml", "--set", "a"], "write NAME=VALUE"),
        (
            &["run", "target.yaml", "--set", "a=b"],
            "the target has no vars",
        ),
        (&["run", "target.yaml", "--dry"], "--dry-run"),
        (
            &["run", "target.yaml", "--scenarios", "nowhere"],
            "cannot read nowhere",
        ),
        (
            &["run", "target.yaml", "--secrets", "nowhere"],
            "cannot read nowhere",
        ),
        (
            &["run", "target.yaml", "--quiet", "--verbose"],
            "cannot be used with",
        ),
        (&["run"], "<TARGET>"),
        (&["run", "nowhere.yaml"], "cannot read nowhere.yaml"),
        (&["run", "retry.yaml"], "a target needs `base-url`"),
        (
            &["demo", "--flaw", "ignore-keys"],
            "did you mean `ignores-keys`?",
        ),
        (
            &[
                "demo",
                "--flaw",
                "checks-then-sets",
                "--flaw",
                "last-writer-wins",
            ],
            "`checks-then-sets` and `last-writer-wins` cannot be planted together: each of them decides how a key is claimed",
        ),
        (
            &["serve", "--flaw", "never-expires,forgets-early"],
            "each of them decides how long a key is kept",
        ),
        (&["serve", "--work", "50"], "with its unit"),
        (
            &["list", "everything"],
            "scenarios, items, contracts, promises, flaws",
        ),
        (&["lnit"], "lint"),
        (&["lint"], "<FILE>"),
    ] {
        refused(folder, arguments, says);
    }
}

#[test]
fn a_secrets_file_is_never_quoted() {
    let folder = folder();
    std::fs::write(
        folder.path().join("secrets"),
        "A=b\nhunter2-without-a-name\n",
    )
    .expect("it is written");
    let said = run(
        folder.path(),
        &["run", "target.yaml", "--secrets", "secrets"],
    );
    assert_eq!(said.code, Some(2));
    assert!(
        said.err.contains("secrets:2: a line is NAME=VALUE"),
        "{}",
        said.err
    );
    assert!(!said.err.contains("hunter2"), "{}", said.err);
}

#[test]
fn a_report_that_cannot_be_written_is_named_and_the_others_are_written() {
    let folder = folder();
    let arguments = [
        "run",
        "target.yaml",
        "--scenario",
        "replay/exact",
        "--report",
        "junit=target.yaml/report.xml",
        "--report",
        "json=new/folder/report.json",
        "--report",
        "console=report.txt",
    ];
    let said = run(folder.path(), &arguments);
    assert_eq!(said.code, Some(4), "{}{}", said.out, said.err);
    assert!(
        said.err
            .contains("cannot write the junit report to target.yaml/report.xml"),
        "{}",
        said.err
    );
    let text = std::fs::read_to_string(folder.path().join("new/folder/report.json"));
    let json: serde_json::Value =
        serde_json::from_str(&text.expect("it is written")).expect("it is JSON");
    assert_eq!(json["verdict"], "inconclusive");
    let text = std::fs::read_to_string(folder.path().join("report.txt")).expect("it is written");
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(text.contains("cannot be reached"), "{text}");
}

#[test]
fn a_run_that_cannot_reach_its_target_did_not_work() {
    let folder = folder();
    let said = run(
        folder.path(),
        &["run", "target.yaml", "--scenario", "replay/exact"],
    );
    assert_eq!(said.code, Some(4), "{}{}", said.out, said.err);
    let words: Vec<&str> = said.out.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("the target at http://127.0.0.1:9/ cannot be reached"),
        "{}",
        said.out
    );
}

#[test]
fn colours_are_for_terminals_and_for_those_who_insist() {
    let folder = folder();
    let arguments = ["lint", "bad.yaml"];
    let coloured = |key: &str, value: &str| {
        let output = idemspec(folder.path(), &arguments)
            .env(key, value)
            .output()
            .expect("it runs");
        output.stdout.contains(&0x1b)
    };
    assert!(coloured("CLICOLOR_FORCE", "1"));
    assert!(!coloured("NO_COLOR", "1"));
    assert!(!coloured("TERM", "xterm-256color"));
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let folder = folder();
    for arguments in [
        ["list", "scenarios"].as_slice(),
        &["list", "flaws"],
        &["explain", "race/burst"],
        &["--help"],
        &["lint", "bad.yaml"],
        &["run", "target.yaml", "--dry-run"],
        &["run", "target.yaml", "--scenario", "replay"],
    ] {
        let mut child = idemspec(folder.path(), arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let said = said(output, arguments);
        assert!(
            matches!(said.code, Some(0 | 2 | 4)),
            "{arguments:?}: {:?} {}",
            said.code,
            said.err
        );
    }
    // Nor are remarks that nobody reads.
    let mut child = idemspec(
        folder.path(),
        &["run", "target.yaml", "--scenario", "replay"],
    )
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .expect("it starts");
    drop(child.stderr.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn a_selftest_that_is_stopped_shows_what_was_tried() {
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_idemspec"))
        .args(["selftest", "--at-once", "1", "--report", "page.md"])
        .args(["--flaw", "ignores-keys", "--flaw", "checks-then-sets"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let remarks = BufReader::new(child.stderr.take().expect("it is piped"));
    let first = remarks
        .lines()
        .map_while(Result::ok)
        .find(|line| line.starts_with("[1/2]"));
    assert!(first.is_some(), "nothing was done");
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(interrupted.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("stopped after 1 of 2: 1 of 1 flaws caught"),
        "{text}"
    );
    let page = std::fs::read_to_string(folder.path().join("page.md")).expect("it is written");
    assert!(page.contains("stopped after 1 of 2"), "{page}");
}
