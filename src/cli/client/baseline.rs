//! What the command does when nothing is in its way: without that nothing else shows anything.

use super::{Audit, facts_of};
use crate::cli::target::Ready;
use crate::judge::client::told_by;
use crate::transcript::client::{Attempt, ClientFacts, RunEnd, RunFacts};

/// The command works, and this is what is known of it.
pub(super) struct Baseline {
    /// The operation that it makes.
    pub(super) operation: String,
    pub(super) facts: ClientFacts,
}

impl Baseline {
    /// Runs the command once. The error says why nothing else could show anything.
    pub(super) async fn of(
        audit: &Audit,
        ready: &Ready,
        wanted: Option<&str>,
    ) -> Result<Baseline, String> {
        let (run, attempts) = audit.plain().await;
        let own: Vec<&Attempt> = attempts
            .iter()
            .filter(|attempt| match (&attempt.operation, wanted) {
                (Some(name), Some(wanted)) => name == wanted,
                (Some(_), None) => true,
                (None, _) => false,
            })
            .collect();
        let Some(first) = own.first() else {
            return Err(sent_nothing(ready, wanted, &run, &attempts));
        };
        let operation = first.operation.clone().unwrap_or_default();
        let own: Vec<&Attempt> = own
            .into_iter()
            .filter(|attempt| attempt.operation.as_ref() == Some(&operation))
            .collect();
        if let Some(failed) = own
            .iter()
            .find(|attempt| attempt.status.is_none_or(|status| status >= 300))
        {
            return Err(did_not_work(failed, &run));
        }
        Ok(Baseline {
            facts: ClientFacts {
                operations: own.len(),
                ..facts_of(audit, ready, &operation)
            },
            operation,
        })
    }

    /// What a reader must know first.
    pub(super) fn headlines(&self, audit: &Audit) -> Vec<String> {
        let mut headlines = vec![format!(
            "{}: one run of the command makes {}; attempts are told apart so: {}",
            self.operation,
            crate::report::plural(self.facts.operations, "operation"),
            told_by(&self.facts)
        )];
        if !audit.counts_refused {
            headlines.push(
                "connections that the system refuses cannot be counted by this user (CAP_NET_RAW)"
                    .to_owned(),
            );
        }
        headlines
    }
}

fn sent_nothing(
    ready: &Ready,
    wanted: Option<&str>,
    run: &RunFacts,
    attempts: &[Attempt],
) -> String {
    if let RunEnd::NotStarted(why) = &run.end {
        return format!("the command could not be run: {why}");
    }
    let names: Vec<&str> = match wanted {
        Some(wanted) => vec![wanted],
        None => {
            let operations = ready.target.operations.iter();
            operations.map(|known| known.name.as_str()).collect()
        }
    };
    let others: Vec<String> = attempts
        .iter()
        .filter_map(|attempt| attempt.request.as_ref())
        .map(|request| format!("{} {}", request.method, request.target))
        .collect();
    let instead = match others.is_empty() {
        true => "nothing came to $IDEMSPEC_URL".to_owned(),
        false => format!("there came {}", others.join(", ")),
    };
    format!(
        "the command sent no request of {}: {instead}{}",
        names.join(" or "),
        wrote(run)
    )
}

fn did_not_work(failed: &Attempt, run: &RunFacts) -> String {
    format!("{}{}", why_it_failed(failed), wrote(run))
}

/// Why an operation that nothing stood in the way of did not succeed.
pub(super) fn why_it_failed(failed: &Attempt) -> String {
    match (&failed.trouble, failed.status) {
        (Some(trouble), None) => trouble.clone(),
        (_, Some(status)) => format!(
            "the API answered {status} with nothing in its way{}",
            match status {
                404 => ": if it is not the demo's, name it with --upstream",
                _ => "",
            }
        ),
        (None, None) => "the API did not answer".to_owned(),
    }
}

fn wrote(run: &RunFacts) -> String {
    match run.wrote.lines().last() {
        Some(line) => format!("; the command wrote: {line}"),
        None => String::new(),
    }
}
