//! A round as a picture: a bar for each request from its first byte to the last one of its answer,
//! the moment at which a burst was let go, what was done from outside, and effects as they appeared.
//!
//! All places across are in percent and all heights in pixels, so that letters keep their size on a
//! narrow screen.

mod scale;

use crate::outcome::{Meaning, Outcome};
use crate::report::clean::shorten;
use crate::report::evidence::{self, answer, plural, shows};
use crate::transcript::{EventDelivery, Exchange, Reading, ReadingKind, Round, Shown};
use maud::{Markup, html};
use scale::Scale;
use std::collections::BTreeMap;
use std::time::Duration;

/// Copies of one step from which on they share a lane.
const CROWD: usize = 5;
/// Bars that are drawn of one crowd.
const MOST_BARS: usize = 120;
/// Pixels that a crowd takes at the most.
const MOST_HEIGHT: f64 = 130.0;
/// Lanes of requests in one picture.
const MOST_LANES: usize = 24;
/// Characters of a label; more than these do not fit a phone.
const LABEL: usize = 64;
/// Percent between two times under the line.
const APART: f64 = 24.0;

/// Pixels.
const TOP: f64 = 16.0;
const TEXT: f64 = 15.0;
const BAR: f64 = 8.0;
const THIN: f64 = 2.0;
const GAP: f64 = 8.0;

/// What the colours mean, once for all pictures.
pub(super) fn legend() -> Markup {
    html! {
        ul class="legend" aria-label="What the timelines show" {
            @for (class, says) in [
                ("done", "success"),
                ("replayed", "success, told to be a replay"),
                ("wait", "in flight or rate-limited"),
                ("refused", "refused"),
                ("error", "server error"),
                ("silent", "no answer"),
            ] {
                li { (swatch(class)) (says) }
            }
            li { svg class="swatch" width="14" height="10" aria-hidden="true" { circle class="effect" cx="7" cy="5" r="4" {} } "effects counted" }
            li { svg class="swatch" width="14" height="10" aria-hidden="true" { line class="release" x1="7" x2="7" y1="0" y2="10" {} } "let go together, or a hook" }
        }
    }
}

fn swatch(class: &str) -> Markup {
    html! {
        svg class="swatch" width="14" height="10" aria-hidden="true" {
            rect class={ "bar " (class) } width="14" height="10" {}
        }
    }
}

/// The picture of a round; `marked` are the requests that findings point to.
pub(super) fn draw(round: &Round, marked: &[usize]) -> Markup {
    let picture = Picture::new(round, marked);
    let mut y = TOP;
    let mut rows: Vec<Markup> = Vec::new();
    for lane in &picture.lanes {
        rows.push(picture.lane(lane, &mut y));
    }
    if picture.left_out > 0 {
        rows.push(label(
            &format!("and {} more", plural(picture.left_out, "step")),
            "",
            &mut y,
        ));
    }
    let foot = y + 2.0;
    html! {
        svg class="timeline" role="img" width="100%" height=(px(foot + 16.0)) {
            title { (picture.title()) }
            @for (x, says) in picture.moments() {
                line class="release" x1=(pc(x)) x2=(pc(x)) y1="12" y2=(px(foot)) {}
                text class="moment" x=(pc(x)) y="10" text-anchor=(anchor(x)) { (says) }
            }
            @for row in &rows { (row) }
            line class="axis" x1="0%" x2="100%" y1=(px(foot)) y2=(px(foot)) {}
            @for (x, gap) in &picture.scale.breaks {
                rect class="break" x=(pc(x - 0.7)) width="1.4%" y=(px(foot - 2.5)) height="5" {
                    title { (short(*gap)) " without requests, shortened" }
                }
            }
            @for (x, time) in picture.scale.labels(APART) {
                text class="time" x=(pc(x)) y=(px(foot + 12.0)) {
                    (short(time.saturating_sub(picture.start)))
                }
            }
        }
    }
}

/// What is drawn in one row.
enum Lane<'a> {
    /// One request.
    One(usize),
    /// Requests of one step, by their places.
    Many(Vec<usize>),
    /// What one probe showed of one marker.
    Effects(Vec<&'a Reading>),
    /// The events that came for one marker.
    Events(Vec<&'a EventDelivery>),
}

struct Picture<'a> {
    round: &'a Round,
    marked: &'a [usize],
    lanes: Vec<Lane<'a>>,
    left_out: usize,
    scale: Scale,
    start: Duration,
}

