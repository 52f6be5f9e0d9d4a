//! The defects that can be planted in the demo, in one table: what each is called, what it does
//! wrong, who has reported it, and which expectations it breaks. The defect itself stands at the
//! flawed place, as one condition on [`Flaw`].

macro_rules! flaws {
    ($($variant:ident {
        id: $id:literal, name: $name:literal, says: $says:literal,
        reports: $reports:expr, breaks: $breaks:expr $(,)?
    })+) => {
        /// One planted defect of the demo.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Flaw {
            $(#[doc = $says] $variant,)+
        }

        impl Flaw {
            /// Every flaw.
            pub const ALL: &[Flaw] = &[$(Flaw::$variant),+];

            const fn row(self) -> &'static Row {
                match self {
                    $(Flaw::$variant => &Row {
                        id: $id, name: $name, says: $says, reports: $reports, breaks: $breaks,
                    },)+
                }
            }
        }
    };
}

struct Row {
    id: &'static str,
    name: &'static str,
    says: &'static str,
    reports: &'static [&'static str],
    breaks: &'static [&'static str],
}

flaws! {
    IgnoresKeys {
        id: "M00", name: "ignores-keys",
        says: "Does not look at the key at all: every request executes.",
        reports: &["IABTechLab/seller-agent#44", "akira-io/laravel-sisp#306"],
        breaks: &[],
    }
    ChecksThenSets {
        id: "M01", name: "checks-then-sets",
        says: "Checks the key and claims it 20 ms later, with nothing that makes it unique.",
        reports: &["KanishJebaMathewM/Truxify#4006", "zonelessdev/zoneless#134", "rafidahmed870/queue-jobs-worker#22"],
        breaks: &[],
    }
    StoresNoFingerprint {
        id: "M32", name: "stores-no-fingerprint",
        says: "Answers a changed payload under a used key with the first result.",
        reports: &["josipmusa/idempotency4j#12", "aws-powertools/powertools-lambda-typescript#2058", "msaad00/agent-bom#2969"],
        breaks: &[],
    }
    ExecutesChangedPayload {
        id: "M36", name: "executes-changed-payload",
        says: "Keeps results under key and payload together, so a changed payload executes under a used key.",
        reports: &["julik/idempo#21"],
        breaks: &[],
    }
    SharesKeysBetweenTenants {
        id: "M43", name: "shares-keys-between-tenants",
        says: "Keeps the keys of all tenants in one space, so one tenant gets the result of another.",
        reports: &["arun0009/idempotent#217", "josipmusa/idempotency4j#9", "nensii21/devlink#773"],
        breaks: &[],
    }
    SharesKeysBetweenOperations {
        id: "M46", name: "shares-keys-between-operations",
        says: "Leaves the path out of a key's scope, so another operation gets the first one's result.",
        reports: &["KanishJebaMathewM/Truxify#3539", "damianwajser/spring-commons#18"],
        breaks: &[],
    }
    GuessesIntentFromPayload {
        id: "M81", name: "guesses-intent-from-payload",
        says: "Answers an equal payload under a new key with the first result, for 300 s.",
        reports: &["apache/fineract#5674"],
        breaks: &[],
    }
    LooksUpBeforeAuthentication {
        id: "M51", name: "looks-up-before-authentication",
        says: "Answers a used key from the store before it knows who asks, so also without credentials.",
        reports: &["margince/margince#5315"],
        breaks: &[],
    }
    StoresValidationFailures {
        id: "M29", name: "stores-validation-failures",
        says: "Binds the key to a payload that failed validation, so the corrected one is refused for ever.",
        reports: &["KanishJebaMathewM/Truxify#2869"],
        breaks: &[],
    }
    RunsAgainBehindStoredAnswer {
        id: "M88", name: "runs-again-behind-stored-answer",
        says: "Answers a duplicate from the store, but executes the write again each time.",
        reports: &["Supercompress/Supercompress#47"],
        breaks: &[],
    }
    DropsClaimOnHangUp {
        id: "M17", name: "drops-claim-on-hang-up",
        says: "Forgets the key when the client hangs up, although the write still happens.",
        reports: &["fullstackhero/dotnet-starter-kit#1333", "ohdearquant/khive#2091", "mastodon/mastodon#21840"],
        breaks: &[],
    }
    AcceptsMissingKey {
        id: "M89", name: "accepts-missing-key",
        says: "Executes a request without a key, or with an empty one, unprotected.",
        reports: &["teesofttech/PayBridge#119", "accept-io/midas#14"],
        breaks: &[],
    }
    NeverExpires {
        id: "M74", name: "never-expires",
        says: "Keeps keys without end: after the declared retention a key still replays.",
        reports: &["square/connect-api-examples#135", "alphagov/pay-connector#4573"],
        breaks: &[],
    }
    CountsRetentionFromClaim {
        id: "M72", name: "counts-retention-from-claim",
        says: "Counts the retention from when a request came, not from when it was completed.",
        reports: &["mads256h/stregsystemet-rs#54"],
        breaks: &[],
    }
}

impl Flaw {
    /// The name, a verb phrase.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Finds a flaw by its name.
    pub fn from_name(name: &str) -> Option<Flaw> {
        Flaw::ALL.iter().copied().find(|flaw| flaw.name() == name)
    }

    /// What it does wrong, in one sentence.
    pub fn says(self) -> &'static str {
        self.row().says
    }

    /// Its number in the catalogue of faults.
    pub fn id(self) -> &'static str {
        self.row().id
    }

    /// Public reports of this defect elsewhere: repository and thread.
    pub fn reports(self) -> &'static [&'static str] {
        self.row().reports
    }

    /// The full names of the expectations that it breaks.
    pub fn breaks(self) -> &'static [&'static str] {
        self.row().breaks
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_and_ids_are_unique_and_lead_back_to_their_flaw() {
        let names: HashSet<_> = Flaw::ALL.iter().map(|flaw| flaw.name()).collect();
        let ids: HashSet<_> = Flaw::ALL.iter().map(|flaw| flaw.id()).collect();
        assert_eq!(names.len(), Flaw::ALL.len());
        assert_eq!(ids.len(), Flaw::ALL.len());
        for flaw in Flaw::ALL {
            assert_eq!(Flaw::from_name(flaw.name()), Some(*flaw));
        }
        assert_eq!(Flaw::from_name("no-such-flaw"), None);
    }

    #[test]
    fn every_flaw_has_a_kebab_case_name_and_says_one_sentence() {
        for flaw in Flaw::ALL {
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(flaw.name().chars().all(kebab), "{}", flaw.name());
            assert!(flaw.says().ends_with('.'), "{}", flaw.name());
            assert!(flaw.reports().len() <= 3, "{}", flaw.name());
        }
    }
}
