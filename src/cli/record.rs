//! A recorded run: everything that judging needs, in one file, so that a run can be judged again
//! without a request. The scenarios and contracts of the run are in it as they were.

mod client;

use super::failure::Failure;
use super::{files, run};
use crate::contract::{self, Contract};
use crate::grade::{self, Judged, Report, RoundsOf, RunInfo};
use crate::judge::{self, Finding, Meetings, Seen};
use crate::scenario::client::{ClientScenario, is_client};
use crate::scenario::{self, Expectation, Scenario, library};
use crate::transcript::Transcript;
use crate::yaml::{self, Source};
pub use client::RecordedClient;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// The version of the file; it grows when an older reader would read it wrongly.
const FORMAT: u32 = 1;

/// What happened in a run, and what it is judged by.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The run itself.
    pub about: RunInfo,
    /// What the run knows of itself that a reader must know first.
    pub headlines: Vec<String>,
    /// The contract of each operation.
    pub contracts: BTreeMap<String, Contract>,
    /// Every planned case, in order.
    pub cases: Vec<RecordedCase>,
    /// Every case of the client, in order.
    pub clients: Vec<RecordedClient>,
}

/// One planned case with what happened.
#[derive(Clone, Debug)]
pub struct RecordedCase {
    /// The operation, by its name in the target file.
    pub operation: String,
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// Which of its cases.
    pub case: usize,
    /// Why it was not run, if it was not.
    pub skip: Option<String>,
    /// The runs that its rounds are of, where several were joined.
    pub runs: Vec<RoundsOf>,
    /// What happened.
    pub transcript: Transcript,
}

impl Recorded {
    /// Judges and grades the run under its contracts: the same record has the same report.
    pub fn report(&self) -> Report {
        self.clone().into_report()
    }

    /// The report, into which goes what happened: a long run is not in memory twice.
    pub fn into_report(self) -> Report {
        let places = self.places();
        let Recorded {
            mut about,
            mut headlines,
            contracts,
            cases,
            clients,
        } = self;
        headlines.extend(places);
        about.target = match (&about.client, cases.is_empty()) {
            (None, _) => about.target,
            (Some(_), true) => format!("a client of {}", about.target),
            (Some(_), false) => format!("{} and a client of it", about.target),
        };
        let judged = cases.into_iter().map(|case| {
            let contract = contracts.get(&case.operation);
            case.into_judged(contract)
        });
        let judged: Vec<Judged> = judged.collect();
        headlines.extend(in_front(&contracts, &judged));
        let judged_clients = clients.into_iter().map(|case| {
            let contract = contracts.get(&case.operation);
            case.into_judged(contract)
        });
        grade::grade_sides(
            about,
            judged,
            judged_clients.collect(),
            &contracts,
            headlines,
        )
    }

    /// From how many places the run was made, if from several.
    fn places(&self) -> Option<String> {
        let Meetings {
            places,
            rounds,
            met,
        } = judge::meetings(self.cases.iter().map(|case| &case.transcript));
        (places > 1).then(|| {
            format!(
                "made from {places} places at the same time, judged as one: their requests met in {met} of {rounds} rounds"
            )
        })
    }

    /// The findings of all cases that ran, each with the expectation that it is about.
    pub fn findings(&self) -> Vec<(&Expectation, Finding)> {
        self.cases
            .iter()
            .flat_map(|case| {
                let expected = case.scenario.expect.iter().map(|(_, expected)| expected);
                expected.zip(self.found(case))
            })
            .collect()
    }

    fn found(&self, case: &RecordedCase) -> Vec<Finding> {
        let contract = self.contracts.get(&case.operation);
        contract.map_or_else(Vec::new, |contract| case.judged_under(contract))
    }

