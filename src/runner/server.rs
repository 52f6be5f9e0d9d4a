//! A server that the tool starts itself, in a process group of its own, and ends with all that it
//! started: at the end of the run, on Ctrl-C, on errors and on panics, and when the tool itself is
//! killed. Never ends anything else.

use super::base::endpoint;
use super::guard::Guard;
use super::rendering::Filling;
use super::round::locked;
use super::world::World;
use crate::process::{Group, Signal, signal};
use crate::scenario::PrincipalRole;
use crate::target::action::Server;
use crate::target::render::command::environment;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};

/// Lines of output that are kept for messages.
const KEPT: usize = 20;
/// How long a server may take to end by itself once it is asked to.
const GRACE: Duration = Duration::from_secs(5);
/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(25);

/// Where ports are looked for: below those that systems give to outgoing connections, one of which
/// could else take the port between a crash and the restart.
const PORTS: Range<u16> = 20_000..32_000;

/// The server of a run: running, or ended by a hook.
#[derive(Default)]
pub(super) struct ManagedServer {
    running: tokio::sync::Mutex<Option<Running>>,
    /// The group to end at once, also from where nothing can be awaited.
    group: Mutex<Option<i32>>,
    output: Arc<Mutex<VecDeque<String>>>,
    /// Outlives us, and then ends the server.
    guard: Mutex<Option<Guard>>,
}

struct Running {
    child: Child,
    group: Group,
}

impl Drop for ManagedServer {
    fn drop(&mut self) {
        self.kill_now();
    }
}

/// A port of this machine that nothing listens on now.
///
/// # Errors
/// When the system gives none.
pub fn free_port() -> std::io::Result<u16> {
    const TRIES: u32 = 50;
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let below = (0..TRIES)
        .map(|_| PORTS.start + chance() % (PORTS.end - PORTS.start))
        .find(is_free);
    match below {
        Some(port) => Ok(port),
        None => Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port()),
    }
}

/// A number by chance, so that runs beside each other choose other ports.
fn chance() -> u16 {
    let [high, low, ..] = *uuid::Uuid::new_v4().as_bytes();
    u16::from_be_bytes([high, low])
}

impl ManagedServer {
    /// Starts the server and waits until it is ready.
    ///
    /// # Errors
    /// It could not be started, ended by itself, or was not ready in time; with its last lines.
    pub(super) async fn start(&self, world: &World, server: &Server) -> Result<(), String> {
        let mut running = self.running.lock().await;
        if running.is_some() {
            return Ok(());
        }
        locked(&self.output).clear();
        let mut started = self.spawn(world, server)?;
        *locked(&self.group) = started.group.0;
        self.watch_over(started.group.0)?;
        let ready = self.wait_until_ready(world, server, &mut started).await;
        if ready.is_ok() {
            *running = Some(started);
        }
        ready
    }

    /// Ends the server without notice, as a crash would, and waits until it is gone.
    pub(super) async fn kill(&self) -> Result<(), String> {
        let Some(mut running) = self.running.lock().await.take() else {
            return Err("the server is not running".to_owned());
        };
        signal(running.group.0, Signal::Kill);
        running
            .child
            .wait()
            .await
            .map_err(|error| error.to_string())?;
        self.forget(running);
        Ok(())
    }

    /// Asks the server to end, and ends what is still there after some seconds.
    pub(super) async fn stop(&self) {
        let Some(mut running) = self.running.lock().await.take() else {
            return;
        };
        signal(running.group.0, Signal::Terminate);
        // Whether it went by itself or not: the rest of its group goes with it.
        let _ = tokio::time::timeout(GRACE, running.child.wait()).await;
        signal(running.group.0, Signal::Kill);
        let _ = tokio::time::timeout(GRACE, running.child.wait()).await;
        self.forget(running);
    }

    /// The folder of the server is removed, and nothing is watched over any more.
    pub(super) async fn clear(&self) {
        let guard = locked(&self.guard).take();
        if let Some(guard) = guard {
            // It removes a folder; how it ends is of no use to anybody.
            let _ = tokio::task::spawn_blocking(move || drop(guard)).await;
        }
    }

    /// A folder that lives as long as the run, for a server to keep its data in over a restart.
    fn folder(&self) -> Result<PathBuf, String> {
        let mut guard = locked(&self.guard);
        let guard = match &mut *guard {
            Some(guard) => guard,
            none => none.insert(Guard::new().map_err(|error| {
                format!(
                    "what ends the server when the tool is killed could not be started: {error}"
                )
            })?),
        };
        Ok(guard.folder().to_owned())
    }

