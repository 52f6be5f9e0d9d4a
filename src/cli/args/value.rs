//! Single values, as they are typed.

use super::output::{GateOn, ReportFile};
use super::selection::Shard;
use crate::checklist::ItemId;
use crate::demo::{Flaw, VARIANTS, Variant};
use crate::demo_client::Habit;
use crate::report;
use crate::report::Format;
use crate::scenario::Severity;
use crate::yaml;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

pub(super) fn item(text: &str) -> Result<ItemId, String> {
    ItemId::from_name(text)
        .or_else(|| ItemId::from_name(&format!("item-{text}")))
        .ok_or_else(|| "the checklist has the items 1 to 9".to_owned())
}

pub(super) fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

pub(super) fn report_file(text: &str) -> Result<ReportFile, String> {
    let formats = || Format::ALL.map(Format::name);
    let (name, path) = text
        .split_once('=')
        .filter(|(_, path)| !path.is_empty())
        .ok_or_else(|| "write FORMAT=FILE, such as junit=report.xml".to_owned())?;
    let format = Format::from_name(name).ok_or_else(|| {
        format!(
            "there is no format `{name}`: it is one of {}",
            formats().join(", ")
        )
    })?;
    Ok(ReportFile {
        format,
        path: PathBuf::from(path),
    })
}

pub(super) fn flaw(name: &str) -> Result<Flaw, String> {
    let names = Flaw::ALL.iter().map(|flaw| flaw.name());
    Flaw::from_name(name).ok_or_else(|| unknown(name, names, "flaws"))
}

pub(super) fn variant(name: &str) -> Result<&'static Variant, String> {
    let names = VARIANTS.iter().map(|variant| variant.name);
    Variant::from_name(name).ok_or_else(|| unknown(name, names, "variants"))
}

pub(super) fn unknown(name: &str, names: impl Iterator<Item = &'static str>, what: &str) -> String {
    match yaml::nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("`idemspec list {what}` shows all"),
    }
}

pub(super) fn habit(name: &str) -> Result<Habit, String> {
    let names = Habit::ALL.iter().map(|habit| habit.name());
    Habit::from_name(name).ok_or_else(|| unknown(name, names, "habits"))
}

pub(super) fn instant(text: &str) -> Result<SystemTime, String> {
    humantime::parse_rfc3339_weak(text)
        .map_err(|_| "write an instant in UTC, such as 2026-12-01T12:00:00Z".to_owned())
}

pub(super) fn shard(text: &str) -> Result<Shard, String> {
    let numbers = text
        .split_once('/')
        .and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    match numbers {
        Some((part, of)) if (1..=of).contains(&part) => Ok(Shard { part, of }),
        _ => Err("write a part of all, such as 1/4 to 4/4".to_owned()),
    }
}

pub(super) fn gate_on(text: &str) -> Result<GateOn, String> {
    let severities = [
        Severity::Low,
        Severity::Medium,
        Severity::High,
        Severity::Critical,
    ];
    severities
        .into_iter()
        .find(|severity| report::severity(*severity) == text)
        .map(GateOn::Severity)
        .or_else(|| ItemId::from_name(text).map(GateOn::Item))
        .ok_or_else(|| "it is low, medium, high, critical, or an item such as item-5".to_owned())
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|_| "write a duration with its unit, such as 300ms, 2s or 24h".to_owned())
}
