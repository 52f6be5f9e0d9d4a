//! Who may import whom. Runner and judge never meet; report never meets runner; the demo meets no
//! one; nobody imports the command line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every module of the crate, and what it may import besides itself.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("checklist", &[]),
    ("hook", &[]),
    ("outcome", &[]),
    ("process", &[]),
    ("promise", &[]),
    ("signal", &[]),
    ("verdict", &[]),
    ("xml", &[]),
    ("yaml", &[]),
    ("demo", &[]),
    ("demo_client", &[]),
    (
        "scenario",
        &["checklist", "hook", "outcome", "promise", "signal", "yaml"],
    ),
    ("transcript", &["hook", "outcome", "scenario", "signal"]),
    (
        "contract",
        &[
            "hook",
            "outcome",
            "promise",
            "scenario",
            "transcript",
            "xml",
            "yaml",
        ],
    ),
    ("openapi", &[]),
    ("target", &["hook", "signal", "xml", "yaml"]),
    ("target_check", &[]),
    (
        "plan",
        &[
            "checklist",
            "contract",
            "hook",
            "outcome",
            "promise",
            "scenario",
            "signal",
            "target",
        ],
    ),
    (
        "runner",
        &[
            "contract",
            "hook",
            "openapi",
            "outcome",
            "plan",
            "process",
            "promise",
            "scenario",
            "signal",
            "target",
            "target_check",
            "transcript",
            "yaml",
        ],
    ),
    (
        "client",
        &[
            "contract",
            "process",
            "runner",
            "scenario",
            "target",
            "transcript",
        ],
    ),
    (
        "judge",
        &[
            "checklist",
            "contract",
            "hook",
            "outcome",
            "promise",
            "scenario",
            "signal",
            "transcript",
            "verdict",
        ],
    ),
    (
        "grade",
        &[
            "checklist",
            "contract",
            "judge",
            "outcome",
            "promise",
            "scenario",
            "target_check",
            "transcript",
            "verdict",
        ],
    ),
    (
        "report",
        &[
            "checklist",
            "grade",
            "judge",
            "outcome",
            "promise",
            "scenario",
            "target_check",
            "transcript",
            "verdict",
        ],
    ),
    (
        "cli",
        &[
            "checklist",
            "client",
            "contract",
            "demo",
            "demo_client",
            "grade",
            "hook",
            "judge",
            "openapi",
            "outcome",
            "plan",
            "promise",
            "report",
            "runner",
            "scenario",
            "target",
            "target_check",
            "transcript",
            "verdict",
            "yaml",
        ],
    ),
];

/// What the tests of every module may import besides: they write their samples as YAML.
const TESTS_MAY_IMPORT: &str = "yaml";

/// Names that say nothing of what is in a file.
const VAGUE: [&str; 7] = [
    "util", "common", "helpers", "core", "types", "manager", "imp",
];

/// The files that hold the modules together and belong to none.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

#[test]
fn every_module_has_a_row_and_every_row_a_module() {
    let modules: BTreeSet<String> = sources()
        .iter()
        .filter_map(|file| file.module().map(str::to_owned))
        .collect();
    let rows: BTreeSet<String> = MAY_IMPORT
        .iter()
        .map(|(module, _)| (*module).to_owned())
        .collect();
    assert_eq!(modules, rows);
    for (module, imports) in MAY_IMPORT {
        for import in *imports {
            assert!(
                rows.contains(*import),
                "{module} may import {import}, which is no module"
            );
        }
    }
}

