//! At the end of the run every live key is sent once more: late overwrites show only then.

use super::exchange::finish;
use super::ledger::Live;
use super::made::prepare;
use super::round::{RoundRun, locked};
use super::wire::Hold;
use crate::scenario::Request;
use futures::StreamExt;

/// The step name of each key's first success in the transcript.
const EARLIEST: &str = "earliest";

/// Keys that are asked at once.
const AT_ONCE: usize = 8;

impl RoundRun<'_> {
    /// Sends every live key of the operation once more.
    pub(super) async fn recheck(&self, name: &str, at_most: u32) -> Result<(), String> {
        let world = self.world();
        let subject = &self.context.cast.subject;
        let retention = world
            .contract(subject)
            .retention
            .map(|retention| retention.min);
        let live = world.ledger.live(subject, retention, at_most as usize);
        if live.is_empty() {
            return Err("no key of this run still names a resource".to_owned());
        }
        let request = Request::plain(name);
        let mut sends = Vec::new();
        for (copy, key) in (0..).zip(&live) {
            sends.push(self.recheck_one(&request, copy, key));
        }
        let mut all = futures::stream::iter(sends).buffer_unordered(AT_ONCE);
        while let Some(sent) = all.next().await {
            sent?;
        }
        Ok(())
    }

    async fn recheck_one(&self, request: &Request, copy: u32, key: &Live) -> Result<(), String> {
        let mut first = key.first.clone();
        first.step = EARLIEST.to_owned();
        first.copy = copy;
        first.attempt = 0;
        locked(&self.record).exchanges.push(first);
        let prepared = prepare(self, request, &key.spec, (copy, 0), Hold::Nothing).await?;
        finish(self, prepared).await;
        Ok(())
    }
}
