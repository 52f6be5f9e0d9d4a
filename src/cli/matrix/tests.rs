//! Tests of what is expected of two contracts, and of how that is held against findings.

use super::expected::{Demo, Expected};
use super::page::why_beside;
use super::pair::{Pair, compare};
use super::{beside, whole};
use crate::checklist::ItemId;
use crate::cli::policy::policy_of;
use crate::contract::{Contract, FailureClass, PROFILES, named};
use crate::demo::policy::Policy;
use crate::judge::{Finding, Tally};
use crate::promise::{Level, Promise};
use crate::scenario::{Check, Expectation, Severity};
use crate::verdict::Verdict;

/// A demo that keeps a contract, as a contract and as a policy.
fn keeping(name: &str) -> Option<(Contract, Policy)> {
    let contract = named(name).expect("it is built in");
    let policy = policy_of(&contract).ok()?;
    let does = whole(&contract, &policy).expect("the demo's own contract is built in");
    Some((does, policy))
}

fn demo<'a>(does: &'a Contract, policy: &'a Policy) -> Demo<'a> {
    Demo {
        does,
        policy,
        keeps: does.retention.map(|retention| retention.min),
        fails: FailureClass::ALL.into(),
    }
}

/// The promises in which a demo that keeps `kept` must break `held`.
fn broken(kept: &str, held: &str) -> Vec<Promise> {
    let (does, policy) = keeping(kept).expect("the demo can be it");
    let held = named(held).expect("it is built in");
    let demo = demo(&does, &policy);
    let breaks = |promise: &Promise| demo.under(&held, *promise) == Some(Expected::Broken);
    Promise::ALL.into_iter().filter(breaks).collect()
}

#[test]
fn a_demo_must_break_nothing_of_the_contract_that_it_keeps() {
    for profile in &PROFILES {
        if keeping(profile.name).is_some() {
            assert_eq!(broken(profile.name, profile.name), [], "{}", profile.name);
        }
    }
}

