//! What all cases of a run share: the target, its connections, what is known of it, and what may
//! still be spent on it.

use super::baseline::Baseline;
use super::fixture::Fixtures;
use super::ledger::Ledger;
use super::mask::Masker;
use super::server::ManagedServer;
use super::spec::{Spec, fresh_word};
use super::wire::{Connection, Endpoint, Scheme, TlsOptions, Version, Wire};
use crate::contract::Contract;
use crate::plan::{self, PlannedCase};
use crate::scenario::{Case, OperationRole, PrincipalRole, Scenario};
use crate::target::key::KeyPlace;
use crate::target::operation::{Operation, Variant};
use crate::target::placeholder::{Placeholder, Values};
use crate::target::principal::{Principal, Role};
use crate::target::render::{
    Credentials, Form, Recipe, RenderError, Rendered, basic_credentials, render,
};
use crate::target::request::Request;
use crate::target::selector::Answer;
use crate::target::{HttpVersion, Target};
use crate::transcript::Transcript;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use url::Url;

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
    /// The port that a managed server was given.
    pub port: Option<u16>,
    /// The folder of the target file, which the paths in it are relative to.
    pub folder: PathBuf,
    /// Tells whether more rounds are needed.
    pub shown: Shown,
}

/// How many rounds of a case have shown something so far. The runner does not judge: whoever
/// sets it up hands it this.
pub type Shown = fn(&Scenario, &Case, &Contract, &Transcript) -> u32;

/// Why a run cannot even begin, or cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RunError(pub String);

/// The shared state of a run.
pub(super) struct World {
    pub(super) target: Target,
    pub(super) contracts: BTreeMap<String, Contract>,
    pub(super) bases: Vec<Url>,
    pub(super) masker: Masker,
    pub(super) fixtures: Fixtures,
    pub(super) ledger: Ledger,
    pub(super) baselines:
        tokio::sync::Mutex<HashMap<BaselineKey, std::sync::Arc<tokio::sync::OnceCell<Baseline>>>>,
    pub(super) chosen: tokio::sync::Mutex<HashMap<(String, String), Result<Variant, String>>>,
    pub(super) fetcher: reqwest::Client,
    pub(super) server: ManagedServer,
    pub(super) folder: PathBuf,
    allow_hosts: Vec<String>,
    wire: Wire,
    idle: Mutex<Vec<(Endpoint, Connection, Instant)>>,
    started: Instant,
    run: String,
    run_started: SystemTime,
    pub(super) shown: Shown,
    port: Option<u16>,
    seed: u64,
    requests: AtomicU64,
    refused_in_a_row: AtomicU32,
    stop: AtomicBool,
    answers_early: AtomicBool,
    next_slot: Mutex<Instant>,
    next_replica: AtomicU32,
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

/// Bytes of an answer beside the graded ones that are read: the target may never stop.
const MOST_FETCHED: usize = 32 << 20;

/// What a request beside the graded ones came back with.
#[derive(Clone, Debug)]
pub(super) struct Fetched {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, Vec<u8>)>,
    pub(super) body: Vec<u8>,
}

impl Fetched {
    pub(super) fn answer(&self) -> Answer<'_> {
        Answer {
            status: self.status,
            headers: &self.headers,
            body: &self.body,
        }
    }
}

