//! HTTP/1.1 messages as bytes: where a head ends and what is in it, and where a body ends
//! (RFC 9112, sections 2, 6 and 7). Nothing is rewritten, so that what is relayed stays as it was.

use bytes::{Buf, Bytes, BytesMut};

/// Longer heads are no HTTP.
const LONGEST_HEAD: usize = 256 * 1024;

/// The head of a request or a response.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// Its bytes, the empty line included.
    pub(super) raw: Bytes,
    /// The first line.
    pub(super) line: String,
    /// The header fields, in order.
    pub(super) headers: Vec<(String, String)>,
}

impl Head {
    /// Takes a whole head off the front of a buffer; `None` while there is none.
    pub(super) fn take(buffer: &mut BytesMut) -> Result<Option<Head>, String> {
        let Some(end) = end_of_head(buffer) else {
            return match buffer.len() {
                length if length > LONGEST_HEAD => Err("the head has no end".to_owned()),
                _ => Ok(None),
            };
        };
        let raw = buffer.split_to(end).freeze();
        let text: String = raw.iter().map(|byte| char::from(*byte)).collect();
        let mut lines = text.split('\n').map(|line| line.trim_end_matches('\r'));
        let line = lines.next().unwrap_or_default().to_owned();
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect();
        Ok(Some(Head { raw, line, headers }))
    }

    /// The first value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Whether a header's list has this word.
    pub(super) fn lists(&self, name: &str, word: &str) -> bool {
        self.headers
            .iter()
            .filter(|(known, _)| known.eq_ignore_ascii_case(name))
            .flat_map(|(_, value)| value.split(','))
            .any(|part| part.trim().eq_ignore_ascii_case(word))
    }

    /// The method of a request.
    pub(super) fn method(&self) -> &str {
        self.line.split(' ').next().unwrap_or_default()
    }

    /// The target of a request, as it was written.
    pub(super) fn target(&self) -> &str {
        self.line.split(' ').nth(1).unwrap_or_default()
    }

    /// The status of a response.
    pub(super) fn status(&self) -> u16 {
        let status = self.line.split(' ').nth(1).unwrap_or_default();
        status.parse().unwrap_or_default()
    }

    /// Whether the connection may be used again after this message.
    pub(super) fn keeps_alive(&self) -> bool {
        let old = self.line.ends_with("HTTP/1.0") || self.line.starts_with("HTTP/1.0");
        if old {
            self.lists("connection", "keep-alive")
        } else {
            !self.lists("connection", "close")
        }
    }

    /// Where the body of this request ends.
    pub(super) fn request_body(&self) -> Body {
        if self.lists("transfer-encoding", "chunked") {
            Body::Chunked(Chunk::Size(Vec::new()))
        } else {
            Body::Length(self.length().unwrap_or_default())
        }
    }

    /// Where the body of this response ends; `method` is that of its request.
    pub(super) fn response_body(&self, method: &str) -> Body {
        let status = self.status();
        if method == "HEAD" || matches!(status, 100..=199 | 204 | 304) {
            Body::Length(0)
        } else if self.lists("transfer-encoding", "chunked") {
            Body::Chunked(Chunk::Size(Vec::new()))
        } else {
            self.length().map_or(Body::UntilClose, Body::Length)
        }
    }

    fn length(&self) -> Option<u64> {
        self.header("content-length")?.parse().ok()
    }
}

fn end_of_head(buffer: &[u8]) -> Option<usize> {
    let crlf = buffer.windows(4).position(|four| four == b"\r\n\r\n");
    let bare = buffer.windows(2).position(|two| two == b"\n\n");
    match (crlf, bare) {
        (Some(crlf), Some(bare)) if bare < crlf => Some(bare + 2),
        (Some(crlf), _) => Some(crlf + 4),
        (None, bare) => bare.map(|bare| bare + 2),
    }
}

/// What is still to come of a body.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// So many bytes.
    Length(u64),
    /// Chunks.
    Chunked(Chunk),
    /// Until the connection closes.
    UntilClose,
}

/// Where in a chunked body we are.
#[derive(Clone, Debug)]
pub(super) enum Chunk {
    /// In the line with a size.
    Size(Vec<u8>),
    /// In the data, with so many bytes to come.
    Data(u64),
    /// In the line's end after the data.
    DataEnd,
    /// In a line of the trailers; whether it has something in it.
    Trailer(bool),
    /// After the last line.
    End,
}

