//! Two reads of what was made, a second apart: what differs is volatile.

use super::sheet::{Sheet, identity, succeeded};
use crate::runner::answer::record;
use crate::runner::baseline::Baseline;
use crate::runner::fetch::Fetched;
use crate::runner::rendering::Filling;
use crate::runner::world::World;
use crate::scenario::PrincipalRole;
use crate::target::operation::Operation;
use crate::target::volatile::is_volatile_header;
use crate::target_check::Mark;
use crate::transcript::Response;
use serde_json::Value;
use std::time::Duration;

/// Time between the two reads: clocks in answers often have seconds only.
const APART: Duration = Duration::from_secs(1);

/// Reads what the first request made, twice.
pub(super) async fn check(
    world: &World,
    operation: &Operation,
    measured: &Baseline,
    sheet: &mut Sheet<'_>,
) {
    const NAME: &str = "volatile";
    let (Some(request), Some(first)) = (&operation.read, &measured.seen.first) else {
        let says = "not checked: the file has no `read`";
        return sheet.line(NAME, Mark::NotChecked, says, "");
    };
    let Some(id) = identity(first).filter(|_| succeeded(first)) else {
        let says = "not checked: there is no identity to read";
        return sheet.line(NAME, Mark::NotChecked, says, "read");
    };
    let mut values = Filling::new(world);
    values.identity = Some(id.to_owned());
    let rendered = match world.render_plain(request, PrincipalRole::Owner, &values) {
        Ok(rendered) => rendered,
        Err(why) => return sheet.line("read", Mark::Wrong, why, "read"),
    };
    let mut pages: Vec<Fetched> = Vec::new();
    for number in 0..2 {
        if number > 0 {
            tokio::time::sleep(APART).await;
        }
        match world.fetch(&rendered, world.target.timeout).await {
            Ok(page) if (200..300).contains(&page.status) => pages.push(page),
            Ok(page) => {
                let says = format!(
                    "{} was answered {}",
                    rendered.path_and_query,
                    world.told(&page)
                );
                return sheet.line("read", Mark::Wrong, says, "read");
            }
            Err(why) => {
                return sheet.line(
                    NAME,
                    Mark::NotChecked,
                    format!("not checked: {why}"),
                    "read",
                );
            }
        }
    }
    let recorded = |page: &Fetched| {
        record(
            page.status,
            &page.headers,
            &page.body,
            operation,
            &world.target.mask,
            &world.masker,
        )
    };
    let different = differences(&recorded(&pages[0]), &recorded(&pages[1]));
    if different.is_empty() {
        let says = "two reads a second apart are equal";
        return sheet.line(NAME, Mark::Right, says, "read");
    }
    let says = format!("{} differs between two reads", different.join(", "));
    let help = format!("add it to volatile: [{}]", different.join(", "));
    sheet.line_with_help(NAME, Mark::Wrong, says, Some(help), "volatile");
}

/// Where two answers differ, as selectors.
fn differences(one: &Response, other: &Response) -> Vec<String> {
    let mut found = Vec::new();
    if let (Some(one), Some(other)) = (&one.stable_json, &other.stable_json) {
        compare(one, other, "$", &mut found);
    }
    for (name, value) in &one.headers {
        let lower = name.to_ascii_lowercase();
        let again: Vec<&str> = other.header(name).collect();
        if !again.contains(&value.as_str())
            && !is_volatile_header(&lower)
            // It follows from the body.
            && lower != "content-length"
            && !one.volatile_headers.contains(&lower)
        {
            found.push(format!("header.{name}"));
        }
    }
    found
}

fn compare(one: &Value, other: &Value, place: &str, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            for (name, value) in one {
                let place = format!("{place}.{name}");
                match other.get(name) {
                    Some(other) => compare(value, other, &place, found),
                    None => found.push(place),
                }
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (at, (one, other)) in one.iter().zip(other).enumerate() {
                compare(one, other, &format!("{place}[{at}]"), found);
            }
        }
        (one, other) if one != other => found.push(place.to_owned()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::compare;
    use serde_json::json;

    #[test]
    fn what_differs_is_named_by_its_path() {
        let mut found = Vec::new();
        let one = json!({ "id": 1, "at": "10:00", "list": [{ "n": 1 }, { "n": 2 }] });
        let other = json!({ "id": 1, "at": "10:01", "list": [{ "n": 1 }, { "n": 3 }] });
        compare(&one, &other, "$", &mut found);
        assert_eq!(found, ["$.at", "$.list[1].n"]);
    }
}
