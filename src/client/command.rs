//! The command whose requests are judged: started in a process group of its own, told where to go,
//! and ended with all that it started.

use crate::process::{Group, Signal, signal};
use crate::transcript::client::RunEnd;
use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};

/// Lines of output that are kept.
const KEPT: usize = 12;
/// Characters of a line that are kept.
const WIDTH: usize = 300;
/// How long what the command started may hold its output open after it has ended.
const GRACE: Duration = Duration::from_millis(200);

/// A command that runs.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    group: Group,
    wrote: Arc<Mutex<VecDeque<String>>>,
}

impl Running {
    /// Starts a command with variables beside our own.
    pub(super) fn start(
        command: &[String],
        variables: &[(String, String)],
    ) -> Result<Running, RunEnd> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(RunEnd::NotStarted("there is no command".to_owned()));
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command
            .spawn()
            .map_err(|error| RunEnd::NotStarted(format!("{program}: {error}")))?;
        let wrote = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(output) = child.stdout.take() {
            tokio::spawn(keep_lines(output, Arc::clone(&wrote)));
        }
        if let Some(output) = child.stderr.take() {
            tokio::spawn(keep_lines(output, Arc::clone(&wrote)));
        }
        Ok(Running {
            group: Group::of(child.id()),
            child,
            wrote,
        })
    }

    /// Waits for its end.
    pub(super) async fn ended(&mut self) -> RunEnd {
        match self.child.wait().await {
            Ok(status) => status.code().map_or(RunEnd::Signalled, RunEnd::Exited),
            Err(error) => RunEnd::NotStarted(error.to_string()),
        }
    }

    /// Ends it and all that it started, and gives the last lines that it wrote.
    pub(super) async fn finish(mut self) -> String {
        signal(self.group.0, Signal::Kill);
        // It has been told to end in a way that it cannot refuse.
        let _ = self.child.wait().await;
        self.group.forget();
        tokio::time::sleep(Duration::from_millis(5)).await;
        let deadline = tokio::time::Instant::now() + GRACE;
        while Arc::strong_count(&self.wrote) > 1 && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let lines = self.wrote.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect::<Vec<_>>().join("\n")
    }
}

async fn keep_lines(output: impl AsyncRead + Unpin, wrote: Arc<Mutex<VecDeque<String>>>) {
    let mut reader = BufReader::new(output);
    let mut line = Vec::new();
    while reader
        .read_until(b'\n', &mut line)
        .await
        .is_ok_and(|read| read > 0)
    {
        let text: String = String::from_utf8_lossy(&line)
            .trim_end()
            .chars()
            .take(WIDTH)
            .collect();
        line.clear();
        let mut wrote = wrote.lock().unwrap_or_else(PoisonError::into_inner);
        if wrote.len() == KEPT {
            wrote.pop_front();
        }
        wrote.push_back(text);
    }
}
