//! Counting connections that the system refuses: nobody is told of them, but a process that may
//! look at packets sees the answer, a reset with the sequence number 0 (RFC 9293, section 3.5.2).

use super::book::Book;
use crate::scenario::client::ClientFault;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::oneshot;

/// Sees refused connections to one port until it is finished or dropped.
#[derive(Debug)]
pub(super) struct Refusals {
    stop: Arc<AtomicBool>,
    done: oneshot::Receiver<()>,
}

/// How long what was seen may take to be written down.
const PATIENCE: Duration = Duration::from_secs(5);

impl Drop for Refusals {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Whether refused connections can be counted here.
pub fn counts_refused() -> bool {
    packets(0).is_some()
}

/// A socket that is given the resets that come from a port of this machine, and nothing else: what
/// is not looked at cannot fill it.
#[cfg(target_os = "linux")]
fn packets(port: u16) -> Option<socket2::Socket> {
    use socket2::{Domain, Protocol, SockFilter, Socket, Type};
    /// IPv4, in network order (packet(7)).
    const IPV4: u16 = 0x0800;
    /// Instructions of the packet filter (Linux, Documentation/networking/filter.rst).
    const LOAD_BYTE: u16 = 0x30;
    const LOAD_HEADER_LENGTH: u16 = 0xb1;
    const LOAD_HALF_BEYOND: u16 = 0x48;
    const LOAD_BYTE_BEYOND: u16 = 0x50;
    const EQUALS: u16 = 0x15;
    const HAS: u16 = 0x45;
    const RETURN: u16 = 0x06;
    let filter = [
        SockFilter::new(LOAD_BYTE, 0, 0, 23),
        SockFilter::new(EQUALS, 0, 6, 6),
        SockFilter::new(LOAD_HEADER_LENGTH, 0, 0, 14),
        SockFilter::new(LOAD_HALF_BEYOND, 0, 0, 14),
        SockFilter::new(EQUALS, 0, 3, u32::from(port)),
        SockFilter::new(LOAD_BYTE_BEYOND, 0, 0, 27),
        SockFilter::new(HAS, 0, 1, 0x04),
        SockFilter::new(RETURN, 0, 0, 128),
        SockFilter::new(RETURN, 0, 0, 0),
    ];
    let protocol = Protocol::from(i32::from(IPV4.to_be()));
    let socket = Socket::new(Domain::PACKET, Type::RAW, Some(protocol)).ok()?;
    socket.attach_filter(&filter).ok()?;
    let pause = Duration::from_millis(20);
    socket.set_read_timeout(Some(pause)).ok()?;
    Some(socket)
}

#[cfg(not(target_os = "linux"))]
fn packets(_port: u16) -> Option<socket2::Socket> {
    None
}

impl Refusals {
    /// Waits until all that was seen is written down.
    pub(super) async fn finish(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // The other side is gone when it has done its work.
        let _ = tokio::time::timeout(PATIENCE, &mut self.done).await;
    }

    /// Enters every refused connection to `port` in the book; `None` where they cannot be seen.
    pub(super) fn watch(port: u16, book: &Arc<Book>) -> Option<Refusals> {
        let mut socket = packets(port)?;
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let (finished, done) = oneshot::channel();
        let book: Weak<Book> = Arc::downgrade(book);
        std::thread::spawn(move || {
            let mut known = HashSet::new();
            let mut packet = [0; 128];
            loop {
                let Ok(length) = std::io::Read::read(&mut socket, &mut packet) else {
                    // Nothing more lies ready.
                    if told.load(Ordering::Relaxed) {
                        break;
                    }
                    continue;
                };
                let Some(connection) = refused(&packet[..length], port) else {
                    continue;
                };
                // The loopback interface shows each packet twice.
                if !known.insert(connection) {
                    continue;
                }
                let Some(book) = book.upgrade() else {
                    break;
                };
                let now = book.now();
                if book.take_refused() {
                    let mut attempt = book.blank(now);
                    attempt.fault = ClientFault::Refuse;
                    attempt.protocol = "TCP".to_owned();
                    book.enter(attempt);
                    book.fired();
                }
            }
            // Nobody may be waiting for it any more.
            let _ = finished.send(());
        });
        Some(Refusals { stop, done })
    }
}

/// The peer's port and sequence number, if the packet refuses a connection to `port`.
fn refused(frame: &[u8], port: u16) -> Option<(u16, u32)> {
    let number = |bytes: &[u8]| u16::from_be_bytes([bytes[0], bytes[1]]);
    let ip = frame.get(14..)?;
    let tcp = match number(frame.get(12..14)?) {
        0x0800 if *ip.get(9)? == 6 => ip.get(usize::from(ip.first()? & 15) * 4..)?,
        _ => return None,
    };
    let flags = *tcp.get(13)?;
    let sequence = tcp.get(4..8)?;
    let is_refusal = flags & 0x14 == 0x14 && sequence == [0; 4] && number(tcp) == port;
    let acknowledged = u32::from_be_bytes(tcp.get(8..12)?.try_into().ok()?);
    is_refusal.then(|| (number(&tcp[2..4]), acknowledged))
}

#[cfg(test)]
mod tests {
    use super::refused;

    /// A packet of the loopback interface: a reset with acknowledgement from port 8080 to 40000.
    fn packet(flags: u8, sequence: u8) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([0x08, 0x00]);
        let mut ip = vec![0x45; 1];
        ip.resize(20, 0);
        ip[9] = 6;
        frame.extend(ip);
        frame.extend(8080_u16.to_be_bytes());
        frame.extend(40000_u16.to_be_bytes());
        frame.extend([0, 0, 0, sequence]);
        frame.extend(77_u32.to_be_bytes());
        frame.extend([0x50, flags, 0, 0]);
        frame
    }

    #[test]
    fn only_the_systems_own_refusal_counts() {
        assert_eq!(refused(&packet(0x14, 0), 8080), Some((40000, 77)));
        assert_eq!(refused(&packet(0x14, 0), 8081), None, "another port");
        assert_eq!(refused(&packet(0x14, 1), 8080), None, "a later reset");
        assert_eq!(refused(&packet(0x12, 0), 8080), None, "an acceptance");
        assert_eq!(refused(&packet(0x14, 0)[..40], 8080), None, "cut off");
    }
}
