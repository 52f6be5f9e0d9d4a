//! The addresses of the hosts in `base-url`, each of which is a replica where the file says so.

use super::{BaseUrl, Target};
use std::net::IpAddr;
use url::Url;

impl BaseUrl {
    /// The same, at one of the addresses of its host.
    fn at(&self, address: IpAddr) -> BaseUrl {
        BaseUrl {
            address: Some(address),
            ..self.clone()
        }
    }

    /// How reports name it: by its URL, and the address that is meant.
    pub fn said(&self, url: &Url) -> String {
        match self.address {
            Some(address) => format!("{url} ({address})"),
            None => url.to_string(),
        }
    }
}

impl Target {
    /// Makes a replica of each address that a base URL's host has, if the file says `addresses: all`.
    /// A host without an address stays as it is: that it cannot be reached is found out later.
    pub fn spread(&mut self, addresses: impl Fn(&str) -> Vec<IpAddr>) {
        if !self.all_addresses {
            return;
        }
        let spread = self.base_urls.iter().flat_map(|base| {
            let mut found = base.host().map(|host| addresses(&host)).unwrap_or_default();
            found.sort_unstable();
            found.dedup();
            match found.is_empty() {
                true => vec![base.clone()],
                false => found.into_iter().map(|own| base.at(own)).collect(),
            }
        });
        self.base_urls = spread.collect();
    }
}

#[cfg(test)]
mod tests {
    use crate::target::Target;
    use crate::target::trial::load_text;
    use std::net::IpAddr;

    fn spread(lines: &str, addresses: &[&str]) -> Vec<Option<IpAddr>> {
        let text = format!(
            "target: T\nbase-url: http://api.test:1\n{lines}\noperations:\n  pay:\n    request: POST /p\n"
        );
        let mut target: Target = load_text(&text).expect("a sound file").target;
        target.spread(|_| {
            let parsed = addresses.iter().map(|own| own.parse().expect("an address"));
            parsed.collect()
        });
        target.base_urls.iter().map(|base| base.address).collect()
    }

    #[test]
    fn each_address_of_a_name_is_a_replica_where_the_file_says_so() {
        let two = ["127.0.0.2", "127.0.0.1", "127.0.0.2"];
        let both = ["127.0.0.1", "127.0.0.2"].map(|own| Some(own.parse().expect("an address")));
        assert_eq!(spread("addresses: all", &two), both);
        assert_eq!(spread("addresses: first", &two), [None]);
        assert_eq!(spread("", &two), [None]);
        assert_eq!(
            spread("addresses: all", &[]),
            [None],
            "it says later that it cannot be reached"
        );
    }
}
