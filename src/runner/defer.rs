//! A round in two halves: it stops where the target's time has to pass, and goes on another day, in
//! another process, perhaps on another machine. What is kept in between holds no secret.

use super::exchange;
use super::hook::elapses_by_itself;
use super::probe::Counted;
use super::round::{CaseContext, RoundRun, locked};
use super::spec::RoundNames;
use super::world::World;
use crate::hook::HookName;
use crate::scenario::{Amount, PrincipalRole, Quantity, Step, TimeSpan};
use crate::transcript::{Exchange, HookFacts, ReadingKind, Round};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// The share of a retention after which it may be over, by clocks that differ a little.
const NEARLY: f64 = 0.99;

/// What a run and its second half share, beside their target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The run's own word, which requests may hold.
    pub run: String,
    /// When it began.
    pub started: WallTime,
}

/// A case that has stopped where its target's time has to pass.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Suspended {
    pub(super) rounds: Vec<SuspendedRound>,
}

impl Suspended {
    /// From when on all its rounds can go on.
    pub fn due(&self) -> SystemTime {
        let due = self.rounds.iter().map(|round| round.due.0).max();
        due.unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// Until when all of them can go on and still show something, where that ends.
    pub fn until(&self) -> Option<SystemTime> {
        self.rounds
            .iter()
            .filter_map(|round| round.until)
            .map(|until| until.0)
            .min()
    }

    /// Whether nothing of it is left.
    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }
}

/// One round of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct SuspendedRound {
    /// The step at which it stopped: time has to pass there.
    step: usize,
    stopped: WallTime,
    due: WallTime,
    /// Later than this a key may be forgotten by right that is to be remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<WallTime>,
    names: RoundNames,
    record: Round,
    counted: Vec<Counted>,
    fixtures: Vec<MadeFixture>,
    /// When its keys were first sent, where a date goes with them.
    dates: BTreeMap<String, WallTime>,
}

/// A fixture that its requests use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MadeFixture {
    pub(super) name: String,
    pub(super) principal: PrincipalRole,
    pub(super) instance: String,
    pub(super) value: Value,
}

/// A point in time on everybody's clock, written as RFC 3339 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub SystemTime);

impl Serialize for WallTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_rfc3339_micros(self.0))
    }
}

impl<'de> Deserialize<'de> for WallTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_rfc3339(&text)
            .map(WallTime)
            .map_err(|problem| serde::de::Error::custom(format!("`{text}`: {problem}")))
    }
}

/// How long a step has to wait for the target's time, if that is too long for one run.
pub(super) fn pause(run: &RoundRun<'_>, step: &Step) -> Option<(TimeSpan, Duration)> {
    let Step::Elapse { time, at: None } = step else {
        return None;
    };
    let long = run.time(*time, None).ok()?;
    let waits = elapses_by_itself(run.world()) && long > run.world().target.limits.wait;
    waits.then_some((*time, long))
}

