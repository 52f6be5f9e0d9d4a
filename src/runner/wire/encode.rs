//! A request as HTTP/1.1 bytes. Nothing is reordered, merged or normalised; what could not be one
//! request is refused.

use std::io::Write;

use crate::runner::wire::request::Outgoing;

/// The bytes of one request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    /// Where the first byte of the body stands.
    pub(super) body_start: usize,
}

/// # Errors
/// In words, if the request cannot be put on the wire as one request.
pub(super) fn encode(request: &Outgoing) -> Result<Encoded, String> {
    check(request)?;
    let mut head = Head {
        bytes: Vec::with_capacity(512),
        upper_case: request.upper_case_headers,
    };
    head.line(&[
        request.method.as_str().as_bytes(),
        b" ",
        request.target.as_bytes(),
        b" HTTP/1.1",
    ]);
    if !has(request, "host") {
        head.field("Host", request.authority.as_bytes());
    }
    for (name, value) in &request.headers {
        head.field(name, value);
    }
    let framed = has(request, "content-length") || has(request, "transfer-encoding");
    match &request.body {
        Some(_) if framed => {}
        Some(_) if request.chunked => head.field("Transfer-Encoding", b"chunked"),
        Some(body) => head.field("Content-Length", body.len().to_string().as_bytes()),
        None if !framed && expects_body(&request.method) => head.field("Content-Length", b"0"),
        None => {}
    }
    head.line(&[]);
    let mut bytes = head.bytes;
    let mut body_start = bytes.len();
    if let Some(body) = &request.body {
        if request.chunked && !body.is_empty() {
            write!(bytes, "{:x}\r\n", body.len()).expect("a Vec takes everything");
            body_start = bytes.len();
            bytes.extend_from_slice(body);
            bytes.extend_from_slice(b"\r\n");
        } else {
            bytes.extend_from_slice(body);
        }
        if request.chunked {
            bytes.extend_from_slice(b"0\r\n\r\n");
        }
    }
    Ok(Encoded { bytes, body_start })
}

struct Head {
    bytes: Vec<u8>,
    upper_case: bool,
}

impl Head {
    fn line(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        self.bytes.extend_from_slice(b"\r\n");
    }

    fn field(&mut self, name: &str, value: &[u8]) {
        if self.upper_case {
            self.line(&[name.to_ascii_uppercase().as_bytes(), b": ", value]);
        } else {
            self.line(&[name.as_bytes(), b": ", value]);
        }
    }
}

fn has(request: &Outgoing, wanted: &str) -> bool {
    request
        .headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
}

/// RFC 9110, section 8.6: such methods send a length of zero when there is no body.
fn expects_body(method: &http::Method) -> bool {
    matches!(
        *method,
        http::Method::POST | http::Method::PUT | http::Method::PATCH
    )
}

/// What would make two requests of one, or none at all, is refused.
pub(super) fn check(request: &Outgoing) -> Result<(), String> {
    if request.target.is_empty()
        || request
            .target
            .bytes()
            .any(|byte| byte <= b' ' || byte == 0x7f)
    {
        return Err(format!(
            "the request target {:?} is empty or holds a blank or a control character",
            request.target
        ));
    }
    if request
        .authority
        .bytes()
        .any(|byte| byte <= b' ' || byte == 0x7f)
    {
        return Err(format!(
            "the authority {:?} holds a blank or a control character",
            request.authority
        ));
    }
    for (name, value) in &request.headers {
        if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(format!("{name:?} is not a header name"));
        }
        if value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err(format!(
                "the value of the header {name} holds a line break or a zero byte"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn request() -> Outgoing {
        Outgoing {
            method: http::Method::POST,
            target: "/pay?a=1".into(),
            authority: "shop.test:81".into(),
            headers: vec![
                ("b".into(), b"1".to_vec()),
                ("A".into(), b"x".to_vec()),
                ("b".into(), b"2".to_vec()),
            ],
            body: Some(Bytes::from_static(b"hello")),
            chunked: false,
            upper_case_headers: false,
        }
    }

    fn text(request: &Outgoing) -> String {
        String::from_utf8(encode(request).unwrap().bytes).unwrap()
    }

    #[test]
    fn headers_keep_their_order_their_case_and_their_repetitions() {
        assert_eq!(
            text(&request()),
            "POST /pay?a=1 HTTP/1.1\r\nHost: shop.test:81\r\nb: 1\r\nA: x\r\nb: 2\r\nContent-Length: 5\r\n\r\nhello"
        );
    }

    #[test]
    fn capital_headers_are_all_capital() {
        let request = Outgoing {
            upper_case_headers: true,
            ..request()
        };
        assert!(text(&request).contains("\r\nHOST: shop.test:81\r\nB: 1\r\n"));
        assert!(text(&request).contains("\r\nCONTENT-LENGTH: 5\r\n"));
    }

    #[test]
    fn a_chunked_body_is_one_chunk_and_its_start_is_known() {
        let request = Outgoing {
            chunked: true,
            ..request()
        };
        let encoded = encode(&request).unwrap();
        assert!(
            encoded
                .bytes
                .ends_with(b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        );
        assert!(encoded.bytes[encoded.body_start..].starts_with(b"hello"));
    }

    #[test]
    fn a_get_without_body_has_no_length_and_a_post_has_zero() {
        let mut request = Outgoing {
            body: None,
            ..request()
        };
        assert!(text(&request).ends_with("Content-Length: 0\r\n\r\n"));
        request.method = http::Method::GET;
        assert!(!text(&request).contains("Content-Length"));
    }

    #[test]
    fn lengths_and_hosts_that_are_given_stay_as_they_are() {
        let mut request = request();
        request.headers = vec![
            ("content-length".into(), b"3".to_vec()),
            ("host".into(), b"else.test".to_vec()),
        ];
        assert_eq!(
            text(&request),
            "POST /pay?a=1 HTTP/1.1\r\ncontent-length: 3\r\nhost: else.test\r\n\r\nhello"
        );
    }

    #[test]
    fn a_line_break_in_a_value_is_refused() {
        let mut request = request();
        request.headers[0].1 = b"1\r\nEvil: 1".to_vec();
        assert!(encode(&request).unwrap_err().contains("line break"));
        request.headers[0].1 = b"1".to_vec();
        request.target = "/pay HTTP/1.1\r\n".into();
        assert!(encode(&request).unwrap_err().contains("target"));
    }
}
