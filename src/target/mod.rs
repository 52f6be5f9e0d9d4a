//! The target: the API under test, where it is, who calls, which operations it has, and how their
//! effects are seen. Parsing, linting and rendering are pure; files and the environment are handed
//! in. It knows nothing of contracts or scenarios, and never touches the network.

pub mod action;
mod address;
pub mod client;
pub mod consumer;
mod derive;
pub mod documents;
pub mod duration;
pub mod host;
pub mod key;
pub mod matcher;
pub mod operation;
pub mod parse;
pub mod placeholder;
pub mod port;
pub mod principal;
pub mod render;
pub mod request;
pub mod secret;
pub mod selector;
mod sharing;
pub mod signing;
pub mod sink;
pub mod syntax;
pub mod time_shift;
pub mod token;
pub mod tree;
#[cfg(test)]
pub(crate) mod trial;
pub mod variation;
pub mod volatile;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use crate::yaml::Node;

use action::Hooks;
use action::Server;
use client::Client;
use documents::Documents;
use key::KeyPlace;
use operation::Fixture;
use operation::Operation;
use placeholder::Template;
use principal::Certificate;
use principal::Principal;
use principal::Role;
use request::Pair;
use secret::SecretValue;
use selector::Selector;
use sink::Sink;
use tree::Tree;

/// The API under test.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its name in reports.
    pub name: String,
    /// Where it is; several are replicas of one API.
    pub base_urls: Vec<BaseUrl>,
    /// Whether each address of a base URL's host is a replica.
    pub all_addresses: bool,
    /// Other hosts that the tool may write to; `*.` stands for any subdomain.
    pub hosts: Vec<String>,
    /// What it promises, unresolved; `None` is `generic`.
    pub contract: Option<Node>,
    /// Headers on every request to it.
    pub headers: Vec<Pair>,
    /// Variables.
    pub vars: BTreeMap<String, Tree>,
    /// Where the key goes, unless the operation says otherwise; `None`: the contract says.
    pub key: Option<KeyPlace>,
    /// Who calls; `owner` is always there.
    pub principals: BTreeMap<Role, Principal>,
    /// What must exist first, in the order of the file.
    pub fixtures: Vec<Fixture>,
    /// What is tried, in the order of the file.
    pub operations: Vec<Operation>,
    /// Parts of responses that are secret.
    pub mask: Vec<Selector>,
    /// How long effects may take to show.
    pub settle: Duration,
    /// How long a request outside a burst may take.
    pub timeout: Duration,
    /// The version of HTTP that is spoken.
    pub http: HttpVersion,
    /// Certificates.
    pub tls: Tls,
    /// What the tool may cost the target.
    pub limits: Limits,
    /// What may be done to it from outside.
    pub hooks: Hooks,
    /// A server that the tool starts itself.
    pub server: Option<Server>,
    /// How its client is told where to go, and what is known of it.
    pub client: Client,
    /// Names of the ports that it has beside `${port}`.
    pub port_names: BTreeSet<String>,
    /// What its documents say.
    pub documents: Option<Documents>,
    /// Our receiver of the target's events.
    pub sink: Option<Sink>,
    /// Every secret of the file, for masking.
    pub secrets: Vec<SecretValue>,
    /// The sign that this is no sandbox, as a sentence.
    pub looks_live: Option<String>,
    /// The whole file, overlays merged.
    pub source: Node,
}

impl Target {
    /// The operation of this name.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations
            .iter()
            .find(|operation| operation.name == name)
    }

    /// The operation that scenarios use one key on beside `operation`: the declared one, else the
    /// next in the file, the first after the last; never one that receives events.
    pub fn other(&self, operation: &Operation) -> Option<&Operation> {
        if let Some(other) = &operation.other {
            return self.operation(other);
        }
        let at = self
            .operations
            .iter()
            .position(|known| known.name == operation.name)?;
        let (before, after) = self.operations.split_at(at);
        let mut others = after.iter().skip(1).chain(before);
        others.find(|other| other.consumer.is_none())
    }

    /// The fixture of this name.
    pub fn fixture(&self, name: &str) -> Option<&Fixture> {
        self.fixtures.iter().find(|fixture| fixture.name == name)
    }
}

/// One base URL.
#[derive(Clone, Debug, PartialEq)]
pub struct BaseUrl {
    /// The URL; everything but `${port}` is filled in.
    pub template: Template,
    /// Whether its host stands literally in the file, and so counts as named.
    pub literal_host: bool,
    /// The one of its host's addresses that is meant; `None` is whichever the system picks.
    pub address: Option<IpAddr>,
}

/// Which version of HTTP is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/2 where TLS negotiates it, else HTTP/1.1.
    #[default]
    Auto,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2, also without TLS.
    Http2,
}

/// Certificates; paths are relative to the target file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Certificate authorities beside the system's.
    pub ca: Option<String>,
    /// The client's certificate.
    pub certificate: Option<Certificate>,
    /// Whether the server's certificate is checked; `false` on loopback only.
    pub verify: bool,
}

impl Default for Tls {
    fn default() -> Self {
        Tls {
            ca: None,
            certificate: None,
            verify: true,
        }
    }
}

/// What the tool may cost the target; `None` is without limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Requests per second.
    pub rate: Option<f64>,
    /// Requests in flight at once.
    pub in_flight: Option<u64>,
    /// Requests in one run.
    pub requests: Option<u64>,
    /// Effects in one run.
    pub effects: Option<u64>,
    /// How long the tool may wait for the target's time to pass.
    pub wait: Duration,
    /// How long it waits for one response.
    pub patience: Duration,
}
