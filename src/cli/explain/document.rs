//! An OpenAPI document in words: the operations that change something, each with its key.

use crate::cli::failure::Failure;
use crate::cli::files;
use crate::openapi::{DeclaredOperation, Document};
use std::fmt::Write;
use std::path::Path;

/// Whether an id is the name of a file rather than that of anything built in.
pub(super) fn is_file(id: &str) -> bool {
    let path = Path::new(id);
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("json" | "yaml" | "yml")) && path.is_file()
}

/// The operations of the document in a file.
///
/// # Errors
/// A file that cannot be read, or holds no OpenAPI document of version 3.
pub(super) fn in_words(file: &str) -> Result<String, Failure> {
    let source = files::read(Path::new(file))?;
    let document =
        Document::read(&source.text).map_err(|why| Failure::Usage(format!("{file}: {why}")))?;
    Ok(told(&document))
}

fn told(document: &Document) -> String {
    let changing: Vec<&DeclaredOperation> = document
        .operations
        .iter()
        .filter(|operation| !matches!(operation.method.as_str(), "get" | "head" | "options"))
        .collect();
    let mut text = format!("{}\n\n", document.title);
    let width = changing
        .iter()
        .map(|operation| operation.path.len())
        .max()
        .unwrap_or_default()
        .min(70);
    for operation in &changing {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:<6} {:<width$}  {}",
            operation.method.to_uppercase(),
            operation.path,
            key(operation)
        );
    }
    let keyless = document.without_a_key().count();
    let _ = writeln!(
        text,
        "\n{} of {} operations change something; {keyless} of them should have a key and declare none",
        changing.len(),
        document.operations.len()
    );
    text
}

fn key(operation: &DeclaredOperation) -> String {
    match &operation.key {
        Some(key) => {
            let required = if key.required { "required" } else { "optional" };
            format!("{} {} ({required})", key.place, key.name)
        }
        None if operation.needs_a_key() => "no key".to_owned(),
        None => "no key; idempotent by its method".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::told;
    use crate::openapi::Document;

    #[test]
    fn what_changes_something_is_listed_with_its_key_or_the_lack_of_one() {
        let text = "openapi: 3.0.0\ninfo: { title: A }\npaths:\n  /a:\n    get: {}\n    put: {}\n    post: { parameters: [ { in: header, name: Idempotency-Key } ] }\n  /b: { patch: {} }\n";
        let told = told(&Document::read(text).expect("it is a document"));
        assert!(
            told.contains("PUT    /a  no key; idempotent by its method"),
            "{told}"
        );
        assert!(
            told.contains("POST   /a  header Idempotency-Key (optional)"),
            "{told}"
        );
        assert!(told.contains("PATCH  /b  no key\n"), "{told}");
        assert!(
            told.contains("3 of 4 operations change something; 1 of them"),
            "{told}"
        );
    }
}
