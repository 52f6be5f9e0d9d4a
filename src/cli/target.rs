//! Target files: from the path and the surroundings to a target with the contracts of its operations.

use super::failure::Failure;
use super::files;
use super::policy::{policy_of, retention_of};
use crate::contract::{self, Contract};
use crate::demo;
use crate::demo::policy::{Form, KeyPolicy, Place};
use crate::demo::{Flaw, Flaws, Variant};
use crate::target::Target;
use crate::target::parse::{Environment, Loaded, Options, load};
use crate::target::port::Ports;
use crate::yaml::{self, Diagnostic, Source};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::sync::Arc;

/// The demo's own target file.
const DEMO: &str = include_str!("demo-target.yaml");

/// Its line about keys.
const DEMO_KEY: &str = "key: Idempotency-Key";
/// How its part about documents begins.
const DEMO_DOCUMENTS: &str = "documents:";

/// A target with what its operations promise.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The target.
    pub target: Target,
    /// The contract of each operation.
    pub contracts: BTreeMap<String, Contract>,
    /// What is doubtful about the file.
    pub warnings: Vec<Diagnostic>,
    /// The file's name.
    pub file: String,
    /// A digest of the file, and of those that it builds on.
    pub digest: String,
    /// The ports of a server that runs already.
    pub ports: Option<Ports>,
}

/// The process's environment and the files beside a target file.
pub struct Surroundings;

impl Environment for Surroundings {
    fn var(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &Path, from: &str) -> Result<Source, String> {
        let beside = Path::new(from)
            .parent()
            .map_or_else(|| path.to_owned(), |folder| folder.join(path));
        let text = std::fs::read_to_string(&beside).map_err(|error| error.to_string())?;
        Ok(Source {
            name: beside.display().to_string(),
            text,
        })
    }
}

/// The surroundings, with a digest of all that was read.
struct Read<'a> {
    from: &'a Surroundings,
    digest: RefCell<Sha256>,
}

impl Environment for Read<'_> {
    fn var(&self, name: &str) -> Option<String> {
        self.from.var(name)
    }

    fn file(&self, path: &Path, from: &str) -> Result<Source, String> {
        let source = self.from.file(path, from)?;
        self.digest.borrow_mut().update(&source.text);
        Ok(source)
    }
}

/// Loads a target file and resolves its contracts. `contract` replaces the target's own.
///
/// # Errors
/// All that is wrong with the file, or a secrets file that cannot be read.
pub fn from_file(
    path: &Path,
    set: &[(String, String)],
    secrets: Option<&Path>,
    allow_hosts: &[String],
    contract: Option<&str>,
) -> Result<Ready, Failure> {
    let options = Options {
        set: set.to_vec(),
        allow_hosts: allow_hosts.to_vec(),
        secrets: secrets.map(read_secrets).transpose()?.unwrap_or_default(),
    };
    let source = files::read(path)?;
    let instead = contract.map(self::contract).transpose()?;
    ready(source, &options, &Surroundings, instead)
}

