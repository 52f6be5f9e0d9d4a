//! Follows the frames of an HTTP/2 connection (RFC 9113, section 4.1) in both directions, just far
//! enough to know what of the present stream has gone out, what has come in, and where a fault
//! must stop it. Of headers it reads no more than whether they are those of an informational response.

use crate::runner::wire::request::{Fault, ResponsePart};
use crate::runner::wire::status::{ENOUGH, spelled_status};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const PRIORITY: u8 = 0x20;
/// Beyond the numbers that streams have.
const NO_STREAM: u32 = u32::MAX;
/// The setting that limits how many streams may be open (RFC 9113, section 6.5.2).
const MAX_CONCURRENT_STREAMS: u16 = 3;
/// No peer needs more settings than that; what is beyond is not looked at.
const MOST_SETTINGS: usize = 1024;
/// What a client sends before its first frame.
const PREFACE: usize = 24;

/// Both directions of one connection.
#[derive(Debug, Default)]
pub(super) struct Frames {
    outgoing: Reader,
    incoming: Reader,
    /// The stream that was opened last.
    stream: u32,
    /// The peer's settings have come.
    pub(super) settings_in: bool,
    /// How many streams the peer lets us open at once, if it has said so.
    pub(super) most_streams: Option<u32>,
    settings: Vec<u8>,
    /// What of all streams has gone out since `follow_all`.
    pub(super) all: All,
    /// What hyper wrote has been flushed.
    pub(super) flushed: bool,
    pub(super) now: Stream,
}

/// All streams of a volley.
#[derive(Debug, Default)]
pub(super) struct All {
    /// Streams whose headers are out.
    pub(super) headers_out: usize,
    /// Bytes of data that are out.
    pub(super) data_out: u64,
    /// Streams whose end is out.
    pub(super) ends_out: usize,
}

/// The present stream.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) headers_out: bool,
    pub(super) data_out: u64,
    pub(super) end_out: bool,
    pub(super) reset_out: bool,
    /// Bytes of its frames that came.
    pub(super) seen: u64,
    pub(super) reset_in: bool,
    data_in: u64,
    /// Data of frames that came to their end, which is what hyper can hand up.
    pub(super) whole_data_in: u64,
    headers_begun: bool,
    /// The beginning of the latest headers, and their status once it is known to be informational.
    block: Vec<u8>,
    interim: Option<u16>,
    /// A `100 Continue` came.
    pub(super) told_to_continue: bool,
    stop: Stop,
    /// Nothing more is handed to hyper.
    pub(super) stopped: bool,
}

/// Where nothing more is handed to hyper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stop {
    #[default]
    Nowhere,
    FirstByte,
    Headers,
    /// After the headers, if a body follows.
    HeadersBeforeBody,
    Data(u64),
}

/// What some incoming bytes meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    /// How many of them may be handed up.
    pub(super) count: usize,
    pub(super) first: bool,
    pub(super) last: bool,
}

impl Frames {
    pub(super) fn new() -> Frames {
        Frames {
            outgoing: Reader {
                skip: PREFACE,
                ..Reader::default()
            },
            stream: NO_STREAM,
            ..Frames::default()
        }
    }

    /// From now on the next stream is the present one.
    pub(super) fn follow(&mut self, fault: Option<Fault>) {
        // Frames of the stream before it may still come, and must not count.
        self.stream = NO_STREAM;
        self.now = Stream {
            stop: match fault {
                Some(Fault::DropResponse { after, .. }) => match after {
                    ResponsePart::FirstByte => Stop::FirstByte,
                    ResponsePart::Headers => Stop::Headers,
                },
                Some(Fault::MidResponse { .. }) => Stop::HeadersBeforeBody,
                _ => Stop::Nowhere,
            },
            ..Stream::default()
        };
    }

    /// From now on all new streams are counted together, and none is stopped.
    pub(super) fn follow_all(&mut self) {
        self.follow(None);
        self.all = All::default();
    }

    /// Lets so many bytes of data pass before it stops again.
    pub(super) fn permit_data(&mut self, bytes: u64) {
        self.now.stop = Stop::Data(bytes);
        self.now.stopped = false;
    }

    pub(super) fn resume(&mut self) {
        self.now.stop = Stop::Nowhere;
        self.now.stopped = false;
    }

