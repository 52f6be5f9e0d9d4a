//! How far the readings of a probe are shared, from what its request or command mentions.

use super::Target;
use super::operation::Lifetime;
use super::operation::Probe;
use super::operation::ProbeSource;
use super::operation::Reading;
use super::placeholder::Placeholder;
use super::selector::SelectorTemplate;

impl Probe {
    /// How often the probe is read: once for each distinct rendering (`Key`), once per marker
    /// (`Scenario`), or it is shared by all scenarios (`Run`), which then run one after another.
    pub fn sharing(&self, target: &Target) -> Lifetime {
        let mut sharing = Lifetime::Run;
        let mut mention = |placeholder: &Placeholder| {
            sharing = sharing.max(lifetime(placeholder, target));
        };
        match &self.source {
            ProbeSource::Request(request) => request.each_placeholder(&mut mention),
            ProbeSource::Command(command) => {
                for name in &command.mentions {
                    match name.as_str() {
                        "marker" => mention(&Placeholder::Marker),
                        "unique" => mention(&Placeholder::Unique),
                        "name" => mention(&Placeholder::Name),
                        "key" => mention(&Placeholder::Key),
                        name => mention(&Placeholder::Fixture(name.to_string())),
                    }
                }
            }
        }
        if let SelectorTemplate::Json(template) = self.reading.selector() {
            template.placeholders().for_each(mention);
        }
        sharing
    }
}

impl Reading {
    /// The selector, whatever is done with what it finds.
    pub fn selector(&self) -> &SelectorTemplate {
        match self {
            Reading::Ids(selector)
            | Reading::Count(selector)
            | Reading::Value(selector)
            | Reading::State(selector) => selector,
        }
    }
}

/// For how long the value of a placeholder stays the same.
fn lifetime(placeholder: &Placeholder, target: &Target) -> Lifetime {
    match placeholder {
        Placeholder::Fixture(name) => target
            .fixture(name)
            .map_or(Lifetime::Run, |fixture| fixture.per),
        other => lifetime_of(other),
    }
}

/// The same for a placeholder that is no fixture.
pub(super) fn lifetime_of(placeholder: &Placeholder) -> Lifetime {
    match placeholder {
        Placeholder::Key
        | Placeholder::Unique
        | Placeholder::Name
        | Placeholder::Request(_)
        | Placeholder::GivenIdentity => Lifetime::Key,
        Placeholder::Marker => Lifetime::Scenario,
        _ => Lifetime::Run,
    }
}
