//! The formats for other programs, from the same hostile report.

use super::sample::{self, HOSTILE};
use idemspec::grade::Report;
use idemspec::report::{Format, Options, render};
use serde_json::Value;
use std::process::Command;

const SCHEMA: &str = include_str!("../../docs/report.schema.json");

fn text(report: &Report, format: Format) -> String {
    render(report, format, &Options::default())
}

fn json(report: &Report, format: Format) -> Value {
    serde_json::from_str(&text(report, format)).expect("it is JSON")
}

/// The sample, with what the command line adds.
fn report() -> Report {
    let mut report = sample::report();
    report.about.again = "idemspec run 'my target.yaml'".to_owned();
    report.about.file = "my target.yaml".to_owned();
    report.about.started = "2026-11-30T12:00:00Z".to_owned();
    report
        .about
        .places
        .insert("create-payment".to_owned(), "my target.yaml:9".to_owned());
    report
}

#[test]
fn the_json_is_as_its_schema_says() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let mut json = json(&report(), Format::Json);
    let problems: Vec<String> = validator
        .iter_errors(&json)
        .map(|problem| format!("{}: {problem}", problem.instance_path()))
        .collect();
    assert_eq!(problems, [] as [String; 0]);
    json["scenarios"][0]["findings"][0]["verdict"] = "fine".into();
    assert!(
        !validator.is_valid(&json),
        "the schema takes no other verdict"
    );
}

#[test]
fn no_format_writes_what_a_terminal_obeys() {
    for format in Format::ALL {
        let text = text(&report(), format);
        let odd = text
            .chars()
            .find(|c| c.is_control() && *c != '\n' || matches!(c, '\u{202e}' | '\u{fffe}'));
        assert_eq!(odd, None, "{}", format.name());
        assert!(text.ends_with('\n'), "{}", format.name());
    }
}

#[test]
fn sarif_points_at_the_operation_in_the_target_file() {
    let log = json(&report(), Format::Sarif);
    let results = log["runs"][0]["results"].as_array().expect("results");
    let seen: Vec<(&str, &str)> = results
        .iter()
        .map(|result| {
            (
                result["level"].as_str().expect("a level"),
                result["kind"].as_str().expect("a kind"),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [("error", "fail"), ("warning", "fail"), ("none", "open")]
    );
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "my%20target.yaml");
    assert_eq!(place["region"]["startLine"], 9);
    let rule = results[0]["ruleIndex"].as_u64().expect("an index") as usize;
    assert_eq!(
        log["runs"][0]["tool"]["driver"]["rules"][rule]["id"],
        "item-5"
    );
}

#[test]
fn an_expectation_of_the_users_own_is_pointed_at_itself() {
    let mut report = report();
    report.about.places.insert(
        "race/burst/item-5/effects-at-most".to_owned(),
        "own/burst.yaml:7".to_owned(),
    );
    let log = json(&report, Format::Sarif);
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "own/burst.yaml");
    assert_eq!(place["region"]["startLine"], 7);
}

#[test]
fn an_annotation_is_one_line_whatever_the_target_sent() {
    let text = text(&report(), Format::Github);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0].starts_with(
            "::error file=my target.yaml,line=9,title=critical%3A Requests with one key"
        )
    );
    assert!(
        lines[0].contains("%0Asee it again: idemspec run 'my target.yaml' --scenario race/burst")
    );
    assert!(lines[1].starts_with("::warning "));
    assert!(lines[2].starts_with("::notice "));
}

#[test]
fn markdown_holds_no_markup_of_the_target() {
    let text = text(&report(), Format::Markdown);
    assert!(!text.contains("</failure>"), "{text}");
    assert!(text.contains("&lt;/failure&gt;"));
    assert!(text.contains("idemspec run 'my target.yaml' --scenario race/burst"));
    assert_eq!(
        text.matches("<details>").count(),
        text.matches("</details>").count()
    );
    assert!(text.len() < 65_536);
}

#[test]
fn har_holds_every_exchange_with_its_times() {
    let har = json(&report(), Format::Har);
    let entries = har["log"]["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 4);
    assert_eq!(entries[0]["startedDateTime"], "2026-11-30T12:00:01.000000Z");
    assert_eq!(entries[0]["request"]["postData"]["text"], HOSTILE);
    assert_eq!(entries[0]["response"]["status"], 201);
    let timings = &entries[0]["timings"];
    let sum: f64 = ["send", "wait", "receive"]
        .iter()
        .map(|name| timings[name].as_f64().expect("a number"))
        .sum();
    assert_eq!(entries[0]["time"].as_f64(), Some(sum));
    assert_eq!(entries[0]["pageref"], har["log"]["pages"][0]["id"]);
}

#[test]
fn the_curl_script_is_a_script_with_new_keys_and_no_secret() {
    let mut report = report();
    let exchange = &mut report.scenarios[0].transcript.rounds[1].exchanges[0];
    exchange.request.headers.push((
        "Authorization".to_owned(),
        "Bearer ‹secret ab12›".to_owned(),
    ));
    let script = text(&report, Format::Curl);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("again.sh");
    std::fs::write(&file, &script).expect("it is written");
    let listed = Command::new("sh")
        .arg(&file)
        .output()
        .expect("there is a shell");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(
        listed.starts_with("1  critical: Requests with one key"),
        "{listed}\n{script}"
    );
    assert!(!script.contains("burst-key"), "{script}");
    assert!(
        script.contains("-H 'Idempotency-Key: '\"key-1-$run\""),
        "{script}"
    );
    assert!(
        script.contains("'Authorization: Bearer '\"${SECRET_AB12}\""),
        "{script}"
    );
    let without = Command::new("sh")
        .arg(&file)
        .arg("1")
        .output()
        .expect("there is a shell");
    let says = String::from_utf8_lossy(&without.stderr).into_owned();
    assert!(says.contains("SECRET_AB12"), "{says}");
}
