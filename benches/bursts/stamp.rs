//! A connection that knows when its bytes came to this machine: the kernel notes it, however long the
//! server takes to read them (SO_TIMESTAMPING, Documentation/networking/timestamping.rst of Linux).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// When the last packet came of what was read last, in nanoseconds of the system's clock.
#[derive(Clone, Default)]
pub struct Stamp(Arc<AtomicU64>);

impl Stamp {
    /// The time; zero where the kernel tells none.
    pub fn nanos(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The connection.
pub struct Stamped {
    tcp: TcpStream,
    last: Stamp,
}

impl Stamped {
    /// Has the kernel note the times from now on.
    pub fn new(tcp: TcpStream) -> io::Result<Stamped> {
        sys::ask(&tcp)?;
        Ok(Stamped {
            tcp,
            last: Stamp::default(),
        })
    }

    /// Where the latest time can be read.
    pub fn stamp(&self) -> Stamp {
        self.last.clone()
    }
}

impl AsyncRead for Stamped {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.tcp.poll_read_ready(cx))?;
            let room = buf.initialize_unfilled();
            let read = || sys::receive(&self.tcp, room);
            match self.tcp.try_io(Interest::READABLE, read) {
                Ok((count, nanos)) => {
                    if let Some(nanos) = nanos {
                        self.last.0.store(nanos, Ordering::Release);
                    }
                    buf.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Stamped {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

#[cfg(target_os = "linux")]
mod sys {
    use std::io;
    use std::mem::{size_of, zeroed};
    use std::os::fd::AsRawFd;

    use tokio::net::TcpStream;

    pub fn ask(tcp: &TcpStream) -> io::Result<()> {
        let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
        // SAFETY: the option is an int, and so is what is pointed at.
        let result = unsafe {
            libc::setsockopt(
                tcp.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_TIMESTAMPING,
                (&raw const flags).cast(),
                size_of::<libc::c_uint>() as libc::socklen_t,
            )
        };
        match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Room for the control message, aligned as its head.
    #[repr(align(8))]
    struct Room([u8; 128]);

    pub fn receive(tcp: &TcpStream, into: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
        let mut room = Room([0; 128]);
        let mut part = libc::iovec {
            iov_base: into.as_mut_ptr().cast(),
            iov_len: into.len(),
        };
        // SAFETY: all of the struct may be zero.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = room.0.as_mut_ptr().cast();
        message.msg_controllen = room.0.len();
        // SAFETY: the message points at the buffers above, which outlive the call.
        let count = unsafe { libc::recvmsg(tcp.as_raw_fd(), &raw mut message, 0) };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        let mut nanos = None;
        // SAFETY: the kernel has filled the control buffer as the message says; the walk stays in it.
        unsafe {
            let mut head = libc::CMSG_FIRSTHDR(&raw const message);
            while !head.is_null() {
                if (*head).cmsg_level == libc::SOL_SOCKET
                    && (*head).cmsg_type == libc::SCM_TIMESTAMPING
                {
                    let time: libc::timespec = libc::CMSG_DATA(head)
                        .cast::<libc::timespec>()
                        .read_unaligned();
                    nanos = Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
                }
                head = libc::CMSG_NXTHDR(&raw const message, head);
            }
        }
        Ok((count, nanos.filter(|nanos| *nanos > 0)))
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use std::io;

    use tokio::net::TcpStream;

    pub fn ask(_: &TcpStream) -> io::Result<()> {
        Ok(())
    }

    pub fn receive(tcp: &TcpStream, into: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
        tcp.try_read(into).map(|count| (count, None))
    }
}