    /// Takes what hyper wrote.
    pub(super) fn sent(&mut self, mut bytes: &[u8]) {
        self.flushed = false;
        while !bytes.is_empty() {
            let step = self.outgoing.step(bytes, usize::MAX);
            bytes = &bytes[step.used..];
            let Some(frame) = step.frame else { continue };
            if step.started && frame.kind == HEADERS {
                self.stream = frame.stream;
            }
            if step.finished {
                self.all.headers_out += usize::from(frame.ends_headers());
                self.all.ends_out += usize::from(frame.ends_stream());
            }
            if frame.kind == DATA {
                self.all.data_out += step.payload as u64;
            }
            if frame.stream != self.stream {
                continue;
            }
            if frame.kind == DATA {
                self.now.data_out += step.payload as u64;
            }
            if step.finished {
                self.now.headers_out |= frame.ends_headers();
                self.now.end_out |= frame.ends_stream();
                self.now.reset_out |= frame.kind == RST_STREAM;
            }
        }
    }

    /// Takes what came, up to where it must stop.
    pub(super) fn received(&mut self, bytes: &[u8]) -> Passed {
        let mut passed = Passed::default();
        while passed.count < bytes.len() && !self.now.stopped {
            let most = match (self.incoming.frame, self.now.stop) {
                (Some(frame), Stop::Data(limit))
                    if frame.kind == DATA && frame.stream == self.stream =>
                {
                    usize::try_from(limit.saturating_sub(self.now.data_in)).unwrap_or(usize::MAX)
                }
                _ => usize::MAX,
            };
            let step = self.incoming.step(&bytes[passed.count..], most);
            let payload = passed.count + step.used - step.payload;
            passed.count += step.used;
            let Some(frame) = step.frame else { continue };
            if frame.kind == SETTINGS && frame.flags & ACK == 0 {
                self.take_settings(&bytes[payload..passed.count], step.finished);
            }
            if frame.stream != self.stream {
                continue;
            }
            let payload = &bytes[payload..passed.count];
            self.now.take(frame, &step, payload, &mut passed);
        }
        passed
    }
}

impl Frames {
    /// Takes some of the payload of the peer's settings, and at its end what it says.
    fn take_settings(&mut self, payload: &[u8], finished: bool) {
        let room = MOST_SETTINGS.saturating_sub(self.settings.len());
        self.settings
            .extend_from_slice(&payload[..payload.len().min(room)]);
        if !finished {
            return;
        }
        let (settings, _) = self.settings.as_chunks::<6>();
        for [high, low, value @ ..] in settings {
            if u16::from_be_bytes([*high, *low]) == MAX_CONCURRENT_STREAMS {
                self.most_streams = Some(u32::from_be_bytes(*value));
            }
        }
        self.settings.clear();
        self.settings_in = true;
    }
}

impl Stream {
    fn take(&mut self, frame: Frame, step: &Step, payload: &[u8], passed: &mut Passed) {
        if frame.kind == HEADERS {
            self.take_headers(frame, step, payload);
            // A stop at the first byte cannot wait for what the headers say.
            let known = step.finished || self.block.len() >= ENOUGH;
            let begins = known && self.interim.is_none();
            if !self.headers_begun && (begins || self.stop == Stop::FirstByte) {
                self.headers_begun = true;
                passed.first = true;
                self.stopped |= self.stop == Stop::FirstByte;
            }
        }
        if frame.kind != RST_STREAM {
            self.seen += step.used as u64;
        }
        if frame.kind == DATA {
            self.data_in += step.payload as u64;
            // An empty frame at the end passes: there is nothing in it to cut.
            self.stopped |= frame.length > 0 && self.stop == Stop::Data(self.data_in);
        }
        if step.finished {
            self.whole_data_in = if frame.kind == DATA {
                self.data_in
            } else {
                self.whole_data_in
            };
            passed.last |= frame.ends_stream();
            self.reset_in |= frame.kind == RST_STREAM;
            if frame.ends_headers() && self.interim.is_some() {
                self.told_to_continue |= self.interim == Some(100);
                self.seen = 0;
            }
            self.stopped |= frame.ends_headers()
                && self.interim.is_none()
                && match self.stop {
                    Stop::Headers => true,
                    Stop::HeadersBeforeBody => !frame.ends_stream(),
                    _ => false,
                };
        }
    }

