//! Malformed keys: what one contract objects to, and what a demo that keeps another one says of it.

use super::answers::{is_of_kind, is_promised, refusal};
use super::expected::{Demo, Expected};
use crate::contract::{Contract, Encoding, Kind};
use crate::demo::policy::{Refusal, Unkeyed};

/// Keys such as scenarios send.
fn samples() -> Vec<String> {
    let long = |length: usize| "k".repeat(length);
    let mut samples: Vec<String> = [1, 255, 256, 4096].map(long).into();
    let word = "tq0v6xw2m9s4c7ba";
    samples.extend([
        "9b2d7c1e-5a4f-4c3b-8d2e-1f0a9b8c7d6e".to_owned(),
        format!("a,{word}"),
        format!("../{word}"),
        format!("{word}*"),
        format!("{word}'--"),
        format!("é{word}"),
    ]);
    samples
}

/// Whether a demo takes a key.
fn takes(does: &Contract, key: &str) -> bool {
    let visible = key.bytes().all(|byte| byte.is_ascii_graphic());
    let bare = does.key.header.is_some() && does.key.encoding == Encoding::Raw;
    let listed = bare && key.contains(',');
    let allowed = does.key.charset.is_some() || visible;
    does.key.objection(key).is_none() && allowed && !listed
}

/// What must come of the promise of how malformed keys are answered.
pub(super) fn malformed(demo: &Demo<'_>, held: &Contract) -> Expected {
    let rejects = |look: &Refusal| is_promised(&held.malformed, &[Kind::Reject], &refusal(look));
    let mut all = Vec::new();
    for key in samples() {
        if held.key.objection(&key).is_none() {
            continue;
        }
        let kept = if takes(demo.does, &key) {
            is_of_kind(&held.malformed, &[Kind::ExecuteNew, Kind::Ignore])
        } else {
            rejects(&demo.policy.malformed)
        };
        all.push(if kept {
            Expected::Kept
        } else {
            Expected::Broken
        });
    }
    // An empty key may be taken for none.
    let bare = Refusal::of(400);
    let look = match &demo.policy.missing {
        Unkeyed::Refuse(look) => look,
        Unkeyed::Execute => &bare,
    };
    let as_missing = is_promised(&held.missing, &[Kind::Reject], &refusal(look));
    all.push(
        match (rejects(look) || as_missing, held.missing.is_declared()) {
            (true, _) => Expected::Kept,
            (false, true) => Expected::Broken,
            (false, false) => Expected::Open,
        },
    );
    all.into_iter().max().unwrap_or(Expected::Open)
}
