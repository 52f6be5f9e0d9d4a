//! A report of both sides: which of them a point of the checklist is about.

use super::CaseReport;
use crate::checklist::ItemId;
use crate::judge::Finding;
use crate::verdict::Verdict;

/// The findings that a point is graded by. Where both sides were tried, they are those of the side
/// that the point is about, and whatever is broken on the other one.
pub(super) fn bearing(item: ItemId, cases: &[CaseReport]) -> Vec<&Finding> {
    let own = |client: bool| {
        cases
            .iter()
            .filter(move |case| case.client.is_some() == client)
            .flat_map(|case| &case.findings)
            .filter(move |finding| finding.item == item)
    };
    let about_client = item.is_about_clients();
    let is_broken = |finding: &&Finding| finding.verdict == Verdict::Fail;
    let mut bearing: Vec<&Finding> = own(about_client).collect();
    match bearing.is_empty() {
        true => own(!about_client).collect(),
        false => {
            bearing.extend(own(!about_client).filter(is_broken));
            bearing
        }
    }
}
