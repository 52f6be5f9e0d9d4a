//! What the scenarios that cannot run would need, in few words.

use crate::plan::Plan;

/// `31 of 44 scenarios can run. The others need: other-tenant (6), failing (3).`
pub(super) fn in_words(plan: &Plan) -> String {
    let mut all: Vec<(&str, &str, Option<&str>)> = Vec::new();
    for case in &plan.cases {
        let id = (case.subject.as_str(), case.scenario.id.as_str());
        let known = all
            .iter_mut()
            .find(|(subject, scenario, _)| (*subject, *scenario) == id);
        match (known, &case.skip) {
            // One case that can run is enough for its scenario to show something.
            (Some((_, _, reason)), None) => *reason = None,
            (Some(_), Some(_)) => {}
            (None, skip) => all.push((id.0, id.1, skip.as_deref())),
        }
    }
    let mut needs: Vec<(String, usize)> = Vec::new();
    for reason in all.iter().filter_map(|(_, _, reason)| *reason) {
        let need = need(reason);
        match needs.iter_mut().find(|(known, _)| *known == need) {
            Some((_, count)) => *count += 1,
            None => needs.push((need, 1)),
        }
    }
    needs.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let lacking: usize = needs.iter().map(|(_, count)| count).sum();
    let total = all.len();
    let can = format!("{} of {total} scenarios can run.", total - lacking);
    if needs.is_empty() {
        return can;
    }
    let needs: Vec<String> = needs
        .into_iter()
        .map(|(need, count)| format!("{need} ({count})"))
        .collect();
    format!("{can} The others need: {}", needs.join(", "))
}

/// What would have to stand in the target file for the reason of a skip to go away.
fn need(reason: &str) -> String {
    let quoted = reason.split('`').nth(1).unwrap_or_default();
    let has = |text: &str| reason.contains(text);
    let known = if has("principals.other-tenant") {
        "other-tenant"
    } else if has("no principal `") || has("has no principal") {
        quoted
    } else if has("no variant `fails") {
        "failing"
    } else if has("no variant `") {
        quoted
    } else if has("no hook `kill`") || has("no hook `start`") {
        "hooks.kill or server"
    } else if has("no hook `") {
        return format!("hooks.{quoted}");
    } else if has("would have to pass") {
        "hooks.advance-clock"
    } else if has("no second operation") {
        "a second operation"
    } else if has("no operation with another method") {
        "other-method"
    } else if has("no probe of a state") {
        "a probe with `state`"
    } else if has("no probe with a bound") {
        "a probe with `bound`"
    } else if has("no effects that could be seen") {
        "effects"
    } else if has("declares no events") {
        "sink and webhook"
    } else if has("receives no events") {
        "an operation of `kind: consumer`"
    } else if has("which outage of a receiver") {
        "sink.outage"
    } else if has("names no page of metrics") {
        "documents.metrics and documents.signals"
    } else if has("names no documents") {
        "documents"
    } else if has("declares no lookup") {
        "lookup"
    } else if has("works on no resource") {
        "given"
    } else if has("declares no end of the retention") || has("declares no retention") {
        "a contract with retention"
    } else if has("declares no lock-timeout") {
        "a contract with lock-timeout"
    } else if has("one instance only") {
        "several base-urls"
    } else if has("no credentials that could be left out") {
        "credentials"
    } else {
        reason
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::need;

    #[test]
    fn reasons_become_what_the_file_lacks() {
        for (reason, wanted) in [
            (
                "no principal of another tenant (principals.other-tenant)",
                "other-tenant",
            ),
            ("no principal `read-only`", "read-only"),
            ("pay has no variant `fails-once`", "failing"),
            ("pay has no variant `change`", "change"),
            ("the target has no hook `kill`", "hooks.kill or server"),
            ("the target has no hook `store-down`", "hooks.store-down"),
            (
                "limits.in-flight is 1: no bursts",
                "limits.in-flight is 1: no bursts",
            ),
        ] {
            assert_eq!(need(reason), wanted, "{reason}");
        }
    }
}
