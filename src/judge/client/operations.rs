//! Which attempts belong to one operation: told by the run of the command where a run makes one, by
//! the name that the payload gives the operation, else by time.

use super::Said;
use crate::judge::Evidence;
use crate::scenario::client::{ClientFault, CommandRun};
use crate::transcript::client::{Attempt, AttemptRequest, ClientFacts, ClientRound, RunFacts};
use std::time::Duration;

/// One operation of a client: its attempts in the order of their arrival.
#[derive(Clone, Debug)]
pub(super) struct Operation<'a> {
    pub(super) round: u32,
    pub(super) run: &'a RunFacts,
    pub(super) command: &'a CommandRun,
    pub(super) attempts: Vec<(usize, &'a Attempt)>,
}

impl<'a> Operation<'a> {
    /// The attempts of which a request was read.
    pub(super) fn requests(&self) -> Vec<(&'a Attempt, &'a AttemptRequest)> {
        let read = self.attempts.iter().filter_map(|(_, attempt)| {
            let request = attempt.request.as_ref()?;
            Some((*attempt, request))
        });
        read.collect()
    }

    /// Its requests, and the place of the first after the first one that is not `alike` it; the
    /// error is why there is nothing to compare.
    pub(super) fn compared(
        &self,
        alike: impl Fn(&AttemptRequest, &AttemptRequest) -> bool,
    ) -> Result<(Vec<&'a AttemptRequest>, Option<usize>), Said> {
        let read = self.requests().into_iter();
        let requests: Vec<&AttemptRequest> = read.map(|(_, request)| request).collect();
        let [first, again @ ..] = &requests[..] else {
            return Err(Said::not_shown("no request was read"));
        };
        if again.is_empty() {
            let why = format!("it sent nothing again ({})", self.met());
            return Err(Said::does_not_apply(why));
        }
        let differs = again.iter().position(|request| !alike(first, request));
        let place = differs.map(|after| after + 1);
        Ok((requests, place))
    }

    /// Where its attempts stand.
    pub(super) fn evidence(&self) -> impl Iterator<Item = Evidence> + '_ {
        self.attempts.iter().map(|(place, _)| Evidence {
            round: self.round,
            exchange: *place,
        })
    }

    /// Whether none of its attempts met a fault, though its run has some.
    pub(super) fn is_untouched(&self) -> bool {
        let passed = |fault: ClientFault| fault == ClientFault::Pass;
        self.attempts
            .iter()
            .all(|(_, attempt)| passed(attempt.fault))
            && !self.command.faults.iter().all(|fault| passed(*fault))
    }

    /// What befell its first attempt that met a fault, in words.
    pub(super) fn met(&self) -> String {
        let faulted = self
            .attempts
            .iter()
            .find(|(_, attempt)| attempt.fault != ClientFault::Pass);
        faulted.map_or_else(
            || "let through".to_owned(),
            |(_, attempt)| attempt.fault.to_string(),
        )
    }

    /// The pauses between its attempts, from the end of one to the beginning of the next.
    pub(super) fn pauses(&self) -> Vec<Duration> {
        self.attempts
            .windows(2)
            .map(|two| two[1].1.began.saturating_sub(two[0].1.ended))
            .collect()
    }
}

/// The operations of a run in one round.
pub(super) fn operations<'a>(
    round: &'a ClientRound,
    command: &'a CommandRun,
    subject: &str,
    facts: &ClientFacts,
) -> Vec<Operation<'a>> {
    let Some(run) = round.run(&command.name) else {
        return Vec::new();
    };
    let own: Vec<(usize, &Attempt)> = round
        .of(&command.name)
        .filter(|(_, attempt)| attempt.may_be_of(subject))
        .collect();
    let groups = match facts.operations {
        _ if facts.watched => match is_told(&own, facts) {
            true => vec![own],
            false => Vec::new(),
        },
        0 | 1 => vec![own],
        _ if facts.marked && all_named(&own) => by_name(own),
        more => by_time(own, more).unwrap_or_default(),
    };
    groups
        .into_iter()
        .filter(|attempts| !attempts.is_empty())
        .map(|attempts| Operation {
            round: round.number,
            run,
            command,
            attempts,
        })
        .collect()
}

/// How attempts are told apart, for people.
pub fn told_by(facts: &ClientFacts) -> &'static str {
    match facts.operations {
        _ if facts.watched && facts.marked => "the payload names its operation",
        _ if facts.watched && facts.payloads_differ => {
            "by time: what comes after a failure with the same key or payload is the same operation"
        }
        _ if facts.watched => {
            "by time: what comes after a failure with the same key is the same operation"
        }
        0 | 1 => "one run of the command is one operation",
        _ if facts.marked => "the payload names its operation",
        _ => "an operation ends with its success",
    }
}

/// Whether it is known of attempts that came one after another that they are one operation: by its
/// name, by its key, or by a payload where each operation has one of its own.
fn is_told(attempts: &[(usize, &Attempt)], facts: &ClientFacts) -> bool {
    let requests = || {
        let read = attempts.iter();
        read.filter_map(|(_, attempt)| attempt.request.as_ref())
    };
    let Some(first) = requests().next() else {
        return true;
    };
    let all = |alike: &dyn Fn(&AttemptRequest) -> bool| requests().all(alike);
    requests().count() == 1
        || first.marker.is_some() && all(&|other| other.marker == first.marker)
        || first.key.is_some() && all(&|other| other.key == first.key)
        || facts.payloads_differ && all(&|other| other.body_digest == first.body_digest)
}

