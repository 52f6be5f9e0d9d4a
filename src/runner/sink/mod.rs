//! Our receiver of events: what came to it, and what belongs to which request.

mod received;
mod serve;

use super::answer::{digest, plain};
use super::hook::act;
use super::probe::{Counted, subjects};
use super::rendering::Filling;
use super::round::{RoundRun, locked};
use super::setup::RunError;
use super::world::{Cast, World};
use crate::scenario::{Check, OperationRole, PrincipalRole, Receiving, Scenario};
use crate::target::matcher::{Condition, Match, Wants};
use crate::target::render;
use crate::target::selector::Selector;
use crate::target::sink::{EventWants, Events, Sink};
use crate::transcript::{EventDelivery, Round};
use received::{Log, Received};
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;

/// How many characters of a body reports show.
const SHOWN: usize = 2048;

/// What came of one request, as far as our receiver knows.
pub(super) enum Arrived {
    /// Its events: their different ids, and when the first one came.
    Events { ids: Vec<String>, at: Duration },
    /// So many deliveries that do not belong to it.
    Others(usize),
    /// No delivery at all.
    Nothing,
}

/// The receiver of a run.
pub(super) struct Receiver {
    /// How the target reaches it.
    pub(super) url: String,
    event_id: Vec<Selector>,
    signature: Vec<Selector>,
    log: Arc<Log>,
    /// Taken when it begins to serve.
    listener: Mutex<Option<TcpListener>>,
    serving: Mutex<Option<JoinHandle<()>>>,
    registered: OnceCell<Result<(), String>>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if let Some(serving) = locked(&self.serving).take() {
            serving.abort();
        }
    }
}

impl Receiver {
    /// Takes its address; it receives nothing yet.
    pub(super) fn bind(sink: &Sink) -> Result<Receiver, RunError> {
        let failed = |problem: std::io::Error| {
            RunError(format!(
                "cannot listen on {} for events ({problem}): choose another port for sink.listen, or 0 for a free one",
                sink.listen
            ))
        };
        let listener = TcpListener::bind(sink.listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let mut address = listener.local_addr().map_err(failed)?;
        if address.ip().is_unspecified() {
            address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port());
        }
        Ok(Receiver {
            url: sink
                .url
                .clone()
                .unwrap_or_else(|| format!("http://{address}")),
            event_id: sink.event_id.clone(),
            signature: sink.signature.clone(),
            log: Arc::default(),
            listener: Mutex::new(Some(listener)),
            serving: Mutex::new(None),
            registered: OnceCell::new(),
        })
    }

    /// Begins to receive, until the receiver is dropped.
    pub(super) fn serve(&self) -> Result<(), RunError> {
        let Some(listener) = locked(&self.listener).take() else {
            return Ok(());
        };
        let listener = tokio::net::TcpListener::from_std(listener)
            .map_err(|problem| RunError(format!("cannot receive events: {problem}")))?;
        let log = Arc::clone(&self.log);
        *locked(&self.serving) = Some(tokio::spawn(serve::serve(listener, log)));
        Ok(())
    }

    /// The id of the event, where the operation or the sink says.
    fn event(&self, events: &Events, delivery: &Received) -> Option<String> {
        let places = match events.ids.is_empty() {
            true => &self.event_id,
            false => &events.ids,
        };
        first(places, delivery)
    }

    /// A digest of the signature, where the sink says that it stands.
    fn signature(&self, delivery: &Received) -> Option<String> {
        first(&self.signature, delivery).map(|text| digest(text.as_bytes()))
    }
}

/// The plain value at the first of several places that has one.
fn first(places: &[Selector], delivery: &Received) -> Option<String> {
    let answer = delivery.answer();
    places
        .iter()
        .flat_map(|place| place.select(&answer))
        .find_map(|value| plain(&value))
}

