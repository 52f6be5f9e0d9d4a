//! Sends on many sockets in one system call: io_submit(2) of Linux, with which a socket's write is
//! done there and then. Between two calls the other side may be woken on our core, and the next
//! send waits for it; within one call it cannot come between.

use std::os::fd::RawFd;

/// A place in the kernel that takes batches up to a size.
pub(super) struct Batch(imp::Context);

impl Batch {
    /// Room for so many sends; `None` where the system has no such call or no room left.
    pub(super) fn with_room_for(sends: usize) -> Option<Batch> {
        imp::Context::new(sends).map(Batch)
    }

    /// Sends all of them, without waiting for any, and says of each how many of its bytes the
    /// kernel took: none where it had no room or the connection is broken, or where the batch is
    /// too large.
    pub(super) fn send(&mut self, sends: &[(RawFd, &[u8])]) -> Vec<usize> {
        self.0.send(sends)
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod imp {
    use std::os::fd::RawFd;

    /// The opcode of a plain write (linux/aio_abi.h).
    const IOCB_CMD_PWRITE: u16 = 1;

    /// What came of one send (linux/aio_abi.h).
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct Event {
        data: u64,
        block: u64,
        result: i64,
        second: i64,
    }

    pub(super) struct Context {
        id: libc::c_ulong,
        room: usize,
    }

    impl Context {
        pub(super) fn new(room: usize) -> Option<Context> {
            let mut id: libc::c_ulong = 0;
            let most = libc::c_long::try_from(room).ok()?;
            // SAFETY: io_setup writes one context id to the address given, a live c_ulong that is
            // zero, as it wants.
            let made = unsafe { libc::syscall(libc::SYS_io_setup, most, &raw mut id) };
            (made == 0).then_some(Context { id, room })
        }

        pub(super) fn send(&mut self, sends: &[(RawFd, &[u8])]) -> Vec<usize> {
            let mut taken = vec![0; sends.len()];
            if sends.len() > self.room {
                return taken;
            }
            let mut blocks: Vec<libc::iocb> = sends
                .iter()
                .zip(0..)
                .map(|((socket, bytes), index)| write(*socket, bytes, index))
                .collect();
            let mut list: Vec<*mut libc::iocb> = blocks
                .iter_mut()
                .map(|block| block as *mut libc::iocb)
                .collect();
            let submitted = self.submit(&mut list);
            for event in self.events(submitted) {
                let index = usize::try_from(event.data).ok();
                if let Some(taken) = index.and_then(|index| taken.get_mut(index)) {
                    *taken = usize::try_from(event.result).unwrap_or(0);
                }
            }
            taken
        }

        /// How many were taken. One that is refused as such ends it: the sockets are ours and open.
        fn submit(&self, list: &mut [*mut libc::iocb]) -> usize {
            let mut submitted = 0;
            while submitted < list.len() {
                let left = &mut list[submitted..];
                // SAFETY: the list has as many pointers as the call is told, each to a live block
                // that points at bytes which outlive the call and the wait for its events.
                let taken = unsafe {
                    libc::syscall(
                        libc::SYS_io_submit,
                        self.id,
                        left.len() as libc::c_long,
                        left.as_mut_ptr(),
                    )
                };
                match usize::try_from(taken) {
                    Ok(taken) if taken > 0 => submitted += taken,
                    _ => break,
                }
            }
            submitted
        }

        /// Waits for what came of so many. Nothing is left under way: writes to sockets are done
        /// when they are submitted.
        fn events(&self, count: usize) -> Vec<Event> {
            let mut events = vec![Event::default(); count];
            let mut seen = 0;
            while seen < count {
                let left = &mut events[seen..];
                let most = left.len() as libc::c_long;
                // SAFETY: there is room for as many events as the call is told, and no timeout.
                let got = unsafe {
                    libc::syscall(
                        libc::SYS_io_getevents,
                        self.id,
                        1 as libc::c_long,
                        most,
                        left.as_mut_ptr(),
                        std::ptr::null::<libc::timespec>(),
                    )
                };
                match usize::try_from(got) {
                    Ok(got) => seen += got,
                    Err(_) if std::io::Error::last_os_error().kind() == INTERRUPTED => {}
                    Err(_) => break,
                }
            }
            events.truncate(seen);
            events
        }
    }

    const INTERRUPTED: std::io::ErrorKind = std::io::ErrorKind::Interrupted;

    impl Drop for Context {
        fn drop(&mut self) {
            // SAFETY: the id is of a context that this value alone owns.
            unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
        }
    }

    fn write(socket: RawFd, bytes: &[u8], index: u64) -> libc::iocb {
        // SAFETY: a block is made of integers, for which zero is a value.
        let mut block: libc::iocb = unsafe { std::mem::zeroed() };
        block.aio_data = index;
        block.aio_lio_opcode = IOCB_CMD_PWRITE;
        // The bits of the descriptor, as the kernel reads them.
        block.aio_fildes = socket as u32;
        block.aio_buf = bytes.as_ptr() as u64;
        block.aio_nbytes = bytes.len() as u64;
        block
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod imp {
    use std::os::fd::RawFd;

    /// There is none.
    pub(super) enum Context {}

    impl Context {
        pub(super) fn new(_room: usize) -> Option<Context> {
            None
        }

        pub(super) fn send(&mut self, _sends: &[(RawFd, &[u8])]) -> Vec<usize> {
            match *self {}
        }
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        ours.set_nonblocking(true).unwrap();
        (ours, listener.accept().unwrap().0)
    }

    #[test]
    fn each_socket_gets_its_own_bytes() {
        let mut pairs: Vec<_> = (0..30).map(|_| pair()).collect();
        let texts: Vec<String> = (0..30).map(|index| format!("to number {index}.")).collect();
        let mut batch = Batch::with_room_for(30).unwrap();
        let sends: Vec<(RawFd, &[u8])> = pairs
            .iter()
            .zip(&texts)
            .map(|((ours, _), text)| (ours.as_raw_fd(), text.as_bytes()))
            .collect();
        let taken = batch.send(&sends);
        for (((_, theirs), text), taken) in pairs.iter_mut().zip(&texts).zip(taken) {
            assert_eq!(taken, text.len());
            let mut got = vec![0; text.len()];
            theirs.read_exact(&mut got).unwrap();
            assert_eq!(got, text.as_bytes());
        }
    }

    #[test]
    fn a_full_socket_and_a_broken_one_take_nothing_and_hold_up_nobody() {
        let (mut full, _kept) = pair();
        while full.write(&[0; 65536]).is_ok() {}
        let (broken, _there) = pair();
        broken.shutdown(std::net::Shutdown::Both).unwrap();
        let (fine, mut reads) = pair();
        let mut batch = Batch::with_room_for(3).unwrap();
        let sends = [&full, &broken, &fine].map(|socket| (socket.as_raw_fd(), &b"x"[..]));
        assert_eq!(batch.send(&sends), [0, 0, 1]);
        let mut byte = [0];
        reads.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"x");
    }

    #[test]
    fn more_than_there_is_room_for_is_not_sent() {
        let (one, mut reads) = pair();
        let mut batch = Batch::with_room_for(1).unwrap();
        let send = (one.as_raw_fd(), &b"x"[..]);
        assert_eq!(batch.send(&[send, send]), [0, 0]);
        reads.set_nonblocking(true).unwrap();
        assert!(reads.read(&mut [0]).is_err(), "nothing came");
    }
}