    /// Holds every operation to another contract than the run was made under.
    pub fn hold_to(&mut self, contract: &Contract) {
        for case in &mut self.cases {
            let Some(own) = self.contracts.get(&case.operation) else {
                continue;
            };
            let exchanges = case.transcript.rounds.iter_mut();
            for exchange in exchanges.flat_map(|round| &mut round.exchanges) {
                let Some(value) = &exchange.key.value else {
                    continue;
                };
                let objects = contract.key.objection(value).is_some();
                // A key that its contract did not object to was sent in a malformed way.
                let by_its_form = exchange.key.malformed && own.key.objection(value).is_none();
                exchange.key.malformed = objects || by_its_form;
            }
        }
        for own in self.contracts.values_mut() {
            own.clone_from(contract);
        }
        self.about.contract = run::contract_names(&self.contracts);
    }
}

/// What stands in front of the operations.
fn in_front(contracts: &BTreeMap<String, Contract>, judged: &[Judged]) -> Vec<String> {
    let seen = judged.iter().filter_map(|own| {
        Some(Seen {
            operation: &own.operation,
            case: &own.scenario.cases[own.case],
            contract: contracts.get(&own.operation)?,
            transcript: &own.transcript,
        })
    });
    judge::in_front(&seen.collect::<Vec<_>>())
}

impl RecordedCase {
    /// Why it does not apply, whether that was known before the run or found out in it.
    pub fn why_skipped(&self) -> Option<String> {
        self.skip
            .clone()
            .or_else(|| self.transcript.not_applicable.clone())
    }

    fn into_judged(self, contract: Option<&Contract>) -> Judged {
        let skipped = self.why_skipped();
        let case = &self.scenario.cases[self.case];
        let (transcript, findings) = match contract {
            Some(contract) if skipped.is_some() => {
                let transcript = judge::reclassified(case, contract, self.transcript);
                (transcript, Vec::new())
            }
            Some(contract) => judge::judged(
                &self.operation,
                &self.scenario,
                case,
                contract,
                self.transcript,
            ),
            None => (self.transcript, Vec::new()),
        };
        Judged {
            operation: self.operation,
            scenario: self.scenario,
            case: self.case,
            skipped,
            transcript,
            findings,
            runs: self.runs,
        }
    }

    /// Its findings under a contract; none where it does not apply.
    pub fn judged_under(&self, contract: &Contract) -> Vec<Finding> {
        if self.why_skipped().is_some() {
            return Vec::new();
        }
        let case = &self.scenario.cases[self.case];
        judge::judge(
            &self.operation,
            &self.scenario,
            case,
            contract,
            &self.transcript,
        )
    }
}

/// The texts of the scenarios of a run, by their ids.
#[derive(Debug, Default)]
pub struct Texts(BTreeMap<String, WrittenScenario>);

impl Texts {
    /// The texts of scenarios: of the built-in ones, else of those in the folder `own`.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn of(scenarios: &[Arc<Scenario>], own: Option<&Path>) -> Result<Texts, Failure> {
        Texts::of_ids(scenarios.iter().map(|scenario| scenario.id.as_str()), own)
    }

    /// Those of these scenarios alone.
    pub fn only(&self, ids: &BTreeSet<&str>) -> Texts {
        let of = |id: &&str| Some(((*id).to_owned(), self.0.get(*id)?.clone()));
        Texts(ids.iter().filter_map(of).collect())
    }

    fn of_ids<'a>(
        ids: impl Iterator<Item = &'a str>,
        own: Option<&Path>,
    ) -> Result<Texts, Failure> {
        let mut texts = BTreeMap::new();
        for id in ids {
            let (text, built_in) = match (library::text(id), own) {
                (Some(text), _) => (text.to_owned(), true),
                (None, Some(folder)) => {
                    let source = files::read(&folder.join(format!("{id}.yaml")))?;
                    (source.text.clone(), false)
                }
                (None, None) => continue,
            };
            let written = WrittenScenario {
                digest: digest(&text),
                built_in,
                text,
            };
            texts.insert(id.to_owned(), written);
        }
        Ok(Texts(texts))
    }

    /// Takes in the texts of scenarios about clients, as [`Texts::of`] does.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn of_clients(
        scenarios: &[Arc<ClientScenario>],
        own: Option<&Path>,
    ) -> Result<Texts, Failure> {
        Texts::of_ids(scenarios.iter().map(|scenario| scenario.id.as_str()), own)
    }

    /// Takes in the texts of another run.
    pub fn join(&mut self, other: Texts) {
        for (id, written) in other.0 {
            self.0.entry(id).or_insert(written);
        }
    }

    /// Every scenario's id and text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(id, written)| (id.as_str(), written.text.as_str()))
    }
}

