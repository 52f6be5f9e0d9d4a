//! What the demo client does: mistakes that real clients make, and ways of its own that are none.

/// What the demo client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Habit {
    /// All as it should be.
    Correct,
    /// A mistake: each attempt has a key of its own.
    SendsNewKeyPerAttempt,
    /// A mistake: the key is made of the payload.
    DerivesKeyFromPayload,
    /// A mistake: the next call has the key of the last one.
    KeepsKeyForNextCall,
    /// A mistake: no key, and yet sent again.
    SendsNoKey,
    /// A mistake: what was refused for what it says is sent again.
    RetriesRefused,
    /// A mistake: "still in progress" is taken for the end.
    GivesUpInProgress,
    /// A mistake: `Retry-After` is not read.
    IgnoresRetryAfter,
    /// A mistake: all pauses are alike.
    PausesAlike,
    /// A mistake: two layers retry, three times three.
    RetriesInLayers,
    /// A mistake: the body was used up by the first attempt.
    SendsEmptyBodyAgain,
    /// A mistake: the key comes with the second attempt only.
    SendsKeyFromSecondOn,
    /// A mistake: keys are counted up.
    CountsKeys,
    /// A mistake: the key is an address of electronic mail.
    NamesPersonInKey,
    /// A mistake: the next attempt comes at once, each time.
    NeverPauses,
    /// A mistake: it never gives up.
    RetriesForEver,
    /// A mistake: an unfinished operation has a new key after a restart.
    LosesKeyAtRestart,
    /// A mistake: it gives up, and asks nobody what became of it.
    NeverLooksUp,
    /// A mistake: what breaks with a connection that was kept is sent again without a key.
    ResendsOnKeptConnection,
    /// A mistake: pauses grow without a bound.
    NeverCapsPauses,
    /// No mistake: it gives up at once, and says so.
    NeverRetries,
    /// No mistake: without a key, and never again.
    SendsNoKeyAndNeverRetries,
    /// No mistake: the first retry comes without a pause, the next ones do not.
    RetriesAtOnceFirst,
    /// No mistake: a key that begins with a word.
    PrefixesKey,
    /// No mistake: the key outlives the process, and the outcome is asked for in the end.
    KeepsKeyOnDisk,
}

/// One row of the table.
struct Row {
    name: &'static str,
    /// The kind of mistake, as public reports of such mistakes are sorted.
    kind: &'static str,
    says: &'static str,
    /// The expectations that it breaks, without the operation; a `*` stands for any case.
    breaks: &'static [&'static str],
}

impl Habit {
    /// Every one, the correct one first.
    pub const ALL: [Habit; 25] = [
        Habit::Correct,
        Habit::SendsNewKeyPerAttempt,
        Habit::DerivesKeyFromPayload,
        Habit::KeepsKeyForNextCall,
        Habit::SendsNoKey,
        Habit::RetriesRefused,
        Habit::GivesUpInProgress,
        Habit::IgnoresRetryAfter,
        Habit::PausesAlike,
        Habit::RetriesInLayers,
        Habit::SendsEmptyBodyAgain,
        Habit::SendsKeyFromSecondOn,
        Habit::CountsKeys,
        Habit::NamesPersonInKey,
        Habit::NeverPauses,
        Habit::RetriesForEver,
        Habit::LosesKeyAtRestart,
        Habit::NeverLooksUp,
        Habit::ResendsOnKeptConnection,
        Habit::NeverCapsPauses,
        Habit::NeverRetries,
        Habit::SendsNoKeyAndNeverRetries,
        Habit::RetriesAtOnceFirst,
        Habit::PrefixesKey,
        Habit::KeepsKeyOnDisk,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The habit of this name.
    pub fn from_name(name: &str) -> Option<Habit> {
        Habit::ALL.into_iter().find(|habit| habit.name() == name)
    }

    /// The kind of mistake, such as `C1`; empty where it is none.
    pub fn kind(self) -> &'static str {
        self.row().kind
    }

