//! What a client did, in a recorded run.

use super::Scenarios;
use crate::contract::Contract;
use crate::grade::JudgedClient;
use crate::judge;
use crate::scenario::client::ClientScenario;
use crate::transcript::client::ClientTranscript;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One case of a client scenario with what happened.
#[derive(Clone, Debug)]
pub struct RecordedClient {
    /// The operation, by its name in the target file.
    pub operation: String,
    /// The scenario.
    pub scenario: Arc<ClientScenario>,
    /// Which of its cases.
    pub case: usize,
    /// Why it does not apply, if it does not.
    pub skip: Option<String>,
    /// What happened.
    pub transcript: ClientTranscript,
}

impl RecordedClient {
    /// What it means under a contract.
    pub(super) fn into_judged(self, contract: Option<&Contract>) -> JudgedClient {
        let case = &self.scenario.cases[self.case];
        let operation = self.operation.as_str();
        let findings = match (&self.skip, contract) {
            (Some(why), _) => judge::client::skipped(operation, &self.scenario, case, why),
            (None, Some(contract)) => {
                judge::client::judge(operation, &self.scenario, case, contract, &self.transcript)
            }
            (None, None) => Vec::new(),
        };
        JudgedClient {
            operation: self.operation,
            scenario: self.scenario,
            case: self.case,
            skipped: self.skip,
            transcript: self.transcript,
            findings,
        }
    }

    pub(super) fn writing(&self) -> Writing<'_> {
        Writing {
            operation: &self.operation,
            scenario: &self.scenario.id,
            case: self.scenario.cases[self.case].name.as_deref(),
            skip: self.skip.as_deref(),
            transcript: &self.transcript,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Writing<'a> {
    operation: &'a str,
    scenario: &'a str,
    case: Option<&'a str>,
    skip: Option<&'a str>,
    transcript: &'a ClientTranscript,
}

#[derive(Deserialize)]
pub(super) struct Written {
    operation: String,
    scenario: String,
    case: Option<String>,
    skip: Option<String>,
    transcript: ClientTranscript,
}

impl Written {
    /// The case, with its scenario; the error is why the record is damaged.
    pub(super) fn read(self, scenarios: &Scenarios) -> Result<RecordedClient, String> {
        let found = scenarios.client.get(&self.scenario).and_then(|scenario| {
            let index = scenario
                .cases
                .iter()
                .position(|own| own.name == self.case)?;
            Some((Arc::clone(scenario), index))
        });
        let Some((scenario, case)) = found else {
            return Err(super::no_scenario(&self.scenario, self.case.as_deref()));
        };
        Ok(RecordedClient {
            operation: self.operation,
            scenario,
            case,
            skip: self.skip,
            transcript: self.transcript,
        })
    }
}