impl World {
    pub(super) fn new(setup: Setup) -> Result<World, RunError> {
        let bases = setup
            .target
            .base_urls
            .iter()
            .map(|base| base.resolve(setup.port).map_err(RunError))
            .collect::<Result<Vec<_>, _>>()?;
        for base in &bases {
            let host = base.host_str().unwrap_or_default();
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
        let roots = setup.tls.extra_roots.clone();
        let verify = setup.tls.verify;
        let fetcher = fetcher(&roots, verify)
            .map_err(|error| RunError(format!("no HTTP client: {error}")))?;
        let wire = Wire::new(setup.tls, version).map_err(|error| RunError(error.to_string()))?;
        Ok(World {
            masker: Masker::new(&setup.target.secrets, &basic_credentials(&setup.target)),
            fixtures: Fixtures::default(),
            ledger: Ledger::default(),
            baselines: tokio::sync::Mutex::default(),
            chosen: tokio::sync::Mutex::default(),
            target: setup.target,
            contracts: setup.contracts,
            bases,
            fetcher,
            server: ManagedServer::default(),
            folder: setup.folder,
            allow_hosts: setup.allow_hosts,
            wire,
            idle: Mutex::new(Vec::new()),
            started: Instant::now(),
            run: fresh_word(),
            run_started: SystemTime::now(),
            shown: setup.shown,
            port: setup.port,
            seed: setup.seed,
            requests: AtomicU64::new(0),
            refused_in_a_row: AtomicU32::new(0),
            stop: AtomicBool::new(false),
            answers_early: AtomicBool::new(false),
            next_slot: Mutex::new(Instant::now()),
            next_replica: AtomicU32::new(0),
        })
    }

    /// The time since the run began.
    pub(super) fn clock(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.started)
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

    /// Asks for another request; an error when the budget is spent, the target gone or the run stopped.
    pub(super) fn spend(&self, requests: u64) -> Result<(), String> {
        if self.is_stopped() {
            return Err("the run was stopped".to_owned());
        }
        if self.refused_in_a_row.load(Ordering::Relaxed) >= 25 {
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

    /// Waits for its turn under `limits.rate`.
    pub(super) async fn turn(&self) {
        let Some(rate) = self.target.limits.rate.filter(|rate| *rate > 0.0) else {
            return;
        };
        let slot = {
            let mut next = self
                .next_slot
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let slot = (*next).max(Instant::now());
            *next = slot + Duration::from_secs_f64(1.0 / rate);
            slot
        };
        tokio::time::sleep_until(slot.into()).await;
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

    /// Whether connections have been refused so often that the target must be gone.
    pub(super) fn is_target_gone(&self) -> bool {
        self.refused_in_a_row.load(Ordering::Relaxed) >= 25
    }

    /// A connection to the endpoint: a warm one, or a new one.
    pub(super) async fn connect(
        &self,
        endpoint: &Endpoint,
        new: bool,
    ) -> Result<Connection, super::wire::Unreachable> {
        // Servers close idle connections after some seconds; one that is about to be closed would
        // lose a request that nobody meant to lose.
        const FRESH: Duration = Duration::from_millis(1500);
        if !new {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.retain(|(_, connection, since)| since.elapsed() < FRESH && connection.is_open());
            if let Some(at) = idle.iter().position(|(own, ..)| own == endpoint) {
                return Ok(idle.swap_remove(at).1);
            }
        }
        let patience = self.target.limits.patience.min(Duration::from_secs(10));
        let connected = self.wire.connect(endpoint, patience).await;
        match &connected {
            Ok(_) => self.refused_in_a_row.store(0, Ordering::Relaxed),
            Err(_) => {
                self.refused_in_a_row.fetch_add(1, Ordering::Relaxed);
            }
        }
        connected
    }

    /// Keeps a connection for later.
    pub(super) fn keep(&self, endpoint: &Endpoint, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < 200 {
            idle.push((endpoint.clone(), connection, Instant::now()));
        }
    }

    /// The base URL to send to: the first, or each in turn.
    pub(super) fn base(&self, each: bool) -> &Url {
        match self.bases.len() {
            1 => &self.bases[0],
            count if each => {
                &self.bases[self.next_replica.fetch_add(1, Ordering::Relaxed) as usize % count]
            }
            _ => &self.bases[0],
        }
    }

    /// The bytes of an operation's request, and whether a form changed the body's.
    pub(super) async fn render_operation(
        &self,
        cast: &Cast,
        spec: &Spec,
        each: bool,
    ) -> Result<(Rendered, bool), RenderError> {
        let skip = RenderError::NotApplicable;
        let operation = self
            .operation(cast.name(spec.operation).map_err(skip)?)
            .map_err(skip)?;
        let mut patches = Vec::new();
        for name in &spec.variants {
            patches.push(self.variant(operation, name).await.map_err(skip)?);
        }
        let patches: Vec<_> = patches.iter().map(|variant| &variant.patch).collect();
        let (principal, credentials) = self.principal(spec.principal).map_err(skip)?;
        let mut forms = Vec::new();
        for name in &spec.forms {
            forms.push(
                Form::from_name(name).ok_or_else(|| skip(format!("there is no form `{name}`")))?,
            );
        }
        let patched = patches
            .iter()
            .fold(operation.request.clone(), |request, patch| {
                request.patched(patch)
            });
        let mut values = Filling::of_spec(self, spec);
        self.fixtures
            .fill(self, &patched, operation, spec, &mut values)
            .await
            .map_err(|reason| RenderError::NoValue {
                placeholder: "a fixture".to_owned(),
                reason,
            })?;
        let place = self.key_place(operation);
        let recipe = Recipe {
            target: &self.target,
            base: self.base(each),
            request: &operation.request,
            patches: &patches,
            forms: &forms,
            key: place.as_ref().map(|place| (place, &spec.key.sent)),
            principal: &principal,
            credentials,
            values: &values,
        };
        let rendered = render(&recipe)?;
        let reworded = if forms.is_empty() {
            false
        } else {
            render(&Recipe {
                forms: &[],
                ..recipe
            })?
            .body
                != rendered.body
        };
        Ok((rendered, reworded))
    }

    /// The declared or derived variant that a scenario's name stands for.
    pub(super) async fn variant(
        &self,
        operation: &Operation,
        name: &str,
    ) -> Result<Variant, String> {
        let chosen = self.chosen.lock().await;
        if let Some(known) = chosen.get(&(operation.name.clone(), name.to_owned())) {
            return known.clone();
        }
        drop(chosen);
        let candidates = operation.variation(name)?;
        candidates
            .into_iter()
            .next()
            .map(Cow::into_owned)
            .ok_or_else(|| format!("{} has no variant `{name}`", operation.name))
    }

    /// The bytes of a request that is no operation's own.
    pub(super) fn render_plain(
        &self,
        request: &Request,
        role: PrincipalRole,
        values: &dyn Values,
    ) -> Result<Rendered, String> {
        let role = match request.sender {
            Some(Role::Observer) => None,
            Some(sender) => Some(
                [
                    PrincipalRole::Owner,
                    PrincipalRole::OtherTenant,
                    PrincipalRole::SameTenant,
                    PrincipalRole::OtherSession,
                ]
                .into_iter()
                .find(|role| role.name() == sender.name())
                .unwrap_or(role),
            ),
            None => Some(role.stand_in()),
        };
        let principal = match role {
            Some(role) => self.principal(role)?.0,
            None => match self.target.principals.get(&Role::Observer) {
                Some(observer) => Cow::Borrowed(observer),
                None => self.principal(PrincipalRole::Owner)?.0,
            },
        };
        render(&Recipe {
            target: &self.target,
            base: &self.bases[0],
            request,
            patches: &[],
            forms: &[],
            key: None,
            principal: &principal,
            credentials: Credentials::Normal,
            values,
        })
        .map_err(|error| error.to_string())
    }

    /// Sends a request that is not graded: no redirects, no retries.
    pub(super) async fn fetch(
        &self,
        rendered: &Rendered,
        timeout: Duration,
    ) -> Result<Fetched, String> {
        self.check_host(&rendered.origin)?;
        let url = format!("{}{}", rendered.origin, rendered.path_and_query);
        let method = reqwest::Method::from_bytes(rendered.method.as_bytes())
            .map_err(|_| format!("`{}` is no method", rendered.method))?;
        let mut request = self.fetcher.request(method, &url).timeout(timeout);
        for (name, value) in &rendered.headers {
            request = request.header(name.as_str(), value.as_slice());
        }
        if let Some(body) = &rendered.body {
            request = request.body(body.clone());
        }
        let says = |error: reqwest::Error| {
            let error = error.without_url();
            let mut text = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(inner) = cause {
                text = format!("{text}: {inner}");
                cause = inner.source();
            }
            self.masker.mask(&text)
        };
        let mut response = request.send().await.map_err(says)?;
        let status = response.status().as_u16();
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
            .collect();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(says)? {
            body.extend_from_slice(&chunk);
            if body.len() > MOST_FETCHED {
                return Err(format!("an answer of more than {} MiB", MOST_FETCHED >> 20));
            }
        }
        Ok(Fetched {
            status,
            headers,
            body,
        })
    }

    /// Status and the beginning of the body, for messages: without secrets, which the target may
    /// send back as it got them.
    pub(super) fn told(&self, fetched: &Fetched) -> String {
        let mut text = self.masker.mask(&String::from_utf8_lossy(&fetched.body));
        let answer = fetched.answer();
        let secrets = self.target.mask.iter();
        for secret in secrets
            .flat_map(|selector| selector.select(&answer))
            .filter_map(|value| super::answer::plain(&value))
        {
            text = text.replace(secret.as_str(), &self.masker.pseudonym(&secret));
        }
        // Cut last: half a secret would be found by nobody.
        let shown: String = text.chars().take(200).collect();
        format!("{} {shown}", fetched.status)
    }

    /// Refuses hosts that nobody named.
    pub(super) fn check_host(&self, origin: &str) -> Result<(), String> {
        let url = Url::parse(origin).map_err(|_| format!("`{origin}` is no URL"))?;
        let host = url.host_str().unwrap_or_default();
        if self.target.allows(host, &self.allow_hosts) {
            Ok(())
        } else {
            Err(format!("refused to send to {host}: it is not in hosts"))
        }
    }
}

/// The endpoint of an origin such as `https://api.example.com:8443`.
pub(super) fn endpoint(origin: &str) -> Result<(Endpoint, String), String> {
    let url = Url::parse(origin).map_err(|error| format!("`{origin}` is no URL: {error}"))?;
    let scheme = match url.scheme() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => {
            return Err(format!(
                "the scheme `{other}` is not supported: http or https"
            ));
        }
    };
    let host = url
        .host_str()
        .ok_or("the URL has no host")?
        .trim_matches(['[', ']'])
        .to_owned();
    let port = url.port_or_known_default().ok_or("the URL has no port")?;
    let authority = match url.port() {
        Some(port) => format!("{}:{port}", url.host_str().unwrap_or_default()),
        None => url.host_str().unwrap_or_default().to_owned(),
    };
    Ok((Endpoint { scheme, host, port }, authority))
}

/// The client for what is not under test.
fn fetcher(
    extra_roots: &[rustls::pki_types::CertificateDer<'static>],
    verify: bool,
) -> Result<reqwest::Client, reqwest::Error> {
    // Installing twice is no error worth telling: the provider is the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut roots: Vec<reqwest::Certificate> = Vec::new();
    let native = rustls_native_certs::load_native_certs().certs;
    let bundled = webpki_root_certs::TLS_SERVER_ROOT_CERTS;
    let system: Vec<_> = if native.is_empty() {
        bundled.to_vec()
    } else {
        native
    };
    for certificate in system.iter().chain(extra_roots) {
        if let Ok(certificate) = reqwest::Certificate::from_der(certificate) {
            roots.push(certificate);
        }
    }
    let mut builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .pool_idle_timeout(Duration::from_millis(1500))
        .tls_certs_only(roots);
    if !verify {
        builder = builder.tls_danger_accept_invalid_certs(true);
    }
    builder.build()
}

/// The values of placeholders for one request.
pub(super) struct Filling<'a> {
    world: &'a World,
    pub(super) marker: String,
    pub(super) unique: String,
    pub(super) key: Option<String>,
    pub(super) now: SystemTime,
    pub(super) seconds: Option<u64>,
    pub(super) identity: Option<String>,
    pub(super) given: Option<String>,
    pub(super) fixtures: HashMap<String, Value>,
    /// The body as sent.
    pub(super) request: Option<Value>,
    pub(super) response: Option<Fetched>,
}

impl<'a> Filling<'a> {
    pub(super) fn new(world: &'a World) -> Filling<'a> {
        Filling {
            world,
            marker: String::new(),
            unique: String::new(),
            key: None,
            now: SystemTime::now(),
            seconds: None,
            identity: None,
            given: None,
            fixtures: HashMap::new(),
            request: None,
            response: None,
        }
    }

    pub(super) fn of_spec(world: &'a World, spec: &Spec) -> Filling<'a> {
        Filling {
            marker: spec.marker.clone(),
            unique: spec.unique.clone(),
            key: spec.key.value.clone(),
            now: spec.now,
            ..Filling::new(world)
        }
    }
}

impl Values for Filling<'_> {
    fn get(&self, placeholder: &Placeholder) -> Result<Value, String> {
        let text = |text: &str| Ok(Value::String(text.to_owned()));
        match placeholder {
            Placeholder::Marker => text(&self.marker),
            Placeholder::Unique => text(&self.unique),
            Placeholder::Key => text(self.key.as_deref().ok_or("there is no key")?),
            Placeholder::Uuid => text(&uuid::Uuid::new_v4().to_string()),
            Placeholder::Time(shift) => text(&shift.text(self.now)),
            Placeholder::Run => text(&self.world.run),
            Placeholder::RunStarted => {
                text(&humantime::format_rfc3339_seconds(self.world.run_started).to_string())
            }
            Placeholder::Port => self
                .world
                .port
                .map(Value::from)
                .ok_or_else(|| "no port was chosen".to_owned()),
            Placeholder::Seconds => self
                .seconds
                .map(Value::from)
                .ok_or_else(|| "no time is to pass".to_owned()),
            Placeholder::Identity => text(self.identity.as_deref().ok_or("no identity is known")?),
            Placeholder::GivenIdentity => {
                text(self.given.as_deref().ok_or("no resource was made for it")?)
            }
            Placeholder::Fixture(name) => self
                .fixtures
                .get(name)
                .cloned()
                .ok_or_else(|| format!("the fixture `{name}` was not made")),
            Placeholder::Request(selector) => {
                let body = self
                    .request
                    .as_ref()
                    .ok_or("the request has no JSON body")?;
                selector
                    .select_in(body)
                    .into_iter()
                    .next()
                    .ok_or_else(|| "it is not in the request".to_owned())
            }
            Placeholder::Response(selector) => {
                let response = self.response.as_ref().ok_or("there is no response")?;
                selector
                    .select(&response.answer())
                    .into_iter()
                    .next()
                    .ok_or_else(|| {
                        format!("it is not in the response ({})", self.world.told(response))
                    })
            }
            Placeholder::Secret(_) | Placeholder::Var(_) | Placeholder::Filler(_) => {
                Err("it is filled in where the request is made".to_owned())
            }
        }
    }
}