impl<'a> Picture<'a> {
    fn new(round: &'a Round, marked: &'a [usize]) -> Picture<'a> {
        let mut steps: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, exchange) in round.exchanges.iter().enumerate() {
            let place = *places.entry(&exchange.step).or_insert_with(|| {
                steps.push((&exchange.step, Vec::new()));
                steps.len() - 1
            });
            steps[place].1.push(index);
        }
        let mut lanes: Vec<Lane<'_>> = Vec::new();
        for (_, mut indices) in steps {
            if indices.len() < CROWD {
                lanes.extend(indices.into_iter().map(Lane::One));
            } else {
                indices.sort_by_key(|index| span(&round.exchanges[*index]));
                lanes.push(Lane::Many(indices));
            }
        }
        let left_out = lanes.len().saturating_sub(MOST_LANES);
        lanes.truncate(MOST_LANES);
        lanes.extend(counted(round).into_iter().map(Lane::Effects));
        lanes.extend(events(round).into_iter().map(Lane::Events));
        let busy: Vec<(Duration, Duration)> = round.exchanges.iter().map(span).collect();
        let moments: Vec<Duration> = lanes
            .iter()
            .filter_map(|lane| match lane {
                Lane::Effects(readings) => Some(readings),
                Lane::One(_) | Lane::Many(_) | Lane::Events(_) => None,
            })
            .flatten()
            .map(|reading| reading.at)
            .chain(round.deliveries.iter().map(|delivery| delivery.at))
            .chain(round.hooks.iter().map(|hook| hook.at))
            .collect();
        Picture {
            round,
            marked,
            lanes,
            left_out,
            scale: Scale::new(&busy, &moments),
            start: evidence::start(round),
        }
    }

    /// For those who do not see it.
    fn title(&self) -> String {
        format!(
            "Timeline of round {}: {} and {}; the same stands below as text",
            self.round.number,
            plural(self.round.exchanges.len(), "request"),
            plural(self.round.readings.len(), "reading"),
        )
    }

    /// When bursts were let go, and what was done from outside.
    fn moments(&self) -> Vec<(f64, String)> {
        let released = self.round.bursts.iter().filter_map(|burst| {
            let first = self
                .round
                .of(&burst.step)
                .filter_map(|exchange| exchange.times.released)
                .min()?;
            Some((first, format!("{} let go", shorten(&burst.step, 20))))
        });
        let hooks = self.round.hooks.iter().map(|hook| {
            let failed = if hook.worked { "" } else { " failed" };
            (hook.at, format!("{}{failed}", hook.name.name()))
        });
        released
            .chain(hooks)
            .map(|(at, says)| (self.scale.x(at), says))
            .collect()
    }

    fn lane(&self, lane: &Lane<'_>, y: &mut f64) -> Markup {
        match lane {
            Lane::One(index) => self.one(*index, y),
            Lane::Many(indices) => self.many(indices, y),
            Lane::Effects(readings) => self.effects(readings, y),
            Lane::Events(deliveries) => self.events(deliveries, y),
        }
    }

    fn one(&self, index: usize, y: &mut f64) -> Markup {
        let exchange = &self.round.exchanges[index];
        let says = format!("{} · {}", name(exchange), in_short(exchange));
        let class = if self.marked.contains(&index) {
            "marked"
        } else {
            ""
        };
        let label = label(&says, class, y);
        let bar = self.bar(exchange, *y, BAR);
        *y += BAR + GAP;
        html! { (label) (bar) }
    }

    fn many(&self, indices: &[usize], y: &mut f64) -> Markup {
        let exchanges = || indices.iter().map(|index| &self.round.exchanges[*index]);
        let mut alike: Vec<(String, usize)> = Vec::new();
        for exchange in exchanges() {
            let says = in_short(exchange);
            match alike.iter_mut().find(|(own, _)| *own == says) {
                Some((_, times)) => *times += 1,
                None => alike.push((says, 1)),
            }
        }
        let parts: Vec<String> = alike
            .iter()
            .map(|(says, times)| format!("{times} × {says}"))
            .collect();
        let step = exchanges()
            .next()
            .map_or("", |exchange| exchange.step.as_str());
        let says = format!(
            "{} × {}: {}",
            shorten(step, 24),
            indices.len(),
            parts.join(", ")
        );
        let marked = indices.iter().any(|index| self.marked.contains(index));
        let label = label(&says, if marked { "marked" } else { "" }, y);
        let drawn = indices.len().min(MOST_BARS);
        let pitch = (MOST_HEIGHT / drawn as f64).min(THIN * 2.0 + 1.0);
        let mut bars = Vec::new();
        for exchange in exchanges().take(MOST_BARS) {
            bars.push(self.bar(exchange, *y, pitch - 1.0_f64.min(pitch / 3.0)));
            *y += pitch;
        }
        *y += GAP;
        html! { (label) @for bar in &bars { (bar) } }
    }

    /// Dimmer while the request itself was still being sent.
    fn bar(&self, exchange: &Exchange, y: f64, height: f64) -> Markup {
        let (from, to) = span(exchange);
        let sent = exchange.times.sent.unwrap_or(from).clamp(from, to);
        let (left, middle, right) = (self.scale.x(from), self.scale.x(sent), self.scale.x(to));
        let kind = kind(exchange);
        let fault = exchange.fault.as_ref().filter(|fault| fault.fired);
        html! {
            @if middle - left > 0.3 {
                rect class={ "bar sending " (kind) } x=(pc(left)) width=(pc(middle - left)) y=(px(y)) height=(px(height)) {}
            }
            rect class={ "bar " (kind) } x=(pc(middle)) width=(pc(right - middle)) y=(px(y)) height=(px(height)) {
                @if height > THIN { title { (name(exchange)) ": " (in_short(exchange)) ", " (short(to - from)) } }
            }
            @if fault.is_some() && height > THIN {
                line class="cut" x1=(pc(right)) x2=(pc(right)) y1=(px(y - 3.0)) y2=(px(y + height + 3.0)) {}
            }
        }
    }

    fn events(&self, deliveries: &[&EventDelivery], y: &mut f64) -> Markup {
        let whose = deliveries
            .first()
            .map_or("", |delivery| &delivery.marker_name);
        let says = format!(
            "{} of {}",
            plural(deliveries.len(), "event"),
            shorten(whose, 16)
        );
        let label = label(&says, "", y);
        let middle = *y + 5.0;
        *y += 10.0 + GAP;
        html! {
            (label)
            line class="track" x1="0%" x2="99%" y1=(px(middle)) y2=(px(middle)) {}
            @for delivery in deliveries {
                circle class="effect event" cx=(pc(self.scale.x(delivery.at))) cy=(px(middle)) r="4" {
                    title {
                        (delivery.event.as_deref().map_or("an event without an id".to_owned(), |id| shorten(id, 60)))
                        ", answered: " (delivery.received.name())
                    }
                }
            }
        }
    }

    fn effects(&self, readings: &[&Reading], y: &mut f64) -> Markup {
        let Some(first) = readings.first() else {
            return html! {};
        };
        let last = readings
            .last()
            .map_or(String::new(), |reading| number(&reading.shows));
        let says = format!(
            "{} of {}: {last} in the end",
            shorten(&first.probe, 20),
            evidence::read_of(first, 16)
        );
        let label = label(&says, "", y);
        let middle = *y + 5.0;
        let mut dots = Vec::new();
        let mut before: Option<String> = None;
        let mut right_of = f64::NEG_INFINITY;
        for reading in readings {
            let x = self.scale.x(reading.at);
            let count = number(&reading.shows);
            let class = match count.as_str() {
                "0" => "effect none",
                "?" => "effect unread",
                _ => "effect",
            };
            let is_new = before.as_ref() != Some(&count) || x - right_of > 14.0;
            dots.push(html! {
                circle class=(class) cx=(pc(x)) cy=(px(middle)) r="4" { title { (shows(&reading.shows)) } }
                @if is_new {
                    @let (anchor, aside) = if x > 94.0 { ("end", "-7") } else { ("start", "7") };
                    text class="count" x=(pc(x)) dx=(aside) text-anchor=(anchor) y=(px(middle + 4.0)) { (count) }
                }
            });
            if is_new {
                right_of = x;
            }
            before = Some(count);
        }
        *y += 10.0 + GAP;
        html! {
            (label)
            line class="track" x1="0%" x2="99%" y1=(px(middle)) y2=(px(middle)) {}
            @for dot in &dots { (dot) }
        }
    }
}

