//! Base URLs when the file is loaded, and the signs that a target is no sandbox.

use crate::yaml::Diagnostic;
use crate::yaml::Node;

use super::context::PartOfFile;
use super::reader::Reader;
use crate::target::BaseUrl;
use crate::target::Target;
use crate::target::placeholder::Part;
use crate::target::placeholder::Placeholder;
use crate::target::placeholder::Template;
use crate::target::tree::Tree;

/// Reads one base URL, with variables and environment filled in.
pub(super) fn base_url(reader: &Reader<'_>, node: &Node) -> Option<BaseUrl> {
    let written = reader.scalar_text(node, "base-url")?;
    let template = reader.template_of(&written, &node.span, PartOfFile::BaseUrl.site());
    let filled = filled(reader, node, &template)?;
    let url = BaseUrl {
        template: filled,
        literal_host: host_is_literal(&written),
        address: None,
    };
    if reader.is_wrong(&node.span) {
        return None;
    }
    match url.resolve(|_| Some(1)) {
        Ok(_) => Some(url),
        Err(message) => {
            let problem = Diagnostic::error(message).at(node.span.clone());
            reader.report(match written.contains("://") {
                true => problem,
                false => problem.help(format!("write the whole URL, such as http://{written}")),
            });
            None
        }
    }
}

/// The template with the target's own variables filled in.
fn filled(reader: &Reader<'_>, node: &Node, template: &Template) -> Option<Template> {
    let mut filled = Template::default();
    for part in &template.parts {
        match part {
            Part::Text(text) => filled.push_text(text),
            Part::Placeholder(Placeholder::Var(name)) => {
                let value = reader.document.get("vars").and_then(|vars| vars.get(name));
                let value = value.map(|value| reader.tree(value, PartOfFile::Vars.site()));
                match value {
                    Some(Tree::Text(value)) if value.as_literal().is_some() => {
                        filled.push_text(value.as_literal().unwrap_or_default());
                    }
                    Some(Tree::Number(number)) => filled.push_text(&number.to_string()),
                    _ => {
                        reader.error(
                            &node.span,
                            format!("${{{name}}} is no text that is known when the file is loaded"),
                        );
                        return None;
                    }
                }
            }
            Part::Placeholder(_) => filled.parts.push(part.clone()),
        }
    }
    Some(filled)
}

/// Whether scheme and host stand in the file as they are.
fn host_is_literal(written: &str) -> bool {
    let Some((_, rest)) = written.split_once("://") else {
        return false;
    };
    let host_end = rest.find(['/', ':']).unwrap_or(rest.len());
    let in_brackets = rest.starts_with('[');
    !written.starts_with('$') && (in_brackets || !rest[..host_end].contains("${"))
}

/// Whether all base URLs are on this machine.
pub(super) fn all_loopback(base_urls: &[BaseUrl]) -> bool {
    base_urls.iter().all(|base| {
        base.host()
            .is_ok_and(|host| crate::target::host::is_loopback(&host))
    })
}

/// The sign that the target is live: a word in the host's name, or a secret that says so.
pub(super) fn sign(target: &Target) -> Option<String> {
    let host = target.base_urls.iter().find_map(|base| base.host().ok())?;
    let secret = target
        .secrets
        .iter()
        .find(|secret| secret.reveal().contains("_live_"));
    if let Some(secret) = secret {
        let sign = secret.reveal();
        let prefix = sign.find("_live_").map(|at| &sign[..at + "_live_".len()]);
        // Nothing of the secret itself may be shown, only the well-known prefixes.
        let shown = prefix.filter(|prefix| ["sk_live_", "rk_live_", "pk_live_"].contains(prefix));
        let shown = shown.unwrap_or("_live_");
        return Some(format!("{host} looks live ({shown} in {})", secret.name));
    }
    let live = target.base_urls.iter().filter_map(|base| base.host().ok());
    live.into_iter().find_map(|host| {
        let word = host
            .split(['.', '-'])
            .find(|word| ["prod", "production", "live"].contains(word))?;
        Some(format!("{host} looks live (`{word}` in its name)"))
    })
}
