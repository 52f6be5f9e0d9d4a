//! A small environment and fixed values, for the tests of this module.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use serde_json::json;

use super::Target;
use super::key::KeyPlace;
use super::key::KeyUse;
use super::parse::Environment;
use super::parse::Loaded;
use super::parse::Options;
use super::parse::load;
use super::placeholder::Placeholder;
use super::placeholder::Values;
use super::principal::Role;
use super::render::Credentials;
use super::render::Form;
use super::render::Recipe;
use super::render::RenderError;
use super::render::Rendered;
use super::render::render as render_recipe;
use super::request::Patch;
use crate::yaml::Diagnostic;
use crate::yaml::Source;

/// Variables and files that a test hands in.
#[derive(Default)]
pub(super) struct Surroundings {
    pub(super) variables: BTreeMap<&'static str, &'static str>,
    pub(super) files: BTreeMap<&'static str, &'static str>,
}

impl Environment for Surroundings {
    fn var(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| value.to_string())
    }

    fn file(&self, path: &Path, _from: &str) -> Result<Source, String> {
        let name = path.display().to_string();
        match self.files.get(name.as_str()) {
            Some(text) => Ok(Source {
                name,
                text: text.to_string(),
            }),
            None => Err("No such file".to_string()),
        }
    }
}

/// Loads a file in an environment with a few variables and secrets.
pub(super) fn load_text(text: &str) -> Result<Loaded, Vec<Diagnostic>> {
    load_with(text, &Options::default(), &usual())
}

/// Variables that most tests use.
pub(super) fn usual() -> Surroundings {
    Surroundings {
        variables: BTreeMap::from([
            ("TOKEN", "abcdefgh12345678"),
            ("OTHER", "zyxwvuts87654321"),
            ("SHOP", "dev"),
        ]),
        files: BTreeMap::new(),
    }
}

/// Loads a file.
pub(super) fn load_with(
    text: &str,
    options: &Options,
    surroundings: &Surroundings,
) -> Result<Loaded, Vec<Diagnostic>> {
    let source = Source {
        name: "target.yaml".to_string(),
        text: text.to_string(),
    };
    load(Arc::new(source), options, surroundings)
}

/// The target, which must load.
pub(crate) fn target(text: &str) -> Target {
    match load_text(text) {
        Ok(loaded) => loaded.target,
        Err(problems) => panic!(
            "{}",
            problems.iter().map(|p| p.render(false)).collect::<String>()
        ),
    }
}

/// Fixed values for every placeholder.
pub(super) struct Fixed;

impl Values for Fixed {
    fn get(&self, placeholder: &Placeholder) -> Result<Value, String> {
        Ok(match placeholder {
            Placeholder::Marker => json!("m1"),
            Placeholder::Name => json!("n1"),
            Placeholder::Unique => json!("u1"),
            Placeholder::Key => json!("k1"),
            Placeholder::Uuid => json!("01234567-89ab-4cde-8f01-23456789abcd"),
            Placeholder::Fixture(name) if name == "number" => json!(42),
            Placeholder::Fixture(name) if name == "odd" => json!("it's \"a/b\""),
            Placeholder::Fixture(name) => json!(format!("f-{name}")),
            Placeholder::Response(_) => json!("https://other.test/ops/1?x=y#z"),
            Placeholder::Request(_) => json!("/sent/path"),
            Placeholder::Identity => json!("pay_1"),
            other => return Err(format!("no {other} in this test")),
        })
    }
}

/// How the first operation of a target is rendered.
pub(super) struct Trial<'a> {
    pub(super) patches: &'a [&'a Patch],
    pub(super) forms: &'a [Form],
    pub(super) key: KeyUse,
    pub(super) role: Role,
    pub(super) credentials: Credentials,
}

impl Default for Trial<'_> {
    fn default() -> Self {
        Trial {
            patches: &[],
            forms: &[],
            key: KeyUse::value("key-1"),
            role: Role::Owner,
            credentials: Credentials::Normal,
        }
    }
}

impl Trial<'_> {
    /// Renders the first operation.
    pub(super) fn render(&self, text: &str) -> Result<Rendered, RenderError> {
        let target = target(text);
        let operation = &target.operations[0];
        let base = target.base_urls[0].resolve(|_| Some(1)).expect("a URL");
        let keyless = KeyPlace::None;
        let place = operation.key.as_ref().unwrap_or(&keyless);
        let using = match place {
            KeyPlace::None if !operation.request.places_key() => &KeyUse::None,
            _ => &self.key,
        };
        render_recipe(&Recipe {
            target: &target,
            base: &base,
            request: &operation.request,
            patches: self.patches,
            forms: self.forms,
            key: Some((place, using)),
            principal: &target.principals[&self.role],
            credentials: self.credentials,
            token: None,
            values: &Fixed,
        })
    }
}

/// Renders the first operation with patches, which must work.
pub(super) fn render(text: &str, patches: &[&Patch]) -> Rendered {
    let trial = Trial {
        patches,
        ..Trial::default()
    };
    trial.render(text).expect("renders")
}
