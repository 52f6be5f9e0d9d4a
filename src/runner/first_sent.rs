//! The date of the first sending of a key (OASIS Repeatable Requests 1.0, section 3.1.2): fixed by
//! the first request that carries the key, and the same on all that follow.

use super::round::locked;
use super::world::World;
use crate::scenario::FirstSent;
use crate::target::render::Rendered;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// When keys were first sent, by the target's time.
#[derive(Debug, Default)]
pub(super) struct Dates {
    /// By how many seconds the target's clock was moved in all.
    ahead: AtomicU64,
    by_key: Mutex<HashMap<String, SystemTime>>,
}

impl Dates {
    /// The target's clock was moved.
    pub(super) fn moved(&self, time: Duration) {
        self.ahead.fetch_add(time.as_secs(), Ordering::SeqCst);
    }

    /// When these keys were first sent, of those of which it is known.
    pub(super) fn known<'a>(
        &self,
        keys: impl Iterator<Item = &'a str>,
    ) -> Vec<(String, SystemTime)> {
        let known = locked(&self.by_key);
        keys.filter_map(|key| Some((key.to_owned(), *known.get(key)?)))
            .collect()
    }

    /// Takes it that a key was first sent then.
    pub(super) fn remember(&self, key: &str, date: SystemTime) {
        locked(&self.by_key).insert(key.to_owned(), date);
    }

    /// When a key was first sent; now, if it has not been.
    fn of(&self, key: &str) -> SystemTime {
        let ahead = Duration::from_secs(self.ahead.load(Ordering::SeqCst));
        let now = || SystemTime::now() + ahead;
        *locked(&self.by_key)
            .entry(key.to_owned())
            .or_insert_with(now)
    }
}

impl World {
    /// Puts the date beside the key, where the operation's contract has one and the target file
    /// does not write it itself. `ago` is by how much it is put back.
    pub(super) fn date(
        &self,
        operation: &str,
        key: Option<&str>,
        wanted: Option<FirstSent>,
        ago: Option<Duration>,
        rendered: &mut Rendered,
    ) {
        let Some(companion) = self.contract(operation).key.first_sent() else {
            return;
        };
        let is_it = |name: &str| name.eq_ignore_ascii_case(&companion.header);
        let date = match wanted {
            None if key.is_none() => return,
            None if rendered.headers.iter().any(|(name, _)| is_it(name)) => return,
            Some(FirstSent::None) => None,
            Some(FirstSent::Bad) => {
                Some(humantime::format_rfc3339_seconds(SystemTime::now()).to_string())
            }
            None | Some(FirstSent::Now | FirstSent::Ago(_)) => {
                let first = self.dates.of(key.unwrap_or_default());
                Some(httpdate::fmt_http_date(first - ago.unwrap_or_default()))
            }
        };
        rendered.headers.retain(|(name, _)| !is_it(name));
        let date = date.map(|date| (companion.header.clone(), date.into_bytes()));
        rendered.headers.extend(date);
    }
}

#[cfg(test)]
mod tests {
    use super::Dates;
    use std::time::Duration;

    #[test]
    fn a_key_keeps_its_date_and_new_ones_follow_the_targets_clock() {
        let dates = Dates::default();
        let first = dates.of("one");
        dates.moved(Duration::from_secs(3600));
        assert_eq!(dates.of("one"), first);
        let later = dates.of("other");
        assert!(later >= first + Duration::from_secs(3600));
    }
}
