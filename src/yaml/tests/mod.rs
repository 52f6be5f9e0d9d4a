//! Tests of the whole module: from text to values, spans and messages.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use super::{Diagnostic, Node, Source, parse};

mod complaints;
mod decoding;
mod enums;
mod hostile;
mod rendering;
mod values;

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source {
        name: "pay.yaml".to_owned(),
        text: text.to_owned(),
    })
}

fn node(text: &str) -> Node {
    parse(source(text)).unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
}

/// Asserts what the user reads: line and column, message, help.
#[track_caller]
fn assert_says(diagnostic: &Diagnostic, place: &str, message: &str, help: Option<&str>) {
    let said = (
        diagnostic.place(),
        diagnostic.message.as_str(),
        diagnostic.help.as_deref(),
    );
    assert_eq!(said, (Some(format!("pay.yaml:{place}")), message, help));
}
