//! Short transcripts for the tests of the decision table.

use crate::contract::{Contract, meaning, resolve};
use crate::outcome::{Meaning, Outcome};
use crate::scenario::{OperationRole, PrincipalRole};
use crate::transcript::{Delivery, Ending, Exchange, KeyUsed, Response, Round, SentRequest, Times};
use crate::yaml::{self, Source};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

pub(in crate::contract) fn contract(text: &str) -> Contract {
    let source = Source {
        name: "contract.yaml".to_owned(),
        text: text.to_owned(),
    };
    let node = yaml::parse(Arc::new(source)).unwrap_or_else(|problem| panic!("{problem}"));
    resolve(Some(&node)).unwrap_or_else(|problem| panic!("{problem}"))
}

/// A request of the owner with one key that got no response.
pub(in crate::contract) fn lost() -> Exchange {
    Exchange {
        step: "step".to_owned(),
        copy: 0,
        attempt: 0,
        operation: OperationRole::Subject,
        principal: PrincipalRole::Owner,
        marker: "m".to_owned(),
        marker_name: "main".to_owned(),
        key: KeyUsed {
            value: Some("k".to_owned()),
            malformed: false,
            backdated: None,
        },
        variants: Vec::new(),
        forms: Vec::new(),
        request: SentRequest {
            method: "POST".to_owned(),
            url: "http://127.0.0.1/payments".to_owned(),
            address: None,
            headers: Vec::new(),
            body: None,
            intent: "plain".to_owned(),
            reworded: false,
        },
        times: Times::default(),
        ending: Ending::TimedOut,
        delivery: Delivery::Delivered,
        fault: None,
        response: None,
        late: None,
        lookup: None,
        outcome: Outcome::NONE,
    }
}

pub(in crate::contract) fn got(status: u16) -> Exchange {
    let response = Response {
        status,
        headers: Vec::new(),
        body: String::new(),
        body_length: 0,
        body_digest: format!("digest of {status}"),
        json: None,
        stable_json: None,
        volatile_headers: BTreeSet::new(),
        success: (200..300).contains(&status),
        identity: None,
        tokens: Vec::new(),
    };
    Exchange {
        ending: Ending::Answered,
        delivery: Delivery::ResponseSeen,
        response: Some(response),
        ..lost()
    }
}

/// A 201 that names this payment.
pub(super) fn paid(id: &str) -> Exchange {
    named(201, id)
}

pub(super) fn named(status: u16, id: &str) -> Exchange {
    let mut exchange = got(status).body(id);
    exchange.answer().identity = Some(id.to_owned());
    exchange
}

/// What makes a request another one, or its answer.
pub(super) trait Told: Sized {
    fn answer(&mut self) -> &mut Response;
    fn body(self, text: &str) -> Self;
    fn json(self, json: serde_json::Value) -> Self;
    fn header(self, name: &str, value: &str) -> Self;
    fn changed(self) -> Self;
    fn reworded(self) -> Self;
    fn variant(self, name: &str) -> Self;
    fn by(self, principal: PrincipalRole) -> Self;
    fn on_other(self) -> Self;
    fn key(self, key: Option<&str>) -> Self;
    fn malformed(self) -> Self;
    /// Sent and over at these times, in milliseconds.
    fn at(self, sent: u64, over: u64) -> Self;
}

impl Told for Exchange {
    fn answer(&mut self) -> &mut Response {
        self.response.as_mut().expect("it was answered")
    }

    fn body(mut self, text: &str) -> Exchange {
        self.answer().body = text.to_owned();
        self.answer().body_digest = text.to_owned();
        self
    }

    fn json(mut self, json: serde_json::Value) -> Exchange {
        self.answer().json = Some(json.clone());
        self.answer().stable_json = Some(json);
        self
    }

    fn header(mut self, name: &str, value: &str) -> Exchange {
        let header = (name.to_owned(), value.to_owned());
        self.answer().headers.push(header);
        self
    }

    fn changed(mut self) -> Exchange {
        self.request.intent = "changed".to_owned();
        self
    }

    fn reworded(mut self) -> Exchange {
        self.request.reworded = true;
        self
    }

    fn variant(mut self, name: &str) -> Exchange {
        self.variants.push(name.to_owned());
        self.request.intent = name.to_owned();
        self
    }

    fn by(mut self, principal: PrincipalRole) -> Exchange {
        self.principal = principal;
        self
    }

    fn on_other(mut self) -> Exchange {
        self.operation = OperationRole::Other;
        self
    }

    fn key(mut self, key: Option<&str>) -> Exchange {
        self.key.value = key.map(str::to_owned);
        self
    }

    fn malformed(mut self) -> Exchange {
        self.key.malformed = true;
        self
    }

    fn at(mut self, sent: u64, over: u64) -> Exchange {
        let over = Duration::from_millis(over);
        let seen = self.response.is_some().then_some(over);
        self.times = Times {
            released: None,
            sent: Some(Duration::from_millis(sent)),
            first_byte: seen,
            last_byte: seen,
            ended: over,
        };
        self
    }
}

/// Requests a minute apart, unless they say when they were sent; all are given their meaning.
pub(super) fn round(exchanges: Vec<Exchange>) -> Round {
    let exchanges = exchanges
        .into_iter()
        .zip(0..)
        .map(|(exchange, minute)| {
            if exchange.times == Times::default() {
                exchange.at(minute * 60_000, minute * 60_000 + 10)
            } else {
                exchange
            }
        })
        .collect();
    Round {
        number: 1,
        exchanges,
        ..Round::default()
    }
}

pub(super) fn last(contract: &Contract, mut round: Round) -> Outcome {
    for index in 0..round.exchanges.len() {
        round.exchanges[index].outcome = meaning(contract, &round, index);
    }
    round.exchanges.last().expect("it is not empty").outcome
}

pub(super) fn means(name: &str, text: &str, exchanges: Vec<Exchange>, wanted: &[Meaning]) {
    let outcome = last(&contract(text), round(exchanges));
    assert_eq!(outcome, Outcome::of(wanted), "{name}");
}

/// The first request still runs while the second is sent and answered.
pub(super) fn during(first: Exchange, second: Exchange) -> Vec<Exchange> {
    vec![first.at(0, 100), second.at(10, 20)]
}
