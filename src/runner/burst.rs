//! Copies of one request at once, or spread over a time.

use super::exchange::{Prepared, finish, release_at};
use super::made::{Made, is_published, launch_as_volleys, make, prepare, unpublished};
use super::publish::publish;
use super::round::{RoundRun, locked};
use super::spec::Spec;
use super::timing::never_came;
use super::wire::{self, Hold, Releaser};
use crate::outcome::Outcome;
use crate::scenario::{Release, Request};
use crate::transcript::{BurstFacts, Technique, most_in_flight};
use futures::{FutureExt, StreamExt};
use std::time::{Duration, Instant};
use tokio::sync::Barrier;

/// How long the kernel and the target get to take in what was sent ahead, before the release.
const STILL: Duration = Duration::from_millis(3);

/// Sends the copies and waits for all of them.
pub(super) async fn burst(
    run: &RoundRun<'_>,
    request: &Request,
    sizes: &[u32],
    release: Release,
    stop_at: Option<Outcome>,
    ready: Option<&Barrier>,
) -> Result<(), String> {
    let copies = sizes[(run.number as usize - 1) % sizes.len()];
    let limit = run.world().target.limits.in_flight.unwrap_or(u64::MAX);
    let copies = match release {
        Release::Together => copies.min(u32::try_from(limit).unwrap_or(u32::MAX)),
        Release::Loose => copies,
    };
    let specs = run.specs(request, copies)?;
    if let Some(first) = specs.first()
        && is_published(run, first)?
    {
        return published(run, request, &specs, ready).await;
    }
    if release == Release::Loose {
        return loose(run, request, &specs, limit, stop_at).await;
    }
    let tight = is_tight(run.number, sizes.len());
    let technique = technique(run, request, tight);
    let made = futures::future::join_all(
        specs
            .iter()
            .enumerate()
            .map(|(copy, spec)| make(run, request, spec, (copy as u32, 0))),
    )
    .await;
    let prepared = match made.into_iter().collect::<Result<Vec<Made>, _>>() {
        Ok(made) => launch(run, made, technique).await,
        Err(why) => Err(why),
    };
    if let Some(ready) = ready {
        ready.wait().await;
    }
    let (prepared, technique) = prepared?;
    let releasers: Vec<Releaser> = prepared.iter().filter_map(Prepared::releaser).collect();
    // What is never let go would never finish.
    let finished = futures::future::join_all(prepared.into_iter().map(|own| finish(run, own)));
    let let_go = let_go(run, request, releasers);
    let (spread, _) = futures::future::try_join(let_go, finished.map(Ok)).await?;
    let mut record = locked(&run.record);
    let in_flight = most_in_flight(record.of(&request.name));
    if copies >= 2 && in_flight < 2 && request.at.is_none() {
        record.broken.push(format!(
            "the burst `{}` did not overlap: no two requests were in flight at once",
            request.name
        ));
    }
    record.bursts.push(BurstFacts {
        step: request.name.clone(),
        technique,
        copies,
        release_spread: spread,
        in_flight,
        backends: if request.to_each {
            run.world().bases.len() as u32
        } else {
            1
        },
    });
    Ok(())
}

/// When each of the copies is due: now, at the moment of the step, or spread after it.
async fn due(run: &RoundRun<'_>, request: &Request, copies: usize) -> Result<Vec<Instant>, String> {
    let Some(moment) = &request.at else {
        return Ok(vec![Instant::now(); copies]);
    };
    let of = moment.of.as_deref().unwrap_or_default();
    let came = run.board.wait(of, moment.when).await;
    let came = came.ok_or_else(|| never_came(moment))?;
    let Some([from, to]) = &moment.spread else {
        return Ok(vec![came + run.offset(moment, of)?; copies]);
    };
    let from = run.time(*from, Some(of))?;
    let width = run.far_end(*to, of)?.saturating_sub(from);
    let gaps = copies.saturating_sub(1).max(1) as f64;
    let placed = (0..copies).map(|copy| came + from + width.mul_f64(copy as f64 / gaps));
    Ok(placed.collect())
}

/// Publishes the copies at once; those that a step releases loosely too.
async fn published(
    run: &RoundRun<'_>,
    request: &Request,
    specs: &[Spec],
    ready: Option<&Barrier>,
) -> Result<(), String> {
    let made = specs
        .iter()
        .enumerate()
        .map(|(copy, spec)| unpublished(run, request, spec, (copy as u32, 0)));
    let made = futures::future::try_join_all(made).await?;
    if let Some(ready) = ready {
        ready.wait().await;
    }
    let due = due(run, request, specs.len()).await?;
    let began = Instant::now();
    let all = made
        .into_iter()
        .zip(specs)
        .zip(due)
        .map(|((event, spec), due)| async move {
            tokio::time::sleep_until(due.into()).await;
            publish(run, request, spec, event, None).await
        });
    futures::future::try_join_all(all).await?;
    let mut record = locked(&run.record);
    let in_flight = most_in_flight(record.of(&request.name));
    record.bursts.push(BurstFacts {
        step: request.name.clone(),
        technique: Technique::Loose,
        copies: specs.len() as u32,
        release_spread: began.elapsed(),
        in_flight,
        backends: 1,
    });
    Ok(())
}

