//! How what befell an attempt stands in JSON, both ways: as in a scenario, with all that a scenario
//! may leave out.

use crate::scenario::Close;
use crate::scenario::client::{ClientFault, DropAt, Pause, PauseForm, Says};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// What stands in a file.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Written {
    Pass,
    Refuse,
    Slow,
    Drop {
        at: DropAt,
        close: Close,
    },
    Answer {
        says: WrittenSays,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<WrittenPause>,
    },
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum WrittenSays {
    Status(u16),
    InProgress,
    Mismatch,
}

#[derive(Deserialize, Serialize)]
struct WrittenPause {
    seconds: u64,
    #[serde(rename = "as")]
    form: PauseForm,
}

pub(super) fn serialize<S: Serializer>(
    fault: &ClientFault,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let written = match *fault {
        ClientFault::Pass => Written::Pass,
        ClientFault::Refuse => Written::Refuse,
        ClientFault::Slow => Written::Slow,
        ClientFault::Drop { at, close } => Written::Drop { at, close },
        ClientFault::Answer { says, pause } => Written::Answer {
            says: match says {
                Says::Status(status) => WrittenSays::Status(status),
                Says::InProgress => WrittenSays::InProgress,
                Says::Mismatch => WrittenSays::Mismatch,
            },
            retry_after: pause.map(|pause| WrittenPause {
                seconds: pause.time.as_secs(),
                form: pause.form,
            }),
        },
    };
    written.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ClientFault, D::Error> {
    Ok(match Written::deserialize(deserializer)? {
        Written::Pass => ClientFault::Pass,
        Written::Refuse => ClientFault::Refuse,
        Written::Slow => ClientFault::Slow,
        Written::Drop { at, close } => ClientFault::Drop { at, close },
        Written::Answer { says, retry_after } => ClientFault::Answer {
            says: match says {
                WrittenSays::Status(status) => Says::Status(status),
                WrittenSays::InProgress => Says::InProgress,
                WrittenSays::Mismatch => Says::Mismatch,
            },
            pause: retry_after.map(|pause| Pause {
                time: Duration::from_secs(pause.seconds),
                form: pause.form,
            }),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{ClientFault, Close, DropAt, Pause, PauseForm, Says};
    use serde::{Deserialize, Serialize};
    use std::time::Duration;

    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Kept(#[serde(with = "super")] ClientFault);

    #[test]
    fn every_fault_is_read_as_it_was_written() {
        let pause = Pause {
            time: Duration::from_secs(3),
            form: PauseForm::Date,
        };
        let answer = |says, pause| ClientFault::Answer { says, pause };
        for fault in [
            ClientFault::Pass,
            ClientFault::Refuse,
            ClientFault::Slow,
            ClientFault::Drop {
                at: DropAt::HalfAnswered,
                close: Close::Rst,
            },
            answer(Says::Status(503), Some(pause)),
            answer(Says::InProgress, None),
            answer(Says::Mismatch, None),
        ] {
            let text = serde_json::to_string(&Kept(fault)).expect("it can be written");
            let read: Kept = serde_json::from_str(&text).expect("it can be read");
            assert_eq!(read, Kept(fault), "{text}");
        }
    }
}
