//! The ports that the tool chooses for a server that it starts: `${port}`, and `${port.NAME}` for
//! each further one, such as that of a second instance or of an admin listener.

use std::collections::{BTreeMap, BTreeSet};

use super::Target;
use crate::yaml::Value;

/// The ports of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports(BTreeMap<Option<String>, u16>);

impl Ports {
    /// A port for each name that the target mentions; `None` is `${port}`.
    ///
    /// # Errors
    /// When `choose` has none.
    pub fn chosen<E>(
        target: &Target,
        mut choose: impl FnMut() -> Result<u16, E>,
    ) -> Result<Ports, E> {
        let names = target.port_names.iter().cloned().map(Some).chain([None]);
        names
            .map(|name| Ok((name, choose()?)))
            .collect::<Result<_, E>>()
            .map(Ports)
    }

    /// Ports that are known already.
    pub fn known(ports: impl IntoIterator<Item = (Option<String>, u16)>) -> Ports {
        Ports(ports.into_iter().collect())
    }

    /// The port of this name, if one was chosen.
    pub fn get(&self, name: Option<&str>) -> Option<u16> {
        self.0.get(&name.map(str::to_owned)).copied()
    }
}

/// The names of further ports in a text: `${port.NAME}`, or `$port_NAME` in a command.
pub(super) fn names_in(text: &str) -> BTreeSet<String> {
    text.match_indices('$')
        .filter_map(|(at, _)| {
            let rest = text[at + 1..].trim_start_matches('{');
            let rest = rest.strip_prefix("port")?.strip_prefix(['.', '_'])?;
            let end = rest
                .find(|c: char| !is_name_character(c))
                .unwrap_or(rest.len());
            is_name(&rest[..end]).then(|| rest[..end].to_owned())
        })
        .collect()
}

/// Whether a port may be called so: it is a name in the environment of commands, too.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_name_character)
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'
}

/// All names of further ports in a file.
pub(super) fn names(source: &crate::yaml::Node) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    source.walk(&mut |_, node| {
        if let Value::Text(text) = &node.value {
            names.extend(names_in(text));
        }
    });
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_urls_and_in_commands() {
        let text = "http://h:${port.admin}/ $port_two ${port_three:-1} ${port} $portly ${port.}";
        let names: Vec<String> = names_in(text).into_iter().collect();
        assert_eq!(names, ["admin", "three", "two"]);
    }

    #[test]
    fn each_name_has_a_port_of_its_own() {
        let ports = Ports::known([(None, 1), (Some("admin".to_owned()), 2)]);
        assert_eq!(ports.get(None), Some(1));
        assert_eq!(ports.get(Some("admin")), Some(2));
        assert_eq!(ports.get(Some("other")), None);
    }
}
