//! How the client of an API is told where to go, and what is known of it. Data only.

use std::time::Duration;

use regex::Regex;

use super::Target;
use super::operation::Operation;
use super::placeholder::Part;
use super::placeholder::Template;
use super::request::Request;

/// How long one run of the command may take where the file says nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the target file says of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Variables that the command is given; `${url}`, `${https-url}`, `${host}`, `${port}` and `${ca}`
    /// are filled in for each run.
    pub env: Vec<(String, String)>,
    /// The client's own time limit for one attempt; `None`: it is not known.
    pub timeout: Option<Duration>,
    /// How long one run of the command may take.
    pub patience: Duration,
    /// Whether the command, run again, takes up the operation that it left unfinished.
    pub resumes: bool,
    /// How long a pause between two attempts may be; `None`: as long as the scenario says.
    pub longest_pause: Option<Duration>,
    /// Whether the command is led to us by `HTTPS_PROXY`, as its base URL cannot be changed.
    pub proxy: bool,
}

impl Default for Client {
    fn default() -> Self {
        Client {
            env: Vec::new(),
            timeout: None,
            patience: PATIENCE,
            resumes: false,
            longest_pause: None,
            proxy: false,
        }
    }
}

/// The names that values of `client.env` may have in `${…}`.
pub const ENV_NAMES: [&str; 5] = ["url", "https-url", "host", "port", "ca"];

/// Tells the requests of a target apart, by method and path.
#[derive(Clone, Debug)]
pub struct Recogniser {
    /// The method, in capitals.
    method: String,
    path: Regex,
}

impl Recogniser {
    /// The requests of an operation, whatever its placeholders are filled with.
    pub fn of(target: &Target, operation: &Operation) -> Recogniser {
        Recogniser::request(target, &operation.request)
    }

    /// The look-ups of an operation, and the request that reads what it made.
    pub fn look_ups(target: &Target, operation: &Operation) -> Vec<Recogniser> {
        let lookup = &operation.lookup;
        [&lookup.by_key, &lookup.by_reference, &lookup.by_identity]
            .into_iter()
            .flatten()
            .map(|way| &way.request)
            .chain(&operation.read)
            .map(|request| Recogniser::request(target, request))
            .collect()
    }

    fn request(target: &Target, request: &Request) -> Recogniser {
        let path = pattern(&request.path);
        let whole = if path.starts_with("https?:") || path.starts_with("http") {
            // A whole URL: its host is ours by now.
            path.splitn(4, '/')
                .nth(3)
                .map_or_else(String::new, |rest| format!("/{rest}"))
        } else {
            format!("{}{path}", regex::escape(&base_path(target)))
        };
        let path = Regex::new(&format!(r"\A{whole}\z"))
            .or_else(|_| Regex::new(r"\A.*\z"))
            .expect("it matches anything");
        Recogniser {
            method: request.method.clone(),
            path,
        }
    }

    /// Whether the method and the path, without its query, are those of the request.
    pub fn knows(&self, method: &str, path: &str) -> bool {
        self.method.eq_ignore_ascii_case(method) && self.path.is_match(path)
    }

    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }
}

/// The path of the first base URL, without a slash at its end.
pub fn base_path(target: &Target) -> String {
    let Some(base) = target.base_urls.first() else {
        return String::new();
    };
    let text: String = base
        .template
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Placeholder(_) => "1",
        })
        .collect();
    url::Url::parse(&text)
        .map(|url| url.path().trim_end_matches('/').to_owned())
        .unwrap_or_default()
}

/// A regular expression for what a template may become in a path.
fn pattern(template: &Template) -> String {
    template
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => regex::escape(text),
            Part::Placeholder(_) => "[^/?]+".to_owned(),
        })
        .collect()
}