/// A digest of a text, short enough to read.
fn digest(text: &str) -> String {
    Sha256::digest(text)[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// What is looked at before anything else of a file.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Head {
    record: Option<u32>,
    idemspec: Option<String>,
}

/// The file.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Written {
    about: RunInfo,
    headlines: Vec<String>,
    /// As YAML, complete.
    contracts: BTreeMap<String, String>,
    scenarios: BTreeMap<String, WrittenScenario>,
    cases: Vec<WrittenCase>,
    #[serde(default)]
    clients: Vec<client::Written>,
}

/// The file as it is written, without a copy of what happened.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Writing<'a> {
    record: u32,
    idemspec: &'a str,
    about: &'a RunInfo,
    headlines: &'a [String],
    contracts: BTreeMap<&'a str, String>,
    scenarios: &'a BTreeMap<String, WrittenScenario>,
    cases: Vec<WritingCase<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clients: Vec<client::Writing<'a>>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
struct WrittenScenario {
    digest: String,
    /// Whether the tool brought it along.
    built_in: bool,
    text: String,
}

#[derive(Deserialize)]
struct WrittenCase {
    operation: String,
    scenario: String,
    case: Option<String>,
    skip: Option<String>,
    #[serde(default)]
    runs: Vec<RoundsOf>,
    transcript: Transcript,
}

#[derive(Serialize)]
struct WritingCase<'a> {
    operation: &'a str,
    scenario: &'a str,
    case: Option<&'a str>,
    skip: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    runs: &'a [RoundsOf],
    transcript: &'a Transcript,
}

/// Writes a run down.
///
/// # Errors
/// When the file cannot be written.
pub fn write(recorded: &Recorded, texts: &Texts, path: &Path) -> Result<(), Failure> {
    let written = files::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        write_to(recorded, texts, &mut file)?;
        file.flush()
    });
    written.map_err(|problem| {
        Failure::Unable(format!(
            "cannot write the record to {}: {problem}",
            path.display()
        ))
    })
}

/// Writes the text of the file.
///
/// # Errors
/// Whatever the writer says.
pub fn write_to(recorded: &Recorded, texts: &Texts, mut writer: impl Write) -> std::io::Result<()> {
    let writing = Writing {
        record: FORMAT,
        idemspec: &recorded.about.idemspec,
        about: &recorded.about,
        headlines: &recorded.headlines,
        contracts: recorded
            .contracts
            .iter()
            .map(|(operation, contract)| (operation.as_str(), contract.to_yaml()))
            .collect(),
        scenarios: &texts.0,
        cases: recorded
            .cases
            .iter()
            .map(|case| WritingCase {
                operation: &case.operation,
                scenario: &case.scenario.id,
                case: case.scenario.cases[case.case].name.as_deref(),
                skip: case.skip.as_deref(),
                runs: &case.runs,
                transcript: &case.transcript,
            })
            .collect(),
        clients: recorded
            .clients
            .iter()
            .map(RecordedClient::writing)
            .collect(),
    };
    serde_json::to_writer(&mut writer, &writing)?;
    writer.write_all(b"\n")
}

/// Reads a recorded run, with the texts of its scenarios.
///
/// # Errors
/// When the file is no record, is one of another format, or was changed.
pub fn read(path: &Path) -> Result<(Recorded, Texts), Failure> {
    read_text(&*files::read(path)?)
}

