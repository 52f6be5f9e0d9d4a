//! How many servers stood behind what was sent: the addresses that answered, and what answers say of
//! the server that made them. How many there really are, only their owner knows.

use super::view::{View, number};
use crate::scenario::Case;
use crate::transcript::{Exchange, SentRequest};
use std::collections::BTreeSet;

/// Headers in which load balancers and servers name the one that answered, in small letters.
const NAMING: [&str; 10] = [
    "fly-instance-id",
    "x-backend",
    "x-backend-server",
    "x-instance",
    "x-instance-id",
    "x-node",
    "x-pod",
    "x-served-by",
    "x-server",
    "x-server-id",
];

/// What was seen of the servers behind these exchanges, as a part of a sentence.
pub(super) fn seen<'a>(exchanges: impl Iterator<Item = &'a Exchange>) -> String {
    let answered: Vec<&Exchange> = exchanges
        .filter(|exchange| exchange.response.is_some())
        .collect();
    let addresses: BTreeSet<&str> = answered
        .iter()
        .map(|exchange| address(&exchange.request))
        .collect();
    let servers: BTreeSet<(&str, &str, &str)> = answered
        .iter()
        .flat_map(|exchange| {
            let headers = exchange.response.iter().flat_map(|own| &own.headers);
            headers.filter_map(|(name, value)| {
                let own = NAMING.iter().find(|own| own.eq_ignore_ascii_case(name))?;
                Some((address(&exchange.request), *own, value.as_str()))
            })
        })
        .collect();
    match (addresses.len(), servers.len()) {
        (addresses, servers) if servers > addresses.max(1) => {
            format!("{} servers named themselves", number(servers))
        }
        (0 | 1, _) => {
            "one address answered, and nothing tells how many servers stand behind it".to_owned()
        }
        (addresses, _) => format!("{} addresses answered", number(addresses)),
    }
}

/// Why a round says nothing about several instances: a step that goes to each of them was answered
/// by one alone. `None` also where the target has one address only.
pub(super) fn missing(view: &View<'_>) -> Option<String> {
    spread(view.case).find_map(|step| {
        let all = || view.round.of(step);
        let sent: BTreeSet<&str> = all().map(|own| address(&own.request)).collect();
        let answered: BTreeSet<&str> = all()
            .filter(|own| own.response.is_some())
            .map(|own| address(&own.request))
            .collect();
        let silent = sent.difference(&answered).next()?;
        Some(format!("the instance at {silent} did not answer `{step}`"))
    })
}

/// Steps that go to each instance.
pub(super) fn spread(case: &Case) -> impl Iterator<Item = &str> {
    case.leaves()
        .filter_map(|step| step.request())
        .filter(|request| request.to_each)
        .map(|request| request.name.as_str())
}

/// Where a request went: to an address that was chosen for it, or else scheme, host and port of its URL.
pub(super) fn address(request: &SentRequest) -> &str {
    if let Some(address) = &request.address {
        return address;
    }
    let url = request.url.as_str();
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..]
        .find(['/', '?'])
        .map_or(url.len(), |at| host + at);
    &url[..end]
}

#[cfg(test)]
mod tests {
    use super::{address, seen};
    use crate::judge::sample::{contract, judged, paid, round, scenario};
    use crate::transcript::{Ending, Exchange};
    use crate::verdict::Verdict;

    fn at(mut exchange: Exchange, url: &str) -> Exchange {
        exchange.request.url = url.to_owned();
        exchange
    }

    #[test]
    fn servers_are_counted_by_address_and_by_what_they_say_of_themselves() {
        let one = [paid("a", "p"), paid("a", "p")];
        assert!(seen(one.iter()).starts_with("one address answered"));
        let two = [
            at(paid("a", "p"), "http://h:1/x"),
            at(paid("a", "p"), "http://h:2/x"),
        ];
        assert_eq!(seen(two.iter()), "two addresses answered");
        let named = ["a", "b", "c"].map(|name| paid("a", "p").header("X-Served-By", name));
        assert_eq!(seen(named.iter()), "three servers named themselves");
    }

    #[test]
    fn an_address_ends_where_the_path_begins() {
        let of = |url: &str| address(&at(paid("a", "p"), url).request).to_owned();
        assert_eq!(of("http://h:1/a/b"), "http://h:1");
        assert_eq!(of("https://h?x=/"), "https://h");
        let mut chosen = at(paid("a", "p"), "http://h:1/a/b").request;
        chosen.address = Some("127.0.0.2".to_owned());
        assert_eq!(address(&chosen), "127.0.0.2");
    }

    #[test]
    fn an_instance_that_never_answered_shows_nothing() {
        let scenario = scenario(
            "steps:\n  - send: { as: again, key: fresh, times: 2, to: each }\nexpect:\n  item-5:\n    - one-resource: { of: again }\n",
        );
        let mut silent = at(paid("again", "p").copy(1), "http://h:2/x");
        silent.response = None;
        silent.ending = Ending::TimedOut;
        let verdict = |second: Exchange| {
            let rounds = vec![round([at(paid("again", "p"), "http://h:1/x"), second])];
            judged(&scenario, &contract(""), rounds)
        };
        let missing = verdict(silent);
        assert_eq!(missing.verdict, Verdict::Inconclusive);
        assert_eq!(
            missing.reason,
            "the instance at http://h:2 did not answer `again`"
        );
        let both = verdict(at(paid("again", "p").copy(1), "http://h:2/x"));
        assert_eq!(both.verdict, Verdict::Pass);
        assert!(
            both.reason.ends_with("(two addresses answered)"),
            "{}",
            both.reason
        );
    }
}
