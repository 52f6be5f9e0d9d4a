//! The port that clients come to: open, or refusing connections as one does that nobody listens on.

use super::connection::{House, serve};
use super::refusals::Refusals;
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 128;

/// An open door. Dropping it closes it, and every connection that came through it.
#[derive(Debug)]
pub(super) struct Door {
    /// Where it is.
    pub(super) address: SocketAddr,
    task: JoinHandle<()>,
    refusals: Option<Refusals>,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Door {
    /// Closes the door, once all that came to it is written down.
    pub(super) async fn close(mut self) {
        if let Some(refusals) = self.refusals.take() {
            refusals.finish().await;
        }
    }

    /// Opens a door on an address; port 0 is a free one. `counts` asks for refused connections to
    /// be counted, which not every process may do.
    pub(super) fn open(address: SocketAddr, house: Arc<House>, counts: bool) -> io::Result<Door> {
        let bound = bind(address)?;
        let address = bound
            .local_addr()?
            .as_socket()
            .ok_or_else(|| io::Error::other("the socket has no address"))?;
        let refusals = match counts {
            true => Refusals::watch(address.port(), &house.book),
            false => None,
        };
        let task = tokio::spawn(keep(bound, address, house));
        Ok(Door {
            address,
            task,
            refusals,
        })
    }
}

/// Opens and shuts the door as the book says, for ever.
async fn keep(mut bound: Socket, address: SocketAddr, house: Arc<House>) {
    let mut stage = house.book.watch();
    let mut connections = JoinSet::new();
    loop {
        if stage.wait_for(|stage| !stage.refuses).await.is_err() {
            return;
        }
        let Ok(listener) = listening(bound) else {
            return;
        };
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    if let Ok((tcp, _)) = accepted {
                        connections.spawn(serve(tcp, Arc::clone(&house)));
                    }
                }
                _ = connections.join_next(), if !connections.is_empty() => {}
                changed = stage.wait_for(|stage| stage.refuses) => {
                    match changed {
                        Ok(_) => break,
                        Err(_) => return,
                    }
                }
            }
        }
        drop(listener);
        bound = match again(address).await {
            Some(bound) => bound,
            None => return,
        };
    }
}

/// A socket that has its address and does not listen: connections to it are refused.
fn bind(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

fn listening(socket: Socket) -> io::Result<TcpListener> {
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Binds the address once more, as soon as the system has let go of it.
async fn again(address: SocketAddr) -> Option<Socket> {
    for _ in 0..200 {
        if let Ok(socket) = bind(address) {
            return Some(socket);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    None
}
