//! What is seen on the wire, from both ends of it.

mod asking;
mod endings;
mod faults;
mod http2;
mod peer;
mod sending;
mod volley;

use bytes::Bytes;

use crate::runner::wire::tests::peer::{End, Peer, SOON};
use crate::runner::wire::{Close, Controls, Done, Fault, Hold, Outgoing, Scheme};

const BOTH: [Scheme; 2] = [Scheme::Http, Scheme::Https];
const CLOSES: [(Close, End); 2] = [(Close::Fin, End::Fin), (Close::Rst, End::Rst)];
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";

fn post(body: &str) -> Outgoing {
    Outgoing {
        method: http::Method::POST,
        target: "/pay".into(),
        authority: "shop.test".into(),
        headers: vec![("Idempotency-Key".into(), b"k1".to_vec())],
        body: Some(Bytes::from(body.to_owned())),
        chunked: false,
        upper_case_headers: false,
    }
}

fn head(length: usize) -> String {
    format!(
        "POST /pay HTTP/1.1\r\nHost: shop.test\r\nIdempotency-Key: k1\r\nContent-Length: {length}\r\n\r\n"
    )
}

fn plain() -> Controls {
    Controls {
        hold: Hold::Nothing,
        fault: None,
        patience: SOON,
    }
}

fn with(fault: Fault) -> Controls {
    Controls {
        fault: Some(fault),
        ..plain()
    }
}

fn held() -> Controls {
    Controls {
        hold: Hold::LastByte,
        ..plain()
    }
}

/// A request that asks whether its body may come.
fn asking(body: &str) -> Outgoing {
    let mut request = post(body);
    request
        .headers
        .push(("Expect".into(), b"100-continue".to_vec()));
    request
}

fn fired(done: &Done) -> bool {
    done.fault.as_ref().unwrap().fired
}

/// Reads a whole request with this body.
async fn take(peer: &mut Peer, body: &str) {
    assert_eq!(peer.read_until("\r\n\r\n").await, head(body.len()));
    assert_eq!(peer.read(body.len()).await, body);
}
