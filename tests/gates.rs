//! What holds a pipeline: what fails it, what is known, how runs are split, joined and compared.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Scenarios of which one fails with the flaw, and one passes.
const SOME: [&str; 6] = [
    "--scenario",
    "payload/changed#value",
    "--scenario",
    "replay/exact",
    "--operation",
    "create-payment",
];

const FAILS: &str = "create-payment/payload/changed#value";

fn idemspec(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_idemspec"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("it starts")
}

fn demo(folder: &Path, flawed: bool, more: &[&str]) -> Output {
    let mut arguments = vec!["demo", "-q", "--no-check"];
    if flawed {
        arguments.extend(["--flaw", "stores-no-fingerprint"]);
    }
    arguments.extend(SOME);
    arguments.extend(more);
    idemspec(folder, &arguments)
}

/// A folder with a run that fails and one that passes, both recorded and reported.
fn runs() -> &'static Path {
    static RUNS: OnceLock<TempDir> = OnceLock::new();
    RUNS.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let bad = demo(
            folder.path(),
            true,
            &[
                "--record",
                "bad.record.json",
                "--report",
                "json=bad.json",
                "--bundle",
                "bad.zip",
            ],
        );
        assert_eq!(bad.status.code(), Some(1), "{}", said(&bad));
        let good = demo(
            folder.path(),
            false,
            &["--record", "good.record.json", "--report", "json=good.json"],
        );
        assert_eq!(good.status.code(), Some(0), "{}", said(&good));
        folder
    })
    .path()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn report(more: &[&str]) -> Output {
    let mut arguments = vec!["report", "bad.record.json", "-q"];
    arguments.extend(more);
    idemspec(runs(), &arguments)
}

fn json(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).expect("it was written");
    serde_json::from_str(&text).expect("it is JSON")
}

fn cases(report: &Value) -> Vec<String> {
    let cases = report["scenarios"].as_array().expect("cases");
    cases
        .iter()
        .map(|case| format!("{}#{}", case["scenario"], case["case"]))
        .collect()
}

#[test]
fn only_what_is_grave_enough_fails() {
    for (gate, code) in [("low", 1), ("item-3", 1), ("item-7", 0)] {
        let output = report(&["--fail-on", gate]);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{gate}: {}",
            said(&output)
        );
    }
    let output = report(&["--fail-on", "grave"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_is_known_does_not_fail_and_must_go_on_failing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("known.yaml");
    let path = file.display().to_string();
    let with = |list: &str, option: &str| {
        std::fs::write(&file, list).expect("it is written");
        report(&[option, &path])
    };
    let known = format!("{FAILS}: PAY-17, mended in March\n");
    let output = with(&known, "--known-failing");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("known failure"), "{}", said(&output));

    let stale = format!("{known}create-payment/replay/exact#plain: PAY-18\n");
    let output = with(&stale, "--known-failing");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output)
            .contains("known.yaml:2: `create-payment/replay/exact#plain` does not fail any more")
    );
    let output = with(&stale, "--known-flaky");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));

    let output = with(
        &format!("{known}create-payment/no/such: PAY-19\n"),
        "--known-flaky",
    );
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("known.yaml:2: no check has the name"));

    let output = with(&format!("{FAILS}:\n"), "--known-failing");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("has no reason"));
}

#[test]
fn a_known_failure_is_skipped_in_junit_and_stays_in_the_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(
        folder.path().join("known.yaml"),
        format!("{FAILS}: PAY-17\n"),
    )
    .expect("written");
    report(&[
        "--known-failing",
        &at("known.yaml"),
        "--report",
        &format!("junit={}", at("report.xml")),
        "--report",
        &format!("json={}", at("report.json")),
    ]);
    let xml = std::fs::read_to_string(at("report.xml")).expect("it was written");
    assert!(!xml.contains("<failure"), "{xml}");
    assert!(xml.contains("known to fail (PAY-17)"), "{xml}");
    let report = json(&folder.path().join("report.json"));
    assert_eq!(report["verdict"], "pass");
    assert!(report.to_string().contains("PAY-17"));
}

#[test]
fn two_runs_are_compared_check_by_check() {
    let compare = |old: &str, new: &str| idemspec(runs(), &["compare", old, new]);
    let same = compare("bad.json", "bad.record.json");
    assert_eq!(same.status.code(), Some(0), "{}", said(&same));
    assert!(said(&same).contains("no difference"), "{}", said(&same));
    let worse = compare("good.json", "bad.json");
    assert_eq!(worse.status.code(), Some(1), "{}", said(&worse));
    assert!(said(&worse).contains("Regressions\n  create-payment/payload/changed#value"));
    let better = compare("bad.record.json", "good.json");
    assert_eq!(better.status.code(), Some(0), "{}", said(&better));
    assert!(said(&better).contains("Fixed"));
    let neither = compare("bad.json", "bad.zip");
    assert_eq!(neither.status.code(), Some(2));
}

