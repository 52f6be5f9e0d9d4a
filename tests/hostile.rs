//! Targets that do everything but what they should. Such a run never ends well, never hangs, never
//! panics, and always says what is the matter.

#[path = "hostile/cleanup.rs"]
mod cleanup;
#[path = "hostile/limiter.rs"]
mod limiter;
#[path = "hostile/moment.rs"]
mod moment;
#[path = "hostile/redaction.rs"]
mod redaction;
#[path = "hostile/server.rs"]
mod server;
#[path = "hostile/tool.rs"]
mod tool;

use serde_json::json;
use server::{Asked, Payments, Reply, Server, answer, bytes};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tool::{Seen, Tool};

/// Longer than a target that shows nothing may keep the tool busy.
const SOON: Duration = Duration::from_secs(45);

/// The run against a server whose operation and probe both answer so.
fn against(reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Seen {
    let server = Server::start(reply);
    tried(|| Tool::at(server.address))
}

/// The run as it is, which begins with a check of the target file, and the run without the check,
/// which must find out by itself and is returned.
fn tried(tool: impl Fn() -> Tool) -> Seen {
    let checked = tool().run();
    assert!(
        matches!(checked.code, Some(1 | 3 | 4)),
        "exit {:?}: {}",
        checked.code,
        checked.screen
    );
    if checked.code == Some(4) {
        assert_eq!(checked.passed(), Vec::<String>::new());
        assert_eq!(checked.failed(), Vec::<String>::new());
    }
    let seen = tool().with(&["--no-check"]).run();
    for seen in [&checked, &seen] {
        assert!(seen.took < SOON, "it took {:?}", seen.took);
    }
    seen
}

/// The run against a server that works, but for its operation.
fn with_operation(reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Seen {
    let payments = Payments::default();
    against(move |asked| match Payments::is_operation(asked) {
        true => reply(asked),
        false => payments.serve(asked),
    })
}

/// The run against a server that works, but for its probe.
fn with_probe(reply: impl Fn(&Asked, &Payments) -> Reply + Send + Sync + 'static) -> Seen {
    let payments = Payments::default();
    against(move |asked| match Payments::is_operation(asked) {
        true => payments.serve(asked),
        false => reply(asked, &payments),
    })
}

#[test]
fn a_target_that_works_is_what_the_others_are_measured_against() {
    let payments = Payments::default();
    let server = Server::start(move |asked| payments.serve(asked));
    let seen = Tool::at(server.address)
        .with(&["--scenario", "replay/exact"])
        .run();
    assert_eq!(seen.failed(), Vec::<String>::new(), "{}", seen.screen);
    assert!(!seen.passed().is_empty(), "{}", seen.screen);
    assert!(server.arrived() > 5);
}

#[test]
fn a_target_that_is_down_is_told_at_once() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("an address")
    };
    let seen = Tool::at(address).run();
    seen.is_unable("cannot be reached");
    assert!(seen.took < Duration::from_secs(10), "{:?}", seen.took);
    assert_eq!(seen.json["about"]["requests"], 0, "{}", seen.json["about"]);
}

#[test]
fn a_target_that_never_answers_shows_nothing() {
    against(|_| Reply::Silence).is_unable("timed out");
    with_operation(|_| Reply::Silence).is_unable("got no answer in time");
}

#[test]
fn a_target_that_answers_garbage_shows_nothing() {
    let garbage = || Reply::Last(b"\x00\xff\x1b[31mgarbage\r\n\r\n\x1b]0;title\x07more".to_vec());
    against(move |_| garbage()).is_unable("the probe cannot be read");
    with_operation(move |_| garbage()).is_unable("no HTTP response");
}

#[test]
fn a_target_that_closes_or_resets_every_connection_shows_nothing() {
    for reply in [|| Reply::Close, || Reply::Reset] {
        against(move |_| reply()).is_unable("the probe cannot be read");
        with_operation(move |_| reply()).is_unable("closed by the target");
    }
}

