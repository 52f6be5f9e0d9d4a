//! Readings: what the target's probes show.

use super::answer::plain;
use super::command;
use super::fetch::Fetched;
use super::rendering::Filling;
use super::spec::Spec;
use super::world::{Cast, World, played_by};
use crate::scenario::{OperationRole, PrincipalRole};
use crate::target::operation::{
    Lifetime, NextPage, Operation, Probe, ProbeSource, Reading as What,
};
use crate::target::render::{Rendered, selector};
use crate::target::selector::{Selector, SelectorTemplate};
use crate::transcript::{Reading, ReadingKind, Shown};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Pages that a probe follows at most.
const PAGES: usize = 50;

/// A request whose effects are counted, with the JSON body that it sent.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Counted {
    pub(super) spec: Spec,
    pub(super) body: Option<serde_json::Value>,
}

/// Whose effects a reading counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) operation: OperationRole,
    pub(super) principal: PrincipalRole,
    pub(super) marker: String,
    pub(super) marker_name: String,
}

impl Subject {
    /// The owner reads what those without an eye of their own may have done.
    pub(super) fn of(spec: &Spec) -> Subject {
        Subject {
            operation: spec.operation,
            principal: spec.principal.stand_in(),
            marker: spec.marker.clone(),
            marker_name: spec.marker_name.clone(),
        }
    }
}

/// Groups requests by whose effects they make.
pub(super) fn subjects(counted: &[Counted]) -> Vec<(Subject, Vec<&Counted>)> {
    let mut groups: Vec<(Subject, Vec<&Counted>)> = Vec::new();
    for one in counted {
        let subject = Subject::of(&one.spec);
        match groups.iter_mut().find(|(known, _)| *known == subject) {
            Some((_, members)) => members.push(one),
            None => groups.push((subject, vec![one])),
        }
    }
    groups
}

/// Reads all probes of everybody whose effects are counted.
pub(super) async fn read_all(
    world: &World,
    cast: &Cast,
    counted: &[Counted],
    kind: &ReadingKind,
) -> Vec<Reading> {
    let groups = subjects(counted);
    let readings = groups.iter().flat_map(|(subject, members)| {
        let operation = cast
            .name(subject.operation)
            .and_then(|name| world.operation(name));
        let probes = operation.map(|operation| operation.effects.iter()).ok();
        probes.into_iter().flatten().map(move |probe| async move {
            let shows = read(world, cast, probe, subject, members).await;
            Reading {
                kind: kind.clone(),
                probe: probe.name.clone(),
                operation: subject.operation,
                principal: subject.principal,
                marker: subject.marker.clone(),
                marker_name: subject.marker_name.clone(),
                at: world.clock(Instant::now()),
                shows,
            }
        })
    });
    futures::future::join_all(readings).await
}

/// One reading of one probe.
pub(super) async fn read(
    world: &World,
    cast: &Cast,
    probe: &Probe,
    subject: &Subject,
    members: &[&Counted],
) -> Result<Shown, String> {
    let operation = world.operation(cast.name(subject.operation)?)?;
    let mut seen = BTreeSet::new();
    let mut united: Option<Shown> = None;
    let renderings: &[&Counted] = match probe.sharing(&world.target) {
        Lifetime::Key => members,
        Lifetime::Run | Lifetime::Scenario => &members[..members.len().min(1)],
    };
    for counted in renderings {
        let mut values = Filling::of_spec(world, &counted.spec);
        values.request.clone_from(&counted.body);
        let Some(shown) = one(
            world,
            operation,
            probe,
            subject,
            counted,
            &mut values,
            &mut seen,
        )
        .await?
        else {
            continue;
        };
        united = Some(match (united, shown) {
            (None, shown) => shown,
            (Some(Shown::Ids(mut ids)), Shown::Ids(more)) => {
                for id in more {
                    if !ids.contains(&id) {
                        ids.push(id);
                    }
                }
                Shown::Ids(ids)
            }
            (Some(Shown::Count(count)), Shown::Count(more)) => Shown::Count(count + more),
            (Some(_), shown) => shown,
        });
    }
    united.ok_or_else(|| "there was nothing to ask for".to_owned())
}

/// One rendering of a probe; `None` if the very same question was asked already.
/// Whether the status is what a probe reads: then none is wrong.
fn reads_status(probe: &Probe) -> bool {
    matches!(
        &probe.reading,
        What::State(SelectorTemplate::Fixed(Selector::Status))
    )
}

