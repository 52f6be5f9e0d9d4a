//! The making of requests: from a step's words to bytes that wait on a connection.

use super::answer;
use super::base::endpoint;
use super::exchange::Prepared;
use super::probe::Counted;
use super::publish::{Unpublished, publication};
use super::round::{RoundRun, locked};
use super::sign::{sign, sign_for_sender};
use super::spec::Spec;
use super::wire::{self, Connection, Controls, Flight, Hold, Outgoing};
use crate::outcome::Outcome;
use crate::scenario::{Close, Fault, FirstSent, Request, ResponsePart};
use crate::target::principal::Certificate;
use crate::target::render::{RenderError, Rendered};
use crate::transcript::{Delivery, Ending, Exchange, KeyUsed, SentRequest, Times};
use bytes::Bytes;
use std::time::Duration;

/// Whether a command publishes what the step sends.
pub(super) fn is_published(run: &RoundRun<'_>, spec: &Spec) -> Result<bool, String> {
    let name = run.context.cast.name(spec.operation)?;
    Ok(publication(run.world().operation(name)?).is_some())
}

/// Makes an event that a command will publish.
pub(super) async fn unpublished(
    run: &RoundRun<'_>,
    request: &Request,
    spec: &Spec,
    copy: (u32, u32),
) -> Result<Unpublished, String> {
    let (rendered, reworded, _) = Box::pin(rendered(run, request, spec)).await?;
    Ok(Unpublished {
        rendered,
        reworded,
        copy,
    })
}

/// The bytes of a request, whether a form changed its body's, and by how much its date was put back.
async fn rendered(
    run: &RoundRun<'_>,
    request: &Request,
    spec: &Spec,
) -> Result<(Rendered, bool, Option<Duration>), String> {
    let world = run.world();
    world.spend(1)?;
    world.turn().await;
    let told = |error: RenderError| {
        if let RenderError::NotApplicable(reason) = &error {
            *locked(&run.context.not_applicable) = Some(reason.clone());
        }
        error.to_string()
    };
    let made = world
        .render_operation(&run.context.cast, spec, request.to_each)
        .await;
    let (mut rendered, reworded) = made.map_err(told)?;
    let backdated = match spec.first_sent {
        Some(FirstSent::Ago(time)) => Some(run.time(time, None)?),
        _ => None,
    };
    let name = run.context.cast.name(spec.operation)?;
    let key = spec.key.value.as_deref();
    world.date(name, key, spec.first_sent, backdated, &mut rendered);
    let operation = world.operation(name)?;
    sign(run, operation, request, spec, &mut rendered)
        .await
        .map_err(told)?;
    sign_for_sender(world, &mut rendered, key.unwrap_or_default())
        .await
        .map_err(told)?;
    Ok((rendered, reworded, backdated))
}

/// A request that is made, and of which nothing is on its way.
pub(super) struct Made {
    exchange: Exchange,
    counted: Counted,
    endpoint: wire::Endpoint,
    outgoing: Outgoing,
    fault: Option<Fault>,
    on_the_wire: Option<wire::Fault>,
    new_connection: bool,
}

/// Makes a request and takes it as far as `hold` says.
pub(super) async fn prepare(
    run: &RoundRun<'_>,
    request: &Request,
    spec: &Spec,
    number: (u32, u32),
    hold: Hold,
) -> Result<Prepared, String> {
    let made = Box::pin(make(run, request, spec, number)).await?;
    Box::pin(made.launch(run, hold)).await
}

