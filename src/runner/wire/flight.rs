//! One request on its way, as its owner holds it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::runner::wire::done::{Delivery, Done, Ending, Times};
use crate::runner::wire::line::{Line, Release};
use crate::runner::wire::release::Releaser;
use crate::runner::wire::request::Close;
use crate::runner::wire::story::Story;

/// Something that happens to a flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Moment {
    /// The connection stood.
    Connected,
    /// The last byte of the request had been handed to the kernel.
    Sent,
    /// The first byte of the response was read.
    FirstByte,
    /// The last byte of the response was read.
    LastByte,
    /// The exchange ended, in whatever way.
    Ended,
}

/// One prepared request. Dropping it closes its connection.
#[derive(Debug)]
pub struct Flight {
    shared: Arc<Shared>,
    driver: Option<JoinHandle<Done>>,
}

impl Flight {
    pub(super) fn new(shared: Arc<Shared>, driver: JoinHandle<Done>) -> Flight {
        Flight {
            shared,
            driver: Some(driver),
        }
    }

    /// Sends what is held. Later calls do nothing.
    pub fn release(&self) {
        self.releaser().release();
    }

    /// The line has all of the request; a part may be held.
    pub(super) fn handed_over(&self) {
        self.shared.handed_over();
        self.shared.note_sent();
    }

    /// A handle that only releases.
    pub fn releaser(&self) -> Releaser {
        Releaser {
            shared: Arc::clone(&self.shared),
        }
    }

    /// A handle that only cuts.
    pub fn cutter(&self) -> Cutter {
        Cutter {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Calls as near to the moment as possible, on whatever thread it happens on; at once if it
    /// has happened, never if it never does. The call must not block.
    pub fn watch(&self, moment: Moment, call: Box<dyn FnOnce(Instant) + Send>) {
        self.shared.story.watch(moment, call);
    }

    /// Closes now; the exchange ends as [`Ending::HungUp`]. A reset waits, at most 100 ms, until
    /// the peer's kernel has all that was sent, because a reset throws the rest away.
    pub fn cut(&self, close: Close) {
        self.shared.cut(close);
    }

    /// When the last byte of the request had been handed to the kernel.
    pub fn sent_at(&self) -> Option<Instant> {
        self.shared.story.at(Moment::Sent)
    }

    /// Waits, at most `at_most`, until the peer's kernel has acknowledged all that was sent so far,
    /// and says whether it has. Through a proxy that is the first hop only; where the system
    /// cannot tell (it can on Linux) it waits and says no.
    pub async fn acknowledged(&self, at_most: Duration) -> bool {
        self.shared.line.acknowledged(at_most).await
    }

    /// Waits for the end.
    pub async fn done(mut self) -> Done {
        let driver = self.driver.as_mut().expect("only this function takes it");
        let done = driver.await;
        self.driver = None;
        done.unwrap_or_else(|error| self.shared.lost(&error.to_string()))
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.driver.is_some() {
            self.shared.cut(Close::Fin);
        }
    }
}

/// Cuts one flight off. Cheap to clone, and callable from any thread.
#[derive(Clone, Debug)]
pub struct Cutter {
    shared: Arc<Shared>,
}

impl Cutter {
    /// As [`Flight::cut`]. Does nothing when the exchange has ended.
    pub fn cut(&self, close: Close) {
        self.shared.cut(close);
    }
}

/// What the owner of a flight, its handles and its driver have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) story: Arc<Story>,
    pub(super) line: Arc<Line>,
    /// What is held completes the request; not so if a fault ends it in its middle.
    pub(super) whole: bool,
    /// A single stream can be cancelled.
    streams: bool,
    /// Other flights are on the same line, and what lets one go lets all go.
    in_volley: bool,
    handed_over: AtomicBool,
    released: AtomicBool,
    /// The release is through, and what it sent is known.
    told: AtomicBool,
    cut: Mutex<CutState>,
    changed: Notify,
}

#[derive(Debug)]
enum CutState {
    NotAsked,
    Asked(Close),
    /// The line may belong to another flight by now.
    Over,
}

impl Shared {
    pub(super) fn new(
        story: Arc<Story>,
        line: Arc<Line>,
        whole: bool,
        streams: bool,
        hold: bool,
    ) -> Arc<Shared> {
        Arc::new(Shared::of(story, line, whole, streams, hold))
    }

    /// As `new`, for one of several requests on one connection.
    pub(super) fn in_volley(
        story: Arc<Story>,
        line: Arc<Line>,
        whole: bool,
        hold: bool,
    ) -> Arc<Shared> {
        Arc::new(Shared {
            in_volley: true,
            ..Shared::of(story, line, whole, false, hold)
        })
    }

