//! Where things stand in the user's files, for reports that point at them.

use crate::scenario::Scenario;
use crate::target::Target;
use crate::yaml::{self, Node, Source, Span};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Where each operation of the target stands, and each expectation of the scenarios in the folder
/// `own`, which is named after its finding without the operation.
pub(super) fn of(
    target: &Target,
    scenarios: &[Arc<Scenario>],
    own: Option<&Path>,
) -> BTreeMap<String, String> {
    let mut places = BTreeMap::new();
    let operations = target.source.get("operations").and_then(Node::as_map);
    for entry in operations.unwrap_or_default() {
        places.insert(entry.key.clone(), place(&entry.key_span));
    }
    for scenario in scenarios {
        let Some(folder) = own else { break };
        let path = folder.join(format!("{}.yaml", scenario.id));
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let source = Source {
            name: path.display().to_string(),
            text,
        };
        if let Ok(root) = yaml::parse(Arc::new(source)) {
            let lines = expectations(&root);
            for ((item, expectation), line) in scenario.expect.iter().zip(lines) {
                places.insert(format!("{}/{item}/{}", scenario.id, expectation.id), line);
            }
        }
    }
    places
}

/// The places of all expectations, in the order of the file.
fn expectations(root: &Node) -> Vec<String> {
    let items = root.get("expect").and_then(Node::as_map);
    items
        .unwrap_or_default()
        .iter()
        .flat_map(|item| item.value.as_list().unwrap_or_default())
        .map(|expectation| place(&expectation.span))
        .collect()
}

fn place(span: &Span) -> String {
    let (line, _) = span.line_column();
    format!("{}:{line}", span.source.name)
}
