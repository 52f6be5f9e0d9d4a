//! Headers that differ between two responses of any API.

/// Whether a header says nothing about what happened: times, request numbers, rates, cookies, what
/// proxies add, and what belongs to the connection. Such headers are never compared.
pub fn is_volatile_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let exact = [
        "date",
        "age",
        "server-timing",
        "set-cookie",
        "traceparent",
        "connection",
        "keep-alive",
        "transfer-encoding",
    ];
    exact.contains(&name.as_str())
        || name.ends_with("request-id")
        || name.contains("ratelimit")
        || name.contains("rate-limit")
        || name.starts_with("cf-")
        || name.starts_with("x-amzn-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proxies_and_clocks_add_is_volatile() {
        for name in [
            "Date",
            "X-Request-Id",
            "RateLimit-Remaining",
            "X-Rate-Limit-Reset",
            "CF-Ray",
            "x-amzn-trace-id",
        ] {
            assert!(is_volatile_header(name), "{name}");
        }
        for name in ["Content-Type", "ETag", "Location", "Idempotency-Replayed"] {
            assert!(!is_volatile_header(name), "{name}");
        }
    }
}
