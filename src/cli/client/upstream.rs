//! The API behind the audit: the demo as the contract says, or a real one.

use crate::cli::certificates;
use crate::cli::failure::Failure;
use crate::cli::target::{self, Ready};
use crate::client::Upstream;
use crate::contract::Contract;
use crate::demo::policy::{Place, Unkeyed};
use crate::demo::{self, Demo};
use crate::runner::wire::client_config;
use crate::target::key::{Carrier, KeyPlace, PathStep};
use std::time::Duration;

/// The API, and the demo if it is that.
pub(super) struct Behind {
    pub(super) upstream: Upstream,
    demo: Option<Demo>,
}

impl Behind {
    /// Starts the demo, or finds the API at `url`.
    pub(super) async fn start(
        ready: &Ready,
        contract: &Contract,
        url: Option<&str>,
    ) -> Result<Behind, Failure> {
        if let Some(url) = url {
            let tls = || {
                let options = certificates::tls(&ready.target, &ready.file);
                let options = options.map_err(|failure| failure.to_string())?;
                client_config(options).map_err(|problem| problem.to_string())
            };
            return Ok(Behind {
                upstream: Upstream::at(url, tls).map_err(Failure::Usage)?,
                demo: None,
            });
        }
        let mut options = target::demo_options(Some(contract)).map_err(|failure| {
            Failure::Usage(
                format!("{failure}; name the API with --upstream").replacen("error: ", "", 1),
            )
        })?;
        options.work = Duration::from_millis(5);
        if let Some(place) = key_place(ready) {
            options.policy.key.place = place;
        }
        // A client that sends no key is graded by what it sends again, unless it must send one.
        if contract.missing.value.is_none() {
            options.policy.missing = Unkeyed::Execute;
        }
        let demo = demo::start(options)
            .await
            .map_err(|problem| Failure::Unable(problem.to_string()))?;
        let none = || Err("the demo does not speak TLS".to_owned());
        Ok(Behind {
            upstream: Upstream::at(&format!("http://{}", demo.address), none)
                .map_err(Failure::Unable)?,
            demo: Some(demo),
        })
    }

    /// What it is, for people.
    pub(super) fn says(&self) -> String {
        match self.demo {
            Some(_) => "the demo API".to_owned(),
            None => self.upstream.to_string(),
        }
    }

    /// Ends the demo, if it is that.
    pub(super) async fn stop(self) {
        if let Some(demo) = self.demo {
            demo.stop().await;
        }
    }
}

/// Where the demo looks for keys, if the target file says it in a way that the demo can.
fn key_place(ready: &Ready) -> Option<Place> {
    let first = ready.target.operations.first()?;
    match first.key.as_ref().or(ready.target.key.as_ref())? {
        KeyPlace::None => None,
        KeyPlace::At { carrier, .. } => match carrier {
            Carrier::Header(name) => Some(Place::Header(name.clone())),
            Carrier::Query(name) => Some(Place::Query(name.clone())),
            Carrier::Json(path) => match &path[..] {
                [PathStep::Name(name)] => Some(Place::Member(name.clone())),
                _ => None,
            },
            Carrier::Form(_) => None,
        },
    }
}
