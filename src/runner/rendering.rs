//! From a target's templates to the bytes of one request, with the values that this run has for them.

use super::fetch::Fetched;
use super::spec::Spec;
use super::world::{Cast, World, played_by};
use crate::scenario::PrincipalRole;
use crate::target::operation::{Operation, Variant};
use crate::target::placeholder::{Placeholder, Template, Values};
use crate::target::principal::{Principal, Role};
use crate::target::render::{Credentials, Form, Recipe, RenderError, Rendered, render};
use crate::target::request::{Pair, Patch, Request};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::time::{Duration, SystemTime};

/// For how long a token must be good when a request is made.
const AT_ONCE: Duration = Duration::from_secs(5);

impl World {
    /// The bytes of an operation's request, and whether a form changed the body's.
    pub(super) async fn render_operation(
        &self,
        cast: &Cast,
        spec: &Spec,
        each: bool,
    ) -> Result<(Rendered, bool), RenderError> {
        let skip = RenderError::NotApplicable;
        let operation = self
            .operation(cast.name(spec.operation).map_err(skip)?)
            .map_err(skip)?;
        let mut patches = Vec::new();
        for name in &spec.variants {
            patches.push(self.variant(operation, name).await.map_err(skip)?);
        }
        let condition = condition(operation, spec);
        let patches: Vec<_> = patches
            .iter()
            .map(|variant| &variant.patch)
            .chain(&condition)
            .collect();
        let (principal, credentials) = self.principal(spec.principal).map_err(skip)?;
        let role = self.role(spec.principal);
        let ready = self.ready_token(role, AT_ONCE).await;
        let token = self.token(role);
        // A server that has ended gives out none, and the one before may serve.
        if token.is_none() {
            ready.map_err(RenderError::Invalid)?;
        }
        let mut forms = Vec::new();
        for name in &spec.forms {
            forms.push(
                Form::from_name(name).ok_or_else(|| skip(format!("there is no form `{name}`")))?,
            );
        }
        let patched = patches
            .iter()
            .fold(operation.request.clone(), |request, patch| {
                request.patched(patch)
            });
        let mut values = Filling::of_spec(self, spec);
        self.fixtures
            .fill(self, &patched, operation, spec, &mut values)
            .await
            .map_err(|reason| RenderError::NoValue {
                placeholder: "a fixture".to_owned(),
                reason,
            })?;
        let place = self.key_place(operation);
        let base = self.base(each);
        let recipe = Recipe {
            target: &self.target,
            base: &base.url,
            request: &operation.request,
            patches: &patches,
            forms: &forms,
            key: place.as_ref().map(|place| (place, &spec.key.sent)),
            principal: &principal,
            credentials,
            token: token.as_deref(),
            values: &values,
        };
        let rendered = Rendered {
            address: base.address,
            ..render(&recipe)?
        };
        let reworded = if forms.is_empty() {
            false
        } else {
            render(&Recipe {
                forms: &[],
                ..recipe
            })?
            .body
                != rendered.body
        };
        Ok((rendered, reworded))
    }

    /// The declared or derived variant that a scenario's name stands for.
    pub(super) async fn variant(
        &self,
        operation: &Operation,
        name: &str,
    ) -> Result<Variant, String> {
        let chosen = self.chosen.lock().await;
        if let Some(known) = chosen.get(&(operation.name.clone(), name.to_owned())) {
            return known.clone();
        }
        drop(chosen);
        operation.likeliest_variation(name).map(Cow::into_owned)
    }

    /// The bytes of a request that is no operation's own.
    pub(super) fn render_plain(
        &self,
        request: &Request,
        role: PrincipalRole,
        values: &dyn Values,
    ) -> Result<Rendered, String> {
        let role = match request.sender {
            Some(Role::Observer) => None,
            Some(sender) => Some(played_by(sender).unwrap_or(role)),
            None => Some(role.stand_in()),
        };
        let (principal, role) = match role {
            Some(role) => (self.principal(role)?.0, self.role(role)),
            None => match self.target.principals.get(&Role::Observer) {
                Some(observer) => (Cow::Borrowed(observer), Role::Observer),
                None => (self.principal(PrincipalRole::Owner)?.0, Role::Owner),
            },
        };
        let token = self.token(role);
        self.render_bare(request, &principal, token.as_deref(), values)
    }

    /// The bytes of a request that is no operation's own, as this principal.
    pub(super) fn render_bare(
        &self,
        request: &Request,
        principal: &Principal,
        token: Option<&str>,
        values: &dyn Values,
    ) -> Result<Rendered, String> {
        render(&Recipe {
            target: &self.target,
            base: &self.bases[0].url,
            request,
            patches: &[],
            forms: &[],
            key: None,
            principal,
            credentials: Credentials::Normal,
            token,
            values,
        })
        .map_err(|error| error.to_string())
    }
}

