//! Copies that wait for an answer that never comes.

use crate::server::{Payments, Server};
use crate::tool::Tool;

const SCENARIO: &str = "title: Copies that wait for an answer that never comes
severity: high
about: The first request is cut before its answer.
needs: [key]
steps:
  - together:
      - send: { as: first, key: fresh, fault: { hang-up: { when: sent } } }
      - burst: { as: burst, like: first, copies: 4, at: { when: last-byte, of: first, spread: [0ms, 50ms] } }
expect:
  item-5:
    - effects: { at-most: 1 }
";

#[test]
fn a_burst_whose_moment_never_comes_is_not_waited_for() {
    let payments = Payments::default();
    let server = Server::start(move |asked| payments.serve(asked));
    let seen = Tool::at(server.address).alone("own/moment", SCENARIO).run();
    assert_eq!(seen.passed(), Vec::<String>::new(), "{}", seen.screen);
    assert_eq!(seen.failed(), Vec::<String>::new(), "{}", seen.screen);
    let text = seen.json.to_string();
    assert!(text.contains("never came"), "{text}");
}
