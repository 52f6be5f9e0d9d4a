//! What holding a target file against the API brought, line by line. Data only: the runner fills
//! it, reports show it.

use serde::{Deserialize, Serialize};

/// All that was looked at, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TargetCheck {
    /// The lines.
    pub lines: Vec<CheckedLine>,
}

/// One thing that the target file says, and what the API says to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedLine {
    /// The operation; empty for what belongs to the whole target.
    pub operation: String,
    /// What was looked at: `request`, `effects.payments`, `owner`.
    pub name: String,
    /// How it stands.
    pub mark: Mark,
    /// What was seen.
    pub says: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Where the file says so: `acme.yaml:9`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// How one line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The file describes the API.
    Right,
    /// It was not checked, or shows nothing.
    NotChecked,
    /// It is not as the file says; what does not depend on it can still be shown.
    Wrong,
    /// The file does not describe the API: nothing can be shown with it.
    Useless,
    /// Nothing answers at all.
    Unreachable,
}

impl TargetCheck {
    /// Why nothing can be shown with the file, in one sentence; `None` if something can.
    pub fn stops(&self) -> Option<String> {
        let line = self
            .lines
            .iter()
            .find(|line| matches!(line.mark, Mark::Useless | Mark::Unreachable))?;
        if line.mark == Mark::Unreachable {
            return Some(line.says.clone());
        }
        let place = line
            .place
            .as_ref()
            .map(|place| format!("{place}: "))
            .unwrap_or_default();
        let what = match line.operation.as_str() {
            "" => line.name.clone(),
            operation => format!("{operation}, {}", line.name),
        };
        Some(format!(
            "the target file does not describe the API: {place}{what}: {}",
            line.says
        ))
    }

    /// Whether something is not as the file says.
    pub fn has_problems(&self) -> bool {
        self.lines.iter().any(|line| line.mark.is_problem())
    }

    /// Whether nothing answers at all.
    pub fn is_unreachable(&self) -> bool {
        self.lines.iter().any(|line| line.mark == Mark::Unreachable)
    }
}

impl Mark {
    /// Whether somebody has to look at it.
    pub fn is_problem(self) -> bool {
        matches!(self, Mark::Wrong | Mark::Useless | Mark::Unreachable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(mark: Mark) -> CheckedLine {
        CheckedLine {
            operation: "pay".to_owned(),
            name: "identity".to_owned(),
            mark,
            says: "`$.id` is not in the answer".to_owned(),
            help: Some("try $.uuid".to_owned()),
            place: Some("a.yaml:7".to_owned()),
        }
    }

    #[test]
    fn only_a_useless_file_stops_a_run() {
        let check = |mark| TargetCheck {
            lines: vec![line(Mark::Right), line(mark)],
        };
        assert_eq!(check(Mark::Wrong).stops(), None);
        assert!(check(Mark::Wrong).has_problems());
        assert!(!check(Mark::NotChecked).has_problems());
        assert_eq!(
            check(Mark::Useless).stops().as_deref(),
            Some(
                "the target file does not describe the API: a.yaml:7: pay, identity: `$.id` is not in the answer"
            )
        );
    }
}
