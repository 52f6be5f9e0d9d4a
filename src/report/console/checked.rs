//! What holding the target file against the API brought, as lines.

use super::Look;
use crate::report::clean::{line, shorten};
use crate::target_check::{CheckedLine, Mark};
use anstyle::AnsiColor;
use std::fmt::Write;

/// Characters of the column of names.
const NAMES: usize = 24;
/// The most characters of what was seen; a message of a server may be long.
const MOST: usize = 600;

/// The lines, those of an operation under its name; only problems unless `all` are wanted.
pub fn lines(checked: &[CheckedLine], look: &Look, all: bool) -> String {
    let mut text = String::new();
    let mut operation = "";
    let mut file = "";
    for checked in checked {
        if !all && !checked.mark.is_problem() {
            continue;
        }
        if checked.operation != operation {
            operation = &checked.operation;
            let _ = writeln!(text, "  {}", look.bold(&line(operation)));
        }
        let (mark, color) = match checked.mark {
            Mark::Right => ("✓", AnsiColor::Green),
            Mark::NotChecked => ("–", AnsiColor::BrightBlack),
            Mark::Wrong | Mark::Useless | Mark::Unreachable => ("✗", AnsiColor::Red),
        };
        let name = format!("{:NAMES$}", line(&checked.name));
        let says = shorten(&checked.says, MOST);
        // The file's name stands once; what follows are lines of it.
        let place = match checked
            .place
            .as_deref()
            .and_then(|place| place.rsplit_once(':'))
        {
            Some((own, number)) if own == file => format!(":{number}"),
            Some((own, number)) => {
                file = own;
                format!("{own}:{number}")
            }
            None => String::new(),
        };
        let used = NAMES + 5 + says.chars().count();
        let room = usize::from(look.width).saturating_sub(used);
        let _ = write!(text, "  {} {name} {says}", look.paint(mark, color));
        if !place.is_empty() {
            let pad = room.saturating_sub(place.chars().count()).max(2);
            let _ = write!(text, "{:pad$}{}", "", line(&place));
        }
        text.push('\n');
        if let Some(help) = &checked.help {
            let _ = writeln!(text, "    {:NAMES$} {}", "", shorten(help, MOST));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::console::Detail;

    fn checked(name: &str, mark: Mark) -> CheckedLine {
        CheckedLine {
            operation: "pay".to_owned(),
            name: name.to_owned(),
            mark,
            says: "seen".to_owned(),
            help: (mark == Mark::Wrong).then(|| "write another".to_owned()),
            place: Some(format!("dir/a.yaml:{}", name.len())),
        }
    }

    #[test]
    fn a_line_has_its_mark_its_place_and_what_to_do() {
        let look = Look {
            color: false,
            width: 60,
            detail: Detail::Normal,
        };
        let checked = [
            checked("request", Mark::Right),
            checked("invalid!", Mark::Wrong),
        ];
        assert_eq!(
            lines(&checked, &look, true),
            "  pay\n  ✓ request                  seen               dir/a.yaml:7\n  ✗ invalid!                 seen                         :8\n                             write another\n"
        );
        let problems = lines(&checked, &look, false);
        assert!(!problems.contains("request"), "{problems}");
        assert!(problems.contains("dir/a.yaml:8"), "{problems}");
    }
}
