//! What all cases of a run share: the target, its connections, what is known of it, and what may
//! still be spent on it.

use super::base::Base;
use super::baseline::Baseline;
use super::defer::{Origin, WallTime};
use super::fetch::client;
use super::first_sent::Dates;
use super::fixture::Fixtures;
use super::ledger::Ledger;
use super::mask::Masker;
use super::server::ManagedServer;
use super::setup::{Effort, RunError, Setup, Shown};
use super::sink::Receiver;
use super::spare::Spare;
use super::token::Tokens;
use super::vantage::Vantage;
use super::wire::{Connection, Endpoint, Version, Wire};
use super::words::fresh_word;
use crate::contract::Contract;
use crate::openapi::Document;
use crate::plan::{self, PlannedCase};
use crate::scenario::{OperationRole, PrincipalRole};
use crate::target::key::KeyPlace;
use crate::target::operation::{Operation, Variant};
use crate::target::port::Ports;
use crate::target::principal::{Principal, Role};
use crate::target::render::{Credentials, basic_credentials};
use crate::target::{HttpVersion, Target};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The shared state of a run.
pub(super) struct World {
    pub(super) target: Target,
    pub(super) contracts: BTreeMap<String, Contract>,
    pub(super) bases: Vec<Base>,
    pub(super) masker: Masker,
    pub(super) tokens: Tokens,
    pub(super) fixtures: Fixtures,
    pub(super) ledger: Ledger,
    pub(super) dates: Dates,
    pub(super) baselines:
        tokio::sync::Mutex<HashMap<BaselineKey, std::sync::Arc<tokio::sync::OnceCell<Baseline>>>>,
    pub(super) chosen: tokio::sync::Mutex<HashMap<(String, String), Result<Variant, String>>>,
    /// By the name of the certificate that each shows.
    pub(super) fetchers: BTreeMap<Option<String>, reqwest::Client>,
    pub(super) server: ManagedServer,
    /// The target's OpenAPI document, once it is read.
    pub(super) openapi: tokio::sync::OnceCell<Result<std::sync::Arc<Document>, String>>,
    /// Receives the target's events.
    pub(super) receiver: Option<Receiver>,
    pub(super) folder: PathBuf,
    pub(super) allow_hosts: Vec<String>,
    pub(super) wire: Wire,
    pub(super) spare: Spare,
    started: Instant,
    /// How long before that an earlier half of the run began.
    before: Duration,
    /// This place, if several make the same run.
    pub(super) vantage: Option<Vantage>,
    pub(super) run: String,
    pub(super) run_started: SystemTime,
    pub(super) shown: Shown,
    pub(super) effort: Effort,
    pub(super) ports: Ports,
    seed: u64,
    requests: AtomicU64,
    refusals: Mutex<Refusals>,
    stop: AtomicBool,
    answers_early: AtomicBool,
    pub(super) next_slot: Mutex<Instant>,
    /// The least time between two requests that are no part of a burst, once some were turned away for
    /// their rate, and since when it is that.
    pub(super) gap: Mutex<Option<(Duration, Instant)>>,
    /// Until when the target is left alone, since it refused requests.
    pub(super) quiet: Mutex<Option<Instant>>,
    /// How requests with different keys that are sent at once are served, where that is in turn.
    pub(super) in_turn: Mutex<BTreeMap<String, String>>,
    next_replica: AtomicU32,
}

/// Connections that were refused, one after another.
#[derive(Default)]
struct Refusals {
    in_a_row: u32,
    since: Option<Instant>,
}

impl Refusals {
    /// A restart refuses some, and for a moment.
    const ENOUGH: u32 = 8;
    const LONG: Duration = Duration::from_secs(3);
}

/// What a baseline is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct BaselineKey {
    pub(super) operation: String,
    pub(super) principal: PrincipalRole,
    pub(super) variants: Vec<String>,
}

/// Who plays which operation in a case.
#[derive(Clone, Debug)]
pub(super) struct Cast {
    pub(super) subject: String,
    pub(super) other: Option<String>,
    pub(super) other_method: Option<String>,
}

impl Cast {
    /// One operation by itself.
    pub(super) fn alone(operation: &str) -> Cast {
        Cast {
            subject: operation.to_owned(),
            other: None,
            other_method: None,
        }
    }

    pub(super) fn of(case: &PlannedCase) -> Cast {
        Cast {
            subject: case.subject.clone(),
            other: case.other.clone(),
            other_method: case.other_method.clone(),
        }
    }

