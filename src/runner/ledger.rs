//! Every key of the run with what it named: to be asked once more at the end, and cleaned up.

use super::round::locked;
use super::spec::Spec;
use crate::scenario::{OperationRole, PrincipalRole};
use crate::transcript::{Delivery, Exchange};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The keys and resources of a run.
#[derive(Default)]
pub(super) struct Ledger {
    keys: Mutex<HashMap<String, Entry>>,
    made: Mutex<BTreeMap<String, BTreeSet<String>>>,
    file: Mutex<Option<File>>,
}

/// A line of the file in which a ledger is kept.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Line<'a> {
    operation: &'a str,
    #[serde(flatten)]
    what: What<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum What<'a> {
    /// The identity of what was made.
    Made(&'a str),
    /// The identity of what was removed again.
    Removed(&'a str),
}

struct Entry {
    operation: String,
    spec: Spec,
    /// The first success.
    first: Option<Exchange>,
    /// Other requests than this one were sent with the key, or by others.
    mixed: bool,
    intent: String,
    since: Instant,
}

/// A key that is asked once more.
pub(super) struct Live {
    pub(super) spec: Spec,
    pub(super) first: Exchange,
}

impl Ledger {
    /// Notes what a request with a key was answered.
    pub(super) fn note(&self, operation: &str, spec: &Spec, exchange: &Exchange) {
        let response = exchange
            .response
            .as_ref()
            .or(exchange.late.as_ref())
            .filter(|response| response.success);
        if let Some(identity) = response.and_then(|response| response.identity.clone()) {
            self.remember(operation, &identity);
        }
        let Some(key) = spec.key.value.clone() else {
            return;
        };
        if exchange.delivery == Delivery::NotSent {
            return;
        }
        let mut keys = locked(&self.keys);
        let entry = keys.entry(key).or_insert_with(|| Entry {
            operation: operation.to_owned(),
            spec: spec.clone(),
            first: None,
            mixed: false,
            intent: exchange.request.intent.clone(),
            since: Instant::now(),
        });
        entry.mixed |= entry.operation != operation
            || entry.intent != exchange.request.intent
            || spec.principal != PrincipalRole::Owner
            || !spec.key.ordinary
            || !exchange.forms.is_empty();
        // A 202 says where the result will be, and another success is that result.
        let waits = entry.first.as_ref().is_some_and(|first| {
            let known = first.response.as_ref().or(first.late.as_ref());
            known.is_some_and(|known| known.status == 202)
        });
        if response.is_some_and(|own| entry.first.is_none() || waits && own.status != 202) {
            entry.first = Some(exchange.clone());
        }
    }

    /// The target's time has moved: what was remembered may be forgotten by right.
    pub(super) fn forget_keys(&self) {
        locked(&self.keys).clear();
    }

    /// What a request has made stays, and its key is not sent again: both are left for another day.
    pub(super) fn set_aside(&self, operation: &str, exchange: &Exchange) {
        if let Some(key) = &exchange.key.value {
            locked(&self.keys).remove(key);
        }
        let response = exchange.response.as_ref().or(exchange.late.as_ref());
        let made = response.and_then(|response| response.identity.as_ref());
        if let (Some(identity), Some(all)) = (made, locked(&self.made).get_mut(operation)) {
            all.remove(identity);
        }
    }

    /// A resource was removed on purpose: its key may answer otherwise from now on.
    pub(super) fn forget_resource(&self, identity: &str) {
        for entry in locked(&self.keys).values_mut() {
            let made = entry
                .first
                .as_ref()
                .and_then(|first| first.response.as_ref());
            if made.is_some_and(|response| response.identity.as_deref() == Some(identity)) {
                entry.mixed = true;
            }
        }
    }

    /// The keys of an operation that still name a resource, younger than `retention`.
    pub(super) fn live(
        &self,
        operation: &str,
        retention: Option<Duration>,
        at_most: usize,
    ) -> Vec<Live> {
        let keys = locked(&self.keys);
        let mut live: Vec<(&Instant, Live)> = keys
            .values()
            .filter(|entry| entry.operation == operation && !entry.mixed)
            .filter(|entry| {
                retention.is_none_or(|retention| entry.since.elapsed() < retention.mul_f64(0.8))
            })
            .filter_map(|entry| {
                let mut first = entry.first.clone()?;
                first.operation = OperationRole::Subject;
                let spec = Spec {
                    operation: OperationRole::Subject,
                    ..entry.spec.clone()
                };
                Some((&entry.since, Live { spec, first }))
            })
            .collect();
        live.sort_by_key(|(since, _)| **since);
        live.into_iter()
            .map(|(_, live)| live)
            .take(at_most)
            .collect()
    }

    /// Notes that something was made, at once in the file too.
    pub(super) fn remember(&self, operation: &str, identity: &str) {
        let is_new = locked(&self.made)
            .entry(operation.to_owned())
            .or_default()
            .insert(identity.to_owned());
        if is_new {
            self.write(operation, What::Made(identity));
        }
    }

    /// Notes that something was removed.
    pub(super) fn removed(&self, operation: &str, identity: &str) {
        self.write(operation, What::Removed(identity));
    }

    /// Keeps the ledger in a file from now on, behind what is there.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn keep_in(&self, path: &Path) -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = File::options().create(true).append(true).open(path)?;
        // What is there may end in the middle of a line.
        if file.metadata()?.len() > 0 {
            file.write_all(b"\n")?;
        }
        *locked(&self.file) = Some(file);
        Ok(())
    }

    /// A run is not stopped for its ledger: what cannot be written is still in memory.
    fn write(&self, operation: &str, what: What<'_>) {
        if let Some(file) = &mut *locked(&self.file)
            && let Ok(mut line) = serde_json::to_string(&Line { operation, what })
        {
            line.push('\n');
            let _ = file.write_all(line.as_bytes());
        }
    }

    /// What an operation made, to be cleaned up.
    pub(super) fn made(&self) -> BTreeMap<String, BTreeSet<String>> {
        locked(&self.made).clone()
    }
}