    /// Whether it is a mistake.
    pub fn is_mistake(self) -> bool {
        !self.kind().is_empty()
    }

    /// What the client does, in one sentence.
    pub fn says(self) -> &'static str {
        self.row().says
    }

    /// The expectations that it breaks, without the operation: `client/lost#*/item-1/same-key`. A `*`
    /// stands for any case.
    pub fn breaks(self) -> &'static [&'static str] {
        self.row().breaks
    }

    /// Whether it breaks the expectation of this name, without the operation.
    pub fn does_break(self, name: &str) -> bool {
        self.breaks()
            .iter()
            .any(|pattern| match pattern.split_once('*') {
                None => *pattern == name,
                Some((before, after)) => {
                    name.len() >= before.len() + after.len()
                        && name.starts_with(before)
                        && name.ends_with(after)
                }
            })
    }

    fn row(self) -> Row {
        match self {
            Habit::Correct => Row {
                name: "correct",
                kind: "",
                says: "a key before the first attempt, the same request again, pauses that vary and grow",
                breaks: &[],
            },
            Habit::SendsNewKeyPerAttempt => Row {
                name: "new-key-per-attempt",
                kind: "C1",
                says: "each attempt has a key of its own",
                breaks: &[
                    "client/lost#*/item-1/same-key",
                    "client/error#*/item-1/same-key",
                    "client/slow/item-1/same-key",
                    "client/in-progress/item-1/same-key",
                    "client/retry-after#*/item-1/same-key",
                ],
            },
            Habit::DerivesKeyFromPayload => Row {
                name: "key-from-payload",
                kind: "C2",
                says: "the key is made of the payload, so two equal payments have one",
                breaks: &["client/intents/item-2/new-key"],
            },
            Habit::KeepsKeyForNextCall => Row {
                name: "key-kept-for-next-call",
                kind: "C2",
                says: "the next call has the key of the last one",
                breaks: &["client/intents/item-2/new-key"],
            },
            Habit::SendsNoKey => Row {
                name: "no-key",
                kind: "C3",
                says: "a payment without a key is sent again",
                breaks: &[
                    "client/lost#*/item-1/not-blind",
                    "client/error#*/item-1/not-blind",
                    "client/slow/item-1/not-blind",
                ],
            },
            Habit::RetriesRefused => Row {
                name: "retries-refused",
                kind: "C4",
                says: "what was refused for what it says is sent again unchanged",
                breaks: &["client/refused#*/item-7/not-retried"],
            },
            Habit::GivesUpInProgress => Row {
                name: "gives-up-in-progress",
                kind: "C4",
                says: "\"still in progress\" is taken for the end",
                breaks: &["client/in-progress/item-7/retried"],
            },
            Habit::IgnoresRetryAfter => Row {
                name: "ignores-retry-after",
                kind: "C5",
                says: "Retry-After is not read",
                breaks: &["client/retry-after#*/item-7/waits"],
            },
            Habit::PausesAlike => Row {
                name: "pauses-alike",
                kind: "C5",
                says: "a fixed pause of 100 ms",
                breaks: &[
                    "client/backoff#*/item-7/varies",
                    "client/backoff#*/item-7/grows",
                ],
            },
            Habit::RetriesInLayers => Row {
                name: "retries-in-layers",
                kind: "C6",
                says: "two layers retry, three times three attempts",
                breaks: &["client/backoff#*/item-7/attempts"],
            },
            Habit::SendsEmptyBodyAgain => Row {
                name: "empty-body-again",
                kind: "C8",
                says: "the body is empty from the second attempt on",
                breaks: &[
                    "client/lost#*/item-3/same-body",
                    "client/error#*/item-3/same-body",
                    "client/slow/item-3/same-body",
                    "client/in-progress/item-3/same-body",
                    "client/retry-after#*/item-3/same-body",
                ],
            },
            Habit::SendsKeyFromSecondOn => Row {
                name: "key-from-second-on",
                kind: "C7",
                says: "the first attempt has no key, and what is sent again has one",
                breaks: &[
                    "client/lost#*/item-1/key-sent",
                    "client/lost#*/item-1/same-key",
                    "client/lost#*/item-1/not-blind",
                    "client/error#*/item-1/same-key",
                    "client/error#*/item-1/not-blind",
                    "client/slow/item-1/same-key",
                    "client/slow/item-1/not-blind",
                    "client/in-progress/item-1/same-key",
                    "client/retry-after#*/item-1/same-key",
                ],
            },
            Habit::CountsKeys => Row {
                name: "key-counted-up",
                kind: "C2",
                says: "keys are counted up, so that anybody can guess them",
                breaks: &["client/intents/item-1/key-form"],
            },
            Habit::NamesPersonInKey => Row {
                name: "key-names-person",
                kind: "C2",
                says: "the key holds the address of a person",
                breaks: &["client/intents/item-1/key-form"],
            },
            Habit::NeverPauses => Row {
                name: "no-pause",
                kind: "C5",
                says: "each attempt comes as soon as the one before has failed",
                breaks: &["client/backoff#*/item-7/pauses"],
            },
            Habit::RetriesForEver => Row {
                name: "retries-for-ever",
                kind: "C6",
                says: "it never gives up",
                breaks: &["client/backoff#*/item-7/attempts"],
            },
            Habit::LosesKeyAtRestart => Row {
                name: "key-lost-at-restart",
                kind: "C7",
                says: "an unfinished operation has a new key after a restart",
                breaks: &["client/restart/item-1/key-survives"],
            },
            Habit::NeverLooksUp => Row {
                name: "no-look-up",
                kind: "C4",
                says: "it gives up, and asks nobody what became of the operation",
                breaks: &[
                    "client/backoff#error/item-9/looks-up",
                    "client/backoff#lost/item-9/looks-up",
                ],
            },
            Habit::ResendsOnKeptConnection => Row {
                name: "resends-on-kept-connection",
                kind: "C3",
                says: "two payments over one connection, without a key and without retries; below them, what broke with a connection that was kept is sent again",
                breaks: &["client/kept-alive/item-1/not-blind"],
            },
            Habit::NeverCapsPauses => Row {
                name: "pauses-without-cap",
                kind: "C5",
                says: "each pause is three times the one before, beyond what is asked of it",
                breaks: &["client/backoff#*/item-7/capped"],
            },
            Habit::NeverRetries => Row {
                name: "never-retries",
                kind: "",
                says: "it gives up at once, and says so",
                breaks: &[],
            },
            Habit::SendsNoKeyAndNeverRetries => Row {
                name: "no-key-and-never-retries",
                kind: "",
                says: "without a key, and never sent again",
                breaks: &[],
            },
            Habit::RetriesAtOnceFirst => Row {
                name: "retries-at-once-first",
                kind: "",
                says: "the first retry comes without a pause, the next ones do not",
                breaks: &[],
            },
            Habit::PrefixesKey => Row {
                name: "key-with-prefix",
                kind: "",
                says: "a key that begins with `retry-`, on the first attempt as well",
                breaks: &[],
            },
            Habit::KeepsKeyOnDisk => Row {
                name: "key-on-disk",
                kind: "",
                says: "the key outlives the process, and the outcome is asked for in the end",
                breaks: &[],
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Habit;

    #[test]
    fn every_mistake_breaks_something_and_nothing_else_does() {
        for habit in Habit::ALL {
            assert_eq!(habit.is_mistake(), !habit.breaks().is_empty(), "{habit:?}");
            assert_eq!(Habit::from_name(habit.name()), Some(habit));
        }
    }

    #[test]
    fn a_star_stands_for_any_case() {
        let habit = Habit::SendsNewKeyPerAttempt;
        assert!(habit.does_break("client/lost#reset/item-1/same-key"));
        assert!(habit.does_break("client/slow/item-1/same-key"));
        assert!(!habit.does_break("client/lost#reset/item-3/same-body"));
        assert!(!habit.does_break("client/lost"));
    }
}