#[test]
fn a_target_that_dies_in_the_middle_of_the_run_passes_nothing_more() {
    let payments = Payments::default();
    let server = Server::start(move |asked| match asked.number {
        60.. => Reply::Die,
        _ => payments.serve(asked),
    });
    let seen = Tool::at(server.address).run();
    assert!(matches!(seen.code, Some(3 | 4)), "{}", seen.screen);
    seen.shows("the target stopped taking connections during the run");
    assert_eq!(seen.failed(), Vec::<String>::new(), "{}", seen.screen);
    assert!(seen.took < SOON, "{:?}", seen.took);
}

#[test]
fn refusals_of_everything_show_nothing() {
    for (status, body) in [
        (500, "boom"),
        (404, "nowhere"),
        (401, "who are you"),
        (429, "later"),
    ] {
        against(move |_| answer(status, &json!({ "error": body })))
            .is_unable(&format!("was answered {status}"));
        let says = format!("a first request with a fresh key was answered {status}");
        with_operation(move |_| answer(status, &json!({ "error": body }))).is_unable(&says);
    }
}

#[test]
fn a_web_page_in_place_of_an_answer_shows_nothing() {
    let page = || bytes(200, "text/html", b"<html><body>Please log in</body></html>");
    against(move |_| page()).is_unable("the answer is no JSON");
    with_operation(move |_| page()).is_unable("no effect is seen");
}

