//! AWS Signature Version 4, as the AWS documentation "Signing AWS requests" has it. The time is
//! handed in.

use hmac::Hmac;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

use super::encode;
use super::signature::code;

/// The algorithm's name, in what is signed and in the header.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Headers that others may write anew on the way, which are not signed.
const UNSIGNED: [&str; 5] = [
    "authorization",
    "connection",
    "expect",
    "user-agent",
    "x-amzn-trace-id",
];

/// What is signed.
#[derive(Clone, Copy, Debug)]
pub struct AwsRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// The host, with a port that is not the usual one.
    pub host: &'a str,
    /// Path and query, encoded.
    pub path_and_query: &'a str,
    /// The headers.
    pub headers: &'a [(String, Vec<u8>)],
    /// The body.
    pub body: &'a [u8],
}

/// Who signs, and for what.
#[derive(Clone, PartialEq)]
pub struct AwsSigner {
    /// The service, such as `execute-api`.
    pub service: String,
    /// The region.
    pub region: String,
    /// The access key's id.
    pub access_key: String,
    /// The secret.
    pub secret_key: String,
    /// The token of temporary credentials.
    pub session_token: Option<String>,
}

/// The headers that sign a request; `now` is in seconds since 1970.
pub fn signed(signer: &AwsSigner, request: &AwsRequest<'_>, now: u64) -> Vec<(String, Vec<u8>)> {
    let time = stamp(now);
    let mut added = vec![("X-Amz-Date".to_owned(), time.clone().into_bytes())];
    if let Some(token) = &signer.session_token {
        added.push((
            "X-Amz-Security-Token".to_owned(),
            token.clone().into_bytes(),
        ));
    }
    let payload = hex(&Sha256::digest(request.body));
    if signer.service == "s3" {
        added.push((
            "X-Amz-Content-Sha256".to_owned(),
            payload.clone().into_bytes(),
        ));
    }
    let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    headers.insert("host".to_owned(), vec![request.host.to_owned()]);
    for (name, value) in request.headers.iter().chain(&added) {
        let name = name.to_ascii_lowercase();
        if UNSIGNED.contains(&name.as_str()) {
            continue;
        }
        let text = String::from_utf8_lossy(value);
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        headers.entry(name).or_default().push(words.join(" "));
    }
    let names: Vec<&str> = headers.keys().map(String::as_str).collect();
    let names = names.join(";");
    let lines = headers
        .iter()
        .fold(String::new(), |mut lines, (name, values)| {
            // Writing into a String cannot fail.
            let _ = writeln!(lines, "{name}:{}", values.join(","));
            lines
        });
    let (path, query) = request
        .path_and_query
        .split_once('?')
        .unwrap_or((request.path_and_query, ""));
    let canonical = format!(
        "{}\n{}\n{}\n{lines}\n{names}\n{payload}",
        request.method,
        canonical_path(path, signer.service == "s3"),
        canonical_query(query)
    );
    let scope = format!(
        "{}/{}/{}/aws4_request",
        &time[..8],
        signer.region,
        signer.service
    );
    let to_sign = format!(
        "{ALGORITHM}\n{time}\n{scope}\n{}",
        hex(&Sha256::digest(canonical.as_bytes()))
    );
    let start = format!("AWS4{}", signer.secret_key).into_bytes();
    let key = [&time[..8], &signer.region, &signer.service, "aws4_request"]
        .iter()
        .fold(start, |key, part| {
            code::<Hmac<Sha256>>(&key, part.as_bytes())
        });
    let signature = hex(&code::<Hmac<Sha256>>(&key, to_sign.as_bytes()));
    let value = format!(
        "{ALGORITHM} Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
        signer.access_key
    );
    added.push(("Authorization".to_owned(), value.into_bytes()));
    added
}

