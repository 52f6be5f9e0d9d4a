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
        // Who is told of the address may come at once.
        let first = match house.book.stage().refuses {
            true => Way::Shut(bound),
            false => Way::Open(listening(bound)?),
        };
        let task = tokio::spawn(keep(first, address, house));
        Ok(Door {
            address,
            task,
            refusals,
        })
    }
}

/// The door as it is now.
enum Way {
    Open(TcpListener),
    Shut(Socket),
}

/// Opens and shuts the door as the book says, for ever.
async fn keep(mut way: Way, address: SocketAddr, house: Arc<House>) {
    let mut stage = house.book.watch();
    let mut connections = JoinSet::new();
    loop {
        way = match way {
            Way::Shut(bound) => {
                if stage.wait_for(|stage| !stage.refuses).await.is_err() {
                    return;
                }
                match listening(bound) {
                    Ok(listener) => Way::Open(listener),
                    Err(_) => return,
                }
            }
            Way::Open(listener) => {
                let shut = tokio::select! {
                    accepted = listener.accept() => {
                        if let Ok((tcp, _)) = accepted {
                            connections.spawn(serve(tcp, Arc::clone(&house)));
                        }
                        false
                    }
                    _ = connections.join_next(), if !connections.is_empty() => false,
                    changed = stage.wait_for(|stage| stage.refuses) => match changed {
                        Ok(_) => true,
                        Err(_) => return,
                    },
                };
                if !shut {
                    way = Way::Open(listener);
                    continue;
                }
                drop(listener);
                match again(address).await {
                    Some(bound) => Way::Shut(bound),
                    None => return,
                }
            }
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