    fn of(story: Arc<Story>, line: Arc<Line>, whole: bool, streams: bool, hold: bool) -> Shared {
        Shared {
            story,
            line,
            whole,
            streams,
            in_volley: false,
            handed_over: AtomicBool::new(false),
            released: AtomicBool::new(!hold),
            told: AtomicBool::new(!hold),
            cut: Mutex::new(CutState::NotAsked),
            changed: Notify::new(),
        }
    }

    fn cut_state(&self) -> MutexGuard<'_, CutState> {
        self.cut
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The first half of a release: the bytes go out, nobody is told. `None` if it had happened.
    pub(super) fn send_held(&self) -> Option<Release> {
        self.begin_release(Instant::now()).then(|| self.send_line())
    }

    /// Whether it is still to be released; from now on it is not.
    pub(super) fn begin_release(&self, at: Instant) -> bool {
        if self.released.swap(true, Ordering::AcqRel) {
            return false;
        }
        self.story.set_released(at);
        true
    }

    /// Sends what its line holds.
    pub(super) fn send_line(&self) -> Release {
        match self.line.release() {
            // Another flight has let go what was held of this one.
            Release::Nothing if self.in_volley => self
                .line
                .all_written()
                .map_or(Release::Nothing, Release::Gone),
            release => release,
        }
    }

    /// The second half: whoever waits is told.
    pub(super) fn tell_released(&self, release: Release) {
        if let Release::Gone(at) = release
            && self.whole
        {
            self.story.happen(Moment::Sent, at);
        }
        self.told.store(true, Ordering::Release);
        self.changed.notify_waiters();
    }

    fn cut(&self, close: Close) {
        {
            let mut cut = self.cut_state();
            if !matches!(*cut, CutState::NotAsked) {
                return;
            }
            *cut = CutState::Asked(close);
            let by_driver = match close {
                Close::Fin => false,
                Close::Rst => self.line.unacknowledged() != Some(0),
                Close::RstStream => self.streams,
            };
            if !by_driver {
                self.line.close(close);
            }
        }
        self.changed.notify_waiters();
    }

    /// How the owner cut it, if so.
    pub(super) fn cut_as(&self) -> Option<Close> {
        match *self.cut_state() {
            CutState::Asked(close) => Some(close),
            CutState::NotAsked | CutState::Over => None,
        }
    }

    /// The line has all of the request; a part may be held.
    pub(super) fn handed_over(&self) {
        self.handed_over.store(true, Ordering::Release);
    }

    /// Whether the line has had all of the request.
    pub(super) fn was_handed_over(&self) -> bool {
        self.handed_over.load(Ordering::Acquire)
    }

    /// The request is with the kernel, if all of it is.
    pub(super) fn note_sent(&self) {
        if self.whole
            && self.handed_over.load(Ordering::Acquire)
            && let Some(at) = self.line.all_written()
        {
            self.story.happen(Moment::Sent, at);
        }
    }

    /// Waits for the owner's cut.
    pub(super) async fn cut_asked(&self) -> Close {
        loop {
            let changed = self.changed.notified();
            if let Some(close) = self.cut_as() {
                return close;
            }
            changed.await;
        }
    }

    /// Waits for the release.
    pub(super) async fn released(&self) {
        loop {
            let changed = self.changed.notified();
            if self.released.load(Ordering::Acquire) {
                return;
            }
            changed.await;
        }
    }

    /// Waits for the second half of a release that has begun: an answer can be here before it.
    pub(super) async fn release_told(&self) {
        loop {
            let changed = self.changed.notified();
            if !self.released.load(Ordering::Acquire) || self.told.load(Ordering::Acquire) {
                return;
            }
            changed.await;
        }
    }

    /// From now on cuts do nothing.
    pub(super) fn over(&self) {
        *self.cut_state() = CutState::Over;
    }

    /// What is left to say when the driver died.
    fn lost(&self, says: &str) -> Done {
        let connected = self.story.at(Moment::Connected);
        let ended = Instant::now();
        Done {
            times: Times {
                connected: connected.unwrap_or(ended),
                released: self.story.released(),
                sent: self.story.at(Moment::Sent),
                first_byte: self.story.at(Moment::FirstByte),
                last_byte: self.story.at(Moment::LastByte),
                ended,
            },
            ending: Ending::Broken {
                says: format!("the exchange was given up: {says}"),
            },
            delivery: match self.story.at(Moment::Sent) {
                Some(_) => Delivery::Delivered,
                None => Delivery::Partial,
            },
            response: None,
            fault: None,
            unread: None,
            late: None,
            connection: None,
        }
    }
}
