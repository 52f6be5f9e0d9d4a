//! A small payments API to try idemspec on: correct by construction, unless a [`Flaw`] or
//! several are planted in it.
//!
//! It imports nothing else of the crate, and the tool reaches it over HTTP only. The effects of
//! a write, the record of its key and its answer are one SQLite transaction.

mod admin;
mod admission;
mod answer;
mod batch;
mod behaviour;
mod call;
mod caller;
mod carts;
mod clock;
mod coupons;
mod damage;
mod edge;
mod execution;
mod farewell;
mod fingerprint;
mod first_sent;
mod flaw;
mod flaws;
mod in_flight;
mod instance;
mod key;
mod keyed;
mod ledger;
mod mandates;
mod manners;
mod multipart;
mod notices;
mod openapi;
mod operation;
mod outbox;
mod patience;
pub mod policy;
mod recall;
mod relay;
mod restart;
mod rewording;
mod routes;
mod seats;
mod signature;
mod store;
mod switches;
mod variant;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use self::clock::Clock;
use self::keyed::Keyed;
use self::relay::Relay;
use self::seats::{Peer, Seats};
use self::store::{Store, StoreError};
use self::switches::Switches;

pub use self::flaw::{Flaw, Tier};
pub use self::flaws::{Flaws, Matter, Rivals};
pub use self::manners::Manners;
pub use self::policy::Policy;
pub use self::variant::{Events, Sight, VARIANTS, Variant};

/// How long `stop` waits for open requests and connections.
const PATIENCE: Duration = Duration::from_secs(5);

/// How the demo is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the API listens. Port 0 picks a free one.
    pub listen: SocketAddr,
    /// Where the admin listener listens: a loopback address, and a port of its own.
    pub admin: SocketAddr,
    /// Where a second instance of the API listens, over the same store; `None` is no second one.
    pub replica: Option<SocketAddr>,
    /// The database file. `None` is a temporary one, removed when the demo is gone.
    pub database: Option<PathBuf>,
    /// The defects to plant.
    pub flaws: Flaws,
    /// How it treats keys.
    pub policy: Policy,
    /// How it behaves otherwise.
    pub manners: Manners,
    /// How long a write works before it writes.
    pub work: Duration,
    /// How long a key is kept.
    pub retention: Duration,
}

impl Default for Options {
    /// Free loopback ports, one instance, a temporary database, no flaw, the demo's own policy and
    /// manners, 50 ms of work, 24 h of retention.
    fn default() -> Options {
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        Options {
            listen: free,
            admin: free,
            replica: None,
            database: None,
            flaws: Flaws::default(),
            policy: Policy::default(),
            manners: Manners::default(),
            work: Duration::from_millis(50),
            retention: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// Why the demo could not be started.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// Whoever reaches the admin listener moves the clock.
    #[error("the admin listener must be on loopback, not on {address}; use 127.0.0.1 or [::1]")]
    AdminNotLoopback {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// A port is taken, or may not be listened on.
    #[error("cannot listen on {address} ({reason}); choose another port, or 0 for a free one")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system said.
        reason: std::io::Error,
    },
    /// The database could not be opened.
    #[error(
        "cannot open the database ({reason}); name a file in a folder that can be written, or none for a temporary one"
    )]
    Database {
        /// What SQLite said.
        reason: String,
    },
}

impl From<StoreError> for DemoError {
    fn from(error: StoreError) -> DemoError {
        DemoError::Database {
            reason: error.to_string(),
        }
    }
}

/// A running demo. Dropping it stops it without waiting.
#[derive(Debug)]
pub struct Demo {
    /// Where the API listens.
    pub address: SocketAddr,
    /// Where the admin listener listens.
    pub admin: SocketAddr,
    /// Where the second instance listens, if there is one.
    pub replica: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    servers: Vec<JoinHandle<()>>,
    instances: Vec<std::sync::Weak<Keyed>>,
}

