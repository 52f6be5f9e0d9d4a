//! What must exist before a request can be made: made when first needed, once per run, marker or key.

use super::answer::plain;
use super::command;
use super::defer::MadeFixture;
use super::fetch::Fetched;
use super::keys::KeyWriter;
use super::rendering::Filling;
use super::spec::Spec;
use super::words::fresh_word;
use super::world::{World, played_by};
use crate::scenario::PrincipalRole;
use crate::target::key::KeyUse;
use crate::target::operation::{Fixture, FixtureSource, Lifetime, Operation};
use crate::target::placeholder::Placeholder;
use crate::target::render::{Credentials, Recipe, render};
use crate::target::request::{Patch, Request};
use crate::target::selector::Selector;
use serde_json::Value;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

type Cell = Arc<OnceCell<Result<Value, String>>>;
type Answered = Arc<OnceCell<Result<Fetched, String>>>;

/// The fixtures that were made.
#[derive(Default)]
pub(super) struct Fixtures {
    made: Mutex<HashMap<(String, PrincipalRole, String), Cell>>,
    prepared: Mutex<HashMap<(String, PrincipalRole, String), Answered>>,
}

/// For whom a fixture is made.
struct Wanted<'a> {
    principal: PrincipalRole,
    marker: &'a str,
    unique: &'a str,
}

impl Fixtures {
    /// Makes what the request needs and puts the values in.
    pub(super) async fn fill(
        &self,
        world: &World,
        request: &Request,
        operation: &Operation,
        spec: &Spec,
        values: &mut Filling<'_>,
    ) -> Result<(), String> {
        let principal = maker(spec.principal);
        let wanted = Wanted {
            principal,
            marker: &spec.marker,
            unique: &spec.unique,
        };
        let mut names = Vec::new();
        let mut given = false;
        let mut prepared = false;
        request.each_placeholder(&mut |placeholder| match placeholder {
            Placeholder::Fixture(name) => names.push(name.clone()),
            Placeholder::GivenIdentity => given = true,
            Placeholder::Prepared(_) => prepared = true,
            _ => {}
        });
        for name in names {
            let value = self.value(world, &name, &wanted).await?;
            values.fixtures.insert(name, value);
        }
        if given {
            let maker = operation
                .given
                .as_deref()
                .ok_or("the operation has no `given`")?;
            let which = if spec.given_other { "other" } else { "subject" };
            let name = format!("given {maker} {which}");
            let instance = spec.marker.clone();
            let cell = self.cell(&name, principal, &instance);
            let plain_request = Patch::default();
            let value = cell
                .get_or_init(|| self.by_operation(world, maker, &plain_request, None, &wanted))
                .await
                .clone()
                .map_err(|why| format!("{maker} made nothing to work on: {why}"))?;
            values.given = plain(&value);
            if let Some(given) = &values.given {
                // What is done to it may change what its key answers.
                world.ledger.forget_resource(given);
            }
        }
        if prepared {
            values.prepared = Some(self.prepared(world, operation, spec).await?);
        }
        Ok(())
    }

    /// What the operation asks for beforehand: asked once for each `prepare` step, and for a request
    /// that names none once for itself and its repeats.
    pub(super) async fn prepared(
        &self,
        world: &World,
        operation: &Operation,
        spec: &Spec,
    ) -> Result<Fetched, String> {
        let instance = spec.prepared.as_ref().unwrap_or(&spec.unique);
        // An answer that a step has asked for is its own caller's, whoever uses it.
        let caller = match spec.prepared {
            Some(_) => PrincipalRole::Owner,
            None => spec.principal,
        };
        let place = (operation.name.clone(), caller, instance.clone());
        let cell = {
            let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(prepared.entry(place).or_default())
        };
        cell.get_or_init(|| self.ask(world, operation, spec))
            .await
            .clone()
            .map_err(|why| format!("prepare: {why}"))
    }