/// Whether a round's burst is to be as tight as can be. Sizes rotate over the rounds too: where
/// their number is even the turn shifts with each rotation, so that every size meets both ways.
fn is_tight(round: u32, sizes: usize) -> bool {
    let turn = round as usize - 1;
    let shift = if sizes.is_multiple_of(2) {
        turn / sizes
    } else {
        0
    };
    (turn + shift).is_multiple_of(2)
}

/// How the copies of this round are let go. One packet, or the last byte alone, makes the tightest
/// burst. A target that looks the key up when the headers have come sees those one by one, and one
/// connection may lead to one of its workers only, so every second burst of a size is of whole requests
/// on connections of their own; those that are spread over a time must not arrive before it at all.
fn technique(run: &RoundRun<'_>, request: &Request, tight: bool) -> Technique {
    if request.at.is_some() {
        return Technique::Spread;
    }
    match run.world().wire.version() {
        _ if !tight => Technique::WholeRequests,
        wire::Version::Auto | wire::Version::Http2 => Technique::SinglePacket,
        wire::Version::Http1 if run.world().answers_early() => Technique::WholeRequests,
        wire::Version::Http1 => Technique::LastByte,
    }
}

/// Takes the copies as far as they go ahead, and tells how they will be let go: where HTTP/2 is not
/// spoken there is no single packet.
async fn launch(
    run: &RoundRun<'_>,
    made: Vec<Made>,
    technique: Technique,
) -> Result<(Vec<Prepared>, Technique), String> {
    let ahead = match run.world().answers_early() {
        true => Hold::Everything,
        false => Hold::LastByte,
    };
    match technique {
        Technique::SinglePacket => {
            let (prepared, in_one) = launch_as_volleys(run, made, ahead).await?;
            let technique = match (in_one, ahead) {
                (true, _) => Technique::SinglePacket,
                (false, Hold::LastByte) => Technique::LastByte,
                (false, _) => Technique::WholeRequests,
            };
            Ok((prepared, technique))
        }
        technique => {
            let hold = match technique {
                Technique::LastByte => Hold::LastByte,
                _ => Hold::Everything,
            };
            let prepared = made.into_iter().map(|made| made.launch(run, hold));
            let prepared = futures::future::join_all(prepared).await;
            Ok((prepared.into_iter().collect::<Result<_, _>>()?, technique))
        }
    }
}

/// Lets the copies go and returns from the first to the last release.
async fn let_go(
    run: &RoundRun<'_>,
    request: &Request,
    releasers: Vec<Releaser>,
) -> Result<Duration, String> {
    let Some(moment) = &request.at else {
        tokio::time::sleep(STILL).await;
        return Ok(together(releasers).await);
    };
    let due = due(run, request, releasers.len()).await?;
    if moment.spread.is_none() {
        if let Some(due) = due.first() {
            tokio::time::sleep_until((*due).into()).await;
        }
        return Ok(together(releasers).await);
    }
    let released = release_at(due.into_iter().zip(releasers).collect()).await;
    let first = released.iter().min().copied();
    let last = released.iter().max().copied();
    Ok(first
        .zip(last)
        .map_or(Duration::ZERO, |(first, last)| last - first))
}

async fn together(releasers: Vec<Releaser>) -> Duration {
    let spread = tokio::task::spawn_blocking(move || wire::release_together(&releasers)).await;
    spread
        .map(|spread| spread.last - spread.first)
        .unwrap_or_default()
}

/// One copy of a flood, from its making to its end.
async fn one_of_many(
    run: &RoundRun<'_>,
    request: &Request,
    spec: &Spec,
    copy: u32,
) -> Result<(), String> {
    let prepared = prepare(run, request, spec, (copy, 0), Hold::Nothing).await?;
    finish(run, prepared).await;
    Ok(())
}

/// As fast as the limits allow.
async fn loose(
    run: &RoundRun<'_>,
    request: &Request,
    specs: &[Spec],
    limit: u64,
    stop_at: Option<Outcome>,
) -> Result<(), String> {
    let at_once = usize::try_from(limit).unwrap_or(usize::MAX).min(32);
    let began = Instant::now();
    let mut sent = 0;
    let mut copies = Vec::new();
    for (copy, spec) in (0..).zip(specs) {
        copies.push(one_of_many(run, request, spec, copy));
    }
    let mut flights = futures::stream::iter(copies).buffer_unordered(at_once);
    while let Some(done) = flights.next().await {
        done?;
        sent += 1;
        let stop = stop_at.is_some_and(|stop| {
            locked(&run.record)
                .of(&request.name)
                .any(|exchange| exchange.outcome.is_within(stop))
        });
        if stop {
            break;
        }
    }
    drop(flights);
    let mut record = locked(&run.record);
    let in_flight = most_in_flight(record.of(&request.name));
    record.bursts.push(BurstFacts {
        step: request.name.clone(),
        technique: Technique::Loose,
        copies: sent,
        release_spread: began.elapsed(),
        in_flight,
        backends: 1,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_meets_tight_and_loose_rounds() {
        for sizes in 1..=5 {
            let mut met = std::collections::BTreeSet::new();
            for round in 1..=2 * sizes as u32 {
                met.insert(((round as usize - 1) % sizes, is_tight(round, sizes)));
            }
            assert_eq!(met.len(), 2 * sizes, "{sizes} sizes");
        }
    }
}
