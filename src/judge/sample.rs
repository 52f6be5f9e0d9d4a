//! Hand-written transcripts for the tests of judgements.

use super::reclassify::classify;
use super::{Finding, judge};
use crate::contract::{Contract, resolve};
use crate::outcome::Outcome;
use crate::scenario::{OperationRole, PrincipalRole, Receiving, Scenario, parse};
use crate::transcript::{
    BurstFacts, CutFacts, Delivery, Ending, EventDelivery, Exchange, FaultFacts, HookFacts,
    KeyUsed, Latency, ProbeFacts, Reading, ReadingKind, Response, RetryFacts, Round, SentRequest,
    Shown, Technique, Times, Token, Transcript,
};
use crate::verdict::Verdict;
use crate::yaml::{self, Source};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn millis(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// A scenario of these steps, assumptions and expectations of item 5.
pub(super) fn scenario(text: &str) -> Scenario {
    let source = Source {
        name: "test.yaml".to_owned(),
        text: format!("title: A test\n{text}"),
    };
    parse("replay/test", Arc::new(source), false).unwrap_or_else(|problem| panic!("{problem:?}"))
}

/// A scenario with one expectation, after two sends with one key.
pub(super) fn expecting(expectation: &str) -> Scenario {
    scenario(&format!(
        "steps:\n  - send: {{ as: first, key: fresh }}\n  - retry: {{ as: again, like: first }}\nexpect:\n  item-5:\n    - {expectation}\n"
    ))
}

/// The generic contract with these lines over it.
pub(super) fn contract(lines: &str) -> Contract {
    if lines.is_empty() {
        return resolve(None).expect("generic");
    }
    let source = Source {
        name: "contract.yaml".to_owned(),
        text: lines.to_owned(),
    };
    let node = yaml::parse(Arc::new(source)).unwrap_or_else(|problem| panic!("{problem}"));
    resolve(Some(&node)).unwrap_or_else(|problem| panic!("{problem}"))
}

pub(super) fn demo() -> Contract {
    contract("extends: demo")
}

/// The one finding of a scenario with one expectation.
pub(super) fn judged(scenario: &Scenario, contract: &Contract, rounds: Vec<Round>) -> Finding {
    let transcript = transcript(rounds);
    judged_with(scenario, contract, &transcript)
}

/// The same over a whole transcript, recorded under the contract that judges.
pub(super) fn judged_with(
    scenario: &Scenario,
    contract: &Contract,
    transcript: &Transcript,
) -> Finding {
    let mut transcript = transcript.clone();
    for round in &mut transcript.rounds {
        classify(contract, round);
    }
    judged_again(scenario, contract, &transcript)
}

/// The same over a transcript with the outcomes that stand in it.
pub(super) fn judged_again(
    scenario: &Scenario,
    contract: &Contract,
    transcript: &Transcript,
) -> Finding {
    let mut findings = judge(
        "create-payment",
        scenario,
        &scenario.cases[0],
        contract,
        transcript,
    );
    assert_eq!(findings.len(), 1);
    findings.remove(0)
}

/// The verdict and the reason of one expectation over one round, under the generic contract.
pub(super) fn verdict(expectation: &str, round: Round) -> (Verdict, String) {
    let finding = judged(&expecting(expectation), &contract(""), vec![round]);
    (finding.verdict, finding.reason)
}

/// These rounds of a target with one probe, `payments`.
pub(super) fn transcript(rounds: Vec<Round>) -> Transcript {
    Transcript {
        not_applicable: None,
        documents: None,
        rounds,
        broken: Vec::new(),
        probes: vec![probe("payments")],
        latency: Some(Latency {
            p50: millis(10),
            p99: millis(20),
        }),
        further_latencies: Vec::new(),
        in_turn: None,
        settle: millis(100),
    }
}

pub(super) fn probe(name: &str) -> ProbeFacts {
    ProbeFacts {
        name: name.to_owned(),
        operation: OperationRole::Subject,
        per_execution: 1.0,
        live: true,
        bound: None,
        is_state: false,
    }
}

/// One round; each request is sent when the one before has ended, unless it says else.
pub(super) fn round(exchanges: impl IntoIterator<Item = Exchange>) -> Round {
    let mut clock = millis(0);
    let exchanges = exchanges
        .into_iter()
        .map(|mut exchange| {
            if exchange.times == Times::default() {
                exchange = exchange.at(clock.as_millis() as u64, clock.as_millis() as u64 + 5);
            }
            clock = clock.max(exchange.times.ended) + millis(1);
            exchange
        })
        .collect();
    Round {
        number: 1,
        exchanges,
        ..Round::default()
    }
}

/// A request of the owner with the key `k`, not answered.
pub(super) fn sent(step: &str) -> Exchange {
    Exchange {
        step: step.to_owned(),
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
            body: Some("{}".to_owned()),
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

/// A request that was answered with this status; 2xx is a success.
pub(super) fn answered(step: &str, status: u16) -> Exchange {
    Exchange {
        ending: Ending::Answered,
        delivery: Delivery::ResponseSeen,
        response: Some(response(status)),
        ..sent(step)
    }
}

/// A 201 that names a payment.
pub(crate) fn paid(step: &str, id: &str) -> Exchange {
    answered(step, 201).naming(id)
}

pub(super) fn response(status: u16) -> Response {
    Response {
        status,
        headers: Vec::new(),
        body: String::new(),
        body_length: 0,
        body_digest: String::new(),
        json: None,
        stable_json: None,
        volatile_headers: ["date".to_owned()].into(),
        success: (200..300).contains(&status),
        identity: None,
        tokens: Vec::new(),
    }
}

impl Exchange {
    pub(super) fn naming(self, id: &str) -> Exchange {
        let mut exchange = self.body(&format!("{{\"id\":\"{id}\"}}"));
        if let Some(response) = &mut exchange.response {
            response.identity = Some(id.to_owned());
            response.tokens.push(Token {
                digest: format!("digest of {id}"),
                place: "body".to_owned(),
                shown: id.to_owned(),
                secret: false,
                identity: true,
            });
        }
        exchange
    }

    pub(super) fn body(mut self, text: &str) -> Exchange {
        if let Some(response) = &mut self.response {
            response.body = text.to_owned();
            response.body_length = text.len();
            response.body_digest = format!("digest of {text}");
            response.json = serde_json::from_str(text).ok();
            response.stable_json.clone_from(&response.json);
        }
        self
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Exchange {
        if let Some(response) = &mut self.response {
            response.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    pub(super) fn cookie(mut self, value: &str) -> Exchange {
        if let Some(response) = &mut self.response {
            response.tokens.push(Token {
                digest: format!("digest of {value}"),
                place: "header set-cookie".to_owned(),
                shown: "‹secret 3f2a›".to_owned(),
                secret: true,
                identity: false,
            });
        }
        self
    }

    pub(super) fn at(mut self, sent: u64, ended: u64) -> Exchange {
        let answered = self.response.is_some();
        self.times = Times {
            released: None,
            sent: Some(millis(sent)),
            first_byte: answered.then(|| millis(ended)),
            last_byte: answered.then(|| millis(ended)),
            ended: millis(ended),
        };
        self
    }

    /// We hung up when it ended, which was due then.
    pub(super) fn hung_up(mut self, due: u64, answer_there: Option<bool>) -> Exchange {
        self.ending = Ending::HungUp;
        self.fault = Some(FaultFacts {
            name: "hang-up".to_owned(),
            fired: true,
            says: "hung up".to_owned(),
            cut: Some(CutFacts {
                due: millis(due),
                at: self.times.ended,
                answer_there,
            }),
        });
        self
    }

    pub(super) fn copy(mut self, copy: u32) -> Exchange {
        self.copy = copy;
        self
    }

    pub(super) fn by(mut self, principal: PrincipalRole) -> Exchange {
        self.principal = principal;
        self
    }

    pub(super) fn on(mut self, operation: OperationRole) -> Exchange {
        self.operation = operation;
        self
    }

    pub(super) fn key(mut self, key: Option<&str>) -> Exchange {
        self.key.value = key.map(str::to_owned);
        self
    }

    pub(super) fn intent(mut self, intent: &str) -> Exchange {
        self.request.intent = intent.to_owned();
        self
    }

    pub(super) fn variant(mut self, name: &str) -> Exchange {
        self.variants.push(name.to_owned());
        self
    }
}

/// A delivery of an event that was taken.
pub(super) fn delivered(event: &str) -> EventDelivery {
    EventDelivery {
        operation: OperationRole::Subject,
        marker: "m".to_owned(),
        marker_name: "main".to_owned(),
        event: Some(event.to_owned()),
        at: millis(50),
        received: Receiving::Ok,
        path: "/".to_owned(),
        headers: Vec::new(),
        body: String::new(),
        body_digest: "digest".to_owned(),
        signature_digest: None,
    }
}

/// A reading of the probe `payments`.
pub(super) fn reading(kind: ReadingKind, ids: &[&str]) -> Reading {
    Reading {
        kind,
        probe: "payments".to_owned(),
        operation: OperationRole::Subject,
        principal: PrincipalRole::Owner,
        marker: "m".to_owned(),
        marker_name: "main".to_owned(),
        at: millis(60_000),
        shows: Ok(Shown::Ids(ids.iter().map(|id| (*id).to_owned()).collect())),
    }
}

impl Reading {
    pub(super) fn failed(mut self, why: &str) -> Reading {
        self.shows = Err(why.to_owned());
        self
    }

    pub(super) fn shows(mut self, shown: Shown) -> Reading {
        self.shows = Ok(shown);
        self
    }

    pub(super) fn of(mut self, probe: &str) -> Reading {
        self.probe = probe.to_owned();
        self
    }

    pub(super) fn taken(mut self, at: u64) -> Reading {
        self.at = millis(at);
        self
    }

    pub(super) fn seen_by(mut self, principal: PrincipalRole) -> Reading {
        self.principal = principal;
        self
    }
}

impl Round {
    pub(super) fn numbered(mut self, number: u32) -> Round {
        self.number = number;
        self
    }

    /// The last reading shows these payments.
    pub(super) fn late(self, ids: &[&str]) -> Round {
        self.read(reading(ReadingKind::Late, ids))
    }

    pub(super) fn read(mut self, reading: Reading) -> Round {
        self.readings.push(reading);
        self
    }

    pub(super) fn retried(mut self, step: &str, ended: bool, took: u64) -> Round {
        self.retries.push(RetryFacts {
            step: step.to_owned(),
            ended,
            took: millis(took),
            attempts: 1,
        });
        self
    }

    pub(super) fn burst(mut self, step: &str, copies: u32, in_flight: u32) -> Round {
        self.bursts.push(BurstFacts {
            step: step.to_owned(),
            technique: Technique::LastByte,
            copies,
            release_spread: millis(1),
            in_flight,
            backends: 1,
        });
        self
    }

    pub(super) fn moved(mut self, at: u64, by: Duration) -> Round {
        self.hooks.push(HookFacts {
            name: crate::hook::HookName::AdvanceClock,
            at: millis(at),
            due: None,
            over: None,
            worked: true,
            output: String::new(),
            moved: Some(by),
        });
        self
    }

    /// The last hook was meant to begin then, and was over then.
    pub(super) fn timed(mut self, due: u64, over: u64) -> Round {
        if let Some(hook) = self.hooks.last_mut() {
            (hook.due, hook.over) = (Some(millis(due)), Some(millis(over)));
        }
        self
    }

    /// By how much this machine woke up late.
    pub(super) fn busy(mut self, late: u64) -> Round {
        self.lateness = Some(millis(late));
        self
    }

    /// The server was ended without notice.
    pub(super) fn killed(mut self, at: u64) -> Round {
        self.hooks.push(HookFacts {
            name: crate::hook::HookName::Kill,
            at: millis(at),
            due: None,
            over: None,
            worked: true,
            output: String::new(),
            moved: None,
        });
        self
    }

    pub(super) fn broken(mut self, why: &str) -> Round {
        self.broken.push(why.to_owned());
        self
    }
}
