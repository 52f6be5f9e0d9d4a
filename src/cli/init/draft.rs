//! From a curl command to a target file: what each part of it stands for, what is guessed, and
//! what is left out. Pure.

use super::content::{Content, Parts};
use super::curl::Curl;
use super::headers::{path_and_query, sort_headers};
use super::place::{self, Home};
use super::secrets::Secrets;
use super::yaml::{entry, flow, quoted, scalar};
use serde_json::{Map, Value};
use url::Url;

/// A target file that is not yet written.
#[derive(Debug)]
pub(super) struct Draft {
    /// What was read, as rows of a name and what it became.
    pub(super) rows: Vec<(String, String)>,
    /// What a user should know or do.
    pub(super) remarks: Vec<String>,
    /// The first line about it.
    pub(super) summary: String,
    /// The names of secrets that must be exported.
    pub(super) secrets: Vec<String>,
    /// A name for the file, without its ending.
    pub(super) file: String,
    /// What the effects are called: the last word of the path.
    pub(super) effects: String,
    /// The path without a query.
    pub(super) path: String,
    /// The query entry that the marker would be a filter by, if the body has one.
    pub(super) filter: Option<String>,
    head: String,
    operation: String,
    request: String,
    variants: String,
}

/// How effects are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    /// A GET that lists them, and where their ids stand.
    Request { request: String, ids: String },
    /// A command that prints a number.
    Command(String),
    /// There is no way.
    None,
}

impl Draft {
    /// Reads what a curl command says. `contract` is written as it is.
    ///
    /// # Errors
    /// A URL that is none, or a request that changes nothing.
    pub(super) fn of(curl: &Curl, contract: Option<&str>) -> Result<Draft, String> {
        if matches!(curl.method.as_str(), "GET" | "HEAD" | "OPTIONS") {
            return Err(format!(
                "this is a {} request: give one that changes something, such as a POST",
                curl.method
            ));
        }
        let url = Url::parse(&curl.url).map_err(|error| format!("`{}`: {error}", curl.url))?;
        let home = Home::of(&url)?;
        let mut secrets = Secrets::of(&home.label);
        let mut rows = Vec::new();
        let mut remarks = Vec::new();
        let mut sorted = sort_headers(curl, &url, &mut secrets, &mut rows);
        let path = path_and_query(&url, &mut sorted, &mut secrets, &mut rows);
        let mut parts = Parts::default();
        let content = Content::of(curl, &sorted);
        if let Some(content) = content {
            parts = content.parts(&mut sorted, &mut secrets, &mut rows, &mut remarks);
        }
        let key = match &sorted.key {
            Some(key) => key.clone(),
            None => {
                rows.insert(
                    0,
                    (
                        "key".to_owned(),
                        "none found: header Idempotency-Key is proposed".to_owned(),
                    ),
                );
                "Idempotency-Key".to_owned()
            }
        };
        let mut head = format!(
            "target: {}\nbase-url: {}\n",
            scalar(&home.name),
            escaped(&home.base)
        );
        if let Some(contract) = contract {
            head.push_str(&format!("contract: {}\n", scalar(contract)));
        }
        head.push_str(&format!("key: {key}\n"));
        head.push_str(&tls(curl, &home, &mut remarks));
        if !sorted.owner.is_empty() {
            let owner = Value::Object(sorted.owner);
            head.push_str(&format!("principals:\n{}", entry(2, "owner", &owner)));
        }
        if let Some(sign) = place::live_sign(&url) {
            remarks.push(sign);
        }
        if !sorted.left_out.is_empty() {
            let names = sorted.left_out.join(", ");
            remarks.push(format!("left out, the tool sends its own or none: {names}"));
        }
        if !curl.ignored.is_empty() {
            remarks.push(format!(
                "not understood and ignored: {}",
                curl.ignored.join(", ")
            ));
        }
        let mut request = format!(
            "    request:\n      method: {}\n      path: {}\n",
            curl.method,
            scalar(&path)
        );
        if !sorted.headers.is_empty() {
            request.push_str(&entry(6, "headers", &Value::Object(sorted.headers)));
        }
        request.push_str(&parts.body);
        let kind = parts
            .kind
            .map(|kind| format!(", {kind}"))
            .unwrap_or_default();
        Ok(Draft {
            summary: format!(
                "Read: {} {}{kind}, {}",
                curl.method,
                place::without_query(&url),
                crate::report::plural(curl.headers.len(), "header")
            ),
            rows,
            remarks,
            secrets: secrets.names,
            file: home.label,
            effects: place::effects_of(url.path()),
            path: url.path().to_owned(),
            filter: parts.filter,
            head,
            operation: place::operation_of(&curl.method, url.path()),
            request,
            variants: parts.variants,
        })
    }

    /// The file's text.
    pub(super) fn text(&self, counting: &Counting) -> String {
        let effects = match counting {
            Counting::None => String::new(),
            Counting::Request { request, ids } => format!(
                "    effects:\n      {}: {{ request: {}, ids: {} }}\n",
                scalar(&self.effects),
                quoted(request),
                quoted(ids)
            ),
            Counting::Command(command) => format!(
                "    effects:\n      {}: {{ command: {} }}\n",
                scalar(&self.effects),
                quoted(command)
            ),
        };
        format!(
            "{}operations:\n  {}:\n{}{}    identity: $.id\n{effects}",
            self.head,
            scalar(&self.operation),
            self.request,
            self.variants
        )
    }
}

fn escaped(text: &str) -> String {
    let begins = text.starts_with("http");
    let plain = |c: char| c.is_ascii_alphanumeric() || ":/.-_[]".contains(c);
    if begins && text.chars().all(plain) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

fn tls(curl: &Curl, home: &Home, remarks: &mut Vec<String>) -> String {
    let mut tls = Map::new();
    let files = [("ca", &curl.ca), ("cert", &curl.cert), ("key", &curl.key)];
    for (name, path) in files {
        if let Some(path) = path {
            tls.insert(name.to_owned(), Value::String(path.clone()));
        }
    }
    if curl.insecure && home.is_here {
        tls.insert("verify".to_owned(), Value::Bool(false));
    } else if curl.insecure {
        remarks.push(
            "-k is ignored: certificates go unchecked on this machine only; name the authority with --cacert"
                .to_owned(),
        );
    }
    if tls.is_empty() {
        return String::new();
    }
    format!("tls: {}\n", flow(&Value::Object(tls)))
}
