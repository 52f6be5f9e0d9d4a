//! Which cases of client scenarios apply to a client, and why the others do not.

use crate::scenario::client::{ClientCase, ClientFault, DropAt};
use crate::target::client::Client;

/// Why a case cannot be tried on clients that were started elsewhere.
pub fn why_not_watched(case: &ClientCase, client: &Client) -> Option<String> {
    let faults = || case.runs.iter().flat_map(|run| &run.faults);
    let of_a_connection = |fault: &ClientFault| {
        matches!(
            fault,
            ClientFault::Refuse
                | ClientFault::Drop {
                    at: DropAt::Unread,
                    ..
                }
        )
    };
    let needs = if case
        .runs
        .iter()
        .any(|run| run.killed || run.resumes.is_some())
    {
        "it cannot be ended and started again"
    } else if faults().any(of_a_connection) {
        "what a connection is for is not known before it is accepted and read"
    } else if case
        .runs
        .iter()
        .any(|run| run.faults.first() == Some(&ClientFault::Pass))
    {
        "which operations shall share a connection is not ours to say"
    } else {
        return why_not(case, client, 1);
    };
    Some(format!("without a command {needs}"))
}

/// Why a case does not apply; `operations` is how many operations one run of the command makes.
pub fn why_not(case: &ClientCase, client: &Client, operations: usize) -> Option<String> {
    let runs = &case.runs;
    if runs.iter().any(|run| run.outlasts()) && client.timeout.is_none() {
        return Some(
            "the target file does not say how long the client waits (client: { timeout: 5s })"
                .to_owned(),
        );
    }
    if runs.iter().any(|run| run.resumes.is_some()) && !client.resumes {
        return Some(
            "the target file does not say that the command takes up what it left (client: { resumes: true })"
                .to_owned(),
        );
    }
    let later = runs
        .iter()
        .map(|run| {
            let before = run.faults.iter();
            let before = before.take_while(|fault| **fault == ClientFault::Pass);
            match run.faults.len() {
                0 => 0,
                _ => before.count(),
            }
        })
        .max();
    if later.unwrap_or_default() >= operations {
        return Some("one run of the command makes one operation only".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Client, ClientCase, ClientFault, why_not};
    use crate::scenario::client::{CommandRun, Says, Then};

    fn case(faults: &[ClientFault], resumes: bool) -> ClientCase {
        ClientCase {
            name: None,
            runs: vec![CommandRun {
                name: "one".to_owned(),
                faults: faults.to_vec(),
                then: Then::Pass,
                killed: false,
                resumes: resumes.then(|| "one".to_owned()),
            }],
        }
    }

    #[test]
    fn what_a_case_needs_is_named() {
        let error = ClientFault::Answer {
            says: Says::Status(500),
            pause: None,
        };
        let client = Client::default();
        assert_eq!(why_not(&case(&[], false), &client, 1), None);
        assert_eq!(why_not(&case(&[error], false), &client, 1), None);
        let warm = case(&[ClientFault::Pass, error], false);
        assert!(why_not(&warm, &client, 1).is_some());
        assert_eq!(why_not(&warm, &client, 2), None);
        let slow = case(&[ClientFault::Slow], false);
        assert!(why_not(&slow, &client, 1).is_some_and(|why| why.contains("timeout")));
        let again = case(&[], true);
        assert!(why_not(&again, &client, 1).is_some_and(|why| why.contains("resumes")));
    }
}