/// What binds the request to a version.
fn condition(operation: &Operation, spec: &Spec) -> Option<Patch> {
    let precondition = operation.precondition.as_ref()?;
    let version = spec.version.as_ref()?;
    Some(Patch {
        headers: vec![Pair {
            name: precondition.header.clone(),
            value: Some(Template::literal(version.as_str())),
            encoded: false,
        }],
        ..Patch::default()
    })
}

/// The values of placeholders for one request.
pub(super) struct Filling<'a> {
    world: &'a World,
    pub(super) marker: String,
    pub(super) unique: String,
    pub(super) name: String,
    pub(super) key: Option<String>,
    pub(super) now: SystemTime,
    pub(super) seconds: Option<u64>,
    pub(super) identity: Option<String>,
    pub(super) given: Option<String>,
    pub(super) fixtures: HashMap<String, Value>,
    /// The answer to what was asked for beforehand.
    pub(super) prepared: Option<Fetched>,
    /// The body as sent.
    pub(super) request: Option<Value>,
    pub(super) response: Option<Fetched>,
}

impl<'a> Filling<'a> {
    pub(super) fn new(world: &'a World) -> Filling<'a> {
        Filling {
            world,
            marker: String::new(),
            unique: String::new(),
            name: String::new(),
            key: None,
            now: SystemTime::now(),
            seconds: None,
            identity: None,
            given: None,
            fixtures: HashMap::new(),
            prepared: None,
            request: None,
            response: None,
        }
    }

    pub(super) fn of_spec(world: &'a World, spec: &Spec) -> Filling<'a> {
        Filling {
            marker: spec.marker.clone(),
            unique: spec.unique.clone(),
            name: spec.chosen_name.clone(),
            key: spec.key.value.clone(),
            now: spec.now,
            ..Filling::new(world)
        }
    }
}

impl Values for Filling<'_> {
    fn get(&self, placeholder: &Placeholder) -> Result<Value, String> {
        let text = |text: &str| Ok(Value::String(text.to_owned()));
        match placeholder {
            Placeholder::Marker => text(&self.marker),
            Placeholder::Unique => text(&self.unique),
            Placeholder::Name => text(&self.name),
            Placeholder::Key => text(self.key.as_deref().ok_or("there is no key")?),
            Placeholder::Uuid => text(&uuid::Uuid::new_v4().to_string()),
            Placeholder::Time(shift) => text(&shift.text(self.now)),
            Placeholder::Run => text(&self.world.run),
            Placeholder::RunStarted => {
                text(&humantime::format_rfc3339_seconds(self.world.run_started).to_string())
            }
            Placeholder::Port(name) => self
                .world
                .ports
                .get(name.as_deref())
                .map(Value::from)
                .ok_or_else(|| "no port was chosen".to_owned()),
            Placeholder::SinkUrl => self
                .world
                .receiver
                .as_ref()
                .map(|receiver| Value::from(receiver.url.as_str()))
                .ok_or_else(|| "the target has no sink".to_owned()),
            Placeholder::Seconds => self
                .seconds
                .map(Value::from)
                .ok_or_else(|| "no time is to pass".to_owned()),
            Placeholder::Identity => text(self.identity.as_deref().ok_or("no identity is known")?),
            Placeholder::GivenIdentity => {
                text(self.given.as_deref().ok_or("no resource was made for it")?)
            }
            Placeholder::Fixture(name) => self
                .fixtures
                .get(name)
                .cloned()
                .ok_or_else(|| format!("the fixture `{name}` was not made")),
            Placeholder::Prepared(selector) => {
                let prepared = self.prepared.as_ref().ok_or("nothing was prepared")?;
                let found = selector.select(&prepared.answer()).into_iter().next();
                found.ok_or_else(|| {
                    format!(
                        "it is not in the answer to prepare ({})",
                        self.world.told(prepared)
                    )
                })
            }
            Placeholder::Request(selector) => {
                let body = self
                    .request
                    .as_ref()
                    .ok_or("the request has no JSON body")?;
                selector
                    .select_in(body)
                    .into_iter()
                    .next()
                    .ok_or_else(|| "it is not in the request".to_owned())
            }
            Placeholder::Response(selector) => {
                let response = self.response.as_ref().ok_or("there is no response")?;
                selector
                    .select(&response.answer())
                    .into_iter()
                    .next()
                    .ok_or_else(|| {
                        format!("it is not in the response ({})", self.world.told(response))
                    })
            }
            Placeholder::Secret(_)
            | Placeholder::Var(_)
            | Placeholder::Filler(_)
            | Placeholder::Token => Err("it is filled in where the request is made".to_owned()),
        }
    }
}