    async fn ask(
        &self,
        world: &World,
        operation: &Operation,
        spec: &Spec,
    ) -> Result<Fetched, String> {
        let request = operation
            .prepare
            .as_ref()
            .ok_or("the operation has no `prepare`")?;
        let mut values = Filling::of_spec(world, spec);
        Box::pin(self.fill(world, request, operation, spec, &mut values)).await?;
        world.spend(1)?;
        let rendered = world.render_plain(request, spec.principal, &values)?;
        let fetched = world.fetch(&rendered, world.target.limits.patience).await?;
        if (200..300).contains(&fetched.status) {
            Ok(fetched)
        } else {
            Err(format!("answered {}", world.told(&fetched)))
        }
    }

    /// The values of fixtures that a command or a probe mentions.
    pub(super) async fn fill_named(
        &self,
        world: &World,
        names: Vec<String>,
        spec: &Spec,
        values: &mut Filling<'_>,
    ) -> Result<(), String> {
        let principal = maker(spec.principal);
        let wanted = Wanted {
            principal,
            marker: &spec.marker,
            unique: &spec.unique,
        };
        for name in names {
            let value = self.value(world, &name, &wanted).await?;
            values.fixtures.insert(name, value);
        }
        Ok(())
    }

    /// What was made for these markers and keys, and for everybody.
    pub(super) fn made_for(&self, instances: &[&str]) -> Vec<MadeFixture> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = made.iter().filter(|((_, _, instance), _)| {
            instance.is_empty() || instances.contains(&instance.as_str())
        });
        mine.filter_map(|((name, principal, instance), cell)| {
            Some(MadeFixture {
                name: name.clone(),
                principal: *principal,
                instance: instance.clone(),
                value: cell.get()?.as_ref().ok()?.clone(),
            })
        })
        .collect()
    }

    /// Takes it that these were made.
    pub(super) fn restore(&self, fixtures: &[MadeFixture]) {
        for fixture in fixtures {
            let cell = self.cell(&fixture.name, fixture.principal, &fixture.instance);
            // What another round has restored is the same.
            let _ = cell.set(Ok(fixture.value.clone()));
        }
    }

    fn cell(&self, name: &str, principal: PrincipalRole, instance: &str) -> Cell {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(
            made.entry((name.to_owned(), principal, instance.to_owned()))
                .or_default(),
        )
    }

    fn value<'a>(
        &'a self,
        world: &'a World,
        name: &'a str,
        wanted: &'a Wanted<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send + 'a>> {
        Box::pin(async move {
            let fixture = world
                .target
                .fixture(name)
                .ok_or_else(|| format!("there is no fixture `{name}`"))?;
            let instance = match fixture.per {
                Lifetime::Run => "",
                Lifetime::Scenario => wanted.marker,
                Lifetime::Key => wanted.unique,
            };
            // One that is made by a certain caller is the same for all, and another session of a user
            // has what that user has.
            let maker = fixture.maker.and_then(played_by);
            let principal = match maker.unwrap_or(wanted.principal) {
                PrincipalRole::OtherSession => PrincipalRole::Owner,
                role => role,
            };
            let wanted = Wanted {
                principal,
                ..*wanted
            };
            let cell = self.cell(name, wanted.principal, instance);
            cell.get_or_init(|| self.make(world, fixture, &wanted))
                .await
                .clone()
                .map_err(|why| format!("fixture {name}: {why}"))
        })
    }

    async fn make(
        &self,
        world: &World,
        fixture: &Fixture,
        wanted: &Wanted<'_>,
    ) -> Result<Value, String> {
        match &fixture.source {
            FixtureSource::Request(request) => {
                let mut values = self.values(world, wanted);
                self.needed_by(world, request, wanted, &mut values).await?;
                let deadline = Instant::now() + fixture.timeout;
                loop {
                    world.spend(1)?;
                    let rendered = world.render_plain(request, wanted.principal, &values)?;
                    let fetched = world.fetch(&rendered, fixture.timeout).await?;
                    let ready = fixture
                        .until
                        .as_ref()
                        .is_none_or(|until| until.holds(&fetched.answer()));
                    if ready {
                        let selector = fixture.value.as_ref().ok_or("it has no `value`")?;
                        return first_value(selector, &fetched.answer()).ok_or_else(|| {
                            format!("its value is not in the answer ({})", world.told(&fetched))
                        });
                    }
                    if Instant::now() + fixture.every > deadline {
                        return Err(format!(
                            "not ready after {} s: {}",
                            fixture.timeout.as_secs(),
                            world.told(&fetched)
                        ));
                    }
                    tokio::time::sleep(fixture.every).await;
                }
            }
            FixtureSource::Command(script) => {
                let mut values = self.values(world, wanted);
                for name in &script.mentions {
                    if world.target.fixture(name).is_some() {
                        let value = self.value(world, name, wanted).await?;
                        values.fixtures.insert(name.clone(), value);
                    }
                }
                let output = command::run(world, script, &values, fixture.timeout).await?;
                let answer = crate::target::selector::Answer::of_output(&output);
                let text = Selector::Text;
                first_value(fixture.value.as_ref().unwrap_or(&text), &answer)
                    .ok_or_else(|| "the command wrote nothing".to_owned())
            }
            FixtureSource::Operation { name, with } => {
                self.by_operation(world, name, with, fixture.value.as_ref(), wanted)
                    .await
            }
        }
    }

    fn values<'w>(&self, world: &'w World, wanted: &Wanted<'_>) -> Filling<'w> {
        let mut values = Filling::new(world);
        values.marker = wanted.marker.to_owned();
        values.unique = wanted.unique.to_owned();
        values
    }

    async fn needed_by(
        &self,
        world: &World,
        request: &Request,
        wanted: &Wanted<'_>,
        values: &mut Filling<'_>,
    ) -> Result<(), String> {
        let mut names = Vec::new();
        request.each_placeholder(&mut |placeholder| {
            if let Placeholder::Fixture(name) = placeholder {
                names.push(name.clone());
            }
        });
        for name in names {
            let value = self.value(world, &name, wanted).await?;
            values.fixtures.insert(name, value);
        }
        Ok(())
    }

    /// Sends an operation with a fresh key of its own and a marker that no scenario counts.
    async fn by_operation(
        &self,
        world: &World,
        name: &str,
        with: &Patch,
        value: Option<&Selector>,
        wanted: &Wanted<'_>,
    ) -> Result<Value, String> {
        let operation = world.operation(name)?;
        let place = world.key_place(operation);
        let keys = KeyWriter::new(world.contract(name), place.as_ref());
        let key = keys.ordinary(keys.fresh());
        let marker = fresh_word();
        let unique = fresh_word();
        let apart = Wanted {
            principal: wanted.principal,
            marker: &marker,
            unique: &unique,
        };
        let mut values = self.values(world, &apart);
        values.key.clone_from(&key.value);
        let patched = operation.request.patched(with);
        self.needed_by(world, &patched, &apart, &mut values).await?;
        let (principal, _) = world.principal(wanted.principal)?;
        let sent: &KeyUse = match world.is_keyless(name) {
            true => &KeyUse::None,
            false => &key.sent,
        };
        let role = world.role(wanted.principal);
        let token = world.token(role);
        let mut rendered = render(&Recipe {
            target: &world.target,
            base: &world.bases[0].url,
            request: &operation.request,
            patches: &[with],
            forms: &[],
            key: place.as_ref().map(|place| (place, sent)),
            principal: &principal,
            credentials: Credentials::Normal,
            token: token.as_deref(),
            values: &values,
        })
        .map_err(|error| error.to_string())?;
        world.date(name, key.value.as_deref(), None, None, &mut rendered);
        world.spend(1)?;
        let fetched = world.fetch(&rendered, Duration::from_secs(30)).await?;
        if !operation.success.holds(&fetched.answer()) {
            return Err(format!("{name} answered {}", world.told(&fetched)));
        }
        let answer = fetched.answer();
        let found = match value {
            Some(selector) => first_value(selector, &answer),
            None => operation
                .identity
                .iter()
                .find_map(|selector| first_value(selector, &answer)),
        };
        found.ok_or_else(|| {
            format!(
                "no identity in the answer of {name} ({})",
                world.told(&fetched)
            )
        })
    }
}

/// Who makes what a caller needs: another session of the owner works on what the owner has.
fn maker(role: PrincipalRole) -> PrincipalRole {
    match role.stand_in() {
        PrincipalRole::OtherSession => PrincipalRole::Owner,
        role => role,
    }
}

fn first_value(selector: &Selector, answer: &crate::target::selector::Answer<'_>) -> Option<Value> {
    selector
        .select(answer)
        .into_iter()
        .find(|value| !value.is_null())
}
