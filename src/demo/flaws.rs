//! The defects that are planted in one demo: any of them, but for those that decide the same matter
//! in two ways.
//!
//! The others act in the order in which a request meets them: on its way in, at its key, in the
//! look-up, at the claim, in the work, at the record, in the answer. One that acts early can keep a
//! request from another that acts late: under `ignores-keys` nothing is ever replayed.

use std::fmt;

use super::flaw::Flaw;

/// The flaws of a demo. The default is none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flaws([u128; 2]);

const _: () = assert!(Flaw::ALL.len() <= 256, "a flaw has no bit");

impl Flaws {
    /// Takes flaws together; one that comes twice is planted once.
    ///
    /// # Errors
    /// Two of them decide the same matter.
    pub fn plant(flaws: &[Flaw]) -> Result<Flaws, Rivals> {
        let mut planted = Flaws::default();
        for &flaw in flaws {
            let rival = |matter: &Matter| {
                let other = planted.of(*matter).filter(|other| *other != flaw)?;
                matter.flaws().contains(&flaw).then_some(other)
            };
            let found = Matter::ALL
                .iter()
                .find_map(|matter| rival(matter).map(|other| (other, *matter)));
            if let Some((one, matter)) = found {
                return Err(Rivals {
                    one,
                    other: flaw,
                    matter,
                });
            }
            planted.add(flaw);
        }
        Ok(planted)
    }

    /// Whether a flaw is planted.
    pub fn has(self, flaw: Flaw) -> bool {
        let (word, bit) = place(flaw);
        self.0[word] & bit != 0
    }

    /// The flaw that decides a matter, if one is planted.
    pub fn of(self, matter: Matter) -> Option<Flaw> {
        let planted = |flaw: &Flaw| self.has(*flaw);
        matter.flaws().iter().copied().find(planted)
    }

    /// Whether none is planted.
    pub fn is_empty(self) -> bool {
        self == Flaws::default()
    }

    /// The flaws that are planted, in the order of the catalogue.
    pub fn iter(self) -> impl Iterator<Item = Flaw> {
        Flaw::ALL
            .iter()
            .copied()
            .filter(move |flaw| self.has(*flaw))
    }

    /// Their names, in the order of the catalogue.
    pub fn names(self) -> Vec<&'static str> {
        self.iter().map(Flaw::name).collect()
    }

    fn add(&mut self, flaw: Flaw) {
        let (word, bit) = place(flaw);
        self.0[word] |= bit;
    }
}

fn place(flaw: Flaw) -> (usize, u128) {
    let number = flaw as usize;
    (number / 128, 1 << (number % 128))
}

impl From<Flaw> for Flaws {
    fn from(flaw: Flaw) -> Flaws {
        let mut flaws = Flaws::default();
        flaws.add(flaw);
        flaws
    }
}

impl From<Option<Flaw>> for Flaws {
    fn from(flaw: Option<Flaw>) -> Flaws {
        flaw.map(Flaws::from).unwrap_or_default()
    }
}

impl fmt::Debug for Flaws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// Two flaws that decide the same matter in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the flaws `{}` and `{}` cannot be planted together: each of them decides {}; try them one after the other",
    .one.name(), .other.name(), .matter.says()
)]
pub struct Rivals {
    /// The one that came first.
    pub one: Flaw,
    /// The one that came after it.
    pub other: Flaw,
    /// What both decide.
    pub matter: Matter,
}

macro_rules! matters {
    ($($(#[doc = $doc:literal])+ $variant:ident: $says:literal => [$($flaw:ident),+ $(,)?])+) => {
        /// What only one flaw of a demo can decide.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Matter {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Matter {
            /// Every matter.
            pub const ALL: &[Matter] = &[$(Matter::$variant),+];

            /// What is decided, after "decides".
            pub fn says(self) -> &'static str {
                match self {
                    $(Matter::$variant => $says,)+
                }
            }

            /// The flaws that decide it, each in a way of its own.
            pub fn flaws(self) -> &'static [Flaw] {
                match self {
                    $(Matter::$variant => &[$(Flaw::$flaw),+],)+
                }
            }
        }
    };
}