async fn one(
    world: &World,
    operation: &Operation,
    probe: &Probe,
    subject: &Subject,
    counted: &Counted,
    values: &mut Filling<'_>,
    seen: &mut BTreeSet<String>,
) -> Result<Option<Shown>, String> {
    match &probe.source {
        ProbeSource::Command(script) => {
            let mut names: Vec<String> = Vec::new();
            for name in &script.mentions {
                if world.target.fixture(name).is_some() {
                    names.push(name.clone());
                }
            }
            world
                .fixtures
                .fill_named(world, names, &counted.spec, values)
                .await?;
            let question = format!("{:?} {:?} {:?}", values.marker, values.unique, values.key);
            if !seen.insert(question) {
                return Ok(None);
            }
            let output = command::run(world, script, values, probe.timeout).await?;
            let fetched = Fetched {
                status: 0,
                headers: Vec::new(),
                body: output,
            };
            shown(world, probe, values, &[fetched]).map(Some)
        }
        ProbeSource::Request(request) => {
            world
                .fixtures
                .fill(world, request, operation, &counted.spec, values)
                .await?;
            let reader = probe.reader.and_then(played_by);
            let reader = reader.unwrap_or(subject.principal);
            let mut rendered = world.render_plain(request, reader, values)?;
            if !seen.insert(format!("{}{:?}", rendered.path_and_query, rendered.body)) {
                return Ok(None);
            }
            let mut pages = Vec::new();
            loop {
                let fetched = patiently(world, &rendered, probe).await?;
                if !(200..300).contains(&fetched.status) && !reads_status(probe) {
                    return Err(format!("the probe was answered {}", world.told(&fetched)));
                }
                let next = next_page(probe, &fetched, &rendered.path_and_query);
                pages.push(fetched);
                match next {
                    None => break,
                    Some(_) if pages.len() >= PAGES => {
                        return Err(format!("more than {PAGES} pages: the count would be cut"));
                    }
                    Some(next) => match next.split_once("://") {
                        None => rendered.path_and_query = next,
                        Some((scheme, rest)) => {
                            let path = rest.find('/').map_or("/", |at| &rest[at..]).to_owned();
                            rendered.origin = format!(
                                "{scheme}://{}",
                                rest.split('/').next().unwrap_or_default()
                            );
                            rendered.path_and_query = path;
                        }
                    },
                }
            }
            shown(world, probe, values, &pages).map(Some)
        }
    }
}

/// Asks, and again where the question itself was turned away, or lost by something in front of the API.
async fn patiently(world: &World, rendered: &Rendered, probe: &Probe) -> Result<Fetched, String> {
    const PAUSES: [u64; 3] = [300, 900, 2000];
    let mut pauses = PAUSES.iter();
    loop {
        world.turn_if_slow().await;
        let fetched = world.fetch(rendered, probe.timeout).await?;
        let turned_away = matches!(fetched.status, 429 | 502..=504) && !reads_status(probe);
        match pauses.next().filter(|_| turned_away && !world.is_stopped()) {
            Some(pause) => tokio::time::sleep(Duration::from_millis(*pause)).await,
            None => return Ok(fetched),
        }
    }
}

/// Where the next page is: a path, or a whole URL.
fn next_page(probe: &Probe, page: &Fetched, asked: &str) -> Option<String> {
    match probe.next.as_ref()? {
        NextPage::Link(selector) => {
            let found = selector.select(&page.answer()).iter().find_map(plain)?;
            if !matches!(selector, Selector::Header(_)) {
                return Some(found);
            }
            // RFC 8288: `<URL>; rel="next"`, several separated by commas.
            found.split(',').find_map(|link| {
                let (url, parameters) = link.split_once('>')?;
                parameters
                    .contains("next")
                    .then(|| url.trim().trim_start_matches('<').to_owned())
            })
        }
        NextPage::Cursor { cursor, query } => {
            let found = cursor.select(&page.answer()).iter().find_map(plain)?;
            let (path, rest) = asked.split_once('?').unwrap_or((asked, ""));
            let mut pairs: Vec<(String, String)> = url::form_urlencoded::parse(rest.as_bytes())
                .into_owned()
                .filter(|(name, _)| name != query)
                .collect();
            pairs.push((query.clone(), found));
            let pairs = url::form_urlencoded::Serializer::new(String::new())
                .extend_pairs(pairs)
                .finish();
            Some(format!("{path}?{pairs}"))
        }
    }
}

/// What the pages show.
fn shown(
    world: &World,
    probe: &Probe,
    values: &Filling<'_>,
    pages: &[Fetched],
) -> Result<Shown, String> {
    let principal = world.principal(PrincipalRole::Owner)?.0;
    let selector = selector(probe.reading.selector(), &world.target, &principal, values)
        .map_err(|error| error.to_string())?;
    let found = || {
        pages
            .iter()
            .flat_map(|page| selector.select(&page.answer()))
    };
    let unreadable = || {
        matches!(selector, Selector::Json(_))
            && pages
                .iter()
                .any(|page| serde_json::from_slice::<serde_json::Value>(&page.body).is_err())
    };
    if unreadable() {
        let says = pages
            .first()
            .map(|page| world.told(page))
            .unwrap_or_default();
        return Err(format!("the answer is no JSON: {says}"));
    }
    match &probe.reading {
        What::Ids(_) => {
            let mut ids: Vec<String> = Vec::new();
            for id in found().filter_map(|value| plain(&value)) {
                let id = world.masker.mask(&id);
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
            Ok(Shown::Ids(ids))
        }
        What::Count(_) => Ok(Shown::Count(found().count() as f64)),
        What::Value(_) => {
            let value = found().next().ok_or("it shows no value")?;
            let text = plain(&value).ok_or("what it shows is no number")?;
            let number: f64 = text
                .trim()
                .parse()
                .map_err(|_| format!("`{}` is no number", world.masker.mask(text.trim())))?;
            Ok(Shown::Count(number / probe.per_effect))
        }
        What::State(_) => {
            let state = serde_json::Value::Array(found().collect());
            // What is no JSON any more once it is masked holds nothing that could be compared.
            let masked = world.masker.mask(&state.to_string());
            Ok(Shown::State(
                serde_json::from_str(&masked).unwrap_or_default(),
            ))
        }
    }
}