    /// Takes some of a frame of headers, and reads what they begin with.
    fn take_headers(&mut self, frame: Frame, step: &Step, payload: &[u8]) {
        if step.started {
            self.block.clear();
            self.interim = None;
        }
        let room = ENOUGH.saturating_sub(self.block.len());
        self.block
            .extend_from_slice(&payload[..payload.len().min(room)]);
        let before =
            usize::from(frame.flags & PADDED != 0) + 5 * usize::from(frame.flags & PRIORITY != 0);
        let status = self.block.get(before..).and_then(spelled_status);
        self.interim = status.filter(|status| (100..200).contains(status));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    length: usize,
}

impl Frame {
    fn parse(head: [u8; 9]) -> Frame {
        Frame {
            kind: head[3],
            flags: head[4],
            stream: u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]),
            length: usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]),
        }
    }

    fn ends_stream(self) -> bool {
        matches!(self.kind, DATA | HEADERS) && self.flags & END_STREAM != 0
    }

    fn ends_headers(self) -> bool {
        matches!(self.kind, HEADERS | CONTINUATION) && self.flags & END_HEADERS != 0
    }
}

/// Cuts one direction into frames.
#[derive(Debug, Default)]
struct Reader {
    skip: usize,
    head: [u8; 9],
    have: usize,
    /// The frame whose payload is coming.
    frame: Option<Frame>,
    left: usize,
}

/// One step forward: the rest of a frame's head, or some of its payload.
#[derive(Debug, Default)]
struct Step {
    used: usize,
    /// Payload among `used`.
    payload: usize,
    frame: Option<Frame>,
    /// Its head is complete with this step.
    started: bool,
    /// Its payload is complete with this step.
    finished: bool,
}

