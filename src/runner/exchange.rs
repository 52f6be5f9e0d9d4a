//! One request from its making to its end, written down.

use super::answer;
use super::fetch::Fetched;
use super::made::{is_published, on_close, prepare, unpublished};
use super::probe::Counted;
use super::publish::publish;
use super::result::await_result;
use super::round::{RoundRun, locked};
use super::spec::Spec;
use super::timing::never_came;
use super::wire::{self, Flight, Hold, LateResponse, Releaser};
use crate::contract;
use crate::scenario::{Fault, Request, When};
use crate::transcript::{
    CutFacts, Delivery, Ending, Exchange, FaultFacts, Response, SentRequest, Times,
};
use std::time::Instant;
use tokio::sync::Barrier;

/// A request that is made and not yet over.
pub(super) struct Prepared {
    pub(super) exchange: Exchange,
    pub(super) counted: Counted,
    pub(super) endpoint: wire::Endpoint,
    pub(super) flight: Result<Flight, Ending>,
    pub(super) fault: Option<Fault>,
    pub(super) hold: Hold,
}

/// A response that may still come.
pub(super) struct Late {
    step: String,
    copy: u32,
    attempt: u32,
    spec: Spec,
    response: LateResponse,
}

impl Prepared {
    /// What lets it go.
    pub(super) fn releaser(&self) -> Option<Releaser> {
        self.flight.as_ref().ok().map(Flight::releaser)
    }
}

/// Sends one request at its time and waits for its end. Returns the attempt's number.
pub(super) async fn one(
    run: &RoundRun<'_>,
    request: &Request,
    spec: &Spec,
    copy: u32,
    attempt: u32,
    ready: Option<&Barrier>,
) -> Result<u32, String> {
    let moment = request.at.as_ref().filter(|_| attempt == 0 && copy == 0);
    if ready.is_none() && moment.is_none() {
        run.world().turn_if_slow().await;
    }
    if is_published(run, spec)? {
        if let Some(moment) = moment {
            run.until(moment).await?;
        }
        let event = unpublished(run, request, spec, (copy, attempt)).await?;
        publish(run, request, spec, event, ready).await?;
        return Ok(attempt);
    }
    let hold = if ready.is_some() || moment.is_some() {
        Hold::Everything
    } else {
        Hold::Nothing
    };
    let prepared = prepare(run, request, spec, (copy, attempt), hold).await;
    if let Some(ready) = ready {
        ready.wait().await;
    }
    let prepared = prepared?;
    let Some(moment) = moment else {
        if let Some(releaser) = prepared.releaser() {
            releaser.release();
        }
        finish(run, prepared).await;
        return Ok(attempt);
    };
    let of = moment.of.as_deref().unwrap_or_default();
    let at_once = moment.plus.is_none() && moment.spread.is_none();
    if at_once {
        // Released from where the moment happens, with nothing in between.
        let releaser = prepared.releaser();
        run.board.on(
            of,
            moment.when,
            Box::new(move |came| {
                if let (Some(_), Some(releaser)) = (came, releaser) {
                    releaser.release();
                }
            }),
        );
        if run.board.wait(of, moment.when).await.is_none() {
            return Err(never_came(moment));
        }
    } else {
        let Some(came) = run.board.wait(of, moment.when).await else {
            return Err(never_came(moment));
        };
        let due = came + run.offset(moment, of)?;
        if let Some(releaser) = prepared.releaser() {
            release_at(vec![(due, releaser)]).await;
        }
    }
    finish(run, prepared).await;
    Ok(attempt)
}

/// Lets requests go at their times, on a thread that does nothing else.
pub(super) async fn release_at(schedule: Vec<(Instant, Releaser)>) -> Vec<Instant> {
    tokio::task::spawn_blocking(move || wire::release_at(schedule))
        .await
        .unwrap_or_default()
}

