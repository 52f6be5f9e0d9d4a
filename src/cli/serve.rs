//! The demo API alone, for trying things out by hand or with another tool.

use super::args::ServeArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::run::wide_runtime;
use super::screen;
use super::target;
use crate::demo;
use std::net::SocketAddr;

/// Serves until Ctrl-C.
///
/// # Errors
/// When a port or the database cannot be had.
pub fn serve(args: &ServeArgs) -> Result<Exit, Failure> {
    let planted = target::planted(&args.flaw)?;
    let kept = args.contract.as_deref().map(target::contract).transpose()?;
    let contracted = match args.variant {
        Some(variant) => variant.options(),
        None => target::demo_options(kept.as_ref())?,
    };
    let options = demo::Options {
        listen: SocketAddr::from(([127, 0, 0, 1], args.port)),
        admin: SocketAddr::from(([127, 0, 0, 1], args.admin_port)),
        replica: args
            .replica_port
            .map(|port| SocketAddr::from(([127, 0, 0, 1], port))),
        database: args.database.clone(),
        flaws: planted,
        work: args.work,
        retention: args.retention.unwrap_or(contracted.retention),
        ..contracted
    };
    wide_runtime()?.block_on(async {
        let demo = demo::start(options)
            .await
            .map_err(|problem| Failure::Unable(problem.to_string()))?;
        let flaws = match planted.names().as_slice() {
            [] => String::new(),
            [flaw] => format!(", with the flaw {flaw}"),
            flaws => format!(", with the flaws {}", flaws.join(", ")),
        };
        let contract = kept.map_or_else(String::new, |contract| {
            format!(", as {} says", contract.name)
        });
        let variant = args.variant.map_or_else(String::new, |variant| {
            format!(", with the variant {}", variant.name)
        });
        let replica = demo.replica.map_or_else(String::new, |replica| {
            format!(" and at http://{replica}")
        });
        screen::say(&format!(
            "the demo API is at http://{}{replica}, its admin at http://{}{contract}{variant}{flaws}; Ctrl-C ends it\n",
            demo.address, demo.admin
        ))?;
        demo.run_until_stopped().await;
        Ok(Exit::Clean)
    })
}
