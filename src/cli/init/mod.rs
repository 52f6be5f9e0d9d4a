//! A first target file, from a curl command that works. Sends nothing, and writes no secret.

mod ask;
mod body;
mod content;
mod curl;
mod draft;
mod headers;
mod place;
mod secrets;
#[cfg(test)]
mod tests;
mod words;
mod yaml;

use super::args::InitArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::screen;
use crate::report::{line, plural};
use crate::target::parse::{Environment, Options, load};
use crate::yaml::Source;
use curl::Curl;
use draft::{Counting, Draft};
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where ids mostly stand in the answer of a list.
const IDS: &str = "$.data[*].id";

/// Writes a target file.
///
/// # Errors
/// When the command is not understood, the file is there already, or cannot be written.
pub fn init(args: &InitArgs) -> Result<Exit, Failure> {
    let text = match args.from_curl.as_str() {
        "-" => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|problem| {
                    Failure::Unable(format!("cannot read the command: {problem}"))
                })?;
            text
        }
        text => text.to_owned(),
    };
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|problem| format!("{}: {problem}", path.display()))
    };
    let draft = Curl::parse(&text, &read)
        .and_then(|curl| Draft::of(&curl, args.contract.as_deref()))
        .map_err(Failure::Usage)?;
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.yaml", draft.file)));
    if path.exists() && !args.force {
        return Err(Failure::Usage(format!(
            "{} is there already: -o FILE for another, --force to replace it",
            path.display()
        )));
    }
    screen::say(&read_back(&draft))?;
    let counting = counting(args, &draft)?;
    let text = draft.text(&counting);
    check(&path, &text)?;
    std::fs::write(&path, &text).map_err(|problem| {
        Failure::Unable(format!("cannot write {}: {problem}", path.display()))
    })?;
    screen::say(&next(&draft, &counting, &path, &text))?;
    Ok(Exit::Clean)
}

/// What was read, and what it became.
fn read_back(draft: &Draft) -> String {
    let mut text = format!("{}\n", line(&draft.summary));
    for (name, says) in &draft.rows {
        let _ = writeln!(text, "  {name:10} {}", line(says));
    }
    for remark in &draft.remarks {
        let _ = writeln!(text, "  ! {}", line(remark));
    }
    text
}

fn counting(args: &InitArgs, draft: &Draft) -> Result<Counting, Failure> {
    if let Some(request) = &args.effects {
        return Ok(Counting::Request {
            request: request.clone(),
            ids: args.ids.clone().unwrap_or_else(|| IDS.to_owned()),
        });
    }
    if let Some(command) = &args.effects_command {
        return Ok(Counting::Command(command.clone()));
    }
    if args.no_effects {
        return Ok(Counting::None);
    }
    ask::counting(draft, args.ids.as_deref())
}

fn next(draft: &Draft, counting: &Counting, path: &Path, text: &str) -> String {
    let mut says = String::new();
    if *counting == Counting::None {
        says.push_str(
            "Effects are not counted, so nothing can be shown to happen only once: add `effects`, or run this again with --effects 'GET /…?…=${marker}'\n",
        );
    }
    let exports: String = draft
        .secrets
        .iter()
        .map(|name| format!("export {name}='…' && "))
        .collect();
    let _ = writeln!(
        says,
        "Wrote {} ({}). Next: {exports}idemspec check {}",
        path.display(),
        plural(text.lines().count(), "line"),
        path.display()
    );
    says
}

/// What was written must be a target file, whatever was asked for.
fn check(path: &Path, text: &str) -> Result<(), Failure> {
    struct AnySecret;
    impl Environment for AnySecret {
        fn var(&self, _name: &str) -> Option<String> {
            Some("a secret of nobody".to_owned())
        }

        fn file(&self, path: &Path, _from: &str) -> Result<Source, String> {
            Err(format!("{} is not read yet", path.display()))
        }
    }
    let source = Source {
        name: path.display().to_string(),
        text: text.to_owned(),
    };
    load(Arc::new(source), &Options::default(), &AnySecret)
        .map(|_| ())
        .map_err(Failure::BadFiles)
}