#[test]
fn the_parts_of_a_run_make_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut parts = 0;
    for part in ["1/2", "2/2"] {
        let name = format!("{}.record.json", &part[..1]);
        demo(
            folder.path(),
            true,
            &[
                "--shard",
                part,
                "--record",
                &name,
                "--report",
                "json=part.json",
            ],
        );
        parts += cases(&json(&folder.path().join("part.json"))).len();
    }
    let apart = idemspec(folder.path(), &["report", "1.record.json", "2.record.json"]);
    assert_eq!(apart.status.code(), Some(2), "{}", said(&apart));
    let joined = idemspec(
        folder.path(),
        &[
            "report",
            "--merge",
            "1.record.json",
            "2.record.json",
            "-q",
            "--report",
            "json=whole.json",
        ],
    );
    assert_eq!(joined.status.code(), Some(1), "{}", said(&joined));
    let whole = cases(&json(&folder.path().join("whole.json")));
    assert_eq!(
        whole,
        cases(&json(&runs().join("bad.json"))),
        "in the same order"
    );
    assert_eq!(whole.len(), parts);
    assert_eq!(whole.iter().collect::<BTreeSet<_>>().len(), whole.len());
}

#[test]
fn a_repeated_run_is_judged_as_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = demo(
        folder.path(),
        true,
        &["--repeat", "2", "--report", "json=twice.json"],
    );
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let rounds = |report: &Value| -> usize {
        let cases = report["scenarios"].as_array().expect("cases");
        cases
            .iter()
            .filter_map(|case| case["rounds"].as_array())
            .map(Vec::len)
            .sum()
    };
    let once = rounds(&json(&runs().join("bad.json")));
    let twice = json(&folder.path().join("twice.json"));
    assert_eq!(rounds(&twice), 2 * once);
    let last = twice["scenarios"][0]["rounds"]
        .as_array()
        .and_then(|all| all.last());
    assert_eq!(last.map(|round| &round["number"]), Some(&Value::from(2)));
}

#[test]
fn only_what_failed_runs_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let earlier = runs().join("bad.json").display().to_string();
    let output = demo(
        folder.path(),
        true,
        &["--only-failed", &earlier, "--report", "json=again.json"],
    );
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let again = cases(&json(&folder.path().join("again.json")));
    assert_eq!(again, ["\"payload/changed\"#\"value\""]);
    let passed = runs().join("good.json").display().to_string();
    let nothing = demo(folder.path(), true, &["--only-failed", &passed]);
    assert_eq!(nothing.status.code(), Some(2), "{}", said(&nothing));
}

#[test]
fn a_bundle_is_whole_and_its_checksums_are_right() {
    let file = std::fs::File::open(runs().join("bad.zip")).expect("it was written");
    let mut archive = zip::ZipArchive::new(file).expect("it is an archive");
    let mut read = |name: &str| {
        let mut text = String::new();
        let mut entry = archive.by_name(name).unwrap_or_else(|_| panic!("{name}"));
        entry.read_to_string(&mut text).expect("it is text");
        text
    };
    let sums = read("SHA256SUMS");
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").expect("a sum and a name");
        let own: String = Sha256::digest(read(name))
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(own, sum, "{name}");
    }
    for name in [
        "report.html",
        "exchanges.har",
        "run.record.json",
        "contracts/create-payment.yaml",
        "scenarios/payload/changed.yaml",
    ] {
        assert!(
            sums.contains(&format!("  {name}\n")),
            "{name} is not in\n{sums}"
        );
    }
    assert!(read("ABOUT.txt").contains("idemspec demo --flaw stores-no-fingerprint"));
}

#[test]
fn a_target_that_is_away_keeps_no_other_from_being_tried() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = "target: Away\nbase-url: http://127.0.0.1:9\nkey: Idempotency-Key\noperations:\n  pay:\n    request: { method: POST, path: /p, json: { a: 1, reference: \"${marker}\" } }\n    identity: $.id\n    effects: { p: { request: \"GET /p?reference=${marker}\", ids: \"$[*].id\" } }\n";
    std::fs::write(folder.path().join("one.yaml"), target).expect("written");
    std::fs::write(folder.path().join("two.yaml"), target).expect("written");
    let output = idemspec(
        folder.path(),
        &[
            "run",
            "one.yaml",
            "missing.yaml",
            "two.yaml",
            "-q",
            "--report",
            "junit=out/report.xml",
        ],
    );
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    let said = said(&output);
    assert!(
        said.contains("one.yaml      Stopped: the target at http://127.0.0.1:9/"),
        "{said}"
    );
    assert!(said.contains("missing.yaml  error: cannot read"), "{said}");
    for name in ["one", "two"] {
        assert!(
            folder
                .path()
                .join(format!("out/report-{name}.xml"))
                .exists()
        );
    }
}

#[test]
fn a_disk_that_is_full_keeps_the_other_reports() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let good = folder.path().join("report.json").display().to_string();
    let output = report(&[
        "--report",
        "html=/dev/full",
        "--bundle",
        "/dev/full",
        "--report",
        &format!("json={good}"),
    ]);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(said(&output).contains("cannot write the html report to /dev/full"));
    assert!(said(&output).contains("cannot write the bundle to /dev/full"));
    assert!(
        said(&output).contains("Failed: "),
        "what was judged is shown"
    );
    assert!(Path::new(&good).exists());
}

#[test]
fn the_schema_is_printed() {
    let output = idemspec(runs(), &["schema"]);
    let schema: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    for name in ["bad.json", "good.json"] {
        let report = json(&runs().join(name));
        let problems: Vec<String> = validator
            .iter_errors(&report)
            .map(|problem| format!("{}: {problem}", problem.instance_path()))
            .collect();
        assert_eq!(problems, [] as [String; 0], "{name}");
    }
}
