//! How times and readings stand in JSON, both ways.

/// What a probe showed: `{"ids": […]}`, or `{"no-reading": "why"}`.
pub(super) mod shows {
    use crate::transcript::Shown;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// What stands in a file.
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Written {
        Ids(Vec<String>),
        /// JSON has no word for what is no number.
        Count(Option<f64>),
        State(serde_json::Value),
        NoReading(String),
    }

    pub(in crate::transcript) fn serialize<S: Serializer>(
        shows: &Result<Shown, String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match shows {
            Ok(shown) => shown.serialize(serializer),
            Err(why) => serializer.collect_map([("no-reading", why)]),
        }
    }

    pub(in crate::transcript) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Result<Shown, String>, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::Ids(ids) => Ok(Shown::Ids(ids)),
            Written::Count(count) => Ok(Shown::Count(count.unwrap_or(f64::NAN))),
            Written::State(state) => Ok(Shown::State(state)),
            Written::NoReading(why) => Err(why),
        })
    }
}

/// Microseconds, with a fraction where there is one: what a record keeps is exact, so that the
/// order of events is.
pub(super) mod micros {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(in crate::transcript) fn serialize<S: Serializer>(
        time: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let nanos = time.as_nanos();
        if nanos.is_multiple_of(1000) {
            serializer.serialize_u64(u64::try_from(nanos / 1000).unwrap_or(u64::MAX))
        } else {
            serializer.serialize_f64(nanos as f64 / 1000.0)
        }
    }

    pub(in crate::transcript) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        let micros = f64::deserialize(deserializer)?;
        // The largest number of nanoseconds that a float holds exactly is 2^53: a hundred days.
        if (0.0..9e12).contains(&micros) {
            Ok(Duration::from_nanos((micros * 1000.0).round() as u64))
        } else {
            Err(D::Error::custom(format!("{micros} µs is no time of a run")))
        }
    }
}

/// The same, where there may be none.
pub(super) mod maybe_micros {
    use super::micros;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    #[derive(Deserialize)]
    struct Micros(#[serde(with = "micros")] Duration);

    pub(in crate::transcript) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => micros::serialize(time, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(in crate::transcript) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<Micros>::deserialize(deserializer)?.map(|Micros(time)| time))
    }
}
