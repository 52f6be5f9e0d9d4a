//! What goes on right now, on stderr: a bar where it is a terminal, else a line for each case.

use super::screen;
use crate::report::line;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Takes what begins now, if anything does, how much is done, and how much there is in all.
pub type Callback = Box<dyn Fn(&str, usize, usize) + Send + Sync>;

/// How often the bar shows that time passes.
const TICK: Duration = Duration::from_millis(500);

/// How progress is shown.
#[derive(Debug)]
pub enum Progress {
    /// A bar that moves.
    Bar(ProgressBar),
    /// Lines, for logs.
    Lines,
    /// Not at all.
    Silent,
}

impl Progress {
    /// What fits stderr.
    pub fn new(quiet: bool) -> Progress {
        if quiet {
            return Progress::Silent;
        }
        if !std::io::stderr().is_terminal() {
            return Progress::Lines;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {elapsed} {wide_msg}")
        {
            bar.set_style(style);
        }
        // What takes long is not taken for dead.
        bar.enable_steady_tick(TICK);
        Progress::Bar(bar)
    }

    /// What the work calls.
    pub fn callback(&self) -> Callback {
        match self {
            Progress::Bar(bar) => {
                let bar = bar.clone();
                Box::new(move |name, done, total| {
                    // Before anything is counted, an empty bar is not a full one.
                    bar.set_length(total.max(1) as u64);
                    bar.set_position(done as u64);
                    if !name.is_empty() {
                        bar.set_message(line(name).into_owned());
                    }
                })
            }
            Progress::Lines => Box::new(|name, done, total| {
                if !name.is_empty() {
                    screen::remark(&format!("[{done}/{total}] {}", line(name)));
                }
            }),
            Progress::Silent => Box::new(|_, _, _| {}),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
