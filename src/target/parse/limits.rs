//! `limits`: what the tool may cost the target.

use std::time::Duration;

use crate::yaml::Node;

use super::reader::Reader;
use crate::target::Limits;

/// Without a limit on loopback; elsewhere the limits are such that a sandbox stands them.
pub(super) fn limits(reader: &Reader<'_>, node: Option<&Node>, loopback: bool) -> Limits {
    let elsewhere = |limit: u64| (!loopback).then_some(limit);
    let mut limits = Limits {
        rate: elsewhere(5).map(|rate| rate as f64),
        in_flight: elsewhere(20),
        requests: elsewhere(2000),
        effects: elsewhere(200),
        wait: Duration::from_secs(30),
        patience: Duration::from_secs(20),
    };
    let Some(node) = node else {
        return limits;
    };
    let mut fields = reader.fields(node, "limits");
    if let Some(node) = fields.take("rate") {
        limits.rate = rate(reader, node).or(limits.rate);
    }
    for (name, limit) in [
        ("in-flight", &mut limits.in_flight),
        ("requests", &mut limits.requests),
        ("effects", &mut limits.effects),
    ] {
        if let Some(node) = fields.take(name) {
            *limit = reader.count(node, name).or(*limit);
            if *limit == Some(0) {
                reader.error(&node.span, format!("{name} is at least 1"));
            }
        }
    }
    for (name, limit) in [
        ("wait", &mut limits.wait),
        ("patience", &mut limits.patience),
    ] {
        if let Some(node) = fields.take(name) {
            *limit = reader.duration(node, name).unwrap_or(*limit);
        }
    }
    fields.finish();
    limits
}

fn rate(reader: &Reader<'_>, node: &Node) -> Option<f64> {
    let text = reader.scalar_text(node, "rate")?;
    let rate = text.split_once('/').and_then(|(count, unit)| {
        let count: f64 = count.parse().ok().filter(|count| *count > 0.0)?;
        match unit {
            "s" => Some(count),
            "min" => Some(count / 60.0),
            _ => None,
        }
    });
    if rate.is_none() {
        reader.error(
            &node.span,
            "a rate is a number per time, such as 20/s or 100/min",
        );
    }
    rate
}
