//! Events that a command publishes, where a broker stands between us and who receives them.

use super::answer;
use super::command;
use super::exchange::write_down;
use super::made::blank;
use super::probe::Counted;
use super::rendering::Filling;
use super::round::{RoundRun, locked};
use super::spec::Spec;
use crate::scenario::{Request, When};
use crate::target::consumer::Publication;
use crate::target::operation::Operation;
use crate::target::render::Rendered;
use crate::transcript::{Delivery, Ending};
use std::time::{Duration, Instant};
use tokio::sync::Barrier;

/// How long a command may take, unless the file says otherwise.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a publication that worked is written down as: it was taken, and nothing more is known.
const ACCEPTED: u16 = 202;

/// The command that publishes an operation's events, if one does.
pub(super) fn publication(operation: &Operation) -> Option<&Publication> {
    operation.consumer.as_ref()?.publish.as_ref()
}

/// An event that is made and not yet published.
pub(super) struct Unpublished {
    pub(super) rendered: Rendered,
    pub(super) reworded: bool,
    pub(super) copy: (u32, u32),
}

/// Publishes one event and writes it down.
pub(super) async fn publish(
    run: &RoundRun<'_>,
    request: &Request,
    spec: &Spec,
    event: Unpublished,
    ready: Option<&Barrier>,
) -> Result<(), String> {
    let world = run.world();
    let operation = world.operation(run.context.cast.name(spec.operation)?)?;
    let publication = publication(operation).ok_or("it is not published")?;
    let Unpublished {
        rendered,
        reworded,
        copy,
    } = event;
    let mut exchange = blank(run, request, spec, copy, &rendered, reworded);
    let body = rendered.body.as_deref().unwrap_or_default();
    let mut further = vec![
        (
            "body".to_owned(),
            String::from_utf8_lossy(body).into_owned(),
        ),
        ("path".to_owned(), rendered.path_and_query.clone()),
    ];
    further.extend(rendered.headers.iter().map(|(name, value)| {
        let name = name.to_ascii_lowercase().replace('-', "_");
        let value = String::from_utf8_lossy(value).into_owned();
        (format!("header_{name}"), value)
    }));
    let values = Filling::of_spec(world, spec);
    let timeout = publication.timeout.unwrap_or(PATIENCE);
    if let Some(ready) = ready {
        ready.wait().await;
    }
    let leads = copy == (0, 0);
    let came = |moments: &[When]| {
        let now = Instant::now();
        for when in moments.iter().filter(|_| leads) {
            run.board.came(&request.name, *when, now);
        }
        world.clock(now)
    };
    let began = came(&[When::Connected, When::Sent]);
    let published =
        command::run_with(world, &publication.command, &values, &further, timeout).await;
    let ended = came(&[When::FirstByte, When::LastByte, When::Ended]);
    exchange.times.released = Some(began);
    exchange.times.sent = Some(began);
    exchange.times.ended = ended;
    match published {
        Ok(output) => {
            exchange.times.first_byte = Some(ended);
            exchange.times.last_byte = Some(ended);
            exchange.delivery = Delivery::ResponseSeen;
            exchange.ending = Ending::Answered;
            exchange.response = Some(answer::record(
                ACCEPTED,
                &[],
                &output,
                operation,
                &world.target.mask,
                &world.masker,
            ));
        }
        Err(why) => {
            exchange.ending = Ending::Refused(format!("it could not be published: {why}"));
        }
    }
    locked(&run.counted).push(Counted {
        spec: spec.clone(),
        body: serde_json::from_slice(body).ok(),
    });
    write_down(run, exchange, None);
    Ok(())
}
