//! Answers that something in front of an API gives in its place: the pages that proxies, load
//! balancers and caches make by themselves, recognised by what only these say.

use crate::transcript::Response;

/// What a product writes into its own pages.
struct Page {
    /// The product.
    name: &'static str,
    /// A part of the body that is in each of them.
    says: &'static str,
}

/// The pages, from the sources of the products: nginx `ngx_http_special_response.c`, httpd
/// `http_protocol.c` and `mod_proxy`, HAProxy `http_htx.c`, Envoy `response_code_details` and its local
/// replies, Varnish `builtin.vcl`.
const PAGES: [Page; 9] = [
    Page {
        name: "nginx",
        says: "<center>nginx",
    },
    Page {
        name: "openresty",
        says: "<center>openresty",
    },
    Page {
        name: "Apache",
        says: "-//IETF//DTD HTML 2.0//EN",
    },
    Page {
        name: "HAProxy",
        says: "No server is available to handle this request",
    },
    Page {
        name: "HAProxy",
        says: "The server didn't respond in time",
    },
    Page {
        name: "HAProxy",
        says: "The server returned an invalid or incomplete response",
    },
    Page {
        name: "Envoy",
        says: "upstream connect error or disconnect/reset before headers",
    },
    Page {
        name: "Envoy",
        says: "upstream request timeout",
    },
    Page {
        name: "Varnish",
        says: "Guru Meditation",
    },
];

/// Servers that are load balancers and nothing else, by the header `Server`.
const BALANCERS: [(&str, &str); 2] = [("awselb", "AWS ELB"), ("cloudflare", "Cloudflare")];

/// What made an answer in the API's place, if it was not the API.
pub fn gateway(response: &Response) -> Option<&'static str> {
    if !matches!(response.status, 429 | 502..=504) || response.json.is_some() {
        return None;
    }
    let by_page = PAGES.iter().find(|page| response.body.contains(page.says));
    by_page.map(|page| page.name).or_else(|| {
        let server = response.header("server").next()?.to_ascii_lowercase();
        let known = BALANCERS.iter().find(|(own, _)| server.starts_with(own));
        known.map(|(_, name)| *name)
    })
}

#[cfg(test)]
mod tests {
    use super::gateway;
    use crate::transcript::Response;
    use std::collections::BTreeSet;

    fn answer(status: u16, body: &str) -> Response {
        Response {
            status,
            headers: Vec::new(),
            body: body.to_owned(),
            body_length: body.len(),
            body_digest: String::new(),
            json: serde_json::from_str(body).ok(),
            stable_json: None,
            volatile_headers: BTreeSet::new(),
            success: false,
            identity: None,
            tokens: Vec::new(),
        }
    }

    #[test]
    fn only_a_page_of_a_known_product_is_taken_for_one() {
        let page = "<html><body><hr><center>nginx/1.22.1</center></body></html>";
        for (status, body, wanted) in [
            (503, page, Some("nginx")),
            (504, page, Some("nginx")),
            (429, page, Some("nginx")),
            // An API may fail behind a proxy that says so in its own words.
            (500, page, None),
            (404, page, None),
            (503, "<pre>Error: busy</pre>", None),
            (503, "Service Unavailable", None),
            (503, "{\"error\": \"<center>nginx\"}", None),
            (504, "upstream request timeout", Some("Envoy")),
        ] {
            assert_eq!(gateway(&answer(status, body)), wanted, "{status} {body}");
        }
        let mut balancer = answer(504, "");
        balancer
            .headers
            .push(("Server".to_owned(), "awselb/2.0".to_owned()));
        assert_eq!(gateway(&balancer), Some("AWS ELB"));
    }
}
