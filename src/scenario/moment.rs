//! When something happens: a request starts, a fault cuts, a hook fires.

use super::StepName;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::time::Duration;

/// A point in time, told by something that happens.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Moment {
    /// What happens then.
    pub when: When,
    /// To which step; absent in faults, where it is the step itself.
    pub of: Option<StepName>,
    /// How long afterwards.
    pub plus: Option<TimeSpan>,
    /// The copies of a burst, or the rounds, are placed evenly over this time.
    pub spread: Option<[TimeSpan; 2]>,
}

impl Moment {
    /// Whether a spread runs forwards; the error says that it does not.
    pub(super) fn forwards(spread: Option<&[TimeSpan; 2]>) -> Result<(), String> {
        let [from, to] = match spread {
            Some(spread) => spread,
            None => return Ok(()),
        };
        let backwards = match (from.0, to.0) {
            (Amount::Fixed(from), Amount::Fixed(to)) => to < from,
            (
                Amount::Share { share: from, of },
                Amount::Share {
                    share: to,
                    of: same,
                },
            ) => of == same && to < from,
            _ => false,
        };
        match backwards {
            true => Err(format!("the spread from {from} to {to} runs backwards")),
            false => Ok(()),
        }
    }
}

/// What can happen to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// The connection stands, TLS included.
    Connected,
    /// Its last byte was handed to the kernel.
    Sent,
    /// The first byte of the response came.
    FirstByte,
    /// The last byte of the response came.
    LastByte,
    /// It ended, in whatever way.
    Ended,
    /// A probe first counted its effect.
    Effect,
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            When::Connected => "connected",
            When::Sent => "sent",
            When::FirstByte => "first-byte",
            When::LastByte => "last-byte",
            When::Ended => "ended",
            When::Effect => "effect",
        })
    }
}

/// A time, absolute or as a share of something measured or declared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeSpan(pub Amount);

/// How a [`TimeSpan`] is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// `300ms`.
    Fixed(Duration),
    /// `90% retention`.
    Share {
        /// 0.9 for 90 %.
        share: f64,
        /// Of what.
        of: Quantity,
    },
}

/// What a share can be taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The measured median time to answer of that operation, variant and principal.
    Latency,
    /// The declared time after which a claim runs out.
    LockTimeout,
    /// The declared retention.
    Retention,
    /// The target's settle time.
    Settle,
}

impl TimeSpan {
    /// The span of a text such as `300ms` or `90% retention`.
    ///
    /// # Errors
    /// Says what is wrong with the text.
    pub fn from_text(text: &str) -> Result<TimeSpan, String> {
        if let Some((number, of)) = text.split_once('%') {
            let share: f64 = number
                .trim()
                .parse()
                .map_err(|_| format!("`{text}` is no share: write one such as `50% latency`"))?;
            let of = match of.trim() {
                "latency" => Quantity::Latency,
                "lock-timeout" => Quantity::LockTimeout,
                "retention" => Quantity::Retention,
                "settle" => Quantity::Settle,
                other => {
                    return Err(format!(
                        "`{other}` is nothing to take a share of: it is latency, lock-timeout, retention or settle"
                    ));
                }
            };
            return Ok(TimeSpan(Amount::Share {
                share: share / 100.0,
                of,
            }));
        }
        if text.parse::<f64>().is_ok() {
            return Err(format!("a duration needs a unit: {text}s"));
        }
        humantime::parse_duration(text)
            .map(|time| TimeSpan(Amount::Fixed(time)))
            .map_err(|_| {
                format!(
                    "`{text}` is no duration: write one such as 300ms, 2s, 24h or `50% latency`"
                )
            })
    }

    /// A share of it, if it is one.
    pub fn quantity(&self) -> Option<Quantity> {
        match self.0 {
            Amount::Fixed(_) => None,
            Amount::Share { of, .. } => Some(of),
        }
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Amount::Fixed(time) => write!(f, "{}", humantime::format_duration(time)),
            Amount::Share { share, of } => {
                let of = match of {
                    Quantity::Latency => "latency",
                    Quantity::LockTimeout => "lock-timeout",
                    Quantity::Retention => "retention",
                    Quantity::Settle => "settle",
                };
                write!(f, "{}% {of}", share * 100.0)
            }
        }
    }
}

impl<'de> Deserialize<'de> for TimeSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::shape::word_or_map(
            deserializer,
            "a duration such as 300ms, or a share such as `50% latency`",
            TimeSpan::from_text,
            |_: NoMap| Err("a duration is one word".to_owned()),
        )
    }
}

/// A map that nothing fits, for values that are words only.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoMap {}

/// A fixed time in YAML, such as `65s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FixedTime(pub(super) Duration);

impl<'de> Deserialize<'de> for FixedTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match TimeSpan::deserialize(deserializer)?.0 {
            Amount::Fixed(time) => Ok(FixedTime(time)),
            Amount::Share { .. } => Err(serde::de::Error::custom(
                "a fixed time is wanted here, such as 65s",
            )),
        }
    }
}

/// A share in YAML, such as `50%`; between 0 and 1 in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Percent(pub(super) f64);

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::shape::word_or_map(
            deserializer,
            "a share such as 50%",
            |text| {
                text.strip_suffix('%')
                    .and_then(|number| number.trim().parse::<f64>().ok())
                    .filter(|number| (0.0..=100.0).contains(number))
                    .map(|number| Percent(number / 100.0))
                    .ok_or_else(|| format!("`{text}` is no share: write one from 0% to 100%"))
            },
            |_: NoMap| Err("a share is one word".to_owned()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Amount, Quantity, TimeSpan};
    use std::time::Duration;

    #[test]
    fn fixed_times_and_shares_are_read() {
        assert_eq!(
            TimeSpan::from_text("300ms"),
            Ok(TimeSpan(Amount::Fixed(Duration::from_millis(300))))
        );
        assert_eq!(
            TimeSpan::from_text("90% retention"),
            Ok(TimeSpan(Amount::Share {
                share: 0.9,
                of: Quantity::Retention
            }))
        );
    }

    #[test]
    fn a_number_without_a_unit_is_refused_with_the_remedy() {
        assert_eq!(
            TimeSpan::from_text("2"),
            Err("a duration needs a unit: 2s".to_owned())
        );
        assert!(
            TimeSpan::from_text("5% luck")
                .expect_err("no such quantity")
                .contains("latency")
        );
    }
}