/// Loads a target from a text of our own.
///
/// # Errors
/// All that is wrong with it.
pub fn from_text(name: &str, text: &str) -> Result<Ready, Failure> {
    let source = Source {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    ready(Arc::new(source), &Options::default(), &Surroundings, None)
}

impl Ready {
    /// The target at each address of its host, if it asks for that.
    pub fn spread(mut self) -> Ready {
        self.target.spread(|host| {
            let host = host.trim_matches(['[', ']']);
            let found = (host, 0).to_socket_addrs();
            found.map_or_else(|_| Vec::new(), |all| all.map(|one| one.ip()).collect())
        });
        self
    }
}

/// Refuses what looks like a live API, unless `live` was said.
///
/// # Errors
/// With the sign that it is no sandbox.
pub fn refuse_live(ready: &Ready, live: bool) -> Result<(), Failure> {
    match &ready.target.looks_live {
        Some(sign) if !live => Err(Failure::Usage(format!(
            "{sign}: --live, or use the sandbox"
        ))),
        _ => Ok(()),
    }
}

/// The contract of this name, or in this file.
///
/// # Errors
/// When there is none.
pub fn contract(name: &str) -> Result<Contract, Failure> {
    let files = |path: &str, from: &str| Surroundings.file(Path::new(path), from);
    contract::chosen(name, &files).map_err(|problem| Failure::BadFiles(vec![problem]))
}

/// The options of a demo that keeps a contract; of the demo as it is by itself without one.
///
/// # Errors
/// What the demo cannot be.
pub fn demo_options(contract: Option<&Contract>) -> Result<demo::Options, Failure> {
    let own = demo::Options::default();
    let Some(contract) = contract else {
        return Ok(own);
    };
    Ok(demo::Options {
        policy: policy_of(contract).map_err(Failure::Usage)?,
        retention: retention_of(contract),
        ..own
    })
}

/// The flaws of a demo.
///
/// # Errors
/// When two of them exclude each other.
pub fn planted(flaws: &[Flaw]) -> Result<Flaws, Failure> {
    Flaws::plant(flaws).map_err(|rivals| Failure::Usage(rivals.to_string()))
}

/// What allows a variant of the demo.
///
/// # Errors
/// When it is no contract, which a test excludes.
pub fn allowing(variant: &Variant) -> Result<Contract, Failure> {
    written(format!("what allows {}", variant.name), variant.allowing())
}

/// A contract that promises nothing of a variant.
///
/// # Errors
/// When it is no contract, which a test excludes.
pub fn unpromising(variant: &Variant) -> Result<Contract, Failure> {
    let name = format!("what is known of {}", variant.name);
    written(name, variant.unpromising())
}

fn written(name: String, text: String) -> Result<Contract, Failure> {
    let source = Source { name, text };
    yaml::parse(Arc::new(source))
        .and_then(|node| contract::resolve(Some(&node)))
        .map_err(|problem| Failure::BadFiles(vec![problem]))
}

/// The demo's target, with its keys where its policy has them; `ports` are those of a demo that runs
/// already. `contract` replaces its own.
///
/// # Errors
/// Something wrong with the file, which tests exclude.
pub fn demo(
    ports: Option<Ports>,
    key: &KeyPolicy,
    contract: Option<Contract>,
) -> Result<Ready, Failure> {
    let source = Source {
        name: "the demo's target file".to_owned(),
        text: demo_file(key, contract.is_none()),
    };
    let ready = ready(
        Arc::new(source),
        &Options::default(),
        &Surroundings,
        contract,
    )?;
    Ok(Ready { ports, ..ready })
}

/// The demo's target file, with its keys where its policy has them. Its part about documents speaks
/// of the demo's own contract.
fn demo_file(key: &KeyPolicy, own_contract: bool) -> String {
    let file = DEMO.replacen(DEMO_KEY, &key_line(key), 1);
    let mut within = false;
    file.lines()
        .filter(|line| {
            within = line.starts_with(DEMO_DOCUMENTS) || (within && line.starts_with(' '));
            own_contract || !within
        })
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// The line of a target file that says where the demo's keys are.
fn key_line(key: &KeyPolicy) -> String {
    let place = match &key.place {
        Place::Header(name) => format!("header: {name}"),
        Place::Member(name) => format!("json: $.{name}"),
        Place::Query(name) => format!("query: {name}"),
        Place::Nothing => return "key: none".to_owned(),
    };
    let quoted = if key.form == Form::Quoted {
        ", quoted: true"
    } else {
        ""
    };
    format!("key: {{ {place}{quoted} }}")
}

fn ready(
    source: Arc<Source>,
    options: &Options,
    surroundings: &Surroundings,
    contract: Option<Contract>,
) -> Result<Ready, Failure> {
    let file = source.name.clone();
    let read = Read {
        from: surroundings,
        digest: RefCell::new(Sha256::new_with_prefix(&source.text)),
    };
    let Loaded { target, warnings } = load(source, options, &read).map_err(Failure::BadFiles)?;
    let digest = read.digest.into_inner().finalize();
    let contracts = contracts(&target, contract, surroundings)?;
    let keyless = without_a_key(&target, &contracts);
    if !keyless.is_empty() {
        return Err(Failure::BadFiles(keyless));
    }
    Ok(Ready {
        target,
        contracts,
        warnings,
        file,
        digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        ports: None,
    })
}

fn contracts(
    target: &Target,
    instead: Option<Contract>,
    surroundings: &Surroundings,
) -> Result<BTreeMap<String, Contract>, Failure> {
    let bad = |problem: Diagnostic| Failure::BadFiles(vec![problem]);
    let files = |path: &str, from: &str| surroundings.file(Path::new(path), from);
    let mut contracts = BTreeMap::new();
    for operation in &target.operations {
        // What an API promises of its keys says nothing of how it receives events.
        let common = target
            .contract
            .as_ref()
            .filter(|_| operation.consumer.is_none());
        let contract = match &instead {
            Some(contract) if operation.consumer.is_none() => contract.clone(),
            _ => {
                let own = operation.contract.as_ref().or(common);
                contract::resolve_with(own, &files).map_err(bad)?
            }
        };
        contracts.insert(operation.name.clone(), contract);
    }
    Ok(contracts)
}

/// Operations of which nothing says where their key goes.
fn without_a_key(target: &Target, contracts: &BTreeMap<String, Contract>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for operation in &target.operations {
        let Some(contract) = contracts.get(&operation.name) else {
            continue;
        };
        let name = &operation.name;
        let known = operation.key.is_some()
            || operation.request.places_key()
            || contract.key.place().is_some();
        if known {
            continue;
        }
        let problem = Diagnostic::error(format!(
            "{name} has no key: neither the contract {} nor the request says where it goes",
            contract.name
        ))
        .help("add `key: HEADER`, or `key: none` for an operation without one");
        problems.push(match target.source.key_at(&format!("operations/{name}")) {
            Some(place) => problem.at(place),
            None => problem,
        });
    }
    problems
}

/// Lines of `NAME=VALUE`; empty lines and lines that begin with `#` are left out.
fn read_secrets(path: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let source = files::read(path)?;
    let mut secrets = BTreeMap::new();
    for (index, line) in source.text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            // The line itself is not shown: it may hold a secret.
            return Err(Failure::Usage(format!(
                "{}:{}: a line is NAME=VALUE",
                source.name,
                index + 1
            )));
        };
        secrets.insert(
            name.trim().to_owned(),
            value.trim().trim_matches('"').to_owned(),
        );
    }
    Ok(secrets)
}