/// The events that came, by marker.
fn events(round: &Round) -> Vec<Vec<&EventDelivery>> {
    let mut lanes: BTreeMap<&str, Vec<&EventDelivery>> = BTreeMap::new();
    for delivery in round.deliveries.iter().take(MOST_BARS) {
        lanes
            .entry(&delivery.marker_name)
            .or_default()
            .push(delivery);
    }
    lanes.into_values().collect()
}

/// The readings that count effects, by probe, marker and who read; of many that show the same, the first and
/// the last.
fn counted(round: &Round) -> Vec<Vec<&Reading>> {
    let mut lanes: BTreeMap<(&str, &str, &str), Vec<&Reading>> = BTreeMap::new();
    for reading in &round.readings {
        if matches!(reading.shows, Ok(Shown::State(_))) || reading.kind == ReadingKind::Before {
            continue;
        }
        let lane = lanes
            .entry((
                &reading.marker_name,
                &reading.probe,
                reading.principal.name(),
            ))
            .or_default();
        if let [.., one, two] = lane.as_slice()
            && number(&one.shows) == number(&two.shows)
            && number(&two.shows) == number(&reading.shows)
        {
            lane.pop();
        }
        lane.push(reading);
    }
    lanes.into_values().collect()
}

fn number(shown: &Result<Shown, String>) -> String {
    match shown.as_ref().ok().and_then(Shown::count) {
        Some(count) => count.to_string(),
        None => "?".to_owned(),
    }
}

