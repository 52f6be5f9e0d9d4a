//! The one question that a curl command leaves open: how effects are counted. Asked only where
//! somebody can answer.

use super::draft::{Counting, Draft};
use super::{IDS, draft};
use crate::cli::failure::Failure;
use crate::cli::screen;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal};

/// Asks how effects are counted; without a terminal they are not.
pub(super) fn counting(draft: &Draft, ids: Option<&str>) -> Result<draft::Counting, Failure> {
    let Some(mut terminal) = terminal() else {
        return Ok(Counting::None);
    };
    screen::say(&format!(
        "How can we see how many {} exist? It is what makes a pass a pass.\n  1 a GET that lists them   2 a shell command that prints a number   3 no way        [1] ",
        draft.effects
    ))?;
    match answer(&mut terminal)?.as_str() {
        "" | "1" => {
            let filter = draft.filter.as_deref().unwrap_or("reference");
            let proposed = format!("{}?{filter}=${{marker}}", draft.path);
            screen::say(&format!(
                "  path, with ${{marker}} as the filter: [{proposed}] "
            ))?;
            let path = or(answer(&mut terminal)?, &proposed);
            let proposed = ids.unwrap_or(IDS);
            screen::say(&format!(
                "  where the ids stand in the answer: [{proposed}] "
            ))?;
            let ids = or(answer(&mut terminal)?, proposed);
            let request = if path.starts_with('/') {
                format!("GET {path}")
            } else {
                path
            };
            Ok(Counting::Request { request, ids })
        }
        "2" => {
            screen::say("  command ($marker, $unique and $key are in its environment): ")?;
            let command = answer(&mut terminal)?;
            Ok(if command.is_empty() {
                Counting::None
            } else {
                Counting::Command(command)
            })
        }
        _ => Ok(Counting::None),
    }
}

fn or(answer: String, proposed: &str) -> String {
    if answer.is_empty() {
        proposed.to_owned()
    } else {
        answer
    }
}

fn answer(terminal: &mut dyn BufRead) -> Result<String, Failure> {
    let mut answer = String::new();
    terminal
        .read_line(&mut answer)
        .map_err(|problem| Failure::Unable(format!("cannot read the answer: {problem}")))?;
    Ok(answer.trim().to_owned())
}

/// Where somebody can answer: standard input, or the terminal itself when the command was piped in.
fn terminal() -> Option<Box<dyn BufRead>> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    if std::io::stdin().is_terminal() {
        return Some(Box::new(BufReader::new(std::io::stdin())));
    }
    let terminal = File::open("/dev/tty").ok()?;
    Some(Box::new(BufReader::new(terminal)))
}