impl Body {
    /// Whether nothing more is to come.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Body::Length(0) | Body::Chunked(Chunk::End))
    }

    /// How many of these bytes belong to the body. Its content goes to `content`, without sizes of
    /// chunks and trailers.
    pub(super) fn feed(&mut self, bytes: &[u8], content: &mut (dyn FnMut(&[u8]) + Send)) -> usize {
        match self {
            Body::UntilClose => {
                content(bytes);
                bytes.len()
            }
            Body::Length(left) => {
                let taken = usize::try_from(*left)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                *left -= taken as u64;
                content(&bytes[..taken]);
                taken
            }
            Body::Chunked(place) => {
                let mut rest = bytes;
                while !rest.is_empty() && !matches!(place, Chunk::End) {
                    let taken = place.step(rest, content);
                    rest.advance(taken);
                }
                bytes.len() - rest.len()
            }
        }
    }
}

impl Chunk {
    /// Takes at least one byte, and says how many.
    fn step(&mut self, bytes: &[u8], content: &mut (dyn FnMut(&[u8]) + Send)) -> usize {
        match self {
            Chunk::Data(left) => {
                let taken = usize::try_from(*left)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                *left -= taken as u64;
                content(&bytes[..taken]);
                if *left == 0 {
                    *self = Chunk::DataEnd;
                }
                return taken;
            }
            Chunk::Size(line) => {
                if bytes[0] == b'\n' {
                    let text = String::from_utf8_lossy(line);
                    let digits = text.split(';').next().unwrap_or_default().trim();
                    *self = match u64::from_str_radix(digits, 16) {
                        Ok(0) | Err(_) => Chunk::Trailer(false),
                        Ok(size) => Chunk::Data(size),
                    };
                } else {
                    line.push(bytes[0]);
                }
            }
            Chunk::DataEnd => {
                if bytes[0] == b'\n' {
                    *self = Chunk::Size(Vec::new());
                }
            }
            Chunk::Trailer(filled) => match (bytes[0], *filled) {
                (b'\n', false) => *self = Chunk::End,
                (b'\n', true) => *filled = false,
                (b'\r', _) => {}
                _ => *filled = true,
            },
            Chunk::End => return 0,
        }
        1
    }
}

#[cfg(test)]
mod tests {
    use super::{Body, Head};
    use bytes::BytesMut;

    fn head(text: &str) -> Head {
        Head::take(&mut BytesMut::from(text))
            .expect("it is HTTP")
            .expect("it is whole")
    }

    /// What is left after the body, and its content, however the bytes come in.
    fn split(body: &Body, bytes: &[u8], step: usize) -> (usize, Vec<u8>) {
        let mut body = body.clone();
        let mut content = Vec::new();
        let mut taken = 0;
        while taken < bytes.len() && !body.is_over() {
            let end = (taken + step).min(bytes.len());
            taken += body.feed(&bytes[taken..end], &mut |part| {
                content.extend_from_slice(part)
            });
        }
        assert!(body.is_over());
        (bytes.len() - taken, content)
    }

    #[test]
    fn a_head_ends_at_the_empty_line_and_what_follows_stays() {
        let mut buffer = BytesMut::from("POST /a HTTP/1.1\r\nA: 1\r\nA:  2 \r\n\r\nrest");
        let head = Head::take(&mut buffer).expect("HTTP").expect("whole");
        assert_eq!((head.method(), head.target()), ("POST", "/a"));
        assert_eq!(head.headers[1], ("A".to_owned(), "2".to_owned()));
        assert_eq!(&buffer[..], b"rest");
        assert!(Head::take(&mut buffer).expect("not wrong").is_none());
    }

    #[test]
    fn a_chunked_body_ends_after_its_trailers() {
        let bytes = b"3;x=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nDigest: x\r\n\r\nGET";
        let body = head("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n")
            .response_body("POST");
        for step in [1, 2, 7, 100] {
            assert_eq!(split(&body, bytes, step), (3, b"abc0123456789".to_vec()));
        }
    }

    #[test]
    fn a_body_of_known_length_ends_there() {
        let body = head("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n").request_body();
        assert_eq!(split(&body, b"abcdefg", 3), (3, b"abcd".to_vec()));
        assert!(head("POST / HTTP/1.1\r\n\r\n").request_body().is_over());
        let answer = head("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n");
        assert!(answer.response_body("POST").is_over());
        let answer = head("HTTP/1.1 200 OK\r\n\r\n");
        assert!(!answer.response_body("GET").is_over());
        assert!(answer.response_body("HEAD").is_over());
    }

    #[test]
    fn whether_a_connection_is_kept_follows_the_version() {
        assert!(head("GET / HTTP/1.1\r\n\r\n").keeps_alive());
        assert!(!head("GET / HTTP/1.0\r\n\r\n").keeps_alive());
        assert!(!head("HTTP/1.1 200 OK\r\nConnection: x, Close\r\n\r\n").keeps_alive());
        assert!(head("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n").keeps_alive());
    }
}
