//! Proves line by line that a target file describes the API, before anybody trusts a verdict.

mod needs;

use super::args::CheckArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::run::{contract_names, runtime};
use super::screen;
use super::select;
use super::server::{self, Repeatable};
use super::target::{self, Ready};
use crate::plan::{self, Plan};
use crate::report::console::{self, Detail, Look, checked};
use crate::report::line;
use crate::runner::CHECK_EFFECTS;
use crate::target::Target;
use crate::target::host::is_loopback;
use crate::target_check::TargetCheck;
use std::io::{BufRead, IsTerminal};
use std::sync::Arc;

/// Checks a target file against its API.
///
/// # Errors
/// When the arguments or the file are wrong, or the target's server cannot be started.
pub fn check(args: CheckArgs) -> Result<Exit, Failure> {
    let ready = target::from_file(
        &args.target,
        &args.access.filling.set,
        args.access.filling.secrets.as_deref(),
        &args.access.allow_host,
        args.standard.contract.as_deref(),
    )?
    .spread();
    for warning in &ready.warnings {
        screen::remark(&warning.render(true));
    }
    target::refuse_live(&ready, args.access.filling.live)?;
    let scenarios: Vec<_> = select::all(args.standard.scenarios.as_deref())?
        .into_iter()
        .map(Arc::new)
        .collect();
    let selection = plan::Selection {
        operations: args.operation.clone(),
        ..plan::Selection::default()
    };
    let plan = plan::plan(&ready.target, &ready.contracts, &scenarios, &selection);
    if plan.cases.is_empty() {
        return Err(Failure::Usage(format!(
            "the target has no operation {}",
            args.operation.join(", ")
        )));
    }
    if !args.yes && !confirmed(&ready, &plan)? {
        return Ok(Exit::Usage);
    }
    runtime()?.block_on(carry_out(ready, &plan, args))
}

async fn carry_out(ready: Ready, plan: &Plan, args: CheckArgs) -> Result<Exit, Failure> {
    let Ready {
        target,
        contracts,
        file,
        ..
    } = ready;
    let name = target.name.clone();
    let seed = u64::from(std::process::id());
    let started = server::start(
        target,
        &file,
        &contracts,
        args.access.allow_host,
        Repeatable::seed(seed),
        None,
        server::stop_on_interrupt,
    )
    .await?;
    let checked = started.runner.check(plan, true).await;
    started.runner.clean_up().await;
    started.runner.stop_server().await;
    screen::say(&format!(
        "{} · {} · contract {}\n",
        line(&name),
        started.base_urls.join(", "),
        contract_names(&contracts)
    ))?;
    show(&checked, plan)?;
    if started.runner.is_stopped() {
        screen::remark("stopped: the rest was not checked");
        return Ok(Exit::Unable);
    }
    Ok(if checked.is_unreachable() {
        Exit::Unable
    } else if checked.has_problems() {
        Exit::Failed
    } else {
        Exit::Clean
    })
}

fn show(checked: &TargetCheck, plan: &Plan) -> Result<(), Failure> {
    let look = Look {
        color: true,
        width: screen::width().unwrap_or(console::FILE_WIDTH),
        detail: Detail::Normal,
    };
    screen::say(&checked::lines(&checked.lines, &look, true))?;
    screen::say(&format!("  {}\n", needs::in_words(plan)))
}

/// Asks before effects are made on an API that is not on this machine; without a terminal nobody
/// can answer, and the command line has said what is wanted.
fn confirmed(ready: &Ready, plan: &Plan) -> Result<bool, Failure> {
    if all_on_this_machine(&ready.target) || !std::io::stdin().is_terminal() {
        return Ok(true);
    }
    let mut operations: Vec<&str> = plan
        .cases
        .iter()
        .map(|case| case.subject.as_str())
        .collect();
    operations.dedup();
    let bases: Vec<String> = ready
        .target
        .base_urls
        .iter()
        .map(|base| base.template.to_string())
        .collect();
    screen::say(&format!(
        "{} · {} · makes at most {} effects there. Go on? [y/N] ",
        line(&ready.target.name),
        bases.join(", "),
        CHECK_EFFECTS * operations.len()
    ))?;
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|problem| Failure::Unable(format!("cannot read the answer: {problem}")))?;
    Ok(matches!(
        answer.trim().to_ascii_lowercase().as_str(),
        "y" | "yes"
    ))
}

fn all_on_this_machine(target: &Target) -> bool {
    target
        .base_urls
        .iter()
        .all(|base| base.host().is_ok_and(|host| is_loopback(&host)))
}
