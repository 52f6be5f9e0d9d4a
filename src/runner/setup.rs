//! What a run is given.

use super::defer::Origin;
use super::vantage::Agreement;
use super::wire::TlsOptions;
use crate::contract::Contract;
use crate::scenario::{Case, Scenario};
use crate::target::Target;
use crate::target::port::Ports;
use crate::transcript::{SoFar, Transcript};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What the command line hands to the runner.
pub struct Setup {
    /// The target.
    pub target: Target,
    /// The contract of each operation.
    pub contracts: BTreeMap<String, Contract>,
    /// Hosts allowed beside the target's own.
    pub allow_hosts: Vec<String>,
    /// Certificates.
    pub tls: TlsOptions,
    /// Makes junk credentials repeatable.
    pub seed: u64,
    /// What is agreed on, if several places make the same run.
    pub agreement: Option<Agreement>,
    /// The run of which this is the second half.
    pub origin: Option<Origin>,
    /// The ports that a managed server was given.
    pub ports: Ports,
    /// The folder of the target file, which the paths in it are relative to.
    pub folder: PathBuf,
    /// Tells whether more rounds are needed.
    pub shown: Shown,
    /// How hard to look for races.
    pub effort: Effort,
}

/// How far a case has come. The runner does not judge: whoever sets it up hands it this.
pub type Shown = fn(&Scenario, &Case, &Contract, &Transcript) -> SoFar;

/// How hard to look for races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Rounds of bursts go on until a race window of this length would have been shown with 95 %, as
    /// far as the scenario allows and as long as it can be reached.
    pub race_bound: Duration,
    /// They go on after harm was shown.
    pub keep_going: bool,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            race_bound: Duration::from_millis(1),
            keep_going: false,
        }
    }
}

/// Why a run cannot even begin, or cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RunError(pub String);