impl RoundRun<'_> {
    /// Stops before a step in which the target's time has to pass.
    ///
    /// # Errors
    /// What cannot be kept, and why.
    pub(super) async fn suspend(
        &self,
        step: usize,
        span: TimeSpan,
        long: Duration,
    ) -> Result<SuspendedRound, String> {
        let world = self.world();
        self.settle(&ReadingKind::Early).await;
        let late = std::mem::take(&mut *locked(&self.late));
        futures::future::join_all(
            late.into_iter()
                .map(|late| exchange::collect_late(self, late)),
        )
        .await;
        let record = locked(&self.record).clone();
        let succeeded = |exchange: &Exchange| {
            let response = exchange.response.as_ref().or(exchange.late.as_ref());
            response.is_some_and(|response| response.success)
        };
        if !record.exchanges.iter().any(succeeded) {
            return Err("nothing was made that could be asked for again another day".to_owned());
        }
        self.refuse_secrets(&record)?;
        let names = locked(&self.names).clone();
        let fixtures = world.fixtures.made_for(&names.instances());
        for fixture in &fixtures {
            let text = fixture.value.to_string();
            if world.masker.mask(&text) != text {
                return Err(format!(
                    "the fixture {} is a secret, which is not kept",
                    fixture.name
                ));
            }
        }
        let mut counted = locked(&self.counted).clone();
        for body in counted.iter_mut().filter_map(|one| one.body.as_mut()) {
            mask(world, body);
        }
        for exchange in &record.exchanges {
            world
                .ledger
                .set_aside(self.operation_of(exchange), exchange);
        }
        let stopped = SystemTime::now();
        Ok(SuspendedRound {
            step,
            stopped: WallTime(stopped),
            due: WallTime(stopped + long),
            until: until(world, span, long, &record).map(WallTime),
            dates: world
                .dates
                .known(
                    record
                        .exchanges
                        .iter()
                        .filter_map(|own| own.key.value.as_deref()),
                )
                .into_iter()
                .map(|(key, date)| (key, WallTime(date)))
                .collect(),
            names,
            record,
            counted,
            fixtures,
        })
    }

    /// Secrets have another pseudonym in another run, so that answers that hold one could not be
    /// compared.
    fn refuse_secrets(&self, record: &Round) -> Result<(), String> {
        let masker = &self.world().masker;
        let holds = |exchange: &&Exchange| {
            let response = exchange.response.as_ref();
            response.is_some_and(|response| masker.has_masked(&response.body))
        };
        match record.exchanges.iter().find(holds) {
            Some(exchange) => Err(format!(
                "the answer to `{}` holds a secret, which is not kept",
                exchange.step
            )),
            None => Ok(()),
        }
    }

    /// The name of the operation that an exchange was of.
    fn operation_of(&self, exchange: &Exchange) -> &str {
        let cast = &self.context.cast;
        cast.name(exchange.operation).unwrap_or(&cast.subject)
    }

    /// Lets what is left of the time pass, which has passed otherwise meanwhile.
    ///
    /// # Errors
    /// Why it is too late.
    pub(super) async fn take_up(&self, half: &SuspendedRound) -> Result<(), String> {
        let world = self.world();
        let left = half.due.0.duration_since(SystemTime::now());
        tokio::time::sleep(left.unwrap_or_default()).await;
        let now = SystemTime::now();
        let moved = now.duration_since(half.stopped.0).unwrap_or_default();
        let hours =
            |time: Duration| humantime::format_duration(Duration::from_secs(time.as_secs()));
        locked(&self.record).hooks.push(HookFacts {
            name: HookName::AdvanceClock,
            at: world.clock_of(half.stopped.0),
            due: None,
            over: Some(world.clock_of(now)),
            worked: true,
            output: format!("left alone for {}", hours(moved)),
            moved: Some(moved),
        });
        match half.until {
            Some(WallTime(until)) if now > until => Err(format!(
                "it went on {} after it had stopped, when its keys may have been forgotten by right: resume between {} and {}",
                hours(moved),
                humantime::format_rfc3339_seconds(half.due.0),
                humantime::format_rfc3339_seconds(until)
            )),
            _ => Ok(()),
        }
    }
}

impl<'a> RoundRun<'a> {
    /// A round as it was when it stopped, and the step with which it goes on.
    pub(super) fn restored(context: &'a CaseContext<'a>, half: &SuspendedRound) -> (Self, usize) {
        let run = RoundRun::new(context, half.record.number);
        *locked(&run.names) = half.names.clone();
        *locked(&run.record) = half.record.clone();
        *locked(&run.counted) = half.counted.clone();
        let world = context.world;
        world.fixtures.restore(&half.fixtures);
        for (key, date) in &half.dates {
            world.dates.remember(key, date.0);
        }
        for exchange in &half.record.exchanges {
            let response = exchange.response.as_ref().or(exchange.late.as_ref());
            let made = response
                .filter(|response| response.success)
                .and_then(|response| response.identity.as_ref());
            if let Some(identity) = made {
                world.ledger.remember(run.operation_of(exchange), identity);
            }
        }
        (run, half.step + 1)
    }
}

/// Until when a key must be remembered, if the time that passes is a share of that.
fn until(world: &World, span: TimeSpan, long: Duration, record: &Round) -> Option<SystemTime> {
    let Amount::Share {
        share,
        of: Quantity::Retention,
    } = span.0
    else {
        return None;
    };
    if share >= 1.0 {
        return None;
    }
    let first = record
        .exchanges
        .iter()
        .filter_map(|exchange| exchange.times.released.or(exchange.times.sent))
        .min()?;
    Some(world.started_at() + first + long.mul_f64(NEARLY / share))
}

/// Masks every text in it.
fn mask(world: &World, value: &mut Value) {
    match value {
        Value::String(text) => *text = world.masker.mask(text),
        Value::Array(values) => values.iter_mut().for_each(|value| mask(world, value)),
        Value::Object(map) => map.values_mut().for_each(|value| mask(world, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::WallTime;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_time_is_written_for_people_and_read_back() {
        let time = WallTime(SystemTime::UNIX_EPOCH + Duration::from_micros(1_796_000_000_123_456));
        let text = serde_json::to_string(&time).expect("it is JSON");
        assert_eq!(text, "\"2026-11-30T00:53:20.123456Z\"");
        let back: WallTime = serde_json::from_str(&text).expect(&text);
        assert_eq!(back, time);
        assert!(serde_json::from_str::<WallTime>("\"yesterday\"").is_err());
    }
}