impl World {
    /// Tells the target where to deliver, if the file says how; once in a run.
    pub(super) async fn register_receiver(&self) -> Result<(), String> {
        let (Some(receiver), Some(sink)) = (&self.receiver, &self.target.sink) else {
            return Ok(());
        };
        let Some(register) = &sink.register else {
            return Ok(());
        };
        let registering = receiver.registered.get_or_init(|| async {
            match act(self, register, &Filling::new(self)).await {
                Ok(_) => Ok(()),
                Err(why) => Err(format!("the receiver of events was not registered: {why}")),
            }
        });
        registering.await.clone()
    }

    /// The deliveries that belong to these requests, in the order of coming.
    pub(super) fn deliveries(&self, cast: &Cast, counted: &[Counted]) -> Vec<EventDelivery> {
        let Some(receiver) = &self.receiver else {
            return Vec::new();
        };
        let mut found: Vec<(usize, EventDelivery)> = Vec::new();
        let log = receiver.log.deliveries();
        for (subject, members) in subjects(counted) {
            let operation = cast
                .name(subject.operation)
                .and_then(|name| self.operation(name));
            let Some(events) = operation
                .ok()
                .and_then(|operation| operation.events.as_ref())
            else {
                continue;
            };
            let mut asked: Vec<Match> = Vec::new();
            for member in members {
                let Ok(wanted) = self.conditions(events, member) else {
                    continue;
                };
                if !asked.contains(&wanted) {
                    asked.push(wanted);
                }
            }
            for (number, delivery) in log.iter().enumerate() {
                if asked.iter().any(|wanted| delivery.fits(wanted)) {
                    let written = EventDelivery {
                        operation: subject.operation,
                        marker: subject.marker.clone(),
                        marker_name: subject.marker_name.clone(),
                        event: receiver
                            .event(events, delivery)
                            .map(|id| self.masker.mask(&id)),
                        at: self.clock(delivery.at),
                        received: delivery.received,
                        path: self.masker.mask(&delivery.path),
                        headers: delivery
                            .headers
                            .iter()
                            .map(|(name, value)| {
                                let value = String::from_utf8_lossy(value);
                                (name.clone(), self.masker.mask_header(name, &value))
                            })
                            .collect(),
                        body: self
                            .masker
                            .mask(&String::from_utf8_lossy(&delivery.body))
                            .chars()
                            .take(SHOWN)
                            .collect(),
                        body_digest: digest(&delivery.body),
                        signature_digest: receiver.signature(delivery),
                    };
                    found.push((number, written));
                }
            }
        }
        found.sort_by_key(|(number, _)| *number);
        found.into_iter().map(|(_, delivery)| delivery).collect()
    }

    /// Waits for the event of one request, at most for `patience`.
    pub(super) async fn first_event(
        &self,
        cast: &Cast,
        counted: &Counted,
        patience: Duration,
    ) -> Arrived {
        let Some(receiver) = &self.receiver else {
            return Arrived::Nothing;
        };
        let over = tokio::time::sleep(patience);
        tokio::pin!(over);
        loop {
            let came = receiver.log.came();
            let deliveries = self.deliveries(cast, std::slice::from_ref(counted));
            if let Some(first) = deliveries.first() {
                let mut ids: Vec<String> = Vec::new();
                for id in deliveries
                    .iter()
                    .filter_map(|delivery| delivery.event.as_ref())
                {
                    if !ids.contains(id) {
                        ids.push(id.clone());
                    }
                }
                return Arrived::Events { ids, at: first.at };
            }
            tokio::select! {
                () = came => {}
                () = &mut over => break,
            }
        }
        match receiver.log.deliveries().len() {
            0 => Arrived::Nothing,
            count => Arrived::Others(count),
        }
    }

    /// The beginning of the last delivery's body, for messages.
    pub(super) fn last_delivery(&self) -> Option<String> {
        let last = self.receiver.as_ref()?.log.deliveries().pop()?;
        let body = self.masker.mask(&String::from_utf8_lossy(&last.body));
        Some(body.chars().take(200).collect())
    }