/// Waits for the end of a request and writes it down.
pub(super) async fn finish(run: &RoundRun<'_>, prepared: Prepared) {
    let Prepared {
        mut exchange,
        counted,
        endpoint,
        flight,
        fault,
        hold,
    } = prepared;
    let world = run.world();
    let step = exchange.step.clone();
    let leads = exchange.copy == 0 && exchange.attempt == 0;
    let operation = run
        .context
        .cast
        .name(exchange.operation)
        .and_then(|name| world.operation(name));
    let flight = match flight {
        Ok(flight) => flight,
        Err(ending) => {
            exchange.ending = ending;
            exchange.times.ended = world.clock(Instant::now());
            write_down(run, exchange, None);
            return;
        }
    };
    locked(&run.counted).push(counted.clone());
    if leads {
        watch(run, &flight, &step);
    }
    let cutter = flight.cutter();
    let cut = async {
        let Some(Fault::HangUp { at, close }) = &fault else {
            return Ok(None);
        };
        // The read gate is shut, so whatever the target does, this request ends by our cut.
        let came = run.board.wait(&step, at.when).await;
        let Some(came) = came else { return Err(()) };
        let due = came + run.offset(at, &step).unwrap_or_default();
        tokio::time::sleep_until(due.into()).await;
        cutter.cut(on_close(*close));
        Ok(Some(due))
    };
    let watching = async {
        if leads && run.effect_is_awaited(&step) {
            run.watch_effect(&step, &counted).await;
        }
    };
    let ending = async {
        let done = flight.done().await;
        run.board.came(&step, When::Ended, done.times.ended);
        done
    };
    let cancelled = async {
        let done = ending.await;
        if leads && matches!(fault, Some(Fault::HangUp { .. })) {
            run.board.over(&step);
        }
        done
    };
    let (done, was_cut, ()) = futures::future::join3(cancelled, cut, watching).await;

    if fault.is_some() && done.delivery != wire::Delivery::NotSent {
        *locked(&run.lost_at) = Some(done.times.ended);
    }
    exchange.times = Times {
        released: done.times.released.map(|at| world.clock(at)),
        sent: done.times.sent.map(|at| world.clock(at)),
        first_byte: done.times.first_byte.map(|at| world.clock(at)),
        last_byte: done.times.last_byte.map(|at| world.clock(at)),
        ended: world.clock(done.times.ended),
    };
    exchange.delivery = match done.delivery {
        wire::Delivery::NotSent | wire::Delivery::Partial => Delivery::NotSent,
        wire::Delivery::Delivered => Delivery::Delivered,
        wire::Delivery::ResponseSeen => Delivery::ResponseSeen,
    };
    exchange.ending = match done.ending {
        wire::Ending::Answered => Ending::Answered,
        wire::Ending::HungUp => Ending::HungUp,
        wire::Ending::TimedOut => Ending::TimedOut,
        wire::Ending::ClosedByPeer { says } => Ending::ClosedByTarget(world.masker.mask(&says)),
        wire::Ending::Broken { says } => Ending::Broken(world.masker.mask(&says)),
    };
    if let Some(fault) = &fault {
        let mut facts = match (fault, &done.fault) {
            (Fault::HangUp { at, .. }, _) => FaultFacts {
                name: fault.name().to_owned(),
                fired: was_cut.is_ok() && exchange.ending == Ending::HungUp,
                says: match was_cut {
                    Ok(_) => format!("hung up at `{}`", at.when),
                    Err(()) => format!("the moment `{}` never came", at.when),
                },
                cut: was_cut.ok().flatten().map(|due| CutFacts {
                    due: world.clock(due),
                    at: exchange.times.ended,
                    answer_there: done.unread.map(|bytes| bytes > 0),
                }),
            },
            (_, Some(report)) => FaultFacts {
                name: fault.name().to_owned(),
                fired: report.fired,
                says: world.masker.mask(&report.says),
                cut: None,
            },
            (_, None) => FaultFacts {
                name: fault.name().to_owned(),
                fired: false,
                says: "nothing is known of it".to_owned(),
                cut: None,
            },
        };
        if !facts.fired {
            if facts.says.is_empty() {
                facts.says = exchange.ending.says();
            }
            run.broke(format!(
                "the fault {} of `{step}` did not fire: {}",
                facts.name, facts.says
            ));
        }
        exchange.fault = Some(facts);
    }
    // Of a response that a fault has cut, the step knows nothing.
    let whole = done.response.filter(|response| {
        exchange.ending == Ending::Answered && (fault.is_none() || response.complete)
    });
    if let (Some(response), Ok(operation), None) = (
        &whole,
        operation,
        fault
            .as_ref()
            .filter(|_| exchange.ending != Ending::Answered),
    ) {
        let mut recorded = answer::record(
            response.status,
            &response.headers,
            &response.body,
            operation,
            &world.target.mask,
            &world.masker,
        );
        forget_chosen_identity(&mut recorded, &exchange.request);
        if let (Some(result), true) = (&operation.result, recorded.success) {
            let announced = Fetched {
                status: response.status,
                headers: response.headers.clone(),
                body: response.body.to_vec(),
            };
            let spec = &counted.spec;
            let awaited =
                await_result(world, operation, result, spec, announced, &mut recorded).await;
            if let Err(why) = awaited {
                run.broke(format!("`{step}`: {why}"));
            }
        }
        exchange.response = Some(recorded);
    }
    // After an error of its own a server often closes, and says so to nobody.
    let failed = exchange
        .response
        .as_ref()
        .is_none_or(|response| response.status >= 500);
    if let Some(connection) = done.connection.filter(|_| !failed) {
        world.spare.keep(&endpoint, connection);
    }
    let early = hold == Hold::LastByte && exchange.times.sent.is_none();
    if early && exchange.response.is_some() {
        world.note_early_answer();
        run.broke(format!(
            "`{step}` was answered before it was complete: the target decides by the headers, so the last bytes released nothing"
        ));
    }
    if let Some(response) = done.late {
        locked(&run.late).push(Late {
            step: exchange.step.clone(),
            copy: exchange.copy,
            attempt: exchange.attempt,
            spec: counted.spec.clone(),
            response,
        });
    }
    write_down(run, exchange, Some(&counted.spec));
}

