//! A target that lets in a few copies of each burst, and refuses the others for a time.

use crate::server::{Asked, Payments, Reply, Server, answer};
use crate::tool::Tool;
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Copies of a key that are let in.
const LET_IN: usize = 5;

/// What arrived with one key.
struct Key {
    first: Instant,
    arrived: usize,
    refused_last: Option<Instant>,
}

const SCENARIO: &str = "title: Bursts that are limited
severity: high
about: Of eight copies five are let in.
needs: [key]
rounds: { count: 3 }
steps:
  - burst: { as: burst, key: fresh, copies: 8 }
expect:
  item-5:
    - effects: { at-most: 1 }
";

#[test]
fn a_target_that_limits_bursts_gets_the_time_that_it_asks_for() {
    let payments = Payments::default();
    let keys: Arc<Mutex<HashMap<String, Key>>> = Arc::default();
    let seen_by_target = Arc::clone(&keys);
    let server = Server::start(move |asked| {
        if !Payments::is_operation(asked) {
            return payments.serve(asked);
        }
        match is_let_in(asked, &keys) {
            true => payments.serve(asked),
            false => limited(1),
        }
    });
    let seen = Tool::at(server.address)
        .alone("own/limited", SCENARIO)
        .run();
    assert_eq!(seen.failed(), Vec::<String>::new(), "{}", seen.screen);
    let text = seen.json.to_string();
    assert!(
        text.contains("9 copies were refused for their rate and do not count")
            || text.contains("did not overlap"),
        "{text}"
    );
    assert!(
        text.contains("the target refused 9 copies, and 3 s were waited"),
        "{text}"
    );
    let keys = seen_by_target.lock().expect("nobody panicked");
    let mut bursts: Vec<&Key> = keys
        .values()
        .filter(|key| key.arrived == 8 && key.refused_last.is_some())
        .collect();
    bursts.sort_by_key(|key| key.first);
    assert_eq!(bursts.len(), 3);
    for pair in bursts.windows(2) {
        let refused = pair[0].refused_last.expect("it was refused");
        let pause = pair[1].first - refused;
        assert!(pause >= Duration::from_millis(990), "it paused {pause:?}");
    }
}

const PATIENT: &str = "title: A request that is told to come again
severity: high
about: It is sent again when the time has passed that it was told to wait.
needs: [key]
rounds: { count: 1 }
steps:
  - send: { as: first, key: fresh }
  - send: { as: second, like: first }
  - send: { as: refused, like: first }
  - wait: { retry-after: refused }
  - send: { as: again, like: first }
expect:
  item-7:
    - outcome: { of: again, never: server-error }
";

#[test]
fn nobody_waits_longer_than_the_target_file_allows() {
    let payments = Payments::default();
    let arrived: Mutex<HashMap<String, u32>> = Mutex::default();
    let server = Server::start(move |asked| {
        let key = asked.headers.get("idempotency-key").cloned();
        let mut arrived = arrived.lock().expect("nobody panicked");
        let times = arrived.entry(key.unwrap_or_default()).or_default();
        *times += u32::from(Payments::is_operation(asked));
        // What is measured beforehand is sent twice at most.
        match *times > 2 {
            true => limited(2),
            false => payments.serve(asked),
        }
    });
    let seen = Tool::at(server.address).alone("own/patient", PATIENT).run();
    assert_eq!(seen.failed(), Vec::<String>::new(), "{}", seen.screen);
    let text = seen.json.to_string();
    assert!(
        text.contains("`refused` was told to come again in 2s, and limits.wait is 1s"),
        "{text}"
    );
}

fn is_let_in(asked: &Asked, keys: &Mutex<HashMap<String, Key>>) -> bool {
    let key = asked
        .headers
        .get("idempotency-key")
        .cloned()
        .unwrap_or_default();
    let mut keys = keys.lock().expect("nobody panicked");
    let known = keys.entry(key).or_insert_with(|| Key {
        first: Instant::now(),
        arrived: 0,
        refused_last: None,
    });
    known.arrived += 1;
    let let_in = known.arrived <= LET_IN;
    if !let_in {
        known.refused_last = Some(Instant::now());
    }
    let_in
}

fn limited(seconds: u32) -> Reply {
    let Reply::Bytes(bytes) = answer(429, &json!({ "error": "too many" })) else {
        unreachable!("an answer is bytes");
    };
    let text = String::from_utf8(bytes).expect("it is text");
    Reply::Bytes(
        text.replacen("\r\n", &format!("\r\nRetry-After: {seconds}\r\n"), 1)
            .into_bytes(),
    )
}
