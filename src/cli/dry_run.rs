//! What a run would do, without doing it.

use crate::plan::Plan;
use crate::target::Target;
use std::fmt::Write;

/// Every case with the requests that it would send, and the reason of those that would not run.
pub fn describe(target: &Target, plan: &Plan) -> String {
    let mut text = String::new();
    let mut total = 0;
    for planned in &plan.cases {
        let name = format!(
            "{}/{}",
            planned.subject,
            planned
                .scenario
                .case_id(&planned.scenario.cases[planned.case])
        );
        // Writing to a String cannot fail.
        let _ = match &planned.skip {
            Some(reason) => writeln!(text, "skip  {name}: {reason}"),
            None => {
                total += planned.requests;
                writeln!(text, "run   {name}: up to {} requests", planned.requests)
            }
        };
    }
    let bases: Vec<String> = target
        .base_urls
        .iter()
        .filter_map(|base| base.resolve(None).ok())
        .map(|url| url.to_string())
        .collect();
    let _ = writeln!(
        text,
        "{} cases, up to {total} requests to {}; nothing was sent",
        plan.cases.len(),
        bases.join(", ")
    );
    text
}