matters! {
    /// What stands where a key should.
    MissingKey: "what becomes of a request without a key" => [
        IgnoresKeys, AcceptsMissingKey, LeavesEmptyKeyUnprotected, TakesPayloadForKey,
    ]
    /// What of a payload a fingerprint is made of.
    Fingerprint: "how much of a payload its fingerprint knows" => [
        StoresNoFingerprint, FingerprintsTopLevelOnly, FingerprintsThroughFloats,
        FingerprintsFirst4Kib,
    ]
    /// What another payload under a used key comes to.
    Change: "what a changed payload under a used key gets" => [
        StoresNoFingerprint, ExecutesChangedPayload, FingerprintsRawBytesIntoKey,
        ExecutesRefusedChange, PoisonsCacheOnMismatch, AnswersMismatchWith500,
        AnswersConflictsAlike,
    ]
    /// Whose a key is.
    Tenant: "what the key of one tenant is to another" => [
        SharesKeysBetweenTenants, RefusesKeyOfOtherTenant,
    ]
    /// Where a record is looked for that does not stand in its own place.
    LookUp: "where a key is looked up beside its own place" => [
        SharesKeysBetweenOperations, SharesKeysBetweenMethods, RefusesKeyOfOtherTenant,
        GuessesIntentFromPayload,
    ]
    /// Which memory is asked.
    Memory: "which memory an instance keeps its keys in" => [
        KeepsKeysPerInstance, KeepsKeysPerConnection, LooksUpOnLaggingReplica,
    ]
    /// How a key becomes that of one request.
    Claim: "how a key is claimed" => [
        RecordsOnlyCompleted, ChecksThenSets, ChecksThenSets1Ms, ChecksThenSets100Us,
        ChecksThenSets20Us, LastWriterWins, LetsClaimRunOut, LetsClaimRunOutAtTimes,
        FreesClaimOfSuccessor, OverwritesRecordOfSuccessor, ClaimsPerWorker,
    ]
    /// What a duplicate gets whose key is claimed.
    Duplicate: "what a duplicate of a request in flight gets" => [
        WaiterRunsAgain, FillsPoolWithWaiters, AnswersRaceLosersWith500, AnswersConflictsAlike,
    ]
    /// What becomes of a request whose client is gone.
    HangUp: "what becomes of a request whose client hangs up" => [
        KeepsClaimOnHangUp, DropsClaimOnHangUp, CancelsBetweenEffects, LeavesGapAfterEffect,
    ]
    /// When the record of a key is kept, and whether.
    Record: "when and whether the record of a key is kept" => [
        CancelsBetweenEffects, RecordsAfterResponse, RecordsLate, LeavesGapAfterEffect,
        RecordsOutsideTransaction, FreesClaimBeforeRecord, DropsClaimOnHangUp,
        RecordsOnlyWholeBodies, StoresNoLongAnswers, LastWriterWins, OverwritesRecordOfSuccessor,
    ]
    /// What stays under the key of a request that failed.
    Failure: "what stays of a request that failed" => [
        ForgetsKeyAfterEffect, KeepsKeyOfRolledBackWrite, KeepsClaimOnError, StoresServerErrors,
    ]
    /// How long what stands in front waits.
    Patience: "how long an answer is waited for" => [GivesSlowRequestsUp, KeepsGivingUp]
    /// What the date of the first sending is good for.
    FirstSent: "what the date of the first sending counts for" => [
        CountsAgeFromArrival, IgnoresFirstSent,
    ]
    /// How long a record counts.
    Retention: "how long a key is kept" => [NeverExpires, ForgetsEarly, CountsRetentionFromClaim]
    /// What the samples of the metrics say.
    Counting: "how often a duplicate is counted" => [CountsNoDuplicates, CountsTwice]
    /// When an event is no longer delivered.
    Delivery: "when an event counts as delivered" => [
        MarksEventBeforeDelivery, RetriesFromMemory, GivesEventsUpSoon,
    ]
    /// What becomes of a notice that cannot be told from others.
    NamelessNotice: "what becomes of a notice without an id" => [
        HandlesNoticesWithoutId, DropsNoticesWithoutId,
    ]
    /// What becomes of a forgery.
    ForgedNotice: "what becomes of a notice with a bad signature" => [
        TakesUnsignedNotices, CrashesOnBadSignature, HidesBadSignatures,
    ]
    /// How a notice comes to be handled once.
    Notice: "when a notice counts as handled" => [
        HandlesEveryDelivery, ChecksNoticeThenHandles, MarksNoticeBeforeHandling,
        LosesNoticesItTook, FreesNoticeAfterEffect, KeepsNoticesInMemory,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_planted_is_what_it_has() {
        let flaws = Flaws::plant(&[Flaw::DropsLocation, Flaw::IgnoresKeys, Flaw::DropsLocation]);
        let flaws = flaws.expect("these two go together");
        assert_eq!(flaws.names(), ["ignores-keys", "drops-location"]);
        assert!(!flaws.has(Flaw::NeverExpires));
        assert!(!flaws.is_empty() && Flaws::default().is_empty());
        for flaw in Flaw::ALL {
            assert_eq!(Flaws::from(*flaw).iter().collect::<Vec<_>>(), [*flaw]);
        }
    }

    #[test]
    fn two_that_decide_one_matter_are_refused_with_the_matter() {
        for matter in Matter::ALL {
            for one in matter.flaws() {
                assert_eq!(Flaws::from(*one).of(*matter), Some(*one));
                for other in matter.flaws().iter().filter(|other| *other != one) {
                    let refused = Flaws::plant(&[Flaw::CountsTwice, *one, *other]).is_err()
                        || Flaws::plant(&[*one, *other]).is_err();
                    assert!(refused, "{} with {}", one.name(), other.name());
                }
            }
        }
        let rivals = Flaws::plant(&[Flaw::NeverExpires, Flaw::DropsLocation, Flaw::ForgetsEarly]);
        let says = rivals.expect_err("both are about retention").to_string();
        assert!(
            says.contains("`never-expires` and `forgets-early`"),
            "{says}"
        );
        assert!(says.contains("decides how long a key is kept"), "{says}");
    }
}