/// An identity that the client chose itself, as in `PUT /orders/7`, is the same however often the
/// operation is carried out: it proves nothing.
fn forget_chosen_identity(response: &mut Response, sent: &SentRequest) {
    let chosen = response.identity.as_ref().is_some_and(|identity| {
        let in_path = sent
            .url
            .split(['/', '?', '&', '='])
            .any(|part| part == identity);
        let in_body = identity.len() >= 4
            && sent
                .body
                .as_ref()
                .is_some_and(|body| body.contains(identity.as_str()));
        in_path || in_body
    });
    if chosen {
        response.identity = None;
    }
}

/// Tells the board what happens to a flight.
fn watch(run: &RoundRun<'_>, flight: &Flight, step: &str) {
    for (moment, when) in [
        (wire::Moment::Connected, When::Connected),
        (wire::Moment::Sent, When::Sent),
        (wire::Moment::FirstByte, When::FirstByte),
        (wire::Moment::LastByte, When::LastByte),
    ] {
        let board = std::sync::Arc::clone(&run.board);
        let step = step.to_owned();
        flight.watch(moment, Box::new(move |at| board.came(&step, when, at)));
    }
}

/// Adds an exchange to the record and decides what its response meant.
pub(super) fn write_down(run: &RoundRun<'_>, exchange: Exchange, spec: Option<&Spec>) {
    let world = run.world();
    let name = run
        .context
        .cast
        .name(exchange.operation)
        .unwrap_or_default()
        .to_owned();
    let contract = world.contract(&name);
    let mut record = locked(&run.record);
    record.exchanges.push(exchange);
    let index = record.exchanges.len() - 1;
    let outcome = contract::meaning(contract, &record, index);
    record.exchanges[index].outcome = outcome;
    if let Some(spec) = spec {
        world.ledger.note(&name, spec, &record.exchanges[index]);
    }
}

/// Waits for a response that comes after our patience, and writes it down beside its request.
pub(super) async fn collect_late(run: &RoundRun<'_>, late: Late) {
    let world = run.world();
    let Some((_, response)) = late.response.wait(world.target.limits.patience).await else {
        return;
    };
    let Ok(operation) = run
        .context
        .cast
        .name(late.spec.operation)
        .and_then(|name| world.operation(name))
    else {
        return;
    };
    let mut recorded = answer::record(
        response.status,
        &response.headers,
        &response.body,
        operation,
        &world.target.mask,
        &world.masker,
    );
    let mut record = locked(&run.record);
    let exchange = record.exchanges.iter_mut().find(|exchange| {
        exchange.step == late.step && exchange.copy == late.copy && exchange.attempt == late.attempt
    });
    if let Some(exchange) = exchange {
        forget_chosen_identity(&mut recorded, &exchange.request);
        exchange.late = Some(recorded);
    }
}