/// Reads a recorded run out of a text.
///
/// # Errors
/// As for [`read`].
pub fn read_text(source: &Source) -> Result<(Recorded, Texts), Failure> {
    let bad = |why: String| Failure::Usage(format!("{}: {why}", source.name));
    let head: Head = serde_json::from_str(&source.text)
        .map_err(|problem| bad(format!("it is no recorded run: {problem}")))?;
    match head.record {
        Some(FORMAT) => {}
        Some(other) => {
            return Err(bad(format!(
                "it is a record of format {other}, written by idemspec {}; this one reads format {FORMAT}",
                head.idemspec.as_deref().unwrap_or("?")
            )));
        }
        None => {
            return Err(bad(
                "it is no recorded run: `run --record FILE` writes one, and a JSON report is none"
                    .to_owned(),
            ));
        }
    }
    let written: Written = serde_json::from_str(&source.text)
        .map_err(|problem| bad(format!("the record is damaged: {problem}")))?;
    let scenarios = scenarios(&written.scenarios, &bad)?;
    let mut contracts = BTreeMap::new();
    for (operation, text) in written.contracts {
        contracts.insert(operation.clone(), contract_of(&operation, text)?);
    }
    let mut cases = Vec::with_capacity(written.cases.len());
    for case in written.cases {
        let WrittenCase {
            operation,
            scenario,
            case,
            skip,
            runs,
            transcript,
        } = case;
        let found = scenarios.api.get(&scenario).and_then(|scenario| {
            let index = scenario.cases.iter().position(|own| own.name == case)?;
            Some((Arc::clone(scenario), index))
        });
        let Some((scenario, index)) = found else {
            return Err(bad(no_scenario(&scenario, case.as_deref())));
        };
        cases.push(RecordedCase {
            operation,
            scenario,
            case: index,
            skip,
            runs,
            transcript,
        });
    }
    let clients = written
        .clients
        .into_iter()
        .map(|case| case.read(&scenarios).map_err(&bad))
        .collect::<Result<_, _>>()?;
    let recorded = Recorded {
        about: written.about,
        headlines: written.headlines,
        contracts,
        cases,
        clients,
    };
    Ok((recorded, Texts(written.scenarios)))
}

fn no_scenario(scenario: &str, case: Option<&str>) -> String {
    let case = case.map_or(String::new(), |case| format!("#{case}"));
    format!("the record is damaged: it has no scenario {scenario}{case}")
}

/// The scenarios of a record, by their ids.
#[derive(Default)]
struct Scenarios {
    api: BTreeMap<String, Arc<Scenario>>,
    client: BTreeMap<String, Arc<ClientScenario>>,
}

fn scenarios(
    written: &BTreeMap<String, WrittenScenario>,
    bad: &dyn Fn(String) -> Failure,
) -> Result<Scenarios, Failure> {
    let mut scenarios = Scenarios::default();
    for (id, written) in written {
        if digest(&written.text) != written.digest {
            return Err(bad(format!(
                "the scenario {id} was changed after the run: its text has another digest"
            )));
        }
        let source = Arc::new(Source {
            name: format!("recorded scenario {id}"),
            text: written.text.clone(),
        });
        let root =
            yaml::parse(Arc::clone(&source)).map_err(|problem| Failure::BadFiles(vec![problem]))?;
        if is_client(&root) {
            let scenario = scenario::client::parse(id, source).map_err(Failure::BadFiles)?;
            scenarios.client.insert(id.clone(), Arc::new(scenario));
            continue;
        }
        let scenario = scenario::parse(id, source, written.built_in).map_err(Failure::BadFiles)?;
        scenarios.api.insert(id.clone(), Arc::new(scenario));
    }
    Ok(scenarios)
}

fn contract_of(operation: &str, text: String) -> Result<Contract, Failure> {
    let name = format!("recorded contract of {operation}.yaml");
    let files = |name: &str, _: &str| {
        Ok(Source {
            name: name.to_owned(),
            text: text.clone(),
        })
    };
    contract::chosen(&name, &files).map_err(|problem| Failure::BadFiles(vec![problem]))
}