#[cfg(test)]
mod tests {
    use super::from_file;
    use crate::contract::Kind;

    const TARGET: &str = "target: Shop\nbase-url: http://127.0.0.1:1\ncontract: contracts/ours.yaml\noperations:\n  pay: { request: { method: POST, path: /pay } }\n";
    const OURS: &str = "contract: ours\nextends: base.yaml\nkey: { json: $.key }\n";
    const BASE: &str = "extends: square\non: { replay: { outcome: replay-current } }\n";

    #[test]
    fn a_contract_beside_the_target_is_read_and_one_may_be_chosen_instead() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(&path, text).expect("it can be written");
            path
        };
        let target = write("target.yaml", TARGET);
        let ours = write("contracts/ours.yaml", OURS);
        write("contracts/base.yaml", BASE);
        let contract = |instead: Option<&str>| {
            let ready = from_file(&target, &[], None, &[], instead);
            let mut ready = ready.unwrap_or_else(|problem| panic!("{problem}"));
            ready.contracts.remove("pay").expect("its contract")
        };
        let own = contract(None);
        assert_eq!(own.name, "ours");
        assert_eq!(own.key.json.as_deref(), Some("$.key"));
        let replay = own.replay.value.expect("declared");
        assert_eq!(replay[0].kind, Kind::ReplayCurrent);
        assert_eq!(contract(Some("mollie")).name, "mollie");
        assert_eq!(contract(ours.to_str()).name, "ours");
    }
}
