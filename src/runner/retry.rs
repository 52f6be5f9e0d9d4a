//! A request that is sent again until its answer is final.

use super::exchange;
use super::round::{RoundRun, locked};
use crate::outcome::{Meaning, Outcome};
use crate::scenario::{Request, Until};
use crate::transcript::{Response, RetryFacts};
use std::time::{Duration, Instant};
use tokio::sync::Barrier;

/// How long a retry goes on that was given up in a round before.
const IN_VAIN: Duration = Duration::from_secs(2);

impl RoundRun<'_> {
    /// Sends a request until its answer is as wanted, or patience ends.
    pub(super) async fn retry(
        &self,
        request: &Request,
        until: Until,
        every: Duration,
        patience: Duration,
        ready: Option<&Barrier>,
    ) -> Result<(), String> {
        let spec = self.specs(request, 1)?.remove(0);
        // Twice the declared time shows that the key is not freed in time; more shows nothing new.
        let lock_timeout = self.context.contract(spec.operation).lock_timeout;
        let patience = lock_timeout.map_or(patience, |time| patience.min(2 * time));
        // That it waits in vain was shown once.
        let patience = if locked(&self.context.stuck).contains(&request.name) {
            patience.min(IN_VAIN)
        } else {
            patience
        };
        let began = Instant::now();
        let mut attempt = 0;
        let ended = loop {
            let index = exchange::one(
                self,
                request,
                &spec,
                0,
                attempt,
                ready.filter(|_| attempt == 0),
            )
            .await?;
            attempt += 1;
            let (outcome, asked) = {
                let record = locked(&self.record);
                let exchange = record
                    .exchanges
                    .iter()
                    .find(|exchange| exchange.step == request.name && exchange.attempt == index);
                let asked = exchange
                    .and_then(|exchange| exchange.response.as_ref())
                    .and_then(Response::asked_pause);
                (
                    exchange.map_or(Outcome::NONE, |exchange| exchange.outcome),
                    asked,
                )
            };
            let wanted = match until {
                Until::Final => Outcome::FINAL,
                Until::NotInFlight => Outcome::FINAL.union(Meaning::ServerError.into()),
            };
            if outcome.is_within(wanted) {
                break true;
            }
            let pause = asked.unwrap_or(every);
            if began.elapsed() + pause > patience || self.world().is_stopped() {
                break false;
            }
            tokio::time::sleep(pause).await;
        };
        if !ended {
            locked(&self.context.stuck).insert(request.name.clone());
        }
        locked(&self.record).retries.push(RetryFacts {
            step: request.name.clone(),
            ended,
            took: began.elapsed(),
            attempts: attempt,
        });
        Ok(())
    }
}
