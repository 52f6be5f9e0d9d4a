//! The steps that only wait.

use super::round::{RoundRun, locked};
use crate::scenario::{Receiving, Wait};
use crate::transcript::{ReadingKind, Response};
use std::time::{Duration, Instant};

impl RoundRun<'_> {
    /// Waits as a step says.
    pub(super) async fn wait(&self, wait: &Wait) -> Result<(), String> {
        match wait {
            Wait::For(span) => tokio::time::sleep(self.time(*span, None)?).await,
            Wait::Settled => self.settle(&ReadingKind::Early).await,
            Wait::OwnRetries => self.wait_for_own_retries().await,
            Wait::Deliveries { count, patience } => {
                let taken = |received| received == Receiving::Ok;
                self.wait_for_deliveries(*count, *patience, taken).await;
            }
            Wait::Arrivals { count, patience } => {
                self.wait_for_deliveries(*count, *patience, |_| true).await;
            }
            Wait::RetryAfter(step) => {
                let asked = {
                    let record = locked(&self.record);
                    record
                        .of(step)
                        .filter_map(|exchange| exchange.response.as_ref())
                        .filter_map(Response::asked_pause)
                        .max()
                };
                let asked = asked.unwrap_or(Duration::from_secs(1));
                let most = self.world().target.limits.wait;
                if asked > most {
                    return Err(format!(
                        "`{step}` was told to come again in {}, and limits.wait is {}",
                        humantime::format_duration(asked),
                        humantime::format_duration(most)
                    ));
                }
                tokio::time::sleep(asked).await;
            }
        }
        Ok(())
    }

    /// Waits until whoever received the events has tried again what it could not handle.
    async fn wait_for_own_retries(&self) {
        let began = Instant::now();
        self.settle(&ReadingKind::Early).await;
        let operation = self.world().operation(&self.context.cast.subject);
        let within = operation
            .ok()
            .and_then(|operation| operation.consumer.as_ref()?.retries_within);
        if let Some(within) = within {
            tokio::time::sleep(within.saturating_sub(began.elapsed())).await;
            self.settle(&ReadingKind::Early).await;
        }
    }
}
