//! First requests that must work: what is turned away for its rate is sent again more slowly, and where
//! the answer hides what was done the same request is sent again until it is told.

use super::baseline::Measuring;
use super::exchange;
use super::probe::{self, Subject};
use super::round::locked;
use super::spec::Spec;
use crate::contract::{gateway, hides_outcome};
use crate::outcome::Meaning;
use crate::scenario::Request;
use crate::transcript::{Exchange, Response};
use std::time::{Duration, Instant};

/// How often a request that is turned away is sent again.
const TURNS: u32 = 4;
/// How long a request is repeated whose answer hides what was done, and how often.
const PATIENCE: Duration = Duration::from_secs(15);
/// As long where nothing is seen of it that could be hidden.
const UNSEEN: Duration = Duration::from_secs(2);
const EVERY: Duration = Duration::from_millis(500);

/// That an answer hid what was done.
#[derive(Clone, Debug)]
pub(super) struct Hidden {
    /// What it was answered, in words.
    pub(super) answered: String,
    /// How long after it a retry was told; `None` where none was.
    pub(super) told_after: Option<Duration>,
}

impl Measuring<'_> {
    /// Sends a request again that did not succeed, as far as that makes sense. What came of it last is
    /// the exchange of its step.
    pub(super) async fn insist(
        &self,
        request: &Request,
        spec: &Spec,
    ) -> Result<Option<Hidden>, String> {
        let world = self.run.world();
        let mut attempt = 1;
        while attempt <= TURNS && self.was_turned_away(&request.name)? {
            world.slow_down();
            let answered = self.exchange(&request.name)?.response;
            let asked = answered.as_ref().and_then(Response::asked_pause);
            tokio::time::sleep(world.rest(asked)).await;
            exchange::one(self.run, request, spec, 0, attempt, None).await?;
            attempt += 1;
        }
        let first = self.exchange(&request.name)?;
        if !hides_outcome(&first) || spec.key.value.is_none() {
            return Ok(None);
        }
        let made = self.is_made(spec).await;
        let patience = if made { PATIENCE } else { UNSEEN };
        let began = Instant::now();
        loop {
            tokio::time::sleep(EVERY).await;
            exchange::one(self.run, request, spec, 0, attempt, None).await?;
            attempt += 1;
            let again = self.exchange(&request.name)?;
            let is_told = again.response.as_ref().is_some_and(|own| own.success);
            let is_open = hides_outcome(&again) || again.outcome.may_be(Meaning::InFlight);
            if !is_told && is_open && began.elapsed() <= patience && !world.is_stopped() {
                continue;
            }
            let hidden = made.then(|| Hidden {
                answered: says(&first),
                told_after: is_told.then(|| began.elapsed()),
            });
            return Ok(hidden.filter(|_| is_told || !world.is_stopped()));
        }
    }

    fn was_turned_away(&self, step: &str) -> Result<bool, String> {
        let exchange = self.exchange(step)?;
        Ok(exchange.outcome.is_within(Meaning::RateLimited.into()))
    }

    /// Whether the request is seen to have made something.
    async fn is_made(&self, spec: &Spec) -> bool {
        let world = self.run.world();
        let cast = &self.run.context.cast;
        let Ok(operation) = world.operation(&self.key.operation) else {
            return false;
        };
        let counted = locked(&self.run.counted).clone();
        let subject = Subject::of(spec);
        let own: Vec<_> = counted
            .iter()
            .filter(|one| one.spec.marker == spec.marker)
            .collect();
        let began = Instant::now();
        while began.elapsed() <= world.target.settle && !own.is_empty() {
            for probe in &operation.effects {
                let shows = probe::read(world, cast, probe, &subject, &own).await;
                let count = shows.ok().and_then(|shown| shown.count());
                if count.is_some_and(|count| count >= 1.0) {
                    return true;
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        false
    }
}

fn says(exchange: &Exchange) -> String {
    match &exchange.response {
        Some(response) => match gateway(response) {
            Some(name) => format!("{} by {name}", response.status),
            None => response.status.to_string(),
        },
        None => exchange.ending.says(),
    }
}
