//! What was wanted of the bursts, and what this run measured.

use std::fmt::Write;
use std::time::Duration;

use crate::server::Window;
use crate::technique::{Technique, Way};

/// What was measured of what was wanted.
#[derive(Default)]
pub struct Reached {
    rows: Vec<Row>,
}

struct Row {
    what: String,
    wanted: String,
    measured: String,
    is_reached: bool,
}

/// The window that hardly any burst may miss.
const SMALL: Duration = Duration::from_micros(50);

impl Reached {
    /// The spread of a technique, as a ratio to that of warm reqwest over the same protocol.
    pub fn spread(&mut self, way: Way, technique: Technique, seen: &str, ratio: f64) {
        let at_most = match technique {
            Technique::SinglePacket => 1.0 / 6.0,
            Technique::LastByte => 1.0 / 2.5,
            _ => return,
        };
        self.rows.push(Row {
            what: format!(
                "spread of 20 copies by {}, {}, {seen}, to that of warm reqwest",
                technique.name(),
                way.name()
            ),
            wanted: format!("at most {at_most:.2}"),
            measured: format!("{ratio:.2}"),
            is_reached: ratio <= at_most,
        });
    }

    /// In how many bursts a window was met.
    pub fn met(
        &mut self,
        way: Way,
        technique: Technique,
        window: Window,
        met: usize,
        rounds: usize,
    ) {
        let is_small = matches!(window, Window::Blocking(time) if time == SMALL);
        if technique != Technique::Auto || !is_small {
            return;
        }
        let at_least = (rounds * 29).div_ceil(30);
        self.rows.push(Row {
            what: format!(
                "bursts that meet a sleep of {SMALL:?}, as in a run, {}",
                way.name()
            ),
            wanted: format!("at least {at_least} of {rounds}"),
            measured: met.to_string(),
            is_reached: met >= at_least,
        });
    }

    /// In how many runs the yield window was met.
    pub fn found(&mut self, way: Way, found: usize, runs: usize) {
        let at_least = (runs * 99).div_ceil(100);
        self.rows.push(Row {
            what: format!(
                "runs that meet the yield window within 20 bursts, {}",
                way.name()
            ),
            wanted: format!("at least {at_least} of {runs}"),
            measured: found.to_string(),
            is_reached: found >= at_least,
        });
    }

    /// The table.
    pub fn write(&self, text: &mut String) -> std::fmt::Result {
        writeln!(
            text,
            "\n## Reach\n\n| What | Wanted | Measured | Reached |\n|---|---|---|---|"
        )?;
        for row in &self.rows {
            let is_reached = if row.is_reached { "yes" } else { "no" };
            writeln!(
                text,
                "| {} | {} | {} | {is_reached} |",
                row.what, row.wanted, row.measured
            )?;
        }
        Ok(())
    }
}