/// The path with each part encoded once more than it travels, which only S3 leaves out.
fn canonical_path(path: &str, as_it_is: bool) -> String {
    if path.is_empty() {
        return "/".to_owned();
    }
    match as_it_is {
        true => path.to_owned(),
        false => {
            let parts = path
                .split('/')
                .map(|part| encode::component(part.as_bytes()));
            parts.collect::<Vec<_>>().join("/")
        }
    }
}

/// The entries in order, each with its `=`.
fn canonical_query(query: &str) -> String {
    let mut entries: Vec<(&str, &str)> = query
        .split('&')
        .filter(|entry| !entry.is_empty())
        .map(|entry| entry.split_once('=').unwrap_or((entry, "")))
        .collect();
    entries.sort_unstable();
    let written = entries
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    written.collect::<Vec<_>>().join("&")
}

/// `20150830T123600Z`.
fn stamp(now: u64) -> String {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(now);
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.replace(['-', ':'], "")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::{AwsRequest, AwsSigner, signed};

    /// 2015-08-30T12:36:00Z, the time of the AWS test suite.
    const THEN: u64 = 1_440_938_160;

    fn signer(service: &str) -> AwsSigner {
        AwsSigner {
            service: service.to_owned(),
            region: "us-east-1".to_owned(),
            access_key: "AKIDEXAMPLE".to_owned(),
            secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
            session_token: None,
        }
    }

    fn authorization(service: &str, request: &AwsRequest<'_>) -> String {
        let headers = signed(&signer(service), request, THEN);
        let (name, value) = headers.last().expect("the last one");
        assert_eq!(name, "Authorization");
        assert_eq!(headers[0].1, b"20150830T123600Z");
        String::from_utf8(value.clone()).expect("text")
    }

    const VANILLA: AwsRequest<'_> = AwsRequest {
        method: "GET",
        host: "example.amazonaws.com",
        path_and_query: "/",
        headers: &[],
        body: b"",
    };

    /// `get-vanilla`, `post-vanilla` and others of the AWS Signature Version 4 test suite.
    #[test]
    fn the_test_suite_is_signed_as_it_says() {
        let post = AwsRequest {
            method: "POST",
            ..VANILLA
        };
        let form = [(
            "Content-Type".to_owned(),
            b"application/x-www-form-urlencoded".to_vec(),
        )];
        for (request, signature) in [
            (
                VANILLA,
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            (
                AwsRequest {
                    path_and_query: "/?Param2=value2&Param1=value1",
                    ..VANILLA
                },
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            (
                post,
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            (
                AwsRequest {
                    headers: &form,
                    body: b"Param1=value1",
                    ..post
                },
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
        ] {
            let written = authorization("service", &request);
            assert!(
                written.ends_with(&format!("Signature={signature}")),
                "{request:?}: {written}"
            );
        }
    }

    /// The example of the AWS documentation: "Create a signed AWS API request".
    #[test]
    fn the_example_of_the_documentation_is_signed_as_it_says() {
        let form = [(
            "Content-Type".to_owned(),
            b"application/x-www-form-urlencoded; charset=utf-8".to_vec(),
        )];
        let written = authorization(
            "iam",
            &AwsRequest {
                host: "iam.amazonaws.com",
                path_and_query: "/?Action=ListUsers&Version=2010-05-08",
                headers: &form,
                ..VANILLA
            },
        );
        assert_eq!(
            written,
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
        );
    }

    #[test]
    fn temporary_credentials_bring_their_token_and_it_is_signed() {
        let temporary = AwsSigner {
            session_token: Some("the-token".to_owned()),
            ..signer("service")
        };
        let headers = signed(&temporary, &VANILLA, THEN);
        assert!(headers.contains(&("X-Amz-Security-Token".to_owned(), b"the-token".to_vec())));
        let value = String::from_utf8_lossy(&headers[headers.len() - 1].1).into_owned();
        assert!(
            value.contains("SignedHeaders=host;x-amz-date;x-amz-security-token,"),
            "{value}"
        );
    }
}
