//! The matrix, as a page of the documentation.

use super::Done;
use super::screen::{grouped, in_short, sum};
use super::subject::Subject;
use super::tried::Tried;
use crate::demo::Tier;
use std::fmt::Write;

/// The page in Markdown, with the version.
pub(super) fn render(done: &Done, full: bool) -> String {
    let tried = &done.tried;
    let option = if full { " --full" } else { "" };
    let mut text = format!(
        "# What idemspec catches, and what it leaves alone\n\n\
         Written by `idemspec selftest{option}`, version {}. Each line is a run of the tool against its \
         own demo API: with a flaw, which must be caught by the checks that it breaks and by no \
         other; with a variant, which is a way to behave that is right and must be left alone; or with \
         neither. The other side is a client with a habit: a mistake, or a way that is none.\n\n{}.\n",
        env!("CARGO_PKG_VERSION"),
        sum(done)
    );
    text.push_str(
        "\n## Flaws\n\n| | flaw | tier | what it does | caught by |\n|---|---|---|---|---|\n",
    );
    for one in tried {
        if let Subject::Flawed(flaw) = one.subject {
            let _ = writeln!(
                text,
                "| {} | `{}` | {} | {} | {} |",
                flaw.id(),
                flaw.name(),
                flaw.tier().number(),
                cell(flaw.says()),
                caught(one)
            );
        }
    }
    text.push_str(
        "\n## Variants\n\n| | variant | what it does | under a contract that allows it | under \
         `generic` |\n|---|---|---|---|---|\n",
    );
    for one in tried {
        let Subject::Allowed(variant) = one.subject else {
            continue;
        };
        let generic = tried.iter().find(
            |other| matches!(other.subject, Subject::Unpromised(same) if same.name == variant.name),
        );
        let _ = writeln!(
            text,
            "| {} | `{}` | {} | {} | {} |",
            variant.id,
            variant.name,
            cell(variant.says),
            in_short(one),
            generic.map_or_else(String::new, in_short)
        );
    }
    text.push_str(&clients(tried));
    if let Some(correct) = tried
        .iter()
        .find(|one| matches!(one.subject, Subject::Correct))
    {
        let passed = correct.runs.last().map_or(0, |run| run.passed);
        let _ = writeln!(
            text,
            "\n## Neither\n\n{}: {passed} checks hold.",
            in_short(correct)
        );
    }
    text
}

/// The table of the demo client's habits, if any was tried.
fn clients(tried: &[Tried]) -> String {
    let mut text = String::new();
    for one in tried {
        let Subject::Client(habit) = one.subject else {
            continue;
        };
        if text.is_empty() {
            text.push_str(
                "\n## Clients\n\n| | habit | what the client does | caught by |\n|---|---|---|---|\n",
            );
        }
        let found = match habit.is_mistake() && one.is_right() {
            true => caught(one),
            false => in_short(one),
        };
        let _ = writeln!(
            text,
            "| {} | `{}` | {} | {found} |",
            habit.kind(),
            habit.name(),
            cell(habit.says())
        );
    }
    text
}

/// The checks that caught it, by scenario; the rate where luck is needed.
fn caught(one: &Tried) -> String {
    let mut names: Vec<String> = one.runs.iter().flat_map(|run| run.caught.clone()).collect();
    names.sort();
    let groups = grouped(&names);
    let mut words: Vec<String> = groups
        .iter()
        .map(|(scenario, checks)| format!("`{scenario}` ({})", cell(checks)))
        .collect();
    let lucky = matches!(one.subject, Subject::Flawed(flaw) if flaw.tier() == Tier::Three);
    if lucky || !one.is_right() {
        words.insert(0, in_short(one));
    }
    words.join("; ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
