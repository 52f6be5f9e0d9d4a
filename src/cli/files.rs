//! Files: targets and scenarios in, reports out.

use super::args::ReportFile;
use super::crash;
use super::failure::Failure;
use super::screen;
use crate::grade::Report;
use crate::report::{self, Options};
use crate::scenario::client::ClientScenario;
use crate::scenario::{self, Scenario};
use crate::yaml::{Diagnostic, Source, Span};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file's text, under the name that the user gave.
///
/// # Errors
/// When it cannot be read, or is no text.
pub fn read(path: &Path) -> Result<Arc<Source>, Failure> {
    let name = path.display().to_string();
    if path.is_dir() {
        return Err(Failure::Usage(format!(
            "{name} is a folder: name the files in it"
        )));
    }
    let bytes = std::fs::read(path)
        .map_err(|problem| Failure::Usage(format!("cannot read {name}: {problem}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Arc::new(Source { name, text })),
        Err(problem) => {
            let start = problem.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(problem.as_bytes()).into_owned();
            let place = Span {
                end: start + char::REPLACEMENT_CHARACTER.len_utf8(),
                start,
                source: Arc::new(Source { name, text }),
            };
            let diagnostic = Diagnostic::error("the file is not in UTF-8")
                .at(place)
                .help("save it as UTF-8");
            Err(Failure::BadFiles(vec![diagnostic]))
        }
    }
}

/// Every scenario in a folder and the folders in it, each with its path from there as its id.
///
/// # Errors
/// When the folder cannot be read or holds none, or with all that is wrong with the files.
pub fn scenarios(folder: &Path) -> Result<Vec<Scenario>, Failure> {
    of_a_side(folder, false, |id, source| {
        scenario::parse(id, source, false)
    })
}

/// Every scenario about clients in a folder and the folders in it.
///
/// # Errors
/// As for [`scenarios`].
pub fn client_scenarios(folder: &Path) -> Result<Vec<ClientScenario>, Failure> {
    of_a_side(folder, true, scenario::client::parse)
}

/// The scenarios of one side in a folder; those of the other side are left alone.
fn of_a_side<T>(
    folder: &Path,
    client: bool,
    parse: impl Fn(&str, Arc<Source>) -> Result<T, Vec<Diagnostic>>,
) -> Result<Vec<T>, Failure> {
    let mut paths = Vec::new();
    collect(folder, &mut paths)?;
    paths.sort();
    if paths.is_empty() {
        return Err(Failure::Usage(format!(
            "{} holds no .yaml file",
            folder.display()
        )));
    }
    let mut scenarios = Vec::new();
    let mut problems = Vec::new();
    for path in paths {
        let source = read(&path)?;
        let root = crate::yaml::parse(Arc::clone(&source));
        if root.is_ok_and(|root| scenario::client::is_client(&root)) != client {
            continue;
        }
        let id = id(path.strip_prefix(folder).unwrap_or(&path));
        match parse(&id, source) {
            Ok(scenario) => scenarios.push(scenario),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        Ok(scenarios)
    } else {
        Err(Failure::BadFiles(problems))
    }
}

/// The id of a scenario file: its path without the ending.
pub fn id(path: &Path) -> String {
    path.with_extension("").to_string_lossy().replace('\\', "/")
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |problem: std::io::Error| {
        Failure::Usage(format!("cannot read {}: {problem}", folder.display()))
    };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        // Links are not followed into folders: they may lead in circles.
        if entry.file_type().map_err(failed)?.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            paths.push(path);
        }
    }
    Ok(())
}

/// Writes every report that was asked for, and says of each one that could not be written why.
pub fn write_reports(report: &Report, files: &[ReportFile], options: &Options) -> Vec<Failure> {
    let mut failures = Vec::new();
    for file in files {
        let Some(text) = crash::survived(|| report::render(report, file.format, options)) else {
            failures.push(Failure::Unable(format!(
                "the {} report could not be made",
                file.format.name()
            )));
            continue;
        };
        if file.path.as_os_str() == "-" {
            failures.extend(screen::say_plainly(&text).err());
        } else if let Err(problem) = write(&file.path, &text) {
            failures.push(Failure::Unable(format!(
                "cannot write the {} report to {}: {problem}",
                file.format.name(),
                file.path.display()
            )));
        }
    }
    failures
}

/// Writes a file, and the folders that lead to it.
///
/// # Errors
/// Whatever the system says.
pub fn write(path: &Path, text: &str) -> std::io::Result<()> {
    create(path)?.write_all(text.as_bytes())
}

/// Makes an empty file, and the folders that lead to it.
///
/// # Errors
/// Whatever the system says.
pub fn create(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    File::create(path)
}

/// Writes a file so that at any moment the whole of the old one or the whole of the new one is there,
/// whatever becomes of the process or the machine.
///
/// # Errors
/// Whatever the system says.
pub fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = folder.join(name);
    let written = std::fs::File::create(&new).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let moved = written.and_then(|()| std::fs::rename(&new, path));
    if moved.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    moved?;
    // That the new name is kept is up to the folder.
    if cfg!(unix) {
        std::fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// A text that somebody else wrote, as it may stand in a comment.
pub fn on_one_line(text: &str) -> String {
    text.split(char::is_control).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{ReportFile, id, replace, write_reports};
    use crate::grade::{DocumentsReport, Report, RunInfo};
    use crate::report::{Format, Options};
    use std::path::{Path, PathBuf};

    #[test]
    fn the_id_of_a_scenario_is_its_path() {
        assert_eq!(id(Path::new("race/burst.yaml")), "race/burst");
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("state.json");
        replace(&file, "old").expect("it is written");
        replace(&file, "new").expect("it is replaced");
        assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "new");
        let there = std::fs::read_dir(folder.path()).expect("it is a folder");
        assert_eq!(there.count(), 1, "nothing else is left");
        // A folder cannot be replaced by a file.
        assert!(replace(folder.path(), "x").is_err());
        let beside = std::fs::read_dir(folder.path().parent().expect("a parent"));
        let mut beside = beside.expect("it is a folder").filter_map(Result::ok);
        let new = format!(".{}.new", std::process::id());
        assert!(!beside.any(|entry| entry.file_name().to_string_lossy().ends_with(&new)));
    }

    #[test]
    fn a_report_that_cannot_be_written_keeps_no_other_from_being_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let good = folder.path().join("new/folder/report.json");
        let report = Report {
            about: RunInfo::default(),
            verdict: None,
            checklist: Vec::new(),
            promises: Vec::new(),
            documents: DocumentsReport::default(),
            scenarios: Vec::new(),
            headlines: Vec::new(),
        };
        let files = [
            ReportFile {
                format: Format::Junit,
                path: PathBuf::from(folder.path()),
            },
            ReportFile {
                format: Format::Json,
                path: good.clone(),
            },
        ];
        let failures = write_reports(&report, &files, &Options::default());
        assert_eq!(failures.len(), 1);
        let text = failures[0].to_string();
        assert!(
            text.contains(&folder.path().display().to_string()),
            "{text}"
        );
        assert!(good.exists());
    }
}
