//! What was waited since the target refused a part of the bursts.

use super::view::time;
use crate::transcript::{PauseFacts, Round};
use std::time::Duration;

/// What a reader must know of it; `None` where the target took all that was sent.
pub(super) fn says<'a>(rounds: impl Iterator<Item = &'a Round>) -> Option<String> {
    let pauses: Vec<&PauseFacts> = rounds.filter_map(|round| round.pause.as_ref()).collect();
    let count = |of: fn(&PauseFacts) -> u32| pauses.iter().map(|pause| of(pause)).sum::<u32>();
    let (refused, closed) = (count(|pause| pause.refused), count(|pause| pause.closed));
    let mut what = Vec::new();
    if refused > 0 {
        what.push(format!("refused {refused} copies"));
    }
    if closed > 0 {
        what.push(format!("closed the connections of {closed}"));
    }
    let waited: Duration = pauses.iter().map(|pause| pause.waited).sum();
    let capped = pauses
        .iter()
        .filter(|pause| pause.asked.is_some_and(|asked| asked > pause.waited))
        .max_by_key(|pause| pause.asked);
    let mut says = format!(
        "the target {}, and {} were waited before other rounds were begun",
        what.join(" and "),
        time(waited)
    );
    if let Some(capped) = capped {
        says.push_str(&format!(
            ", no longer than {} each where it asked for up to {}",
            time(capped.waited),
            time(capped.asked.unwrap_or_default())
        ));
    }
    if pauses.iter().any(|pause| pause.enough) {
        says.push_str("; because of that no rounds were made beyond the planned ones");
    }
    (!pauses.is_empty()).then_some(says)
}

#[cfg(test)]
mod tests {
    use super::{Duration, PauseFacts, Round, says};

    fn after(pause: Option<PauseFacts>) -> Round {
        Round {
            pause,
            ..Round::default()
        }
    }

    #[test]
    fn all_that_was_waited_is_said_and_what_was_not() {
        let limited = PauseFacts {
            refused: 38,
            closed: 0,
            asked: Some(Duration::from_secs(1)),
            waited: Duration::from_secs(1),
            enough: false,
        };
        let rounds = [after(None), after(Some(limited.clone()))];
        assert_eq!(
            says(rounds.iter()).as_deref(),
            Some(
                "the target refused 38 copies, and 1 s were waited before other rounds were begun"
            )
        );
        let far = PauseFacts {
            closed: 2,
            asked: Some(Duration::from_secs(3600)),
            waited: Duration::from_secs(10),
            enough: true,
            ..limited.clone()
        };
        let rounds = [after(Some(limited)), after(Some(far))];
        assert_eq!(
            says(rounds.iter()).as_deref(),
            Some(
                "the target refused 76 copies and closed the connections of 2, and 11 s were waited before other rounds were begun, no longer than 10 s each where it asked for up to 3600 s; because of that no rounds were made beyond the planned ones"
            )
        );
        assert_eq!(says([after(None)].iter()), None);
    }
}
