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
        for (index, &byte) in bytes.iter().enumerate() {
            let cut = self.step(byte, &mut seen);
            if cut {
                seen.cut = self.cut.map(|cut| cut.close);
                let nothing = matches!(
                    self.cut,
                    Some(Cut {
                        at: CutAt::FirstByte,
                        ..
                    })
                );
                seen.allowed = if nothing { 0 } else { index + 1 };
                return seen;
            }
            if let Place::Body {
                left: None,
                until_cut: None,
            } = self.place
            {
                self.seen += (bytes.len() - index - 1) as u64;
                break;
            }
        }
        seen.allowed = bytes.len();
        seen
    }

    /// Takes one byte and says whether to cut after it.
    fn step(&mut self, byte: u8, seen: &mut Seen) -> bool {
        let at = self.cut.map(|cut| cut.at);
        match &mut self.place {
            Place::Head(head) => {
                head.push(byte);
                if is_informational(head) == Some(true) {
                    if ends_head(head) {
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
