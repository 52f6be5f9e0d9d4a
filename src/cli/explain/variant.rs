//! A variant of the demo in words.

use crate::demo::{Sight, Variant};
use std::fmt::Write;

/// What the variant does, what allows it, and what becomes of it where nothing is promised.
pub(super) fn in_words(variant: &Variant) -> String {
    let mut text = format!(
        "{} ({}), a way to behave that is right, which the demo API can be given\n\n{}\n",
        variant.name, variant.id, variant.says
    );
    match variant.contract {
        "" => text.push_str("\nThe demo's own contract allows it.\n"),
        contract => {
            let _ = writeln!(text, "\nThis, over the demo's own contract, allows it:");
            for line in contract.lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    text.push_str(match variant.unpromised {
        Sight::Nothing => "\nWhere nothing is promised, it does not show.\n",
        Sight::Observed(_) => "\nWhere nothing is promised, it is observed and reported:\n",
        Sight::Broken(_) => "\nWhere nothing is promised, it breaks:\n",
    });
    match variant.unpromised {
        Sight::Nothing => {}
        Sight::Observed(promise) => {
            let _ = writeln!(text, "  {promise}");
        }
        Sight::Broken(names) => {
            for name in names {
                let _ = writeln!(text, "  {name}");
            }
        }
    }
    text.push_str("\nScenarios that must not take offence at it:\n");
    for scenario in variant.upsets {
        let _ = writeln!(text, "  {scenario}");
    }
    text.push_str("\nDone or allowed elsewhere:\n");
    for source in variant.sources {
        let _ = writeln!(text, "  {source}");
    }
    let name = variant.name;
    let _ = writeln!(text, "\nTry it: idemspec demo --variant {name}");
    text
}