/// Starts the demo; it answers as soon as this returns.
pub async fn start(options: Options) -> Result<Demo, DemoError> {
    if !options.admin.ip().is_loopback() {
        return Err(DemoError::AdminNotLoopback {
            address: options.admin,
        });
    }
    let (api_listener, address) = listen(options.listen).await?;
    let (admin_listener, admin) = listen(options.admin).await?;
    let replica = match options.replica {
        Some(address) => Some(listen(address).await?),
        None => None,
    };
    let store = Store::open(options.database.clone())?;
    restart::take_over(&store, options.flaws).await?;
    let clock = Arc::new(Clock::default());
    let manners = options.manners.clone();
    let switches = Arc::new(Switches::default());
    let news: Arc<Notify> = Arc::default();
    let (stop, stopped) = watch::channel(false);
    let mut demo = Demo {
        address,
        admin,
        replica: replica.as_ref().map(|(_, address)| *address),
        servers: Vec::new(),
        stop,
        instances: Vec::new(),
    };
    let listeners = [Some(api_listener), replica.map(|(listener, _)| listener)];
    for (number, listener) in listeners.into_iter().flatten().enumerate() {
        let api = Keyed::new(
            Arc::clone(&clock),
            store.clone(),
            number,
            Arc::clone(&switches),
            Arc::clone(&news),
            options.clone(),
        );
        api.claim_what_is_left().await?;
        let api = Arc::new(api);
        demo.instances.push(Arc::downgrade(&api));
        demo.servers.push(serve(
            Seats::new(listener, manners.most_connections),
            manners.wrapped(routes::router(api)),
            manners.requests_per_connection,
            stopped.clone(),
        ));
    }
    let relay = Relay {
        store: store.clone(),
        news,
        flaws: options.flaws,
        twice: manners.delivers_twice,
        anew: manners.words_events_anew,
        unordered: manners.events_overtake,
    };
    demo.servers.push(serve(
        Seats::new(admin_listener, None),
        admin::router(clock, store, switches),
        None,
        stopped.clone(),
    ));
    demo.servers.push(tokio::spawn(relay.run(stopped)));
    Ok(demo)
}

impl Demo {
    /// Stops the demo: takes no new requests, answers those that are open, and waits up to 5 s
    /// for that and for writes whose clients have hung up.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let mut servers = self.servers;
        let ended = async {
            for server in &mut servers {
                // A server that panicked has ended too.
                let _ = server.await;
            }
            while self.instances.iter().any(|api| api.strong_count() > 0) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        if tokio::time::timeout(PATIENCE, ended).await.is_err() {
            for server in servers {
                server.abort();
            }
        }
    }

    /// Runs until the process is told to stop (Ctrl-C, or SIGTERM), then stops.
    pub async fn run_until_stopped(self) {
        stop_signal().await;
        self.stop().await;
    }
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), DemoError> {
    let failed = |reason| DemoError::Listen { address, reason };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let local = listener.local_addr().map_err(failed)?;
    Ok((listener, local))
}

/// Serves until it is told to stop; `most` is how many requests a connection serves.
fn serve(
    listener: Seats,
    router: Router,
    most: Option<usize>,
    mut stopped: watch::Receiver<bool>,
) -> JoinHandle<()> {
    if let Some(most) = most {
        return tokio::spawn(farewell::serve(listener, router, most, stopped));
    }
    let stop = async move {
        // An error is a demo that was dropped, which stops it as well.
        let _ = stopped.wait_for(|stop| *stop).await;
    };
    tokio::spawn(async move {
        // Serving ends with the stop alone: accept errors are retried inside.
        let service = router.into_make_service_with_connect_info::<Peer>();
        let _ = axum::serve(listener, service)
            .with_graceful_shutdown(stop)
            .await;
    })
}

#[cfg(unix)]
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        },
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

#[cfg(not(unix))]
async fn stop_signal() {
    let _ = tokio::signal::ctrl_c().await;
}