/// From the first byte of a request, or where it was let go, to where it was over.
fn span(exchange: &Exchange) -> (Duration, Duration) {
    let times = &exchange.times;
    let from = times.released.or(times.sent).unwrap_or(times.ended);
    (from, times.last_byte.unwrap_or(times.ended).max(from))
}

/// `retry, attempt 2`, and who sent it if that was not the owner.
fn name(exchange: &Exchange) -> String {
    let mut name = shorten(&exchange.step, 24);
    if exchange.copy > 0 {
        name.push_str(&format!(" {}", exchange.copy + 1));
    }
    if exchange.attempt > 0 {
        name.push_str(&format!(", attempt {}", exchange.attempt + 1));
    }
    let who = exchange.principal.name();
    if who != "owner" {
        name.push_str(&format!(" by {who}"));
    }
    name
}

fn in_short(exchange: &Exchange) -> String {
    match &exchange.response {
        Some(_) => format!("{} {}", answer(exchange), exchange.outcome),
        None => answer(exchange),
    }
}

/// The class of its colour.
fn kind(exchange: &Exchange) -> &'static str {
    let outcome = exchange.outcome;
    if exchange.response.is_none() {
        "silent"
    } else if outcome.is_within(Outcome::from(Meaning::Replayed)) {
        "replayed"
    } else if outcome.is_within(Outcome::SUCCESS) {
        "done"
    } else if outcome.may_be(Meaning::ServerError) {
        "error"
    } else if outcome.is_within(Outcome::FOR_NOW) {
        "wait"
    } else if exchange
        .response
        .as_ref()
        .is_some_and(|response| response.status < 300)
    {
        // A success that it may not be, such as somebody else's.
        "done"
    } else {
        "refused"
    }
}

fn label(says: &str, class: &str, y: &mut f64) -> Markup {
    let line = *y + 11.0;
    *y += TEXT;
    html! { text class={ "label " (class) } x="0" y=(px(line)) { (shorten(says, LABEL)) } }
}

fn anchor(x: f64) -> &'static str {
    match x {
        x if x < 20.0 => "start",
        x if x > 80.0 => "end",
        _ => "middle",
    }
}

fn pc(x: f64) -> String {
    format!("{:.2}%", x.max(0.0))
}

fn px(y: f64) -> String {
    format!("{y:.1}")
}

/// `0.4 ms`, `12 ms`, `1.5 s`.
fn short(time: Duration) -> String {
    let millis = time.as_secs_f64() * 1000.0;
    match millis {
        0.0 => "0".to_owned(),
        less if less < 10.0 => format!("{less:.1} ms"),
        less if less < 1_000.0 => format!("{less:.0} ms"),
        more => format!("{:.1} s", more / 1000.0),
    }
}
