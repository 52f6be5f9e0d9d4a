//! The date of the first sending that goes with a key.

use super::moment::TimeSpan;
use super::shape::word_or_map;
use serde::{Deserialize, Deserializer};
use std::fmt;

/// What stands where the date of the first sending stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FirstSent {
    /// The date at which the key is first sent, as an ordinary client would have it.
    Now,
    /// Nothing.
    None,
    /// A text that is no such date.
    Bad,
    /// A date that lies so long before.
    Ago(TimeSpan),
}

impl fmt::Display for FirstSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FirstSent::Now => f.write_str("the date of its first sending"),
            FirstSent::None => f.write_str("no date of its first sending"),
            FirstSent::Bad => f.write_str("no date where that of its first sending stands"),
            FirstSent::Ago(time) => write!(f, "a first sending {time} before"),
        }
    }
}

impl<'de> Deserialize<'de> for FirstSent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Map {
            ago: TimeSpan,
        }
        word_or_map(
            deserializer,
            "now, none, bad or { ago: DURATION }",
            |word| match word {
                "now" => Ok(FirstSent::Now),
                "none" => Ok(FirstSent::None),
                "bad" => Ok(FirstSent::Bad),
                other => Err(format!(
                    "unknown first-sent `{other}`: it is now, none, bad or {{ ago: DURATION }}"
                )),
            },
            |map: Map| Ok(FirstSent::Ago(map.ago)),
        )
    }
}
