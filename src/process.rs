//! Processes that the tool starts, each in a process group of its own, so that all that they start
//! ends with them. Never ends anything else.

/// Ends its whole process group when it is dropped.
#[derive(Debug, Default)]
pub struct Group(pub Option<i32>);

/// What a process group is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// To end.
    Terminate,
    /// Nothing: it is ended.
    Kill,
}

impl Group {
    /// The group of a child that was started as the leader of one.
    pub fn of(child: Option<u32>) -> Group {
        Group(child.and_then(|id| i32::try_from(id).ok()))
    }

    /// The group is empty: its number may be given to somebody else.
    pub fn forget(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        signal(self.0, Signal::Kill);
    }
}

/// Sends a signal to a whole process group.
#[cfg(unix)]
pub fn signal(group: Option<i32>, signal: Signal) {
    let number = match signal {
        Signal::Terminate => libc::SIGTERM,
        Signal::Kill => libc::SIGKILL,
    };
    // 0 and 1 would be our own group and everybody.
    if let Some(group) = group.filter(|group| *group > 1) {
        // SAFETY: kill takes two numbers and touches no memory of ours.
        unsafe { libc::kill(-group, number) };
    }
}

/// Without process groups only the child itself ends, when it is dropped.
#[cfg(not(unix))]
pub fn signal(_group: Option<i32>, _signal: Signal) {}
