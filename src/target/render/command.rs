//! The environment in which commands of a target run: values reach them as variables only.

use super::RenderError;
use super::fill::Filling;
use super::fill::text_of;
use crate::target::Target;
use crate::target::action::Command;
use crate::target::placeholder::Placeholder;
use crate::target::placeholder::TimeShift;
use crate::target::placeholder::Values;
use crate::target::principal::Principal;

/// Names and values for the environment of a command: what has a value now of `marker`, `unique`,
/// `key`, `identity`, `seconds`, `port`, `sink_url`, `run`, `now` and `today`, all variables, the further
/// ports, as `port_NAME`, and the fixtures that the command mentions. What it mentions must have a value.
pub fn environment(
    command: &Command,
    target: &Target,
    principal: &Principal,
    values: &dyn Values,
) -> Result<Vec<(String, String)>, RenderError> {
    let mut environment = Vec::new();
    for (name, placeholder) in built_in() {
        match values.get(&placeholder) {
            Ok(value) => environment.push((name.to_string(), text_of(value))),
            Err(reason) if command.mentions.contains(name) => {
                return Err(RenderError::NoValue {
                    placeholder: format!("${name}"),
                    reason,
                });
            }
            Err(_) => {}
        }
    }
    for name in &target.port_names {
        if let Ok(port) = values.get(&Placeholder::Port(Some(name.clone()))) {
            environment.push((format!("port_{name}"), text_of(port)));
        }
    }
    let filling = Filling::plain(target, principal, values);
    let names = target.vars.keys().chain(principal.vars.keys());
    for name in names {
        let tree = principal.vars.get(name).or_else(|| target.vars.get(name));
        let value = tree.map(|tree| filling.tree(tree)).transpose()?.flatten();
        if let Some(value) = value
            && !environment.iter().any(|(known, _)| known == name)
        {
            environment.push((name.clone(), text_of(value)));
        }
    }
    for fixture in &target.fixtures {
        if command.mentions.contains(&fixture.name) {
            let placeholder = Placeholder::Fixture(fixture.name.clone());
            let value = values
                .get(&placeholder)
                .map_err(|reason| RenderError::NoValue {
                    placeholder: format!("${}", fixture.name),
                    reason,
                })?;
            environment.push((fixture.name.clone(), text_of(value)));
        }
    }
    Ok(environment)
}

fn built_in() -> [(&'static str, Placeholder); 11] {
    let now = |date_only| {
        Placeholder::Time(TimeShift {
            date_only,
            back: false,
            by: std::time::Duration::ZERO,
        })
    };
    [
        ("marker", Placeholder::Marker),
        ("unique", Placeholder::Unique),
        ("name", Placeholder::Name),
        ("key", Placeholder::Key),
        ("identity", Placeholder::Identity),
        ("seconds", Placeholder::Seconds),
        ("port", Placeholder::Port(None)),
        ("sink_url", Placeholder::SinkUrl),
        ("run", Placeholder::Run),
        ("now", now(false)),
        ("today", now(true)),
    ]
}