impl Reader {
    /// Takes at least one byte unless `most`, which limits the payload, is zero.
    fn step(&mut self, bytes: &[u8], most: usize) -> Step {
        if self.skip > 0 {
            let used = self.skip.min(bytes.len());
            self.skip -= used;
            return Step {
                used,
                ..Step::default()
            };
        }
        if let Some(frame) = self.frame {
            let used = self.left.min(bytes.len()).min(most);
            self.left -= used;
            let finished = self.left == 0;
            if finished {
                self.frame = None;
            }
            return Step {
                used,
                payload: used,
                frame: Some(frame),
                started: false,
                finished,
            };
        }
        let used = (self.head.len() - self.have).min(bytes.len());
        self.head[self.have..self.have + used].copy_from_slice(&bytes[..used]);
        self.have += used;
        if self.have < self.head.len() {
            return Step {
                used,
                ..Step::default()
            };
        }
        self.have = 0;
        let frame = Frame::parse(self.head);
        self.left = frame.length;
        self.frame = (frame.length > 0).then_some(frame);
        Step {
            used,
            payload: 0,
            frame: Some(frame),
            started: true,
            finished: frame.length == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::wire::request::Close;

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        frame
    }

    /// Both directions of one exchange on a stream.
    fn exchange(stream: u32) -> (Vec<u8>, Vec<u8>) {
        let request = [
            frame(HEADERS, END_HEADERS, stream, b"head"),
            frame(DATA, END_STREAM, stream, b"data"),
        ];
        let response = [
            frame(SETTINGS, 0, 0, b""),
            frame(HEADERS, END_HEADERS, stream, b"head"),
            frame(DATA, 0, stream, b"body"),
            frame(DATA, END_STREAM, stream, b""),
        ];
        (request.concat(), response.concat())
    }

    #[test]
    fn an_exchange_is_followed_however_the_bytes_come() {
        let (request, response) = exchange(1);
        for piece in 1..40 {
            let mut frames = Frames::new();
            frames.follow(None);
            frames.sent(&[b'p'; PREFACE]);
            for bytes in request.chunks(piece) {
                assert!(!frames.now.end_out);
                frames.sent(bytes);
            }
            assert!(frames.now.headers_out && frames.now.end_out);
            assert_eq!(frames.now.data_out, 4);
            let (mut first, mut last, mut count) = (0, 0, 0);
            for bytes in response.chunks(piece) {
                let passed = frames.received(bytes);
                first += usize::from(passed.first);
                last += usize::from(passed.last);
                count += passed.count;
            }
            assert_eq!((first, last, count), (1, 1, response.len()));
            assert!(frames.settings_in);
            assert_eq!(frames.now.whole_data_in, 4);
        }
    }

    #[test]
    fn an_informational_response_is_not_the_response_however_the_bytes_come() {
        let (request, response) = exchange(1);
        let interim = |flags: u8, block: &[u8]| frame(HEADERS, END_HEADERS | flags, 1, block);
        for (between, told) in [
            (interim(0, b"\x48\x03100"), true),
            (interim(0, b"\x48\x03103"), false),
            (interim(PADDED, b"\x01\x48\x82\x08\x01\x00"), true),
            (interim(PRIORITY, b"\0\0\0\0\x10\x48\x03100"), true),
        ] {
            for piece in 1..40 {
                let mut frames = Frames::new();
                frames.follow(Some(Fault::DropResponse {
                    after: ResponsePart::Headers,
                    close: Close::Fin,
                }));
                frames.sent(&[b'p'; PREFACE]);
                frames.sent(&request);
                for bytes in between.chunks(piece) {
                    let passed = frames.received(bytes);
                    assert!(!passed.first && !passed.last && passed.count == bytes.len());
                }
                assert_eq!(frames.now.told_to_continue, told, "in pieces of {piece}");
                let (mut first, mut count) = (0, 0);
                for bytes in response.chunks(piece) {
                    let passed = frames.received(bytes);
                    first += usize::from(passed.first);
                    count += passed.count;
                }
                assert_eq!((first, count), (1, 9 + 13), "in pieces of {piece}");
                assert!(frames.now.stopped);
            }
        }
    }

    #[test]
    fn a_stop_is_at_the_same_byte_however_the_bytes_come() {
        let (request, response) = exchange(1);
        let fault = Fault::MidResponse {
            share: 0.5,
            close: Close::Fin,
        };
        for piece in 1..40 {
            let mut frames = Frames::new();
            frames.follow(Some(fault));
            frames.sent(&[b'p'; PREFACE]);
            frames.sent(&request);
            let mut count = 0;
            for limit in [9 + 13, 9 + 13 + 9 + 2] {
                while !frames.now.stopped {
                    let end = response.len().min(count + piece);
                    count += frames.received(&response[count..end]).count;
                }
                assert_eq!(count, limit, "in pieces of {piece}");
                frames.permit_data(2);
            }
        }
    }

    #[test]
    fn the_peer_says_how_many_streams_it_takes_however_the_bytes_come() {
        let settings = [
            frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0, 0, 3, 0, 0, 0, 7]),
            frame(SETTINGS, ACK, 0, b""),
        ]
        .concat();
        for piece in 1..settings.len() {
            let mut frames = Frames::new();
            for bytes in settings.chunks(piece) {
                frames.received(bytes);
            }
            assert_eq!(frames.most_streams, Some(7), "in pieces of {piece}");
        }
    }

    #[test]
    fn a_volley_counts_all_its_streams_and_none_before_it() {
        let mut frames = Frames::new();
        frames.sent(&[b'p'; PREFACE]);
        frames.sent(&exchange(1).0);
        frames.follow_all();
        assert_eq!(frames.all.ends_out, 0);
        for stream in [3, 5, 7] {
            frames.sent(&frame(HEADERS, END_HEADERS, stream, b"head"));
        }
        frames.sent(&frame(DATA, 0, 3, b"dat"));
        frames.sent(&frame(DATA, END_STREAM, 5, b"data"));
        let All {
            headers_out,
            data_out,
            ends_out,
        } = frames.all;
        assert_eq!((headers_out, data_out, ends_out), (3, 7, 1));
    }

    #[test]
    fn frames_of_an_earlier_stream_do_not_count() {
        let mut frames = Frames::new();
        frames.sent(&[b'p'; PREFACE]);
        frames.sent(&exchange(1).0);
        frames.follow(None);
        assert!(!frames.received(&exchange(1).1).first);
        frames.sent(&exchange(3).0);
        assert!(!frames.received(&exchange(1).1).first);
        assert_eq!(frames.now.seen, 0);
        assert!(frames.received(&exchange(3).1).last);
    }
}
