//! From YAML to a [`Contract`], over the profile or file that it extends.

mod behaviour;
mod fields;

use super::profile::{self, PROFILES};
use super::{
    Contract, KeyRules, Lifetime, Promised, Required, Retention, RetryRules, StatusPattern,
};
use crate::yaml::{self, Diagnostic, Entry, Node, Source, Span, Value};
use behaviour::{behaviours, marker, pattern, statuses, transient};
use fields::{Fields, KeyFields, RetentionFields, Time, promised, said, word};
use regex::Regex;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Reads the file at a path that stands in another file: the path, and that file's name.
pub type Files<'a> = &'a dyn Fn(&str, &str) -> Result<Source, String>;

/// Reads what a target file says of its contract: a profile's name, or a map that extends one.
/// `None` is the profile `generic`.
///
/// # Errors
/// An unknown profile or field, or the path of a file, with its place.
pub fn resolve(node: Option<&Node>) -> Result<Contract, Diagnostic> {
    resolve_with(node, &|_, _| {
        Err("contracts are not read from files here".to_owned())
    })
}

/// The same, where contracts may also stand in files of their own: a name that ends in `.yaml` or
/// `.yml` is the path of one.
///
/// # Errors
/// An unknown profile or field, or a file that cannot be read or extends itself, with its place.
pub fn resolve_with(node: Option<&Node>, files: Files<'_>) -> Result<Contract, Diagnostic> {
    let Some(node) = node else {
        return named("generic");
    };
    let (whole, renamed) = whole(node, files, &mut Vec::new())?;
    let mut contract = read(&whole)?;
    if renamed {
        contract.name.push('+');
    }
    Ok(contract)
}

/// What somebody chose on the command line: the name of a profile, or the path of a file.
///
/// # Errors
/// When there is no such profile or file, or the file is no contract.
pub fn chosen(name: &str, files: Files<'_>) -> Result<Contract, Diagnostic> {
    let source = Arc::new(Source {
        name: String::new(),
        text: name.to_owned(),
    });
    let span = Span {
        source,
        start: 0,
        end: name.len(),
    };
    if !is_path(name) {
        return named(name);
    }
    let value = Value::Text(name.to_owned());
    resolve_with(Some(&Node { span, value }), files)
}

/// The profile of this name.
///
/// # Errors
/// When there is none, with the nearest right name.
pub fn named(name: &str) -> Result<Contract, Diagnostic> {
    read(&profile_node(name, None)?)
}

/// A contract with all that it extends under it, and whether it goes by another's name though it
/// says something else. `open` has the paths of the files that lead here.
fn whole(
    node: &Node,
    files: Files<'_>,
    open: &mut Vec<String>,
) -> Result<(Node, bool), Diagnostic> {
    if let Some(name) = node.as_text() {
        if !is_path(name) {
            return Ok((profile_node(name, Some(node))?, false));
        }
        let source = files(name, &node.span.source.name).map_err(|problem| {
            Diagnostic::error(format!("cannot read {name}: {problem}")).at(node.span.clone())
        })?;
        if open.contains(&source.name) {
            return Err(
                Diagnostic::error(format!("{} extends itself", source.name)).at(node.span.clone())
            );
        }
        open.push(source.name.clone());
        return whole(&yaml::parse(Arc::new(source))?, files, open);
    }
    let (base, renamed) = match node.get("extends") {
        Some(base) if base.as_text().is_none() => {
            return Err(Diagnostic::error("extends names a profile or a file")
                .at(base.span.clone())
                .help("extends: generic"));
        }
        Some(base) => whole(base, files, open)?,
        None => (profile_node("generic", None)?, false),
    };
    let says_more = node
        .as_map()
        .is_some_and(|entries| entries.iter().any(|entry| entry.key != "extends"));
    let named = node.get("contract").is_some();
    Ok((lay_over(base, node), !named && (renamed || says_more)))
}

