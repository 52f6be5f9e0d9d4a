//! From a curl command to a target file: what each part of it stands for, what is guessed, and
//! what is left out. Pure.

use super::body;
use super::curl::Curl;
use super::place::{self, Home};
use super::secrets::{Secrets, is_secret_name, is_secret_value};
use super::yaml::{entry, flow, scalar};
use regex::Regex;
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

/// What stands where in the request.
#[derive(Default)]
struct Sorted {
    key: Option<String>,
    /// Under `principals.owner`.
    owner: Map<String, Value>,
    headers: Map<String, Value>,
    left_out: Vec<String>,
    content_type: Option<String>,
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
                escaped_scalar(request),
                escaped_scalar(ids)
            ),
            Counting::Command(command) => format!(
                "    effects:\n      {}: {{ command: {} }}\n",
                scalar(&self.effects),
                escaped_scalar(command)
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

/// A text in quotes, whatever is in it.
fn escaped_scalar(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn escaped(text: &str) -> String {
    let begins = text.starts_with("http");
    let plain = |c: char| c.is_ascii_alphanumeric() || ":/.-_[]".contains(c);
    if begins && text.chars().all(plain) {
        text.to_owned()
    } else {
        escaped_scalar(text)
    }
}

/// Literal text in which nothing is a placeholder.
fn literal(text: &str) -> String {
    text.replace("${", "$${")
}

fn sort_headers(
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

fn secret_row(what: &str, secret: &str) -> (String, String) {
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
fn path_and_query(
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

/// The body, by kind.
enum Content {
    Json(Value),
    Form(Value),
    Text(String),
}

/// What the body became.
#[derive(Default)]
struct Parts {
    kind: Option<&'static str>,
    body: String,
    variants: String,
    filter: Option<String>,
}

impl Content {
    fn of(curl: &Curl, sorted: &Sorted) -> Option<Content> {
        let body = curl.body.as_deref()?;
        let kind = sorted.content_type.as_deref().unwrap_or_default();
        let is_form = kind.starts_with("application/x-www-form-urlencoded");
        // A forgotten header is the commonest slip: what is a JSON map is meant as JSON.
        let json = serde_json::from_str::<Value>(body)
            .ok()
            .filter(|json| kind.contains("json") || (is_form && json.is_object()));
        Some(match json {
            Some(json) => Content::Json(json),
            None if is_form => Content::Form(body::form(body)),
            None => Content::Text(body.to_owned()),
        })
    }

    fn parts(
        self,
        sorted: &mut Sorted,
        secrets: &mut Secrets,
        rows: &mut Vec<(String, String)>,
        remarks: &mut Vec<String>,
    ) -> Parts {
        let (name, kind, mut tree) = match self {
            Content::Json(tree) => ("json", "JSON", tree),
            Content::Form(tree) => ("form", "form", tree),
            Content::Text(text) => {
                keep_content_type(sorted, "text/plain");
                remarks.push(
                    "the body is no JSON and no form: put ${marker} into it by hand".to_owned(),
                );
                let text = Value::String(literal(&text));
                return Parts {
                    kind: Some("text"),
                    body: entry(6, "text", &text),
                    ..Parts::default()
                };
            }
        };
        let usual = match name {
            "json" => "application/json",
            _ => "application/x-www-form-urlencoded",
        };
        if sorted
            .content_type
            .as_deref()
            .is_some_and(|kind| name == "json" && !kind.contains("json"))
        {
            remarks.push("the body is JSON, so it is sent as application/json".to_owned());
            sorted.content_type = None;
        }
        keep_content_type(sorted, usual);
        if sorted.key.is_none() {
            key_in_body(name, &mut tree, sorted, rows);
        }
        let marker = body::marker(&tree);
        let unique = body::unique(&tree, marker.as_ref());
        let number = body::number(&tree);
        let mut texts = Vec::new();
        body::each(&tree, &mut Vec::new(), &mut |path, value| {
            if let Value::String(text) = value {
                texts.push((path.clone(), text.clone()));
            }
        });
        for (path, text) in texts {
            let is_secret = matches!(path.last(), Some(body::Step::Name(name)) if is_secret_name(name))
                || is_secret_value(&text);
            let taken =
                marker.as_ref() == Some(&path) || unique.iter().any(|(other, _)| *other == path);
            let instead = if is_secret && !taken {
                let kind = match path.last() {
                    Some(body::Step::Name(name)) => name.as_str(),
                    _ => "secret",
                };
                let secret = secrets.take(&text, kind);
                rows.push(secret_row(&body::in_words(&path), &secret));
                secret
            } else {
                literal(&text)
            };
            body::put(&mut tree, &path, Value::String(instead));
        }
        let mut filter = None;
        match &marker {
            Some(path) => {
                let was = body::at(&tree, path).map(shown).unwrap_or_default();
                rows.push((
                    "marker".to_owned(),
                    format!("{} {was} → \"${{marker}}\"", body::in_words(path)),
                ));
                body::put(&mut tree, path, Value::String("${marker}".to_owned()));
                if let Some(body::Step::Name(name)) = path.last() {
                    filter = Some(name.clone());
                }
            }
            None => remarks.push(
                "no free text for ${marker} was found: put it where effects can be found by it"
                    .to_owned(),
            ),
        }
        for (path, value) in unique {
            let was = body::at(&tree, &path).map(shown).unwrap_or_default();
            rows.push((
                "unique".to_owned(),
                format!("{} {was} → {value}", body::in_words(&path)),
            ));
            body::put(&mut tree, &path, Value::String(value));
        }
        let mut variants = String::new();
        if let Some((path, more, bad)) = number {
            let place = body::in_words(&path);
            let was = body::at(&tree, &path).map(shown).unwrap_or_default();
            rows.push((
                "change".to_owned(),
                format!("{place} {was} → {}", shown(&more)),
            ));
            rows.push((
                "invalid".to_owned(),
                format!("{place} → {}, a guess", shown(&bad)),
            ));
            for (field, value) in [("change", more), ("invalid", bad)] {
                let patch = body::patch(&tree, &path, value);
                let patch = serde_json::json!({ name: patch });
                variants.push_str(&entry(4, field, &patch));
            }
        }
        Parts {
            kind: Some(kind),
            body: entry(6, name, &tree),
            variants,
            filter,
        }
    }
}

fn shown(value: &Value) -> String {
    let text: String = value.to_string().chars().take(60).collect();
    text
}

/// The content type stays in the file where it is not what the body gets by itself.
fn keep_content_type(sorted: &mut Sorted, usual: &str) {
    if let Some(kind) = sorted.content_type.take().filter(|kind| {
        let bare = kind.split(';').next().unwrap_or_default().trim();
        !bare.eq_ignore_ascii_case(usual)
    }) {
        sorted
            .headers
            .insert("Content-Type".to_owned(), Value::String(literal(&kind)));
    }
}

/// A key that travels in the body.
fn key_in_body(
    kind: &str,
    tree: &mut Value,
    sorted: &mut Sorted,
    rows: &mut Vec<(String, String)>,
) {
    const NAMES: [&str; 7] = [
        "idempotency_key",
        "idempotencyKey",
        "idempotencyToken",
        "ClientToken",
        "clientToken",
        "requestId",
        "request_id",
    ];
    let Some(members) = tree.as_object_mut() else {
        return;
    };
    let Some(name) = NAMES.into_iter().find(|name| members.contains_key(*name)) else {
        return;
    };
    members.shift_remove(name);
    let (place, shown) = match kind {
        "json" => (format!("$.{name}"), format!("$.{name} of the body")),
        _ => (name.to_owned(), format!("form field {name}")),
    };
    sorted.key = Some(format!("{{ {kind}: {} }}", scalar_place(&place)));
    rows.push(("key".to_owned(), shown));
}

fn scalar_place(place: &str) -> String {
    escaped_scalar(place)
}