#[test]
fn what_differs_is_told_from_the_two_contracts() {
    use Promise::{
        AfterFailure, Expired, FirstSent, InProgress, KeyCase, MalformedKey, Mismatch, MissingKey,
        OtherOperation, OtherPrincipal, Replay, ReplayMarker, Retention, StoreUnavailable,
    };
    let cases: [(&str, &str, &[Promise]); 12] = [
        ("worldpay", "demo", &[StoreUnavailable]),
        (
            "adyen",
            "worldpay",
            &[InProgress, MalformedKey, StoreUnavailable],
        ),
        (
            "rfc-9110-methods",
            "brandur",
            &[
                Replay,
                InProgress,
                Mismatch,
                MissingKey,
                MalformedKey,
                Retention,
                AfterFailure,
            ],
        ),
        ("demo", "generic", &[]),
        ("demo", "ietf-draft-07", &[]),
        (
            "stripe-v1",
            "demo",
            &[ReplayMarker, MissingKey, OtherOperation, AfterFailure],
        ),
        (
            "brandur",
            "coinbase-cdp",
            &[InProgress, Mismatch, MissingKey],
        ),
        ("gocardless", "checkout", &[Replay]),
        (
            "redis-middleware",
            "stripe-v2",
            &[OtherPrincipal, Retention, AfterFailure],
        ),
        (
            "demo",
            "azure",
            &[ReplayMarker, Mismatch, MalformedKey, Expired, AfterFailure],
        ),
        (
            "oasis-repeatable-1.0",
            "azure",
            &[MalformedKey, FirstSent, AfterFailure],
        ),
        ("oasis-repeatable-1.0", "aws-client-token", &[KeyCase]),
    ];
    let mut wrong = Vec::new();
    for (kept, held, wanted) in cases {
        let found = broken(kept, held);
        if found != wanted {
            wrong.push(format!("{kept} held to {held}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn finding(promise: Option<Promise>, verdict: Verdict) -> Finding {
    Finding {
        name: "create-payment/a/b/item-4/c".to_owned(),
        id: "c".to_owned(),
        item: ItemId::from_name("item-4").expect("an item"),
        verdict,
        level: Level::Must,
        severity: Severity::High,
        reason: "as it is".to_owned(),
        steps: Vec::new(),
        promise,
        observed: Vec::new(),
        documented: None,
        reach: None,
        rounds: Tally::default(),
        evidence: Vec::new(),
    }
}

fn expectation(unless: Option<Promise>) -> Expectation {
    Expectation {
        id: "c".to_owned(),
        level: Level::Must,
        unless,
        condition: None,
        check: Check::Exists {
            of: "first".to_owned(),
        },
    }
}

fn held_to(kept: &str, held: &str, unless: Option<Promise>, found: Finding) -> Pair {
    let (does, policy) = keeping(kept).expect("the demo can be it");
    let held = named(held).expect("it is built in");
    compare(
        &demo(&does, &policy),
        &held,
        &[(&expectation(unless), found)],
    )
}

#[test]
fn of_every_term_that_no_target_is_held_to_it_is_said_why() {
    let contracts: Vec<Contract> = PROFILES
        .iter()
        .map(|profile| named(profile.name).expect("it is built in"))
        .collect();
    let beside = beside(&contracts);
    assert!(beside.contains_key("not-applicable"), "{beside:?}");
    for term in beside.keys() {
        assert_ne!(why_beside(term), "", "{term}");
    }
}

#[test]
fn a_demo_that_reads_no_keys_breaks_the_invariants_by_its_contract() {
    let repeats = |found: Verdict| {
        let (does, policy) = keeping("gcs-preconditions").expect("the demo can be it");
        let held = named("generic").expect("it is built in");
        let one_resource = Expectation {
            check: Check::OneResource { of: Vec::new() },
            ..expectation(None)
        };
        let found = finding(None, found);
        compare(&demo(&does, &policy), &held, &[(&one_resource, found)])
    };
    let broken = repeats(Verdict::Fail);
    assert!(broken.unprotected && broken.unexpected.is_empty());
    assert!(!repeats(Verdict::Pass).unprotected);
    let other = held_to(
        "gcs-preconditions",
        "generic",
        None,
        finding(None, Verdict::Fail),
    );
    assert_eq!(other.unexpected.len(), 1);
}

#[test]
fn what_comes_otherwise_than_expected_is_unexpected() {
    let mismatch = |verdict| finding(Some(Promise::Mismatch), verdict);
    let differ = |verdict| held_to("brandur", "coinbase-cdp", None, mismatch(verdict));
    assert_eq!(differ(Verdict::Fail).differs, [Promise::Mismatch]);
    assert!(differ(Verdict::Fail).unexpected.is_empty());
    let kept = differ(Verdict::Pass);
    assert!(kept.unexpected[0].contains("mismatch is kept, although"));
    let open = differ(Verdict::Inconclusive);
    assert!(open.unexpected.is_empty());
    let hidden = |promise| open.hidden.iter().any(|(own, _)| *own == promise);
    assert!(hidden(Promise::Mismatch) && hidden(Promise::InProgress));

    let same = |verdict| held_to("brandur", "brandur", None, mismatch(verdict));
    assert!(same(Verdict::Pass).agrees());
    assert!(same(Verdict::Fail).unexpected[0].contains("mismatch is broken, although"));
}

#[test]
fn a_break_beside_the_promises_must_follow_from_one() {
    let beside = |held: &str, unless| {
        held_to(
            "modern-treasury",
            held,
            unless,
            finding(None, Verdict::Fail),
        )
    };
    let by_route = Some(Promise::OtherOperation);
    assert!(beside("generic", by_route).unexpected.is_empty());
    assert_eq!(beside("modern-treasury", by_route).unexpected.len(), 1);
    assert_eq!(
        beside("generic", Some(Promise::Mismatch)).unexpected.len(),
        1
    );
    assert_eq!(beside("generic", None).unexpected.len(), 1);
}

#[test]
fn a_contract_that_shares_keys_between_tenants_breaks_an_invariant_by_itself() {
    let leak = || Finding {
        item: ItemId::from_name("item-6").expect("an item"),
        ..finding(None, Verdict::Fail)
    };
    let itself = held_to("redis-middleware", "redis-middleware", None, leak());
    assert!(itself.leaks && itself.unexpected.is_empty());
    let other = held_to("brandur", "brandur", None, leak());
    assert!(!other.leaks && other.unexpected.len() == 1);
}
