//! Where the demo API plays: in this process, or, for scenarios that kill and restart it, as a server
//! that the tool starts itself, as it would start anybody's.

use super::failure::Failure;
use super::target::{self, Ready};
use crate::contract::Contract;
use crate::demo::policy::{KeyPolicy, Policy};
use crate::demo::{self, Demo, Manners, Options, Variant};
use crate::hook::HookName;
use crate::scenario::{Scenario, Step};
use crate::target::port::Ports;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// Where the demo plays.
pub(super) enum Stage {
    /// In this process.
    Inside(Demo),
    /// In a process of its own, which the run starts and ends.
    Outside,
}

impl Stage {
    /// Ends what the run does not end.
    pub(super) async fn clear(self) {
        match self {
            Stage::Inside(demo) => demo.stop().await,
            Stage::Outside => {}
        }
    }
}

/// What the options of a demo were made of.
#[derive(Clone, Debug, Default)]
pub enum Kept {
    /// Nothing: it is the demo as it is by itself, or its policy was written by hand.
    #[default]
    Nothing,
    /// The contract of this name.
    Contract(String),
    /// A variant.
    Variant(&'static Variant),
}

/// Makes a demo ready for scenarios. `graded` is the contract that it is graded under, if that is not
/// its own; `sent` is where keys are sent, if not where the demo reads them.
///
/// # Errors
/// When the demo cannot be started, or a contract does not exist.
pub(super) async fn set(
    options: Options,
    scenarios: &[Scenario],
    kept: Kept,
    graded: Option<Contract>,
    sent: Option<KeyPolicy>,
) -> Result<(Stage, Ready), Failure> {
    let place = sent.unwrap_or_else(|| options.policy.key.clone());
    let told = match kept {
        Kept::Nothing => is_own(&options),
        Kept::Contract(_) | Kept::Variant(_) => true,
    };
    if told
        && scenarios.iter().any(kills)
        && let Some(tool) = own_executable()
    {
        let mut ready = target::demo(None, &place, graded)?;
        if let Some(server) = &mut ready.target.server {
            server.env.extend(environment(&options, kept, tool));
        }
        return Ok((Stage::Outside, ready));
    }
    let demo = demo::start(Options {
        replica: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
        ..options
    })
    .await
    .map_err(|problem| Failure::Unable(problem.to_string()))?;
    let named = |name: &str, address: Option<SocketAddr>| {
        address.map(|address| (Some(name.to_owned()), address.port()))
    };
    let ports = [
        Some((None, demo.address.port())),
        named("replica", demo.replica),
        named("admin", Some(demo.admin)),
    ];
    let ports = Ports::known(ports.into_iter().flatten());
    let mut ready = target::demo(Some(ports), &place, graded)?;
    ready.target.server = None;
    Ok((Stage::Inside(demo), ready))
}

/// Whether a demo behaves so by itself. A policy is data all through: two that read alike are alike.
fn is_own(options: &Options) -> bool {
    format!("{:?}", options.policy) == format!("{:?}", Policy::default())
        && options.manners == Manners::default()
}

/// Whether the scenario ends the server without notice.
fn kills(scenario: &Scenario) -> bool {
    scenario.cases.iter().any(|case| {
        case.leaves().any(|step| {
            matches!(
                step,
                Step::Hook {
                    run: HookName::Kill,
                    ..
                }
            )
        })
    })
}

/// What the command of the demo's target file looks at.
fn environment(options: &Options, kept: Kept, tool: PathBuf) -> Vec<(String, String)> {
    let time = |time| humantime::format_duration(time).to_string();
    let flaws = options.flaws.names().join(",");
    let (contract, variant) = match kept {
        Kept::Nothing => (None, None),
        Kept::Contract(name) => (Some(name), None),
        Kept::Variant(variant) => (None, Some(variant.name.to_owned())),
    };
    [
        ("IDEMSPEC", Some(tool.display().to_string())),
        ("DEMO_FLAWS", (!flaws.is_empty()).then_some(flaws)),
        ("DEMO_CONTRACT", contract),
        ("DEMO_VARIANT", variant),
        ("DEMO_WORK", Some(time(options.work))),
        ("DEMO_RETENTION", Some(time(options.retention))),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}

/// The tool's binary: this process, or the one that was built beside a test.
pub(super) fn own_executable() -> Option<PathBuf> {
    let this = std::env::current_exe().ok()?;
    let folder = this.parent()?;
    // Where cargo puts tests.
    if folder.file_name() != Some("deps".as_ref()) {
        return Some(this);
    }
    let name = format!("{}{}", env!("CARGO_PKG_NAME"), std::env::consts::EXE_SUFFIX);
    let built = folder.parent()?.join(name);
    built.is_file().then_some(built)
}
