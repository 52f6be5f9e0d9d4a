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

/// How often a request that was sent alone is repeated.
const REPEATS: u32 = 6;

/// How requests with different keys bear each other.
pub(super) enum Neighbours {
    /// They leave each other alone.
    Peaceful,
    /// One waits for the other.
    Slow,
    /// They are carried out one after another, however many come at once; said in a sentence.
    InTurn(String),
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
    // Of several instances, another one may be asked each time.
    let mut lone_repeats = send(&lone, "first").await.is_ok();
    for _ in 0..REPEATS {
        lone_repeats = lone_repeats && is_replayed(&lone).await;
    }

    let crowd: Vec<Measuring<'_>> = crowd
        .iter()
        .map(|run| Measuring { run, key: &key })
        .collect();
    let times = at_once(&crowd).await;
    let slowest = times.last().copied().unwrap_or_default();
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
    } else if is_staircase(&times, alone) && is_staircase(&others(&context, &key).await, alone) {
        Neighbours::InTurn(format!(
            "{operation}: requests are carried out one after another, so that a burst shows nothing of what happens to copies at the same time: {AT_ONCE} different ones sent at once took {} where one alone takes {}",
            in_turn(&times),
            millis(alone)
        ))
    } else {
        Neighbours::Slow
    }
}

/// Sends the first requests of all at once: how long they took, the shortest first.
async fn at_once(crowd: &[Measuring<'_>]) -> Vec<Duration> {
    let sent = futures::future::join_all(crowd.iter().map(|one| send(one, "first"))).await;
    let mut times: Vec<Duration> = sent
        .iter()
        .map(|sent| sent.as_ref().map_or(Duration::MAX, took))
        .collect();
    times.sort();
    times
}

/// The same of as many others: what was seen once may be the doing of a busy machine.
async fn others(context: &CaseContext<'_>, key: &BaselineKey) -> Vec<Duration> {
    let runs: Vec<RoundRun<'_>> = (0..AT_ONCE)
        .map(|number| RoundRun::new(context, AT_ONCE + number + 2))
        .collect();
    let crowd: Vec<Measuring<'_>> = runs.iter().map(|run| Measuring { run, key }).collect();
    at_once(&crowd).await
}

/// Whether several requests sent at once were answered one after another, with nearly a whole request
/// between any two. Total times say less: a busy machine makes all of them slow, and a staircase longer.
fn is_staircase(times: &[Duration], alone: Duration) -> bool {
    // What takes less can be in turn without anybody noticing.
    const TELLING: Duration = Duration::from_millis(40);
    let first = times.first().copied().unwrap_or(Duration::MAX);
    alone >= TELLING
        && first <= alone.mul_f64(1.6) + TELLING
        && times
            .windows(2)
            .all(|pair| pair[1] - pair[0] >= alone.mul_f64(0.6))
}

fn in_turn(times: &[Duration]) -> String {
    let each: Vec<String> = times.iter().map(|time| millis(*time)).collect();
    each.join(", ")
}

fn millis(time: Duration) -> String {
    format!("{} ms", time.as_millis())
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
            new_connection: true,
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

#[cfg(test)]
mod tests {
    use super::is_staircase;
    use std::time::Duration;

    #[test]
    fn a_staircase_has_a_step_for_each_request() {
        let stairs = |times: [u64; 4], alone: u64| {
            let times = times.map(Duration::from_millis);
            is_staircase(&times, Duration::from_millis(alone))
        };
        assert!(stairs([203, 404, 609, 815], 200));
        assert!(stairs([203, 504, 809, 1215], 200), "on a busy machine");
        assert!(!stairs([203, 205, 206, 230], 200), "side by side");
        assert!(!stairs([203, 204, 405, 407], 200), "two at a time");
        assert!(!stairs([800, 805, 809, 815], 200), "all of them slow");
        assert!(!stairs([5, 10, 15, 20], 5), "too short to tell");
    }
}