#[test]
fn no_module_imports_what_it_may_not() {
    let mut found = Vec::new();
    let files = sources();
    for file in &files {
        let Some(module) = file.module() else {
            continue;
        };
        let only_for_tests = file.is_only_for_tests(&files);
        for (number, line) in file.code() {
            for import in imports(&line) {
                let in_tests = import == TESTS_MAY_IMPORT
                    && module != "demo"
                    && (only_for_tests || file.is_inline(number));
                if import != module && !may_import(module, &import) && !in_tests {
                    found.push(format!(
                        "{}:{number}: {module} must not import {import}",
                        file.path.display()
                    ));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn imports_are_written_so_that_they_can_be_checked() {
    let mut found = Vec::new();
    for file in sources().iter().filter(|file| file.module().is_some()) {
        for (number, line) in file.code() {
            let place = || format!("{}:{number}", file.path.display());
            if line.contains("crate::{") || line.contains("crate::*") {
                found.push(format!("{}: write one path a line", place()));
            }
            if line.contains("use crate as ") || line.contains("use crate;") {
                found.push(format!("{}: do not rename the crate", place()));
            }
            if file.leaves(number, &line) {
                found.push(format!(
                    "{}: `super` leaves the module: write `crate::`",
                    place()
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_file_has_a_name_that_says_nothing() {
    for file in sources() {
        for part in file.path.iter() {
            let name = part.to_string_lossy();
            let name = name.trim_end_matches(".rs");
            assert!(!VAGUE.contains(&name), "{}", file.path.display());
        }
    }
}

#[test]
fn the_check_finds_every_way_to_write_an_import() {
    assert_eq!(imports("use crate::judge::Finding;"), ["judge"]);
    assert_eq!(
        imports("fn f(a: crate::plan::Plan) -> crate::cli::Exit {"),
        ["plan", "cli"]
    );
    assert_eq!(imports("idemspec::runner::run()"), ["runner"]);
    assert_eq!(imports("the_crate::judge and acrate::x"), [] as [&str; 0]);
    assert_eq!(climbs("use super::super::plan::Plan;"), 2);
    assert_eq!(climbs("use self::super::x; superb::y"), 1);
    let file = |path: &str, text: &str| SourceFile {
        path: PathBuf::from(path),
        text: text.to_owned(),
        depth: depth(Path::new(path)),
    };
    assert!(file("grade.rs", "").leaves(1, "use super::plan;"));
    assert!(file("judge/mod.rs", "").leaves(1, "use super::plan;"));
    assert!(file("judge/x.rs", "").leaves(1, "use super::super::plan;"));
    assert!(!file("judge/x.rs", "").leaves(1, "use super::Finding;"));
    let tests = file(
        "grade.rs",
        "mod tests {\n    use super::Report;\n}\nuse super::plan;",
    );
    assert!(!tests.leaves(2, "    use super::Report;"));
    assert!(tests.leaves(4, "use super::plan;"));
    assert!(!may_import("runner", "judge"));
    assert!(!may_import("judge", "runner"));
    assert!(!may_import("report", "runner"));
    assert!(
        MAY_IMPORT
            .iter()
            .all(|(_, imports)| !imports.contains(&"cli"))
    );
}

struct SourceFile {
    /// From `src/`.
    path: PathBuf,
    text: String,
    /// How many modules it lies in.
    depth: usize,
}

impl SourceFile {
    /// The top-level module; `None` for the roots.
    fn module(&self) -> Option<&str> {
        let first = self.path.iter().next()?.to_str()?;
        if ROOTS.contains(&first) {
            return None;
        }
        Some(first.trim_end_matches(".rs"))
    }

    /// The lines that are no comments, with their numbers.
    fn code(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        self.text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
            .map(|(index, line)| (index + 1, line.to_owned()))
    }
}

impl SourceFile {
    /// Whether a `super` in the line leads out of the top-level module.
    fn leaves(&self, number: usize, line: &str) -> bool {
        let climbs = climbs(line);
        climbs > self.depth || climbs == self.depth && !self.is_inline(number)
    }

    /// Whether the module is declared for tests only, or is the folder of a module's tests.
    fn is_only_for_tests(&self, files: &[SourceFile]) -> bool {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let declared = ["", "pub(crate) "].map(|seen| format!("#[cfg(test)]\n{seen}mod {stem};"));
        self.path.iter().any(|part| part == "tests")
            || files
                .iter()
                .filter(|file| file.path.parent() == self.path.parent())
                .any(|file| declared.iter().any(|line| file.text.contains(line)))
    }

    /// Whether the line lies in a module that is written into the file, such as its tests.
    fn is_inline(&self, number: usize) -> bool {
        let mut inline = false;
        for line in self.text.lines().take(number) {
            if line.starts_with("mod ") && line.ends_with('{') {
                inline = true;
            } else if line == "}" {
                inline = false;
            }
        }
        inline
    }
}

fn may_import(module: &str, import: &str) -> bool {
    MAY_IMPORT
        .iter()
        .any(|(own, imports)| *own == module && imports.contains(&import))
}

/// The top-level modules that a line of code names by an absolute path.
fn imports(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for root in ["crate::", "idemspec::"] {
        for (at, _) in line.match_indices(root) {
            if line[..at].ends_with(is_word) {
                continue;
            }
            let rest = &line[at + root.len()..];
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            if end > 0 {
                found.push(rest[..end].to_owned());
            }
        }
    }
    found
}

/// How many modules up the longest chain of `super::` in the line leads.
fn climbs(line: &str) -> usize {
    let mut longest = 0;
    for (at, _) in line.match_indices("super::") {
        if line[..at].ends_with(is_word) {
            continue;
        }
        let mut rest = &line[at..];
        let mut count = 0;
        while let Some(next) = rest.strip_prefix("super::") {
            rest = next;
            count += 1;
        }
        longest = longest.max(count);
    }
    longest
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn sources() -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    assert!(files.len() > 20, "only {} source files", files.len());
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<SourceFile>) {
    for entry in std::fs::read_dir(folder).expect("the sources can be listed") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file can be read");
            let path = path.strip_prefix(root).expect("it lies below").to_owned();
            let depth = depth(&path);
            files.push(SourceFile { path, text, depth });
        }
    }
}

/// In how many modules the code of a file lies: `judge/x.rs` in two, `judge/mod.rs` in one.
fn depth(path: &Path) -> usize {
    let parts = path.iter().count();
    if path.file_name().is_some_and(|name| name == "mod.rs") {
        parts - 1
    } else {
        parts
    }
}