    /// The operation's name.
    pub(super) fn name(&self, role: OperationRole) -> Result<&str, String> {
        match role {
            OperationRole::Subject => Ok(&self.subject),
            OperationRole::Other => self
                .other
                .as_deref()
                .ok_or_else(|| "there is no second operation".to_owned()),
            OperationRole::OtherMethod => self
                .other_method
                .as_deref()
                .ok_or_else(|| "there is no operation with another method".to_owned()),
        }
    }
}

impl World {
    pub(super) fn new(setup: Setup) -> Result<World, RunError> {
        let bases = setup
            .target
            .base_urls
            .iter()
            .map(|base| {
                let url = base
                    .resolve(|name| setup.ports.get(name))
                    .map_err(RunError)?;
                Ok(Base {
                    said: base.said(&url),
                    address: base.address,
                    url,
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        for base in &bases {
            let host = base.url.host_str().unwrap_or_default();
            if !setup.target.allows(host, &setup.allow_hosts) {
                return Err(RunError(format!(
                    "refused to send to {host}: it does not stand literally in base-url; add it to hosts or --allow-host"
                )));
            }
        }
        let version = match setup.target.http {
            HttpVersion::Auto => Version::Auto,
            HttpVersion::Http1 => Version::Http1,
            HttpVersion::Http2 => Version::Http2,
        };
        let wire = Wire::new(setup.tls, version).map_err(|error| RunError(error.to_string()))?;
        let fetcher = |certificate| {
            client(wire.tls_of_others(certificate))
                .map_err(|error| RunError(format!("no HTTP client: {error}")))
        };
        let fetchers = wire
            .certificates()
            .map(|name| Ok((Some(name.clone()), fetcher(Some(name))?)))
            .chain([fetcher(None).map(|own| (None, own))])
            .collect::<Result<BTreeMap<_, _>, RunError>>()?;
        let receiver = setup.target.sink.as_ref().map(Receiver::bind).transpose()?;
        let vantage = setup.agreement.map(Vantage::new).transpose();
        let vantage = vantage.map_err(RunError)?;
        let origin = setup.origin.unwrap_or_else(|| Origin {
            run: vantage.as_ref().map_or_else(fresh_word, Vantage::run),
            started: WallTime(
                vantage
                    .as_ref()
                    .map_or_else(SystemTime::now, Vantage::start),
            ),
        });
        let run_started = origin.started.0;
        Ok(World {
            masker: Masker::new(&setup.target.secrets, &basic_credentials(&setup.target)),
            tokens: Tokens::default(),
            fixtures: Fixtures::default(),
            ledger: Ledger::default(),
            dates: Dates::default(),
            baselines: tokio::sync::Mutex::default(),
            chosen: tokio::sync::Mutex::default(),
            target: setup.target,
            contracts: setup.contracts,
            bases,
            fetchers,
            server: ManagedServer::default(),
            openapi: tokio::sync::OnceCell::new(),
            receiver,
            folder: setup.folder,
            allow_hosts: setup.allow_hosts,
            wire,
            spare: Spare::new(),
            started: Instant::now(),
            before: run_started.elapsed().unwrap_or_default(),
            run: origin.run,
            run_started,
            vantage,
            shown: setup.shown,
            effort: setup.effort,
            ports: setup.ports,
            seed: setup.seed,
            requests: AtomicU64::new(0),
            refusals: Mutex::default(),
            stop: AtomicBool::new(false),
            answers_early: AtomicBool::new(false),
            next_slot: Mutex::new(Instant::now()),
            gap: Mutex::default(),
            quiet: Mutex::default(),
            in_turn: Mutex::default(),
            next_replica: AtomicU32::new(0),
        })
    }

    /// The time since the run began.
    pub(super) fn clock(&self, at: Instant) -> Duration {
        self.before + at.saturating_duration_since(self.started)
    }

    /// The time from when the run began to a point in time on everybody's clock.
    pub(super) fn clock_of(&self, at: SystemTime) -> Duration {
        at.duration_since(self.started_at()).unwrap_or_default()
    }

    /// When the run began, on everybody's clock.
    pub(super) fn started_at(&self) -> SystemTime {
        SystemTime::now() - self.clock(Instant::now())
    }

    /// The operation of this name.
    pub(super) fn operation(&self, name: &str) -> Result<&Operation, String> {
        self.target
            .operation(name)
            .ok_or_else(|| format!("there is no operation `{name}`"))
    }

    /// The contract of an operation.
    pub(super) fn contract(&self, operation: &str) -> &Contract {
        self.contracts
            .get(operation)
            .expect("every operation of the target has its contract")
    }

    /// Where the operation's key goes.
    pub(super) fn key_place(&self, operation: &Operation) -> Option<KeyPlace> {
        let declared = operation.key.clone().or_else(|| self.target.key.clone());
        declared.or_else(|| {
            Some(KeyPlace::At {
                carrier: plan::carrier(&self.contract(&operation.name).key)?,
                form: crate::target::key::KeyForm::default(),
            })
        })
    }

    /// Whether the target file says that the operation takes no key.
    pub(super) fn is_keyless(&self, operation: &str) -> bool {
        self.operation(operation)
            .is_ok_and(|operation| self.key_place(operation) == Some(KeyPlace::None))
    }

    /// The principal of a role, and with which credentials it sends.
    pub(super) fn principal(
        &self,
        role: PrincipalRole,
    ) -> Result<(Cow<'_, Principal>, Credentials), String> {
        let (role, credentials) = match role {
            PrincipalRole::Nobody => (PrincipalRole::Owner, Credentials::Without),
            PrincipalRole::Wrong => (PrincipalRole::Owner, Credentials::Wrong { seed: self.seed }),
            role => (role, Credentials::Normal),
        };
        let name = Role::from_name(role.name())
            .ok_or_else(|| format!("there is no role `{}`", role.name()))?;
        match self.target.principals.get(&name) {
            Some(principal) => Ok((Cow::Borrowed(principal), credentials)),
            None if name == Role::Owner || name == Role::Anonymous => {
                Ok((Cow::Owned(Principal::default()), credentials))
            }
            None => Err(format!("the target has no principal `{name}`")),
        }
    }

    /// Whose credentials a role has.
    pub(super) fn role(&self, role: PrincipalRole) -> Role {
        match role {
            PrincipalRole::Nobody | PrincipalRole::Wrong => Role::Owner,
            role => Role::from_name(role.name()).unwrap_or(Role::Owner),
        }
    }

    /// Asks for another request; an error when the budget is spent, the target gone or the run stopped.
    pub(super) fn spend(&self, requests: u64) -> Result<(), String> {
        if self.is_stopped() {
            return Err("the run was stopped".to_owned());
        }
        if self.is_target_gone() {
            return Err("the target takes no connections any more".to_owned());
        }
        let spent = self.requests.fetch_add(requests, Ordering::Relaxed) + requests;
        match self.target.limits.requests {
            Some(limit) if spent > limit => Err(format!(
                "the budget of {limit} requests is spent (limits.requests)"
            )),
            _ => Ok(()),
        }
    }

    /// Requests sent so far.
    pub(super) fn spent(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The target answered a request of which the last byte was still held back.
    pub(super) fn note_early_answer(&self) {
        self.answers_early.store(true, Ordering::Relaxed);
    }

    /// Whether the target decides before a request is complete: a last byte then releases nothing.
    pub(super) fn answers_early(&self) -> bool {
        self.answers_early.load(Ordering::Relaxed)
    }

    /// Nothing more is started.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether connections have been refused so often, and for so long, that the target must be
    /// gone.
    pub(super) fn is_target_gone(&self) -> bool {
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.in_a_row >= Refusals::ENOUGH
            && refusals
                .since
                .is_some_and(|since| since.elapsed() >= Refusals::LONG)
    }

    /// The target was ended, or started again: what was known of its connections is of the past.
    pub(super) fn forget_connections(&self) {
        self.doubt_logins();
        self.spare.clear();
        *self.refusals.lock().unwrap_or_else(PoisonError::into_inner) = Refusals::default();
    }

    /// A connection to the endpoint: a warm one, or a new one.
    pub(super) async fn connect(
        &self,
        endpoint: &Endpoint,
        new: bool,
    ) -> Result<Connection, super::wire::Unreachable> {
        if !new && let Some(connection) = self.spare.take(endpoint) {
            return Ok(connection);
        }
        let patience = self.target.limits.patience.min(Duration::from_secs(10));
        let connected = self.wire.connect(endpoint, patience).await;
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        match &connected {
            Ok(_) => *refusals = Refusals::default(),
            Err(_) => {
                refusals.in_a_row += 1;
                refusals.since.get_or_insert_with(Instant::now);
            }
        }
        connected
    }

    /// The base URL to send to: the first, or each in turn.
    pub(super) fn base(&self, each: bool) -> &Base {
        match self.bases.len() {
            1 => &self.bases[0],
            count if each => {
                &self.bases[self.next_replica.fetch_add(1, Ordering::Relaxed) as usize % count]
            }
            _ => &self.bases[0],
        }
    }
}

/// The role in scenarios of a principal that the target file names.
pub(super) fn played_by(role: Role) -> Option<PrincipalRole> {
    [
        PrincipalRole::Owner,
        PrincipalRole::OtherTenant,
        PrincipalRole::OtherSession,
        PrincipalRole::SameTenant,
        PrincipalRole::ReadOnly,
    ]
    .into_iter()
    .find(|known| known.name() == role.name())
}
