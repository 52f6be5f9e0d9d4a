//! What a wrong file is told: every `x.yaml` under `bad_targets` and `bad_scenarios` has its message
//! beside it, in `x.stderr`. `UPDATE_GOLDEN=1` writes the messages anew; then read the difference
//! with the eyes of a user: does it say what, where, and what to do?

use assert_cmd::Command;
use idemspec::contract;
use idemspec::scenario;
use idemspec::target::parse::{Environment, Options, load};
use idemspec::target::render::Form;
use idemspec::target::variation;
use idemspec::yaml::{Diagnostic, Source};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The whole environment of the command: what the files refer to, and nothing of the machine's.
const ENVIRONMENT: [(&str, &str); 5] = [
    ("PAYMENTS_URL", "https://pay.prod.acme.com"),
    ("SHOP", "acme"),
    ("TOKEN", "t0ken"),
    ("IN_A_FILE_FILE", "no-such-file"),
    ("COLUMNS", "100"),
];

#[test]
fn every_bad_target_gets_its_message() {
    compare("bad_targets", linted);
}

#[test]
fn every_bad_scenario_gets_its_message() {
    compare("bad_scenarios", |root, file| {
        if file.starts_with("library") {
            of_the_library(root, file)
        } else {
            linted(root, file)
        }
    });
}

/// A target that uses most of the format, and is right.
const TARGET: &str = include_str!("bad_targets/good-whole.yaml");

/// A scenario that uses most of the vocabulary, and is right.
const SCENARIO: &str = include_str!("bad_scenarios/good-whole.yaml");

#[test]
fn no_mutation_of_a_target_panics_and_every_error_has_a_place() {
    struct Nothing;
    impl Environment for Nothing {
        fn var(&self, name: &str) -> Option<String> {
            (name == "TOKEN").then(|| "t0ken".to_owned())
        }
        fn file(&self, _: &Path, _: &str) -> Result<Source, String> {
            Err("there are no files here".to_owned())
        }
    }
    let read = |source| match load(source, &Options::default(), &Nothing) {
        Ok(loaded) => contract::resolve(loaded.target.contract.as_ref())
            .err()
            .into_iter()
            .collect(),
        Err(problems) => problems,
    };
    assert_eq!(messages(&read(source(TARGET))), Vec::<String>::new());
    mutate(TARGET, read);
}

#[test]
fn no_mutation_of_a_scenario_panics_and_every_error_has_a_place() {
    let read = |source| match scenario::parse("own/whole", source, false) {
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    };
    assert_eq!(messages(&read(source(SCENARIO))), Vec::<String>::new());
    mutate(SCENARIO, read);
}

#[test]
fn scenarios_and_targets_use_the_same_words() {
    assert_eq!(scenario::VARIANTS, variation::NAMES);
    assert_eq!(scenario::FORMS, Form::ALL.map(Form::name));
}

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source {
        name: "mutation.yaml".to_owned(),
        text: text.to_owned(),
    })
}

fn messages(problems: &[Diagnostic]) -> Vec<String> {
    problems
        .iter()
        .map(|problem| problem.render(false))
        .collect()
}

/// Reads the text with every line left out, doubled and indented otherwise, every word misspelled
/// and replaced by values of other types, and cut off at every fifth byte.
fn mutate(text: &str, read: impl Fn(Arc<Source>) -> Vec<Diagnostic>) {
    let mut tried = 0;
    let mut refused = 0;
    for mutation in mutations(text) {
        let problems = read(source(&mutation));
        tried += 1;
        refused += usize::from(!problems.is_empty());
        for problem in &problems {
            let rendered = problem.render(false);
            let place = problem.place();
            assert!(place.is_some(), "no place: {rendered}\n--- in\n{mutation}");
            assert!(
                problem.span.as_ref().is_some_and(|span| {
                    span.start <= span.end && span.end <= span.source.text.len()
                }),
                "outside of the file: {rendered}\n--- in\n{mutation}"
            );
        }
    }
    assert!(tried > 1000, "only {tried} mutations");
    assert!(refused * 3 > tried, "{refused} of {tried} were refused");
}

