//! Headers, query and credentials of a curl command: the key, the secrets, what the API needs, and
//! the noise of browsers.

use super::curl::Curl;
use super::secrets::{Secrets, is_secret_name, is_secret_value};
use super::yaml::{literal, scalar};
use regex::Regex;
use serde_json::{Map, Value};
use url::Url;

/// What stands where in the request.
#[derive(Default)]
pub(super) struct Sorted {
    pub(super) key: Option<String>,
    /// Under `principals.owner`.
    pub(super) owner: Map<String, Value>,
    pub(super) headers: Map<String, Value>,
    pub(super) left_out: Vec<String>,
    pub(super) content_type: Option<String>,
}

/// Finds the key and the secrets, and leaves out what clients add by themselves.
pub(super) fn sort_headers(
    curl: &Curl,
    url: &Url,
    secrets: &mut Secrets,
    rows: &mut Vec<(String, String)>,
) -> Sorted {
    let mut sorted = Sorted::default();
    let key = key_header(curl);
    if let Some((name, value)) = key {
        let quoted = value.len() > 2 && value.starts_with('"') && value.ends_with('"');
        sorted.key = Some(if quoted {
            format!("{{ header: {}, quoted: true }}", scalar(name))
        } else {
            scalar(name)
        });
        rows.push(("key".to_owned(), format!("header {name}")));
    }
    let mut owner_headers = Map::new();
    for (name, value) in &curl.headers {
        let lower = name.to_ascii_lowercase();
        if key.is_some_and(|(key, _)| key.eq_ignore_ascii_case(name)) {
            continue;
        }
        if lower == "content-type" {
            sorted.content_type = Some(value.clone());
        } else if lower == "authorization" {
            authorization(value, &mut sorted.owner, &mut owner_headers, secrets, rows);
        } else if is_noise(&lower) {
            sorted.left_out.push(name.clone());
        } else if is_secret_name(name) || is_secret_value(value) {
            let kind = lower.strip_prefix("x-").unwrap_or(&lower);
            let secret = secrets.take(value, kind);
            rows.push(secret_row(&format!("{name}: …"), &secret));
            owner_headers.insert(name.clone(), Value::String(secret));
        } else {
            sorted
                .headers
                .insert(name.clone(), Value::String(literal(value)));
        }
    }
    if let Some(cookies) = &curl.cookies {
        let secret = secrets.take(cookies, "cookie");
        rows.push(secret_row("Cookie: …", &secret));
        owner_headers.insert("Cookie".to_owned(), Value::String(secret));
    }
    let in_url = (!url.username().is_empty() || url.password().is_some())
        .then(|| format!("{}:{}", url.username(), url.password().unwrap_or_default()));
    if let Some(user) = curl.user.clone().or(in_url) {
        let basic = basic(&user, secrets);
        rows.push(secret_row("-u …", &basic));
        sorted
            .owner
            .insert("basic".to_owned(), Value::String(basic));
    }
    if !owner_headers.is_empty() {
        sorted
            .owner
            .insert("headers".to_owned(), Value::Object(owner_headers));
    }
    sorted
}

/// A row about a secret, without its value.
pub(super) fn secret_row(what: &str, secret: &str) -> (String, String) {
    ("secret".to_owned(), format!("{what} → {secret}"))
}

/// The header that is most likely the key.
fn key_header(curl: &Curl) -> Option<(&str, &str)> {
    ["(?i)idempot", "(?i)client-?token", "(?i)request-?id$"]
        .iter()
        .filter_map(|pattern| Regex::new(pattern).ok())
        .find_map(|pattern| {
            let header = curl.headers.iter().find(|(name, _)| pattern.is_match(name));
            header.map(|(name, value)| (name.as_str(), value.as_str()))
        })
}

/// `Authorization` by its scheme.
fn authorization(
    value: &str,
    owner: &mut Map<String, Value>,
    headers: &mut Map<String, Value>,
    secrets: &mut Secrets,
    rows: &mut Vec<(String, String)>,
) {
    let (scheme, rest) = value.split_once(' ').unwrap_or(("", value));
    let rest = rest.trim();
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => {
            let secret = secrets.take(rest, "token");
            rows.push(secret_row("Authorization: Bearer …", &secret));
            owner.insert("bearer".to_owned(), Value::String(secret));
        }
        "basic" => {
            // Name and password cannot be told apart without decoding; together they are one secret.
            let secret = secrets.take(rest, "basic");
            rows.push(secret_row("Authorization: Basic …", &secret));
            let value = format!("Basic {secret}");
            headers.insert("Authorization".to_owned(), Value::String(value));
        }
        _ => {
            let secret = secrets.take(rest, "authorization");
            let shown = if scheme.is_empty() { "" } else { " " };
            rows.push(secret_row(
                &format!("Authorization: {scheme}{shown}…"),
                &secret,
            ));
            let value = format!("{scheme}{shown}{secret}");
            headers.insert("Authorization".to_owned(), Value::String(value));
        }
    }
}

/// `name:password`; with no password the name is the secret, as with API keys.
fn basic(user: &str, secrets: &mut Secrets) -> String {
    match user.split_once(':') {
        Some((name, password)) if !password.is_empty() && !is_secret_value(name) => {
            format!("{}:{}", literal(name), secrets.take(password, "password"))
        }
        Some((name, "")) => format!("{}:", secrets.take(name, "key")),
        Some((name, password)) => {
            let name = secrets.take(name, "key");
            format!("{name}:{}", secrets.take(password, "password"))
        }
        None => format!("{}:", secrets.take(user, "key")),
    }
}

/// What browsers and clients add by themselves.
fn is_noise(name: &str) -> bool {
    const NAMES: [&str; 20] = [
        "accept-encoding",
        "accept-language",
        "cache-control",
        "connection",
        "content-length",
        "dnt",
        "host",
        "origin",
        "pragma",
        "priority",
        "referer",
        "te",
        "traceparent",
        "tracestate",
        "transfer-encoding",
        "upgrade-insecure-requests",
        "user-agent",
        "expect",
        "if-none-match",
        "postman-token",
    ];
    NAMES.contains(&name) || name.starts_with("sec-")
}

/// The path with its query as it is written; secrets of the query go to the owner.
pub(super) fn path_and_query(
    url: &Url,
    sorted: &mut Sorted,
    secrets: &mut Secrets,
    rows: &mut Vec<(String, String)>,
) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut hidden = Map::new();
    for pair in url.query().unwrap_or_default().split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !value.is_empty() && (is_secret_name(name) || is_secret_value(value)) {
            let secret = secrets.take(value, name);
            rows.push(secret_row(&format!("?{name}=…"), &secret));
            hidden.insert(name.to_owned(), Value::String(secret));
        } else if !pair.is_empty() {
            kept.push(pair);
        }
    }
    if !hidden.is_empty() {
        sorted
            .owner
            .insert("query".to_owned(), Value::Object(hidden));
    }
    let path = match kept.is_empty() {
        true => url.path().to_owned(),
        false => format!("{}?{}", url.path(), kept.join("&")),
    };
    literal(&path)
}