    fn watch_over(&self, group: Option<i32>) -> Result<(), String> {
        match &mut *locked(&self.guard) {
            Some(guard) => guard
                .watch_over(group)
                .map_err(|error| format!("the server's guard has ended: {error}")),
            None => Ok(()),
        }
    }

    /// Ends the whole group at once, without waiting.
    pub(super) fn kill_now(&self) {
        signal(locked(&self.group).take(), Signal::Kill);
    }

    /// The group is empty: its number may be given to somebody else.
    fn forget(&self, mut running: Running) {
        running.group.0 = None;
        *locked(&self.group) = None;
        // A guard that has ended watches over nothing either.
        let _ = self.watch_over(None);
    }

    fn spawn(&self, world: &World, server: &Server) -> Result<Running, String> {
        let principal = world.principal(PrincipalRole::Owner)?.0;
        let variables = environment(
            &server.command,
            &world.target,
            &principal,
            &Filling::new(world),
        )
        .map_err(|error| error.to_string())?;
        let mut command = Command::new("sh");
        command
            .arg("-euc")
            .arg(&server.command.script)
            .envs(variables)
            .env("scratch", self.folder()?)
            .envs(server.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let folder = match &server.dir {
            Some(dir) => world.folder.join(dir),
            None => world.folder.clone(),
        };
        if folder != Path::new("") {
            command.current_dir(&folder);
        }
        let mut child = command
            .spawn()
            .map_err(|error| format!("the server could not be started: {error}"))?;
        if let Some(stdout) = child.stdout.take() {
            self.keep_lines(stdout);
        }
        if let Some(stderr) = child.stderr.take() {
            self.keep_lines(stderr);
        }
        Ok(Running {
            group: Group::of(child.id()),
            child,
        })
    }

    /// Reads what the server says, so that it never blocks on a full pipe.
    fn keep_lines(&self, pipe: impl AsyncRead + Unpin + Send + 'static) {
        let output = Arc::clone(&self.output);
        tokio::spawn(async move {
            let mut lines = BufReader::new(pipe).split(b'\n');
            while let Ok(Some(line)) = lines.next_segment().await {
                let line: String = String::from_utf8_lossy(&line).chars().take(400).collect();
                let mut kept = locked(&output);
                if kept.len() == KEPT {
                    kept.pop_front();
                }
                kept.push_back(line.trim_end().to_owned());
            }
        });
    }

    async fn wait_until_ready(
        &self,
        world: &World,
        server: &Server,
        started: &mut Running,
    ) -> Result<(), String> {
        let deadline = Instant::now() + server.within;
        loop {
            if let Ok(Some(status)) = started.child.try_wait() {
                // What it said last may still be in the pipe.
                tokio::time::sleep(PAUSE).await;
                return Err(self.with_output(world, &format!("the server ended ({status})")));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let why = match serves(world, server, left).await {
                Ok(()) => return Ok(()),
                Err(why) => why,
            };
            if world.is_stopped() {
                return Err("the run was stopped".to_owned());
            }
            if Instant::now() + PAUSE > deadline {
                let within = humantime::format_duration(server.within);
                let what = format!("the server was not ready within {within}: {why}");
                return Err(self.with_output(world, &what));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn with_output(&self, world: &World, what: &str) -> String {
        let lines: Vec<String> = locked(&self.output).iter().cloned().collect();
        if lines.is_empty() {
            return format!("{what}; it wrote nothing");
        }
        let said = world.masker.mask(&lines.join("\n"));
        format!("{what}; its last lines:\n{said}")
    }
}

/// Whether the server serves: `ready` is answered 2xx, or the base URL takes connections.
async fn serves(world: &World, server: &Server, left: Duration) -> Result<(), String> {
    let patience = left.clamp(PAUSE, Duration::from_secs(5));
    let Some(ready) = &server.ready else {
        let (endpoint, _) = endpoint(world.bases[0].url.as_str())?;
        let peer = (endpoint.host.as_str(), endpoint.port);
        return tokio::time::timeout(patience, tokio::net::TcpStream::connect(peer))
            .await
            .map_err(|_| "no connection".to_owned())?
            .map(drop)
            .map_err(|error| error.to_string());
    };
    let rendered = world.render_plain(ready, PrincipalRole::Owner, &Filling::new(world))?;
    let fetched = world.fetch(&rendered, patience).await?;
    if (200..300).contains(&fetched.status) {
        Ok(())
    } else {
        Err(format!(
            "{} was answered {}",
            rendered.path_and_query,
            world.told(&fetched)
        ))
    }
}
