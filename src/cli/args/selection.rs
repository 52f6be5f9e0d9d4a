//! What of everything runs.

use super::value::{duration, item, shard};
use crate::checklist::ItemId;
use crate::runner::Effort;
use std::path::PathBuf;
use std::time::Duration;

/// Which scenarios run, on which operations.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Selection {
    /// Only this scenario, case, or those whose id begins so (repeatable).
    #[arg(long, value_name = "ID")]
    pub scenario: Vec<String>,
    /// Only what bears on this checklist item, 1 to 9 (repeatable).
    #[arg(long, value_name = "N", value_parser = item)]
    pub item: Vec<ItemId>,
    /// Only this operation of the target (repeatable).
    #[arg(long, value_name = "NAME")]
    pub operation: Vec<String>,
    /// Only what failed, or showed nothing, in an earlier run: its JSON report or its record.
    #[arg(long, value_name = "FILE")]
    pub only_failed: Option<PathBuf>,
    /// Only this part of all cases, such as 1/4; `report --merge` joins the parts.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Run everything so often, with a seed of its own each time, and judge it as one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: Option<u32>,
    /// Repeat a run: the number that it reported.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How hard to look for races.
    #[command(flatten)]
    pub effort: EffortArgs,
}

/// How hard to look for races.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct EffortArgs {
    /// Send bursts until a race window this long would have shown with 95 %, as far as a scenario's
    /// rounds allow [default: 1ms].
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub race_bound: Option<Duration>,
    /// Go on looking for races after one has shown.
    #[arg(long)]
    pub keep_going: bool,
}

impl EffortArgs {
    /// With the defaults for what is not given.
    pub fn effort(self) -> Effort {
        let default = Effort::default();
        Effort {
            race_bound: self.race_bound.unwrap_or(default.race_bound),
            keep_going: self.keep_going,
        }
    }
}

impl Selection {
    /// Whether it leaves anything out.
    pub fn narrows(&self) -> bool {
        !self.scenario.is_empty()
            || !self.item.is_empty()
            || !self.operation.is_empty()
            || self.only_failed.is_some()
            || self.shard.is_some()
    }
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub part: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// Leaves of these what belongs to this part: every n-th, so that each part has some of all
    /// kinds.
    pub fn narrow<T>(self, all: &mut Vec<T>) {
        let mut place = 0..;
        all.retain(|_| {
            place
                .next()
                .is_some_and(|place| place % self.of == self.part - 1)
        });
    }
}