/// Makes a request.
pub(super) async fn make(
    run: &RoundRun<'_>,
    request: &Request,
    spec: &Spec,
    (copy, attempt): (u32, u32),
) -> Result<Made, String> {
    let world = run.world();
    let (mut rendered, reworded, backdated) = Box::pin(rendered(run, request, spec)).await?;
    if let Some(Fault::AwaitContinue { .. }) = request.fault {
        let asks = ("Expect".to_owned(), b"100-continue".to_vec());
        rendered.headers.push(asks);
    }
    world.check_host(&rendered.origin)?;
    let (mut endpoint, authority) = endpoint(&rendered.origin)?;
    endpoint.address = rendered.address;
    endpoint.certificate = rendered.certificate.as_ref().map(Certificate::name);
    let fault = request.fault.clone();
    let on_the_wire = fault
        .as_ref()
        .map(|fault| on_the_wire(run, fault, &request.name))
        .transpose()?;
    let outgoing = Outgoing {
        method: rendered
            .method
            .parse()
            .map_err(|_| format!("`{}` is no method", rendered.method))?,
        target: rendered.path_and_query.clone(),
        authority,
        headers: rendered.headers.clone(),
        body: rendered.body.clone().map(Bytes::from),
        chunked: rendered.chunked,
        upper_case_headers: rendered.upper_case_headers,
    };
    let mut exchange = blank(run, request, spec, (copy, attempt), &rendered, reworded);
    exchange.key.backdated = backdated;
    let counted = Counted {
        spec: spec.clone(),
        body: rendered
            .body
            .as_deref()
            .and_then(|body| serde_json::from_slice(body).ok()),
    };
    Ok(Made {
        exchange,
        counted,
        endpoint,
        outgoing,
        fault,
        on_the_wire,
        new_connection: request.new_connection,
    })
}

impl Made {
    /// Takes it as far as `hold` says, on a connection that it has for itself.
    pub(super) async fn launch(self, run: &RoundRun<'_>, hold: Hold) -> Result<Prepared, String> {
        let world = run.world();
        match world.connect(&self.endpoint, self.new_connection).await {
            Err(unreachable) => Ok(self.refused(run, &unreachable, hold)),
            Ok(connection) => self.launch_on(run, connection, hold).await,
        }
    }

    fn refused(self, run: &RoundRun<'_>, unreachable: &wire::Unreachable, hold: Hold) -> Prepared {
        let says = run.world().masker.mask(&unreachable.says);
        self.prepared(Err(Ending::Refused(says)), hold)
    }

    async fn launch_on(
        self,
        run: &RoundRun<'_>,
        connection: Connection,
        hold: Hold,
    ) -> Result<Prepared, String> {
        let fault = self.on_the_wire;
        if fault.is_some_and(|fault| closes_stream(&fault)) && !connection.is_http2() {
            return Err("a stream can be reset over HTTP/2 only".to_owned());
        }
        let controls = Controls {
            hold,
            fault,
            patience: run.world().target.limits.patience,
        };
        let flight = connection.prepare(self.outgoing.clone(), controls).await;
        Ok(self.prepared(Ok(flight), hold))
    }

    fn prepared(self, flight: Result<Flight, Ending>, hold: Hold) -> Prepared {
        Prepared {
            exchange: self.exchange,
            counted: self.counted,
            endpoint: self.endpoint,
            flight,
            fault: self.fault,
            hold,
        }
    }

    /// Whether it can share a connection with others.
    fn shares(&self) -> bool {
        self.fault.is_none() && !self.new_connection
    }
}

/// Takes requests as far as `hold` says, so that one send lets go all that go to one place, if that
/// place speaks HTTP/2. Says whether it does; if not, each has a connection of its own.
pub(super) async fn launch_as_volleys(
    run: &RoundRun<'_>,
    made: Vec<Made>,
    hold: Hold,
) -> Result<(Vec<Prepared>, bool), String> {
    let mut prepared = Vec::new();
    let mut places: Vec<(wire::Endpoint, Vec<Made>)> = Vec::new();
    for made in made {
        match places
            .iter_mut()
            .find(|(place, _)| made.shares() && *place == made.endpoint)
        {
            Some((_, there)) => there.push(made),
            None => places.push((made.endpoint.clone(), vec![made])),
        }
    }
    let mut one_send = true;
    for (place, mut left) in places {
        while !left.is_empty() {
            let connection = match run.world().connect(&place, left[0].new_connection).await {
                Ok(connection) => connection,
                Err(unreachable) => {
                    let refused = left.drain(..);
                    prepared.extend(refused.map(|made| made.refused(run, &unreachable, hold)));
                    break;
                }
            };
            let room = connection.most_at_once();
            if room < 2 || !left[0].shares() {
                one_send = false;
                let first = left.remove(0).launch_on(run, connection, hold);
                let others = left.drain(..).map(|made| made.launch(run, hold));
                let (first, others) =
                    futures::future::join(first, futures::future::join_all(others)).await;
                prepared.push(first?);
                prepared.extend(others.into_iter().collect::<Result<Vec<_>, _>>()?);
                break;
            }
            let now: Vec<Made> = left.drain(..left.len().min(room)).collect();
            let outgoing = now.iter().map(|made| made.outgoing.clone()).collect();
            let patience = run.world().target.limits.patience;
            let flights = connection.prepare_volley(outgoing, hold, patience).await;
            prepared.extend(
                now.into_iter()
                    .zip(flights)
                    .map(|(made, flight)| made.prepared(Ok(flight), hold)),
            );
        }
    }
    Ok((prepared, one_send))
}