fn name(attempt: &Attempt) -> Option<&str> {
    attempt.request.as_ref()?.marker.as_deref()
}

fn all_named(attempts: &[(usize, &Attempt)]) -> bool {
    attempts
        .iter()
        .all(|(_, attempt)| attempt.request.is_none() || name(attempt).is_some())
}

/// Those with one name together; what was not read belongs to the next request.
fn by_name<'a>(attempts: Vec<(usize, &'a Attempt)>) -> Vec<Vec<(usize, &'a Attempt)>> {
    let mut groups: Vec<(&str, Vec<(usize, &'a Attempt)>)> = Vec::new();
    let mut unread = Vec::new();
    for (place, attempt) in attempts {
        let Some(name) = name(attempt) else {
            unread.push((place, attempt));
            continue;
        };
        let own = unread.drain(..).chain([(place, attempt)]);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.extend(own),
            None => groups.push((name, own.collect())),
        }
    }
    let mut groups: Vec<_> = groups.into_iter().map(|(_, group)| group).collect();
    match groups.last_mut() {
        Some(last) => last.extend(unread),
        None => groups.push(unread),
    }
    groups
}

/// An operation ends with its success. Where some had none, they are told apart only if one was
/// given up, or if all had as many attempts; `None` where they cannot be told apart.
fn by_time(
    attempts: Vec<(usize, &Attempt)>,
    operations: usize,
) -> Option<Vec<Vec<(usize, &Attempt)>>> {
    let succeeded = |attempt: &Attempt| {
        attempt.fault == ClientFault::Pass && attempt.status.is_some_and(|status| status < 300)
    };
    let successes = attempts
        .iter()
        .filter(|(_, attempt)| succeeded(attempt))
        .count();
    if successes == 0 {
        let mut keys: Vec<_> = attempts.iter().map(|(_, attempt)| attempt.key()).collect();
        keys.dedup();
        let parts = match keys[..] {
            // One key: it stopped at its first operation.
            [Some(_)] => 1,
            _ => operations,
        };
        let each = attempts.len() / parts;
        if each == 0 || !attempts.len().is_multiple_of(parts) {
            return None;
        }
        return Some(attempts.chunks(each).map(<[_]>::to_vec).collect());
    }
    let given_up = operations.saturating_sub(successes);
    let mut groups = Vec::new();
    let mut group = Vec::new();
    let mut blocks = 0;
    for (place, attempt) in attempts {
        if !succeeded(attempt) {
            group.push((place, attempt));
            continue;
        }
        if given_up > 0 && !group.is_empty() {
            blocks += 1;
            groups.push(std::mem::take(&mut group));
        }
        group.push((place, attempt));
        groups.push(std::mem::take(&mut group));
    }
    if !group.is_empty() {
        blocks += 1;
        groups.push(group);
    }
    (given_up == 0 || given_up == blocks).then_some(groups)
}

#[cfg(test)]
mod tests {
    use super::{Attempt, ClientFault, by_time};
    use crate::scenario::client::Says;
    use std::time::Duration;

    fn attempt(status: u16) -> Attempt {
        Attempt {
            run: "one".to_owned(),
            operation: Some("pay".to_owned()),
            looks_up: false,
            connection: 1,
            reused: false,
            protocol: String::new(),
            began: Duration::ZERO,
            ended: Duration::ZERO,
            fault: match status {
                201 => ClientFault::Pass,
                status => ClientFault::Answer {
                    says: Says::Status(status),
                    pause: None,
                },
            },
            request: None,
            status: Some(status),
            asked_back: None,
            trouble: None,
        }
    }

    /// How many attempts each operation had.
    fn grouped(statuses: &[u16], operations: usize) -> Option<Vec<usize>> {
        let attempts: Vec<Attempt> = statuses.iter().map(|status| attempt(*status)).collect();
        let groups = by_time(attempts.iter().enumerate().collect(), operations)?;
        Some(groups.iter().map(Vec::len).collect())
    }

    #[test]
    fn an_operation_that_was_given_up_is_not_taken_for_the_beginning_of_the_next() {
        assert_eq!(grouped(&[400, 201], 2), Some(vec![1, 1]), "given up");
        assert_eq!(grouped(&[500, 201, 201], 2), Some(vec![2, 1]), "sent again");
        assert_eq!(grouped(&[201, 500, 201], 2), Some(vec![1, 2]), "warm");
        assert_eq!(grouped(&[201, 500], 2), Some(vec![1, 1]));
        assert_eq!(grouped(&[500, 500, 500, 500], 2), Some(vec![2, 2]));
        assert_eq!(grouped(&[500, 500, 500], 2), None, "it cannot be told");
        assert_eq!(
            grouped(&[500, 201], 3),
            None,
            "two were given up, in one row"
        );
    }
}
