//! Which placeholders have a value where.

use super::reader::Reader;
use crate::target::operation::Lifetime;
use crate::target::placeholder::Placeholder;

/// Where a template stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// In which part of the file.
    pub(super) part: PartOfFile,
    /// Whether it goes into a body (or into the path or query, which are intent as well).
    pub(super) intent: bool,
    /// Whether it is a text of a body, where other tools' placeholders may be meant literally.
    pub(super) body: bool,
    /// Whether the operation has `given`.
    pub(super) given: bool,
    /// Whether the operation has `prepare`.
    pub(super) prepared: bool,
}

/// The parts of the file that differ in what has a value there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartOfFile {
    /// An operation's request or a patch of it.
    Operation,
    /// A probe.
    Effects,
    /// `result`.
    Result,
    /// `read` and `cleanup` of an operation.
    Afterwards,
    /// `lookup`.
    Lookup,
    /// A fixture's request or its `with`, and how long it lives.
    Fixture(Lifetime),
    /// The target's headers.
    Headers,
    /// A principal's headers and query.
    Principal,
    /// What is a credential by its nature: bearer, basic, Authorization, Cookie, …
    Credential,
    /// What a token is asked for with.
    Token,
    /// `vars`.
    Vars,
    /// `base-url`.
    BaseUrl,
    /// Hooks and `server`.
    Hook,
    /// Texts that are needed when the file is loaded.
    Loading,
}

impl PartOfFile {
    /// A site in this part.
    pub(super) fn site(self) -> Site {
        Site {
            part: self,
            intent: false,
            body: false,
            given: false,
            prepared: false,
        }
    }

    /// Whether a request of this part is sent in a scenario, with a marker and a key.
    fn in_scenario(self) -> bool {
        matches!(
            self,
            PartOfFile::Operation
                | PartOfFile::Effects
                | PartOfFile::Result
                | PartOfFile::Afterwards
                | PartOfFile::Lookup
        )
    }
}

impl Site {
    /// The same site within a body.
    pub(super) fn in_body(self) -> Site {
        Site {
            body: true,
            ..self.in_intent()
        }
    }

    /// The same site within what makes up the intent of a request.
    pub(super) fn in_intent(self) -> Site {
        Site {
            intent: true,
            ..self
        }
    }