fn mutations(text: &str) -> BTreeSet<String> {
    const INSTEAD: [&str; 9] = [
        "null", "[]", "{}", "-1", "1e400", "\"\"", "${", "*nothing", "\u{1}",
    ];
    let mut found = BTreeSet::new();
    let lines: Vec<&str> = text.lines().collect();
    for at in 0..lines.len() {
        let mut with = |line: Option<String>| {
            let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            match line {
                Some(line) => changed[at] = line,
                None => {
                    changed.remove(at);
                }
            }
            found.insert(changed.join("\n"));
        };
        with(None);
        with(Some(format!("{0}\n{0}", lines[at])));
        with(Some(format!(" {}", lines[at])));
        with(Some(format!("\t{}", lines[at].trim_start())));
        with(Some(lines[at].replacen(": ", ":", 1)));
        with(Some(lines[at].replace(['{', '}'], "")));
    }
    let is_word = |c: char| c.is_alphanumeric() || "-_$.".contains(c);
    let mut start = None;
    for (at, c) in text.char_indices() {
        if at % 5 == 0 {
            found.insert(text[..at].to_owned());
        }
        match (is_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(begin)) => {
                start = None;
                let word = &text[begin..at];
                let misspelled: String = word.chars().rev().collect();
                for other in INSTEAD.into_iter().chain([misspelled.as_str(), ""]) {
                    found.insert(format!("{}{other}{}", &text[..begin], &text[at..]));
                }
            }
            _ => {}
        }
    }
    found
}

/// What `idemspec lint` shows. Every file is either refused with exit code 2, or warned of.
fn linted(root: &Path, file: &Path) -> String {
    let output = Command::cargo_bin("idemspec")
        .expect("the binary is built")
        .env_clear()
        .envs(ENVIRONMENT)
        .current_dir(root)
        .arg("lint")
        .arg(file)
        .output()
        .expect("it runs");
    let shown = String::from_utf8(output.stdout).expect("messages are text")
        + std::str::from_utf8(&output.stderr).expect("messages are text");
    let name = file.display();
    assert!(!shown.contains('\u{1b}'), "{name}: an escape: {shown:?}");
    match output.status.code() {
        Some(2) => assert!(shown.contains("error: "), "{name}: {shown}"),
        Some(0) => assert!(
            shown.contains("warning: "),
            "{name}: nothing is wrong with it"
        ),
        other => panic!("{name}: exit {other:?}: {shown}"),
    }
    shown
}

/// What the same mistakes are told in the scenarios that are built in, which may do less.
fn of_the_library(root: &Path, file: &Path) -> String {
    let text = std::fs::read_to_string(root.join(file)).expect("the file is text");
    let name = file.display().to_string();
    let id = name.trim_end_matches(".yaml").to_owned();
    let source = Arc::new(Source { name, text });
    let problems = scenario::parse(&id, source, true).expect_err("the file is wrong");
    let messages: Vec<String> = problems
        .iter()
        .map(|problem| problem.render(false))
        .collect();
    messages.join("\n\n") + "\n"
}

fn compare(folder: &str, message: impl Fn(&Path, &Path) -> String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    let files = files_under(&root, "yaml");
    assert!(files.len() > 50, "the files are gone: {}", files.len());
    for file in &files {
        let shown = message(&root, file);
        let golden = root.join(file).with_extension("stderr");
        if update {
            std::fs::write(&golden, &shown).expect("the message can be written");
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        if shown != expected {
            wrong.push(format!(
                "{}\n--- expected\n{expected}\n--- shown\n{shown}",
                file.display()
            ));
        }
    }
    for golden in files_under(&root, "stderr") {
        if !root.join(&golden).with_extension("yaml").exists() {
            wrong.push(format!("{} belongs to no file", golden.display()));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} differ (UPDATE_GOLDEN=1 writes them anew):\n\n{}",
        wrong.len(),
        files.len(),
        wrong.join("\n\n")
    );
}

/// The files with this ending, relative to the root, in order. Files whose name begins with `good`
/// are there for others to extend.
fn files_under(root: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(&format!(".{ending}")) && !name.starts_with("good") {
                let relative = path.strip_prefix(root).expect("it is below the root");
                files.push(relative.to_owned());
            }
        }
    }
    files.sort();
    files
}