    /// What a delivery must be to belong to a request.
    fn conditions(&self, events: &Events, counted: &Counted) -> Result<Match, String> {
        let mut values = Filling::of_spec(self, &counted.spec);
        values.request.clone_from(&counted.body);
        let principal = self.principal(PrincipalRole::Owner)?.0;
        let conditions = events.conditions.iter().map(|condition| {
            let wants = match &condition.wants {
                EventWants::Fixed(wants) => wants.clone(),
                EventWants::Text(template) => {
                    let text = render::text(template, &self.target, &principal, &values)
                        .map_err(|error| error.to_string())?;
                    Wants::Equal(Value::String(text))
                }
            };
            Ok(Condition {
                selector: condition.selector.clone(),
                wants,
            })
        });
        Ok(Match {
            conditions: conditions.collect::<Result<_, String>>()?,
        })
    }
}

impl RoundRun<'_> {
    /// Lets the receiver treat the next deliveries of this round's marker so.
    pub(super) fn receive(
        &self,
        name: Option<&str>,
        answer: Receiving,
        times: u32,
        outage: bool,
    ) -> Result<(), String> {
        let receiver = self
            .world()
            .receiver
            .as_ref()
            .ok_or("the target has no sink")?;
        let marker = locked(&self.names).marker("main");
        let name = name.map_or_else(|| "the sink".to_owned(), |name| format!("`{name}`"));
        let lasts = match (outage, &self.world().target.sink) {
            (true, Some(sink)) => Some(sink.outage.ok_or("the target names no outage")?),
            _ => None,
        };
        receiver.log.treat(name, marker, answer, times, lasts);
        Ok(())
    }

    /// Waits until so many deliveries of a kind have come, or the time is over: the target file's own,
    /// else this one.
    pub(super) async fn wait_for_deliveries(
        &self,
        count: u32,
        patience: Duration,
        counts: fn(Receiving) -> bool,
    ) {
        let Some(receiver) = &self.world().receiver else {
            return;
        };
        let within = self
            .world()
            .target
            .sink
            .as_ref()
            .and_then(|sink| sink.within);
        let over = tokio::time::sleep(within.unwrap_or(patience));
        tokio::pin!(over);
        loop {
            let came = receiver.log.came();
            let counted = locked(&self.counted).clone();
            let deliveries = self.world().deliveries(&self.context.cast, &counted);
            let taken = deliveries
                .iter()
                .filter(|delivery| counts(delivery.received))
                .count();
            if taken >= count as usize || self.world().is_stopped() {
                return;
            }
            tokio::select! {
                () = came => {}
                () = &mut over => return,
            }
        }
    }

    /// Writes down what has come so far, and what was to be treated and never came. Returns until
    /// when more may come.
    pub(super) fn note_deliveries(&self) -> Option<Instant> {
        let receiver = self.world().receiver.as_ref()?;
        if !speaks_of_events(self.context.scenario) {
            return None;
        }
        let counted = locked(&self.counted).clone();
        let deliveries = self.world().deliveries(&self.context.cast, &counted);
        let marker = locked(&self.names).marker("main");
        for (name, answer) in receiver.log.untreated(&marker) {
            self.broke(format!(
                "{name} was to treat a delivery with `{}`, and none came",
                answer.name()
            ));
        }
        let mut record = locked(&self.record);
        let lag = lag(&record, &deliveries);
        record.deliveries = deliveries;
        // Another event may take as long as the first one did.
        Some(Instant::now() + 3 * lag)
    }
}

/// From the first request of a round to its first delivery.
fn lag(round: &Round, deliveries: &[EventDelivery]) -> Duration {
    let sent = round
        .exchanges
        .iter()
        .filter(|exchange| exchange.operation == OperationRole::Subject)
        .filter_map(|exchange| exchange.times.sent)
        .min();
    match (sent, deliveries.first()) {
        (Some(sent), Some(first)) => first.at.saturating_sub(sent),
        _ => Duration::ZERO,
    }
}

/// Whether a scenario claims anything of events.
pub(super) fn speaks_of_events(scenario: &Scenario) -> bool {
    let expected = scenario.expect.iter().map(|(_, expectation)| expectation);
    expected
        .chain(&scenario.assume)
        .any(|expectation| matches!(expectation.check, Check::Events { .. }))
}