    /// Why the placeholder has no place here, if so.
    pub(super) fn refusal(self, placeholder: &Placeholder, reader: &Reader<'_>) -> Option<String> {
        let part = self.part;
        let allowed = match placeholder {
            Placeholder::Secret(_) => !matches!(part, PartOfFile::BaseUrl | PartOfFile::Loading),
            Placeholder::Var(_) => !matches!(part, PartOfFile::Vars | PartOfFile::Loading),
            Placeholder::Filler(_) => part.in_scenario() || matches!(part, PartOfFile::Fixture(_)),
            Placeholder::Run | Placeholder::RunStarted => {
                !matches!(part, PartOfFile::BaseUrl | PartOfFile::Loading)
            }
            Placeholder::Port(_) => part != PartOfFile::Loading,
            Placeholder::SinkUrl => {
                if reader.document.get("sink").is_none() {
                    return Some("${sink.url} needs a top key `sink`".to_string());
                }
                !matches!(part, PartOfFile::BaseUrl | PartOfFile::Loading)
            }
            Placeholder::Seconds => part == PartOfFile::Hook,
            Placeholder::Token => {
                if !reader.has_tokens() {
                    return Some(
                        "${token} needs `token` or `oauth2` beside the principal's headers"
                            .to_string(),
                    );
                }
                matches!(part, PartOfFile::Principal | PartOfFile::Credential)
            }
            Placeholder::Uuid => {
                if self.intent && part == PartOfFile::Operation {
                    return Some(
                        "${uuid} in a body changes the payload in every retry: use ${unique}"
                            .to_string(),
                    );
                }
                !matches!(
                    part,
                    PartOfFile::BaseUrl | PartOfFile::Vars | PartOfFile::Loading
                )
            }
            Placeholder::Fixture(name) => match part {
                PartOfFile::Fixture(lifetime) => {
                    return shorter_lived(lifetime, placeholder, fixture_lifetime(reader, name));
                }
                part => part.in_scenario(),
            },
            Placeholder::Marker => match part {
                PartOfFile::Fixture(lifetime) => {
                    return shorter_lived(lifetime, placeholder, Lifetime::Scenario);
                }
                part => part.in_scenario(),
            },
            Placeholder::Unique | Placeholder::Name | Placeholder::Key | Placeholder::Time(_) => {
                match part {
                    PartOfFile::Fixture(_) if matches!(placeholder, Placeholder::Time(_)) => true,
                    PartOfFile::Fixture(lifetime) => {
                        return shorter_lived(lifetime, placeholder, Lifetime::Key);
                    }
                    part => part.in_scenario(),
                }
            }
            Placeholder::Identity => match part {
                PartOfFile::Effects => {
                    return Some(
                        "a probe runs also when no response came: use ${marker}, ${unique}, ${key} or ${request:…}"
                            .to_string(),
                    );
                }
                part => matches!(part, PartOfFile::Afterwards | PartOfFile::Lookup),
            },
            Placeholder::GivenIdentity if part.in_scenario() && !self.given => {
                return Some(
                    "${given.identity} needs `given: OPERATION` beside the request".to_string(),
                );
            }
            Placeholder::GivenIdentity => part.in_scenario(),
            Placeholder::Prepared(_) if part == PartOfFile::Operation && !self.prepared => {
                return Some("${prepared:…} needs `prepare` beside the request".to_string());
            }
            Placeholder::Prepared(_) => part == PartOfFile::Operation,
            Placeholder::Request(_) => {
                matches!(part, PartOfFile::Effects | PartOfFile::Lookup)
            }
            Placeholder::Response(_) => {
                matches!(part, PartOfFile::Result | PartOfFile::Afterwards)
            }
        };
        (!allowed).then(|| format!("${{{placeholder}}} has no value {}", self.part.words()))
    }
}

impl PartOfFile {
    fn words(self) -> &'static str {
        match self {
            PartOfFile::Operation => "when a request is made",
            PartOfFile::Effects => "in `effects`",
            PartOfFile::Result => "in `result`",
            PartOfFile::Afterwards => "in `read` and `cleanup`",
            PartOfFile::Lookup => "in `lookup`",
            PartOfFile::Fixture(_) => "in a fixture",
            PartOfFile::Headers => "in the target's headers",
            PartOfFile::Principal | PartOfFile::Credential => "in a principal",
            PartOfFile::Token => "when a token is asked for",
            PartOfFile::Vars => "in `vars`",
            PartOfFile::BaseUrl => "in `base-url`",
            PartOfFile::Hook => "in hooks and `server`",
            PartOfFile::Loading => "when the file is loaded",
        }
    }
}

/// How long a fixture lives, looked up before fixtures are parsed.
fn fixture_lifetime(reader: &Reader<'_>, name: &str) -> Lifetime {
    let per = reader
        .document
        .get("fixtures")
        .and_then(|fixtures| fixtures.get(name))
        .and_then(|fixture| fixture.get("per"))
        .and_then(|per| per.as_text());
    match per {
        Some("scenario") => Lifetime::Scenario,
        Some("key") => Lifetime::Key,
        _ => Lifetime::Run,
    }
}

fn shorter_lived(holder: Lifetime, used: &Placeholder, lifetime: Lifetime) -> Option<String> {
    let words = |lifetime| match lifetime {
        Lifetime::Run => "run",
        Lifetime::Scenario => "scenario",
        Lifetime::Key => "key",
    };
    (lifetime > holder).then(|| {
        format!(
            "the fixture is made once per {} and uses ${{{used}}}, which is new for each {}: write per: {}",
            words(holder),
            words(lifetime),
            words(lifetime)
        )
    })
}