#[test]
fn redirects_are_never_followed() {
    let elsewhere = Server::start(|_| answer(201, &json!({ "id": "pay_stolen" })));
    let location =
        format!("http://{}/payments", elsewhere.address).replace("127.0.0.1", "localhost");
    for status in [301, 302, 303, 307, 308] {
        let response = format!(
            "HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
        );
        let redirect = response.clone();
        against(move |_| Reply::Bytes(redirect.clone().into_bytes()))
            .is_unable(&format!("the probe was answered {status}"));
        with_operation(move |_| Reply::Bytes(response.clone().into_bytes()))
            .is_unable(&format!("was answered {status}"));
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn a_next_page_on_a_host_that_nobody_named_is_not_asked_for() {
    let elsewhere = Server::start(|_| answer(200, &json!({ "data": [] })));
    // The same machine by a name that is not in the target file, and no loopback by its looks.
    let next = format!(
        "http://metadata.internal:{}/latest",
        elsewhere.address.port()
    );
    let payments = Payments::default();
    let server = Server::start(move |asked| match Payments::is_operation(asked) {
        true => payments.serve(asked),
        false => answer(200, &json!({ "data": [], "next": next })),
    });
    let probe =
        r#"{ request: "GET /payments?reference=${marker}", ids: "$.data[*].id", next: $.next }"#;
    let seen = tried(|| Tool::at(server.address).probe(server.address, probe));
    seen.is_unable("refused to send to metadata.internal");
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn a_response_without_end_ends_with_our_patience() {
    let headers = || {
        Reply::Endless(
            b"HTTP/1.1 200 OK\r\n",
            b"X-Filler: aaaaaaaaaaaaaaaaaaa\r\n".to_vec(),
        )
    };
    against(move |_| headers()).is_unable("the probe cannot be read");
    with_operation(move |_| headers()).is_unable("a first request with a fresh key");
    let body = || {
        Reply::Endless(
            b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n",
            vec![b' '; 64 << 10],
        )
    };
    against(move |_| body()).is_unable("the probe cannot be read");
    with_operation(move |_| body()).is_unable("got no answer in time");
}

#[test]
fn a_huge_response_is_neither_kept_nor_shown() {
    let huge: Arc<[u8]> = vec![b'x'; 50 << 20].into();
    let patiently = |operation: bool| {
        let (payments, huge) = (Payments::default(), Arc::clone(&huge));
        let server = Server::start(move |asked| match Payments::is_operation(asked) {
            is_operation if is_operation == operation => bytes(200, "application/json", &huge),
            _ => payments.serve(asked),
        });
        tried(|| Tool::patient(server.address))
    };
    let seen = patiently(true);
    assert!(matches!(seen.code, Some(3 | 4)), "{}", seen.screen);
    assert!(seen.screen.len() < 1 << 20, "{}", seen.screen.len());
    assert_eq!(seen.passed(), Vec::<String>::new());
    patiently(false).is_unable("an answer of more than");
}

#[test]
fn a_response_that_trickles_in_ends_with_our_patience() {
    let slow = || {
        Reply::Trickle(
            b"HTTP/1.1 201 Created\r\nContent-Length: 5000\r\n\r\n{".to_vec(),
            Duration::from_millis(40),
        )
    };
    against(move |_| slow()).is_unable("timed out");
    with_operation(move |_| slow()).is_unable("got no answer in time");
}

#[test]
fn a_response_that_is_shorter_than_it_says_is_no_answer() {
    let short = || {
        let head =
            "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n";
        Reply::Last(format!("{head}{{\"id\": \"pay_1\"}}").into_bytes())
    };
    against(move |_| short()).is_unable("the probe cannot be read");
    with_operation(move |_| short()).is_unable("a first request with a fresh key got no answer");
}

#[test]
fn what_the_target_says_reaches_neither_the_terminal_nor_the_xml_as_it_is() {
    let text = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{0}\u{b}\u{ffff}]]>&<\u{202e}\r\n\u{9b}31mboom";
    let seen = with_operation(move |_| bytes(500, "text/plain", text.as_bytes()));
    seen.is_unable("31mboom");
    let header = "HTTP/1.1 500 \x1b[31mred\r\nX-A: \x1b[2J\u{ffff}\r\nContent-Length: 0\r\n\r\n";
    let seen = with_operation(move |_| Reply::Bytes(header.as_bytes().to_vec()));
    assert!(matches!(seen.code, Some(3 | 4)), "{}", seen.screen);
    // Also where the operation works, and its answers are compared and shown.
    let payments = Payments::default();
    let number = std::sync::atomic::AtomicUsize::new(0);
    let seen = against(move |asked| match Payments::is_operation(asked) {
        true => {
            payments.serve(asked);
            let id = number.fetch_add(1, Ordering::Relaxed);
            answer(
                201,
                &json!({ "id": format!("pay_{id}\u{1b}[31m\u{202e}"), "note": text }),
            )
        }
        false => payments.serve(asked),
    });
    assert_eq!(
        seen.code,
        Some(1),
        "each response names another payment: {}",
        seen.screen
    );
}

#[test]
fn secrets_that_come_back_are_shown_nowhere() {
    let echo = |asked: &Asked| {
        let headers: Vec<String> = asked.headers.values().cloned().collect();
        json!({ "id": headers.join(" "), "headers": asked.headers, "error": headers })
    };
    against(move |asked| answer(500, &echo(asked))).is_unable("the probe was answered 500");
    with_operation(move |asked| answer(500, &echo(asked))).is_unable("was answered 500");
    with_probe(move |asked, _| {
        let headers = asked.headers.values().map(|value| json!({ "id": value }));
        answer(200, &json!({ "data": headers.collect::<Vec<_>>() }))
    })
    .shows("before anything was sent");
    with_operation(move |asked| {
        let authorization = asked.headers.get("authorization").cloned();
        Reply::Last(authorization.unwrap_or_default().into_bytes())
    })
    .is_unable("no HTTP response");
    let payments = Payments::default();
    let number = std::sync::atomic::AtomicUsize::new(0);
    let seen = against(move |asked| match Payments::is_operation(asked) {
        true => {
            payments.serve(asked);
            let mut body = echo(asked);
            let number = number.fetch_add(1, Ordering::Relaxed);
            body["id"] = json!(format!(
                "{} {number}",
                body["id"].as_str().unwrap_or_default()
            ));
            answer(201, &body)
        }
        false => payments.serve(asked),
    });
    assert_eq!(
        seen.code,
        Some(1),
        "each response names another payment: {}",
        seen.screen
    );
}

#[test]
fn a_broken_probe_is_no_reading() {
    with_probe(|_, _| answer(503, &json!({}))).is_unable("the probe was answered 503");
    with_probe(|_, _| answer(200, &json!("nothing here"))).shows("no effect is seen");
}

#[test]
fn a_probe_that_sees_nothing_passes_nothing_that_is_counted() {
    let seen = with_probe(|_, _| answer(200, &json!({ "data": [] })));
    assert!(matches!(seen.code, Some(3 | 4)), "{}", seen.screen);
    seen.shows("no effect is seen");
    nothing_counted_passed(&seen);
}

#[test]
fn a_probe_that_counts_everybody_passes_and_fails_nothing_that_is_counted() {
    let everybody =
        |_: &Asked, payments: &Payments| answer(200, &json!({ "data": payments.list(None) }));
    let seen = with_probe(everybody);
    assert!(matches!(seen.code, Some(3 | 4)), "{}", seen.screen);
    seen.shows("the target ignores the probe's filter");
    nothing_counted_passed(&seen);

    // A probe that needs the body cannot be asked before the first request.
    let payments = Payments::default();
    let server = Server::start(move |asked| match Payments::is_operation(asked) {
        true => payments.serve(asked),
        false => answer(200, &json!({ "data": payments.list(None) })),
    });
    let probe =
        r#"{ request: "GET /payments?reference=${request:$.reference}", ids: "$.data[*].id" }"#;
    let seen = tried(|| Tool::at(server.address).probe(server.address, probe));
    assert!(
        matches!(seen.code, Some(3 | 4)),
        "{:?}: {}",
        seen.code,
        seen.screen
    );
    seen.shows("the target ignores the probe's filter");
    nothing_counted_passed(&seen);
    assert_eq!(seen.failed(), Vec::<String>::new(), "{}", seen.screen);
}

#[test]
fn a_success_without_its_effect_is_no_success() {
    let seen =
        with_operation(|asked| answer(201, &json!({ "id": format!("pay_{}", asked.number) })));
    assert!(matches!(seen.code, Some(1 | 3 | 4)), "{}", seen.screen);
    seen.shows("no effect is seen");
    nothing_counted_passed(&seen);

    // The first two work, so that the baseline does.
    let (payments, works) = (Payments::default(), AtomicBool::new(true));
    let server = Server::start(move |asked| {
        if asked.number > 60 {
            works.store(false, Ordering::Relaxed);
        }
        match Payments::is_operation(asked) && !works.load(Ordering::Relaxed) {
            true => answer(201, &json!({ "id": format!("pay_none_{}", asked.number) })),
            false => payments.serve(asked),
        }
    });
    let seen = Tool::at(server.address).run();
    assert_eq!(seen.code, Some(1), "{}", seen.screen);
}

fn nothing_counted_passed(seen: &Seen) {
    let counted: Vec<String> = seen
        .passed()
        .into_iter()
        .filter(|name| name.contains("effects") || name.contains("exists"))
        .collect();
    assert_eq!(counted, Vec::<String>::new(), "{}", seen.screen);
}

#[test]
fn ctrl_c_ends_the_run_in_order() {
    let payments = Payments::default();
    let server = Server::start(move |asked| payments.serve(asked));
    let tool = Tool::at(server.address);
    let began = Instant::now();
    let child = tool
        .command()
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    while server.arrived() < 60 {
        assert!(began.elapsed() < SOON, "only {} requests", server.arrived());
        std::thread::sleep(Duration::from_millis(5));
    }
    let interrupted = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(interrupted.success());
    let at = Instant::now();
    let output = child.wait_with_output().expect("it ends");
    let seen = tool.seen(&output, at.elapsed());
    assert!(
        matches!(seen.code, Some(3 | 4)),
        "{:?}\n{}",
        seen.code,
        seen.screen
    );
    assert!(seen.took < Duration::from_secs(20), "{:?}", seen.took);
    assert!(seen.remarks.contains("stopping"), "{}", seen.remarks);
    seen.shows("the run was stopped");
}