fn is_path(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

fn profile_node(name: &str, place: Option<&Node>) -> Result<Node, Diagnostic> {
    match profile::find(name) {
        Some(profile) => profile.node(),
        None => {
            let problem = Diagnostic::error(format!("unknown contract `{name}`"));
            let problem = match place {
                Some(node) => problem.at(node.span.clone()),
                None => problem,
            };
            let names = || PROFILES.iter().map(|profile| profile.name);
            Err(match yaml::nearest(name, names()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help("`idemspec list contracts` shows what there is"),
            })
        }
    }
}

/// Groups whose entries are replaced one by one; everything else is replaced whole.
const GROUPS: [&str; 8] = [
    "sources",
    "applies",
    "key",
    "scope",
    "fingerprint",
    "on",
    "after",
    "requirements",
];

/// The places of a key, of which there is one.
const CARRIERS: [&str; 4] = ["header", "json", "query", "form"];

fn lay_over(mut base: Node, over: &Node) -> Node {
    let Value::Map(entries) = &mut base.value else {
        return base;
    };
    for entry in over.as_map().unwrap_or_default() {
        if entry.key == "extends" {
            continue;
        }
        match entries.iter_mut().find(|old| old.key == entry.key) {
            Some(old) if GROUPS.contains(&entry.key.as_str()) => {
                replace_each(&mut old.value, &entry.value)
            }
            Some(old) => *old = entry.clone(),
            None => entries.push(entry.clone()),
        }
    }
    base
}

fn replace_each(base: &mut Node, over: &Node) {
    let (Value::Map(entries), Some(new)) = (&mut base.value, over.as_map()) else {
        *base = over.clone();
        return;
    };
    if new
        .iter()
        .any(|entry| CARRIERS.contains(&entry.key.as_str()))
    {
        entries.retain(|old| !CARRIERS.contains(&old.key.as_str()));
    }
    for entry in new {
        match entries
            .iter_mut()
            .find(|old: &&mut Entry| old.key == entry.key)
        {
            Some(old) => *old = entry.clone(),
            None => entries.push(entry.clone()),
        }
    }
}

fn read(node: &Node) -> Result<Contract, Diagnostic> {
    let fields: Fields = yaml::decode(node)?;
    let mut after = BTreeMap::new();
    for (class, node) in &fields.after {
        after.insert(*class, word(Some(node), yaml::decode)?);
    }
    let lifetime = lifetime(fields.retention.as_ref())?;
    let time = |node: Option<&Node>| Ok(said::<Time>(node)?.map(|time| time.0));
    Ok(Contract {
        name: fields.contract.unwrap_or_else(|| "unnamed".to_owned()),
        title: fields.title.unwrap_or_default(),
        status: fields.status,
        sources: fields.sources,
        requirements: fields.requirements,
        methods: word(fields.applies.methods.as_ref(), yaml::decode)?,
        ignored_methods: word(fields.applies.ignored.as_ref(), yaml::decode)?,
        key: key(&fields.key)?,
        principal_scope: word(fields.scope.principal.as_ref(), yaml::decode)?,
        operation_scope: word(fields.scope.operation.as_ref(), yaml::decode)?,
        covers: word(fields.fingerprint.covers.as_ref(), yaml::decode)?,
        equality: word(fields.fingerprint.equality.as_ref(), yaml::decode)?,
        retention: match lifetime.value {
            Some(Lifetime::Limited(retention)) => Some(retention),
            Some(Lifetime::Forever) | None => None,
        },
        lifetime,
        lock_timeout: time(fields.lock_timeout.as_ref())?,
        consistency_lag: time(fields.consistency_lag.as_ref())?.unwrap_or(Duration::from_secs(1)),
        replay: behaviours(fields.on.replay.as_ref())?,
        replay_marker: marker(fields.replay_marker.as_ref())?,
        in_progress: behaviours(fields.on.in_progress.as_ref())?,
        mismatch: behaviours(fields.on.mismatch.as_ref())?,
        precedence: word(fields.precedence.as_ref(), yaml::decode)?,
        missing: behaviours(fields.on.missing.as_ref())?,
        malformed: behaviours(fields.on.malformed.as_ref())?,
        not_applicable: behaviours(fields.on.not_applicable.as_ref())?,
        expired: behaviours(fields.on.expired.as_ref())?,
        deleted: behaviours(fields.on.deleted.as_ref())?,
        companion_missing: behaviours(fields.on.companion_missing.as_ref())?,
        companion_malformed: behaviours(fields.on.companion_malformed.as_ref())?,
        after,
        atomic: word(fields.atomic.as_ref(), yaml::decode)?,
        transient: transient(fields.transient.as_ref())?,
        retry: retry(fields.retry.as_ref())?,
        lookup: word(fields.lookup.as_ref(), yaml::decode)?,
        store_unavailable: behaviours(fields.store_unavailable.as_ref())?,
        errors: word(fields.errors.as_ref(), yaml::decode)?,
    })
}

fn key(fields: &KeyFields) -> Result<KeyRules, Diagnostic> {
    let format = fields.format()?;
    let charset = fields::speaking(fields.charset.as_ref())
        .map(|node| {
            let inner = pattern(node)?;
            Regex::new(&format!(r"\A(?:{inner})\z")).map_err(|error| {
                let why = yaml::in_one_line(&error);
                Diagnostic::error(format!("`{inner}` is no regular expression: {why}"))
                    .at(node.span.clone())
            })
        })
        .transpose()?;
    Ok(KeyRules {
        header: said(fields.header.as_ref())?,
        json: said(fields.json.as_ref())?,
        query: said(fields.query.as_ref())?,
        form: said(fields.form.as_ref())?,
        companions: fields.companions.clone(),
        encoding: format.encoding,
        kind: format.kind,
        charset,
        min: format.min.unwrap_or(1),
        max: format.max.unwrap_or(LONGEST),
        stated: (format.min, format.max),
        unit: format.unit,
        source: said(fields.source.as_ref())?,
        case_sensitive: word(fields.case_sensitive.as_ref(), yaml::decode)?,
        required: word(fields.required.as_ref(), required)?,
    })
}

/// The longest key that is taken for ordinary where no length is stated: most servers take it.
const LONGEST: usize = 255;

/// A word, or yes or no.
fn required(node: &Node) -> Result<Required, Diagnostic> {
    match node.value {
        Value::Bool(true) => Ok(Required::Required),
        Value::Bool(false) => Ok(Required::Optional),
        _ => yaml::decode(node),
    }
}

fn lifetime(node: Option<&Node>) -> Result<Promised<Lifetime>, Diagnostic> {
    promised(node, |node| {
        if let Some(text) = node.as_text() {
            return Err(Diagnostic::error(
                "retention is { min, max }: how long a key is kept at least and at most",
            )
            .at(node.span.clone())
            .help(format!("retention: {{ min: {text}, max: {text} }}")));
        }
        let fields: RetentionFields = yaml::decode(node)?;
        let clock = fields.clock()?;
        match (fields.min, fields.max, fields.forever) {
            (None, None, Some(true)) => Ok(Lifetime::Forever),
            (Some(Time(min)), Some(Time(max)), None) if max < min => {
                Err(Diagnostic::error("min is more than max").at(node.span.clone()))
            }
            (Some(Time(min)), max, None) => Ok(Lifetime::Limited(Retention {
                min,
                max: max.map(|time| time.0),
                clock,
            })),
            _ => Err(Diagnostic::error(
                "a retention has `min`, and perhaps `max`, or it is `forever`",
            )
            .at(node.span.clone())
            .help("retention: { min: 24h, max: 72h, clock: completion }")),
        }
    })
}

fn retry(node: Option<&Node>) -> Result<Promised<RetryRules>, Diagnostic> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct RetryFields {
        statuses: Option<Node>,
        never: Option<Node>,
        #[serde(default)]
        honours: BTreeSet<String>,
        min_delay: Option<Time>,
    }
    promised(node, |node| {
        let fields: RetryFields = yaml::decode(node)?;
        let list = |node: Option<Node>| -> Result<Vec<StatusPattern>, Diagnostic> {
            Ok(node.as_ref().map(statuses).transpose()?.unwrap_or_default())
        };
        Ok(RetryRules {
            statuses: list(fields.statuses)?,
            never: list(fields.never)?,
            honours: fields.honours,
            min_delay: fields.min_delay.map(|time| time.0),
        })
    })
}

#[cfg(test)]
mod tests;
