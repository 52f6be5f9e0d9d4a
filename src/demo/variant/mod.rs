//! The ways to behave that are right, though a careless judge would take them for faults: what each
//! is called, what it does, who does it, and which contract allows it. A flaw is wrong; a variant
//! is another policy.

mod table;

use std::time::Duration;

use super::Options;

pub use self::table::VARIANTS;

/// One legitimate way to behave.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Its number in the catalogue of faults.
    pub id: &'static str,
    /// The name, a verb phrase.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub says: &'static str,
    /// Who does or allows it: texts, shipped contracts, or repository and thread.
    pub sources: &'static [&'static str],
    /// What allows it, in YAML, over the demo's own contract; empty where that does.
    pub contract: &'static str,
    /// The scenarios or cases that might take offence at it.
    pub upsets: &'static [&'static str],
    /// What must be known to try it at all where nothing is promised, in YAML; mostly nothing.
    pub known: &'static str,
    /// What a contract without promises makes of it.
    pub unpromised: Sight,
    /// How long effects may take to show; `None` is as long as with the demo itself.
    pub settle: Option<Duration>,
    /// What is promised of its events.
    pub events: Events,
    /// Whether it shows over HTTP/2 only.
    pub http2: bool,
    /// Makes a demo behave so.
    pub change: fn(&mut Options),
}

/// What a target file promises of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Events {
    /// All that the demo promises.
    #[default]
    AsPromised,
    /// Neither their order, nor that they stay as they are: only that they come.
    AsTheyCome,
}

/// What a judge sees of a variant where nothing is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Nothing to tell of.
    Nothing,
    /// It tells of it, as what was observed of this promise.
    Observed(&'static str),
    /// These fail, by design: `[operation:]scenario[#case]/item-N/id`.
    Broken(&'static [&'static str]),
}

impl Variant {
    /// Finds a variant by its name.
    pub fn from_name(name: &str) -> Option<&'static Variant> {
        VARIANTS.iter().find(|variant| variant.name == name)
    }

    /// The contract that allows it, as a whole file.
    pub fn allowing(&self) -> String {
        format!(
            "contract: {}\nextends: demo\n{}\n",
            self.name, self.contract
        )
    }

    /// A contract that promises nothing, as a whole file.
    pub fn unpromising(&self) -> String {
        format!("contract: generic\nextends: generic\n{}\n", self.known)
    }

    /// The options of a demo that behaves so.
    pub fn options(&self) -> Options {
        let mut options = Options::default();
        (self.change)(&mut options);
        options
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn all_thirty_of_the_catalogue_are_there_in_order() {
        let ids: Vec<&str> = VARIANTS.iter().map(|variant| variant.id).collect();
        assert!(ids.is_sorted(), "{ids:?}");
        let different: HashSet<&str> = ids.into_iter().collect();
        let all: HashSet<String> = (1..=30).map(|number| format!("V{number:02}")).collect();
        assert_eq!(different, all.iter().map(String::as_str).collect());
    }

    #[test]
    fn names_are_unique_and_lead_back_to_their_variant() {
        let names: HashSet<_> = VARIANTS.iter().map(|variant| variant.name).collect();
        assert_eq!(names.len(), VARIANTS.len());
        for variant in &VARIANTS {
            let found = Variant::from_name(variant.name).expect("it has this name");
            assert_eq!(found.says, variant.says);
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(variant.name.chars().all(kebab), "{}", variant.name);
            assert!(variant.says.ends_with('.'), "{}", variant.name);
            assert!(!variant.upsets.is_empty(), "{}", variant.name);
        }
        assert!(Variant::from_name("no-such-variant").is_none());
    }
}