fn closes_stream(fault: &wire::Fault) -> bool {
    matches!(
        fault,
        wire::Fault::BeforeRequest {
            close: wire::Close::RstStream
        } | wire::Fault::MidBody {
            close: wire::Close::RstStream,
            ..
        } | wire::Fault::DropResponse {
            close: wire::Close::RstStream,
            ..
        } | wire::Fault::MidResponse {
            close: wire::Close::RstStream,
            ..
        }
    )
}

/// The exchange of a request that has not been sent.
pub(super) fn blank(
    run: &RoundRun<'_>,
    request: &Request,
    spec: &Spec,
    (copy, attempt): (u32, u32),
    rendered: &Rendered,
    reworded: bool,
) -> Exchange {
    let masker = &run.world().masker;
    Exchange {
        step: request.name.clone(),
        copy,
        attempt,
        operation: spec.operation,
        principal: spec.principal,
        marker: spec.marker.clone(),
        marker_name: spec.marker_name.clone(),
        key: KeyUsed {
            value: spec.key.value.clone(),
            malformed: spec.key.malformed,
            backdated: None,
        },
        variants: spec.variants.clone(),
        forms: spec.forms.clone(),
        request: SentRequest {
            method: rendered.method.clone(),
            url: masker.mask(&format!("{}{}", rendered.origin, rendered.path_and_query)),
            address: rendered.address.map(|address| address.to_string()),
            headers: rendered
                .headers
                .iter()
                .map(|(name, value)| {
                    (
                        name.clone(),
                        masker.mask_header(name, &String::from_utf8_lossy(value)),
                    )
                })
                .collect(),
            body: rendered
                .body
                .as_deref()
                .map(|body| masker.mask(&String::from_utf8_lossy(body))),
            intent: answer::digest(&rendered.intent),
            reworded,
        },
        times: Times::default(),
        ending: Ending::Refused(String::new()),
        delivery: Delivery::NotSent,
        fault: None,
        response: None,
        late: None,
        lookup: None,
        outcome: Outcome::NONE,
    }
}

/// The fault, in the terms of the wire.
fn on_the_wire(run: &RoundRun<'_>, fault: &Fault, step: &str) -> Result<wire::Fault, String> {
    Ok(match fault {
        Fault::BeforeRequest { close } => wire::Fault::BeforeRequest {
            close: on_close(*close),
        },
        Fault::MidBody { share, close } => wire::Fault::MidBody {
            share: *share,
            close: on_close(*close),
        },
        Fault::HangUp { .. } => wire::Fault::HangUp,
        Fault::DropResponse { after, close } => wire::Fault::DropResponse {
            after: match after {
                ResponsePart::FirstByte => wire::ResponsePart::FirstByte,
                ResponsePart::Headers => wire::ResponsePart::Headers,
            },
            close: on_close(*close),
        },
        Fault::MidResponse { share, close } => wire::Fault::MidResponse {
            share: *share,
            close: on_close(*close),
        },
        Fault::Stall { share, time } => wire::Fault::Stall {
            share: *share,
            time: *time,
        },
        Fault::AwaitContinue { at_most, close } => wire::Fault::AwaitContinue {
            at_most: *at_most,
            close: close.map(on_close),
        },
        Fault::Timeout { after } => wire::Fault::Timeout {
            after: run.time(*after, Some(step))?.max(Duration::from_millis(1)),
        },
    })
}

/// How we close, in the terms of the wire.
pub(super) fn on_close(close: Close) -> wire::Close {
    match close {
        Close::Fin => wire::Close::Fin,
        Close::Rst => wire::Close::Rst,
        Close::RstStream => wire::Close::RstStream,
    }
}
