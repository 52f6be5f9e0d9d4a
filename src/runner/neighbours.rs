//! Whether requests with different keys leave each other alone. Where they do not, scenarios must run
//! one after another: else they would show what the tool itself has done.

use super::baseline::{Measuring, took};
use super::exchange;
use super::round::{CaseContext, RoundRun};
use super::world::{BaselineKey, Cast, World};
use crate::scenario::{Case, Like, PrincipalRole, Request, Scenario};
use crate::transcript::Exchange;
use std::time::Duration;

/// Requests that are tried at once.
const AT_ONCE: u32 = 4;

/// How requests with different keys bear each other.
pub(super) enum Neighbours {
    /// They leave each other alone.
    Peaceful,
    /// One waits for the other.
    Slow,
    /// They lose each other's records; said in a sentence.
    Forgetful(String),
}

/// Tries several requests at once, each with a key of its own, and then repeats each by itself.
pub(super) async fn neighbours(world: &World, operation: &str, alone: Duration) -> Neighbours {
    let key = BaselineKey {
        operation: operation.to_owned(),
        principal: PrincipalRole::Owner,
        variants: Vec::new(),
    };
    let (scenario, case) = (Scenario::blank(), Case::default());
    let context = CaseContext::new(world, Cast::alone(operation), &scenario, &case);
    let runs: Vec<RoundRun<'_>> = (0..=AT_ONCE)
        .map(|number| RoundRun::new(&context, number + 1))
        .collect();
    let (lone, crowd) = runs.split_first().expect("there are more than none");
    let lone = Measuring {
        run: lone,
        key: &key,
    };
    let lone_repeats = send(&lone, "first").await.is_ok() && is_replayed(&lone).await;

    let crowd: Vec<Measuring<'_>> = crowd
        .iter()
        .map(|run| Measuring { run, key: &key })
        .collect();
    let sent = futures::future::join_all(crowd.iter().map(|one| send(one, "first"))).await;
    let slowest = sent
        .iter()
        .map(|sent| sent.as_ref().map_or(Duration::MAX, took))
        .max()
        .unwrap_or_default();
    if lone_repeats {
        let mut lost = 0;
        for one in &crowd {
            if !is_replayed(one).await {
                lost += 1;
            }
        }
        if lost > 0 {
            return Neighbours::Forgetful(format!(
                "{operation}: keys that are used at the same time lose each other's records: of {AT_ONCE} requests sent at once, each with a key of its own, {lost} were carried out again when repeated, and one sent alone was not; scenarios run one after another therefore"
            ));
        }
    }
    if slowest < alone.mul_f64(1.8) + Duration::from_millis(20) {
        Neighbours::Peaceful
    } else {
        Neighbours::Slow
    }
}

async fn send(measuring: &Measuring<'_>, name: &str) -> Result<Exchange, String> {
    let request = match name {
        "first" => measuring.request(name, "main"),
        again => Request {
            like: Some(Like {
                of: "first".to_owned(),
                which: None,
            }),
            key: None,
            ..measuring.request(again, "main")
        },
    };
    let spec = measuring.run.specs(&request, 1)?.remove(0);
    exchange::one(measuring.run, &request, &spec, 0, 0, None).await?;
    measuring.exchange(name)
}

/// Whether a repeat names the resource of the first answer again.
async fn is_replayed(measuring: &Measuring<'_>) -> bool {
    let identity = |exchange: &Exchange| exchange.response.as_ref()?.identity.clone();
    let (Ok(first), Ok(again)) = (measuring.exchange("first"), send(measuring, "again").await)
    else {
        return false;
    };
    match (identity(&first), identity(&again)) {
        (Some(first), Some(again)) => first == again,
        // Without two identities nothing is known to be lost.
        _ => true,
    }
}
