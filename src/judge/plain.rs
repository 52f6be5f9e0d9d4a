//! `status`, `header`, `json`: plain claims of users' own scenarios.

use super::ruling::Ruling;
use super::view::{View, got, who};
use crate::transcript::{Exchange, Response};
use regex::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;

/// Rules on a plain status.
pub(super) fn status(view: &View<'_>, of: &str, is: u16) -> Ruling {
    each(view, of, |exchange, response| {
        if response.status == is {
            Ruling::held(format!("{} got {is}", who(exchange)))
        } else {
            Ruling::broken(format!(
                "{} got {}, not {is}",
                who(exchange),
                response.status
            ))
        }
    })
}

/// Rules on a plain header: one of its values matches.
pub(super) fn header(view: &View<'_>, of: &str, name: &str, matches: &str) -> Ruling {
    let pattern = match Regex::new(matches) {
        Ok(pattern) => pattern,
        Err(error) => {
            return Ruling::nothing(format!("`{matches}` is no regular expression: {error}"));
        }
    };
    each(view, of, |exchange, response| {
        let values: Vec<&str> = response.header(name).collect();
        if values.iter().any(|value| pattern.is_match(value)) {
            Ruling::held(format!(
                "{} got {name}: {}",
                who(exchange),
                values.join(", ")
            ))
        } else if values.is_empty() {
            Ruling::broken(format!("{} got no {name}", who(exchange)))
        } else {
            Ruling::broken(format!(
                "{} got {name}: {}, which does not match `{matches}`",
                who(exchange),
                values.join(", ")
            ))
        }
    })
}

/// Rules on a plain JSON value: one of the values at the path equals it.
pub(super) fn json(view: &View<'_>, of: &str, path: &str, equals: &Value) -> Ruling {
    let query = match JsonPath::parse(path) {
        Ok(query) => query,
        Err(error) => return Ruling::nothing(format!("`{path}` is no JSONPath: {error}")),
    };
    each(view, of, |exchange, response| {
        let name = who(exchange);
        let Some(json) = &response.json else {
            return Ruling::broken(format!("{name} got a body that is no JSON"));
        };
        let found = query.query(json).all();
        if found.contains(&equals) {
            return Ruling::held(format!("{name} has {equals} at {path}"));
        }
        match found.first() {
            Some(value) => Ruling::broken(format!("{name} has {value} at {path}, not {equals}")),
            None => Ruling::broken(format!("{name} has nothing at {path}")),
        }
    })
}

fn each(view: &View<'_>, of: &str, check: impl Fn(&Exchange, &Response) -> Ruling) -> Ruling {
    let rulings = view.standing(of).into_iter().map(|(index, exchange)| {
        match &exchange.response {
            Some(response) => check(exchange, response),
            None => Ruling::nothing(format!("{} {}", who(exchange), got(exchange))),
        }
        .seen_in([index])
    });
    Ruling::gravest(rulings).unwrap_or_else(|| view.never_sent(of))
}

#[cfg(test)]
mod tests {
    use crate::judge::sample::{answered, contract, expecting, judged, paid, round, sent, verdict};
    use crate::scenario::Check;
    use crate::verdict::Verdict;
    use serde_json::json;

    #[test]
    fn plain_claims_hold_break_or_show_nothing() {
        let seen = || round([paid("again", "pay_1").header("X-Kind", "new")]);
        for (claim, wanted) in [
            ("status: { of: again, is: 201 }", Verdict::Pass),
            ("status: { of: again, is: 200 }", Verdict::Fail),
            (
                "header: { of: again, name: x-kind, matches: ^n }",
                Verdict::Pass,
            ),
            (
                "header: { of: again, name: x-kind, matches: ^o }",
                Verdict::Fail,
            ),
            (
                "header: { of: again, name: x-other, matches: . }",
                Verdict::Fail,
            ),
            (
                "json: { of: again, path: $.id, equals: pay_1 }",
                Verdict::Pass,
            ),
            (
                "json: { of: again, path: $.id, equals: pay_2 }",
                Verdict::Fail,
            ),
            (
                "json: { of: again, path: $.other, equals: 1 }",
                Verdict::Fail,
            ),
        ] {
            assert_eq!(verdict(claim, seen()).0, wanted, "{claim}");
            let lost = round([sent("again")]);
            assert_eq!(verdict(claim, lost).0, Verdict::Inconclusive, "{claim}");
        }
        let text = round([answered("again", 200).body("plain")]);
        let claim = "json: { of: again, path: $.id, equals: pay_1 }";
        assert_eq!(verdict(claim, text).0, Verdict::Fail);
    }

    #[test]
    fn what_is_no_pattern_or_no_path_shows_nothing() {
        let seen = || round([paid("again", "pay_1").header("X-Kind", "new")]);
        let judged = |check: Check| {
            let mut scenario = expecting("status: { of: again, is: 201 }");
            scenario.expect[0].1.check = check;
            let finding = judged(&scenario, &contract(""), vec![seen()]);
            (finding.verdict, finding.reason)
        };
        let (unread, why) = judged(Check::Header {
            of: "again".to_owned(),
            name: "x-kind".to_owned(),
            matches: "(".to_owned(),
        });
        assert_eq!(unread, Verdict::Inconclusive, "{why}");
        assert!(why.contains("no regular expression"), "{why}");
        let (unread, why) = judged(Check::Json {
            of: "again".to_owned(),
            path: "id".to_owned(),
            equals: json!("pay_1"),
        });
        assert_eq!(unread, Verdict::Inconclusive, "{why}");
        assert!(why.contains("no JSONPath"), "{why}");
    }

    #[test]
    fn a_header_that_is_not_there_is_told_from_one_that_says_something_else() {
        let told = |name: &str| {
            let claim = format!("header: {{ of: again, name: {name}, matches: ^o }}");
            verdict(
                &claim,
                round([paid("again", "pay_1").header("X-Kind", "new")]),
            )
            .1
        };
        assert_eq!(told("x-other"), "`again` got no x-other");
        assert!(told("x-kind").contains("which does not match"));
    }
}
