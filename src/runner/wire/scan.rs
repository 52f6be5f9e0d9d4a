//! Follows an HTTP/1.1 response byte by byte, just far enough to know its first byte, the end of
//! its head and its length, and where a fault must cut it. It judges nothing: hyper does.

use crate::runner::wire::request::{Close, Fault, ResponsePart};

/// Where in a response we are.
#[derive(Debug)]
pub(super) struct Scan {
    place: Place,
    /// The request was HEAD: no body, whatever the headers say.
    head_only: bool,
    cut: Option<Cut>,
    /// Bytes of response, informational ones not counted.
    pub(super) seen: u64,
}

/// Where a fault cuts, and how.
#[derive(Clone, Copy, Debug)]
struct Cut {
    at: CutAt,
    close: Close,
}

#[derive(Clone, Copy, Debug)]
enum CutAt {
    FirstByte,
    Headers,
    Body { share: f64 },
}

#[derive(Debug)]
enum Place {
    Head(Vec<u8>),
    Body {
        /// Until the last byte, if the head told.
        left: Option<u64>,
        /// What must still pass before the cut.
        until_cut: Option<UntilCut>,
    },
}

#[derive(Clone, Copy, Debug)]
enum UntilCut {
    Bytes(u64),
    /// The line with the first chunk's size, and what it showed so far: only zeros or more.
    ChunkLine {
        empty: bool,
        extension: bool,
    },
}

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

/// What one read meant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// How many of its bytes are handed up.
    pub(super) allowed: usize,
    /// It had the first byte of the response.
    pub(super) first: bool,
    /// It had the last byte of the response.
    pub(super) last: bool,
    /// It had the end of a `100 Continue`.
    pub(super) told_to_continue: bool,
    /// Close now.
    pub(super) cut: Option<Close>,
}

/// Beyond this a head is hyper's to refuse.
const LONGEST_HEAD: usize = 1024 * 1024;

impl Scan {
    pub(super) fn new(head_only: bool, fault: Option<Fault>) -> Scan {
        let cut = match fault {
            Some(Fault::DropResponse {
                after: ResponsePart::FirstByte,
                close,
            }) => Some(Cut {
                at: CutAt::FirstByte,
                close,
            }),
            Some(Fault::DropResponse {
                after: ResponsePart::Headers,
                close,
            }) => Some(Cut {
                at: CutAt::Headers,
                close,
            }),
            Some(Fault::MidResponse { share, close }) => Some(Cut {
                at: CutAt::Body { share },
                close,
            }),
            _ => None,
        };
        Scan {
            place: Place::Head(Vec::new()),
            head_only,
            cut,
            seen: 0,
        }
    }

    /// Takes what was just read.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Seen {
        let mut seen = Seen::default();
        let mut taken = 0;
        while taken < bytes.len() {
            let skipped = self.skip((bytes.len() - taken) as u64);
            if skipped > 0 {
                taken += usize::try_from(skipped).unwrap_or(usize::MAX);
                continue;
            }
            let cut = self.step(bytes[taken], &mut seen);
            taken += 1;
            if cut {
                seen.cut = self.cut.map(|cut| cut.close);
                let nothing = matches!(
                    self.cut,
                    Some(Cut {
                        at: CutAt::FirstByte,
                        ..
                    })
                );
                seen.allowed = if nothing { 0 } else { taken };
                return seen;
            }
        }
        seen.allowed = bytes.len();
        seen
    }

    /// Takes as many of these bytes of body as mean nothing one by one.
    fn skip(&mut self, bytes: u64) -> u64 {
        let Place::Body {
            left,
            until_cut: None,
        } = &mut self.place
        else {
            return 0;
        };
        let skipped = match left {
            // The last byte is not skipped.
            Some(left) if *left > 0 => {
                let skipped = bytes.min(*left - 1);
                *left -= skipped;
                skipped
            }
            _ => bytes,
        };
        self.seen += skipped;
        skipped
    }

    /// Takes one byte and says whether to cut after it.
    fn step(&mut self, byte: u8, seen: &mut Seen) -> bool {
        let at = self.cut.map(|cut| cut.at);
        match &mut self.place {
            Place::Head(head) => {
                head.push(byte);
                if is_informational(head) == Some(true) {
                    if ends_head(head) {
                        seen.told_to_continue |= head.get(9..12) == Some(b"100");
                        head.clear();
                    }
                    return false;
                }
                if is_informational(head).is_some() && self.seen == 0 {
                    seen.first = true;
                    self.seen = head.len() as u64;
                    if matches!(at, Some(CutAt::FirstByte)) {
                        return true;
                    }
                } else if self.seen > 0 {
                    self.seen += 1;
                }
                if head.len() > LONGEST_HEAD {
                    self.place = Place::Body {
                        left: None,
                        until_cut: None,
                    };
                    return false;
                }
                if !ends_head(head) {
                    return false;
                }
                let framing = framing(head, self.head_only);
                let until_cut = match at {
                    Some(CutAt::Body { share }) => until_cut(framing, share),
                    _ => None,
                };
                let left = match framing {
                    Framing::Length(length) => Some(length),
                    Framing::Chunked | Framing::UntilClose => None,
                };
                seen.last |= left == Some(0);
                self.place = Place::Body { left, until_cut };
                matches!(at, Some(CutAt::Headers)) || matches!(until_cut, Some(UntilCut::Bytes(0)))
            }
            Place::Body { left, until_cut } => {
                self.seen += 1;
                if let Some(left) = left.as_mut().filter(|left| **left > 0) {
                    *left -= 1;
                    seen.last |= *left == 0;
                }
                match until_cut {
                    Some(UntilCut::Bytes(bytes)) => {
                        *bytes = bytes.saturating_sub(1);
                        *bytes == 0
                    }
                    Some(UntilCut::ChunkLine { empty, extension }) => {
                        match byte {
                            b'\n' if *empty => *until_cut = None,
                            b'\n' => *until_cut = Some(UntilCut::Bytes(1)),
                            b';' => *extension = true,
                            b'0' | b'\r' | b' ' => {}
                            _ => *empty &= *extension,
                        }
                        false
                    }
                    None => false,
                }
            }
        }
    }
}

