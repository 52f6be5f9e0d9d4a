//! HAR 1.2: every exchange of the run, a page for each case, to be opened in the tools of a browser.
//!
//! Source: "HTTP Archive (HAR) format", version 1.2. What HAR has no word for stands in comments.

use crate::grade::{CaseReport, Report};
use crate::transcript::{Exchange, Response, SentRequest};
use serde::Serialize;
use std::time::{Duration, SystemTime};

/// HAR wants a version; which one a request was sent with is not kept.
const VERSION: &str = "HTTP";

#[derive(Serialize)]
struct Har<'a> {
    log: Log<'a>,
}

#[derive(Serialize)]
struct Log<'a> {
    version: &'static str,
    creator: Creator<'a>,
    pages: Vec<Page>,
    entries: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Creator<'a> {
    name: &'static str,
    version: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    started_date_time: String,
    id: String,
    title: String,
    page_timings: Empty,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    pageref: String,
    started_date_time: String,
    time: f64,
    request: Sent<'a>,
    response: Answer<'a>,
    cache: Empty,
    timings: Timings,
    comment: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sent<'a> {
    method: &'a str,
    url: &'a str,
    http_version: &'static str,
    cookies: [Empty; 0],
    headers: Vec<Pair<'a>>,
    query_string: Vec<Pair<'a>>,
    headers_size: i8,
    body_size: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_data: Option<PostData<'a>>,
}

#[derive(Serialize)]
struct Pair<'a> {
    name: std::borrow::Cow<'a, str>,
    value: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PostData<'a> {
    mime_type: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    status: u16,
    status_text: &'static str,
    http_version: &'static str,
    cookies: [Empty; 0],
    headers: Vec<Pair<'a>>,
    content: Content<'a>,
    #[serde(rename = "redirectURL")]
    redirect_url: &'a str,
    headers_size: i8,
    body_size: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Content<'a> {
    size: usize,
    mime_type: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct Timings {
    send: f64,
    wait: f64,
    receive: f64,
}

/// The archive.
pub fn render(report: &Report) -> String {
    let began =
        humantime::parse_rfc3339_weak(&report.about.started).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut pages = Vec::new();
    let mut entries = Vec::new();
    for (index, case) in report.scenarios.iter().enumerate() {
        let before = entries.len();
        let id = format!("case_{index}");
        let mut first = Duration::MAX;
        for round in &case.transcript.rounds {
            for exchange in &round.exchanges {
                first = first.min(begun(exchange));
                entries.push(entry(exchange, round.number, &id, began));
            }
        }
        if entries.len() > before {
            pages.push(page(case, id, at(began, first)));
        }
    }
    let har = Har {
        log: Log {
            version: "1.2",
            creator: Creator {
                name: "idemspec",
                version: &report.about.idemspec,
            },
            pages,
            entries,
        },
    };
    let text = serde_json::to_string(&har).expect("every key is text");
    super::json::safe(&text).into_owned() + "\n"
}

fn page(case: &CaseReport, id: String, started_date_time: String) -> Page {
    Page {
        started_date_time,
        id,
        title: case.name(),
        page_timings: Empty {},
    }
}

fn entry<'a>(exchange: &'a Exchange, round: u32, page: &str, began: SystemTime) -> Entry<'a> {
    let times = &exchange.times;
    let start = begun(exchange);
    let sent = times.sent.unwrap_or(start).max(start);
    let first = times.first_byte.unwrap_or(times.ended).max(sent);
    let over = times.last_byte.unwrap_or(times.ended).max(first);
    let mut comment = format!(
        "round {round}, step {}, copy {}, attempt {}, as {}: {}",
        exchange.step,
        exchange.copy,
        exchange.attempt,
        exchange.principal.name(),
        exchange.ending.says()
    );
    if let Some(fault) = &exchange.fault {
        comment.push_str(&format!("; fault {}: {}", fault.name, fault.says));
    }
    Entry {
        pageref: page.to_owned(),
        started_date_time: at(began, start),
        time: millis(over - start),
        request: request(&exchange.request),
        response: response(exchange.response.as_ref().or(exchange.late.as_ref())),
        cache: Empty {},
        timings: Timings {
            send: millis(sent - start),
            wait: millis(first - sent),
            receive: millis(over - first),
        },
        comment,
    }
}

fn request(request: &SentRequest) -> Sent<'_> {
    let query = request.url.split_once('?').map_or("", |(_, query)| query);
    Sent {
        method: &request.method,
        url: &request.url,
        http_version: VERSION,
        cookies: [],
        headers: pairs(&request.headers),
        query_string: url::form_urlencoded::parse(query.as_bytes())
            .map(|(name, value)| Pair { name, value })
            .collect(),
        headers_size: -1,
        body_size: size(request.body.as_deref().unwrap_or("").len()),
        post_data: request.body.as_deref().map(|text| PostData {
            mime_type: header(&request.headers, "content-type"),
            text,
        }),
    }
}

/// Status 0 is what browsers write where there was no answer.
fn response(response: Option<&Response>) -> Answer<'_> {
    let headers = response.map_or(&[][..], |response| &response.headers);
    Answer {
        status: response.map_or(0, |response| response.status),
        status_text: "",
        http_version: VERSION,
        cookies: [],
        headers: pairs(headers),
        content: Content {
            size: response.map_or(0, |response| response.body_length),
            mime_type: header(headers, "content-type"),
            text: response.map_or("", |response| &response.body),
        },
        redirect_url: header(headers, "location"),
        headers_size: -1,
        body_size: response.map_or(-1, |response| size(response.body_length)),
    }
}

fn pairs(headers: &[(String, String)]) -> Vec<Pair<'_>> {
    headers
        .iter()
        .map(|(name, value)| Pair {
            name: name.into(),
            value: value.into(),
        })
        .collect()
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
    headers
        .iter()
        .find(|(own, _)| own.eq_ignore_ascii_case(name))
        .map_or("", |(_, value)| value)
}

fn begun(exchange: &Exchange) -> Duration {
    let times = &exchange.times;
    times.released.or(times.sent).unwrap_or(times.ended)
}

fn at(began: SystemTime, after: Duration) -> String {
    humantime::format_rfc3339_micros(began + after).to_string()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn size(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
