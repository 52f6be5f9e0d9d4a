//! The closed list of hooks: what may be done to a target from outside.

use serde::{Deserialize, Serialize};

/// The names that a hook may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookName {
    /// Ends the server without notice.
    Kill,
    /// Starts it again.
    Start,
    /// Succeeds when it serves.
    Ready,
    /// Moves its clock forward by `seconds`.
    AdvanceClock,
    /// Withdraws the credentials of the role `revoked`.
    Revoke,
    /// Gives them back.
    Restore,
    /// Makes the key store unreachable.
    StoreDown,
    /// Makes it reachable again.
    StoreUp,
    /// Makes a dependency of the handler fail.
    FailDownstream,
    /// Makes it work again.
    HealDownstream,
}

impl HookName {
    /// All names, in the order in which messages list them.
    pub const ALL: [HookName; 10] = [
        HookName::Kill,
        HookName::Start,
        HookName::Ready,
        HookName::AdvanceClock,
        HookName::Revoke,
        HookName::Restore,
        HookName::StoreDown,
        HookName::StoreUp,
        HookName::FailDownstream,
        HookName::HealDownstream,
    ];

    /// The word of the target file.
    pub fn name(self) -> &'static str {
        match self {
            HookName::Kill => "kill",
            HookName::Start => "start",
            HookName::Ready => "ready",
            HookName::AdvanceClock => "advance-clock",
            HookName::Revoke => "revoke",
            HookName::Restore => "restore",
            HookName::StoreDown => "store-down",
            HookName::StoreUp => "store-up",
            HookName::FailDownstream => "fail-downstream",
            HookName::HealDownstream => "heal-downstream",
        }
    }

    /// The hook of this name.
    pub fn from_name(name: &str) -> Option<HookName> {
        HookName::ALL.into_iter().find(|hook| hook.name() == name)
    }
}