/// Whether a head is that of a 1xx other than 101; `None` as long as too little has come to tell.
fn is_informational(head: &[u8]) -> Option<bool> {
    const PREFIX: &[u8] = b"HTTP/1.1 ";
    let common = head.len().min(5);
    if head[..common] != PREFIX[..common] {
        return Some(false);
    }
    match head.get(9) {
        None => None,
        Some(b'1') => head.get(10..12).map(|rest| rest != b"01"),
        Some(_) => Some(false),
    }
}

fn ends_head(head: &[u8]) -> bool {
    head.ends_with(b"\n\r\n") || head.ends_with(b"\n\n")
}

fn framing(head: &[u8], head_only: bool) -> Framing {
    let status = head.get(9..12).unwrap_or_default();
    if head_only || matches!(status, b"204" | b"304" | b"101") {
        return Framing::Length(0);
    }
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let value_of = |wanted: &str| {
        text.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| *name == wanted)
            .map(|(_, value)| value.trim().to_owned())
    };
    if value_of("transfer-encoding").is_some_and(|value| value.ends_with("chunked")) {
        return Framing::Chunked;
    }
    match value_of("content-length").and_then(|value| value.parse().ok()) {
        Some(length) => Framing::Length(length),
        None => Framing::UntilClose,
    }
}

/// Never the whole body: its last byte is not read.
fn until_cut(framing: Framing, share: f64) -> Option<UntilCut> {
    match framing {
        Framing::Length(0) => None,
        Framing::Length(length) => Some(UntilCut::Bytes(share_of(length, share))),
        Framing::Chunked => Some(UntilCut::ChunkLine {
            empty: true,
            extension: false,
        }),
        Framing::UntilClose => Some(UntilCut::Bytes(1)),
    }
}

/// So many bytes are a share of a body, of which the last byte is never a part.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "clamped to the length, and bodies are far shorter than 2^52 bytes"
)]
pub(super) fn share_of(length: u64, share: f64) -> u64 {
    let share = if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    };
    ((length as f64 * share).floor() as u64).min(length.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESPONSE: &[u8] =
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";

    /// Where, counted in bytes, each thing was seen, fed in pieces of this size.
    fn places(
        scan: &mut Scan,
        response: &[u8],
        piece: usize,
    ) -> (Option<usize>, Option<usize>, usize) {
        let (mut first, mut last, mut allowed) = (None, None, 0);
        for (index, bytes) in response.chunks(piece).enumerate() {
            let seen = scan.feed(bytes);
            allowed += seen.allowed;
            first = first.or(seen.first.then_some(index * piece));
            last = last.or(seen.last.then_some(index * piece));
            if seen.cut.is_some() {
                break;
            }
        }
        (first, last, allowed)
    }

    #[test]
    fn the_first_and_last_byte_are_found_however_the_bytes_come() {
        for piece in 1..RESPONSE.len() {
            let (first, last, allowed) = places(&mut Scan::new(false, None), RESPONSE, piece);
            // The status, which tells an informational response, is the tenth byte.
            assert_eq!(first, Some(34 / piece * piece), "in pieces of {piece}");
            assert_eq!(last, Some((RESPONSE.len() - 1) / piece * piece));
            assert_eq!(allowed, RESPONSE.len());
        }
    }

    #[test]
    fn a_cut_is_made_at_the_same_byte_however_the_bytes_come() {
        let close = Close::Fin;
        for (fault, allowed) in [
            (
                Fault::DropResponse {
                    after: ResponsePart::Headers,
                    close,
                },
                RESPONSE.len() - 4,
            ),
            (Fault::MidResponse { share: 0.5, close }, RESPONSE.len() - 2),
        ] {
            for piece in 1..RESPONSE.len() {
                let mut scan = Scan::new(false, Some(fault));
                assert_eq!(
                    places(&mut scan, RESPONSE, piece).2,
                    allowed,
                    "in pieces of {piece}"
                );
            }
        }
    }

    #[test]
    fn a_share_never_has_the_last_byte() {
        assert_eq!(share_of(10, 0.5), 5);
        assert_eq!(share_of(10, 1.0), 9);
        assert_eq!(share_of(10, 7.0), 9);
        assert_eq!(share_of(10, -1.0), 0);
        assert_eq!(share_of(10, f64::NAN), 0);
        assert_eq!(share_of(0, 1.0), 0);
    }

    #[test]
    fn a_switch_of_protocols_is_no_informational_response() {
        assert_eq!(is_informational(b"HTTP/1.1 101"), Some(false));
        assert_eq!(is_informational(b"HTTP/1.1 103"), Some(true));
        assert_eq!(is_informational(b"HTTP/1.1 1"), None);
        assert_eq!(is_informational(b"HTTP/1.1 2"), Some(false));
        assert_eq!(is_informational(b"HTT"), None);
        assert_eq!(is_informational(b"SSH"), Some(false));
    }
}
