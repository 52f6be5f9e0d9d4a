//! `client`: how the API's client is told where to go.

use crate::yaml::Node;

use super::reader::Reader;
use crate::target::client::Client;
use crate::target::client::ENV_NAMES;

pub(super) fn client(reader: &Reader<'_>, node: &Node) -> Client {
    let own = Client::default();
    let mut fields = reader.fields(node, "client");
    let env = fields.take("env").map(|node| env(reader, node));
    let mut time = |name| {
        let node: Option<&Node> = fields.take(name);
        node.and_then(|node| reader.duration(node, name))
    };
    let (timeout, patience) = (time("timeout"), time("patience"));
    let longest_pause = time("longest-pause");
    let mut truth = |name| {
        let node: Option<&Node> = fields.take(name);
        node.and_then(|node| reader.truth(node, name))
    };
    let (resumes, proxy) = (truth("resumes"), truth("proxy"));
    fields.finish();
    Client {
        env: env.unwrap_or_default(),
        timeout,
        patience: patience.unwrap_or(own.patience),
        resumes: resumes.unwrap_or_default(),
        longest_pause,
        proxy: proxy.unwrap_or_default(),
    }
}

/// The variables; a name in `${…}` that there is not is refused.
fn env(reader: &Reader<'_>, node: &Node) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    for entry in reader.entries(node, "env") {
        let Some(value) = reader.scalar_text(&entry.value, "a variable") else {
            continue;
        };
        for (at, _) in value.match_indices("${") {
            let name = value[at + 2..].split('}').next().unwrap_or_default();
            if !ENV_NAMES.contains(&name) {
                reader.unknown(&entry.value.span, "placeholder", name, &ENV_NAMES);
            }
        }
        variables.push((entry.key.clone(), value));
    }
    variables
}
