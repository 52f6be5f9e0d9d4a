//! What must be asked of the socket itself. The only `unsafe` of the module lives here.

use tokio::net::TcpStream;

/// How many bytes that were written have not been acknowledged by the peer's kernel; `None` where
/// the system cannot tell.
#[cfg(target_os = "linux")]
pub(super) fn unacknowledged(tcp: &TcpStream) -> Option<usize> {
    use std::os::fd::AsRawFd;

    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open for as long as `tcp` is borrowed, and TIOCOUTQ (SIOCOUTQ for
    // sockets) writes one int to the address given, which points at a live c_int.
    let result = unsafe { libc::ioctl(tcp.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    (result == 0).then(|| usize::try_from(bytes).unwrap_or(0))
}

/// Other systems have no such question.
#[cfg(not(target_os = "linux"))]
pub(super) fn unacknowledged(_tcp: &TcpStream) -> Option<usize> {
    None
}
