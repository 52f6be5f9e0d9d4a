//! Everything that somebody else needs to see what was seen: one archive with the reports, all
//! exchanges, the scenarios and contracts that were used, and checksums. Secrets are masked in all of
//! it, as they are in the transcripts.

use super::files;
use super::record::{self, Recorded, Texts};
use crate::grade::Report;
use crate::report::{self, Format, Options};
use sha2::{Digest, Sha256};
use std::io::{BufWriter, Cursor, Write};
use std::path::Path;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// The reports in it, with their names.
const REPORTS: [(Format, &str); 6] = [
    (Format::Html, "report.html"),
    (Format::Markdown, "report.md"),
    (Format::Json, "report.json"),
    (Format::Junit, "report.xml"),
    (Format::Har, "exchanges.har"),
    (Format::Curl, "again.sh"),
];

/// The archive, while it is made: each file goes in, packed, before the next one is.
pub(super) struct Bundle {
    archive: ZipWriter<Cursor<Vec<u8>>>,
    sums: String,
}

impl Bundle {
    /// An archive with what happened, and what it was judged by.
    ///
    /// # Errors
    /// When it cannot be packed.
    pub(super) fn of(recorded: &Recorded, texts: &Texts) -> std::io::Result<Bundle> {
        let mut bundle = Bundle {
            archive: ZipWriter::new(Cursor::new(Vec::new())),
            sums: String::new(),
        };
        bundle.add("run.record.json", |file| {
            record::write_to(recorded, texts, BufWriter::new(file))
        })?;
        for (operation, contract) in &recorded.contracts {
            let name = format!("contracts/{}.yaml", plain(operation));
            bundle.add_text(&name, &contract.to_yaml())?;
        }
        for (id, text) in texts.iter() {
            let parts: Vec<String> = id.split('/').map(plain).collect();
            bundle.add_text(&format!("scenarios/{}.yaml", parts.join("/")), text)?;
        }
        Ok(bundle)
    }

    /// Adds the reports and the checksums, and writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish(
        mut self,
        report: &Report,
        options: &Options,
        path: &Path,
    ) -> std::io::Result<()> {
        self.add_text("ABOUT.txt", &about(report))?;
        for (format, name) in REPORTS {
            self.add_text(name, &report::render(report, format, options))?;
        }
        let sums = std::mem::take(&mut self.sums);
        self.add_text("SHA256SUMS", &sums)?;
        let bytes = self.archive.finish()?.into_inner();
        files::create(path)?.write_all(&bytes)
    }

    fn add_text(&mut self, name: &str, text: &str) -> std::io::Result<()> {
        self.add(name, |file| file.write_all(text.as_bytes()))
    }

    fn add(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Summed<'_>) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        self.archive.start_file(name, options)?;
        let mut file = Summed {
            archive: &mut self.archive,
            sum: Sha256::new(),
        };
        write(&mut file)?;
        let sum = hex(&file.sum.finalize());
        self.sums.push_str(&format!("{sum}  {name}\n"));
        Ok(())
    }
}

/// A file of the archive, with the checksum of what was written.
struct Summed<'a> {
    archive: &'a mut ZipWriter<Cursor<Vec<u8>>>,
    sum: Sha256,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.archive.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.archive.flush()
    }
}

fn about(report: &Report) -> String {
    let about = &report.about;
    format!(
        "What idemspec {} saw of {}.\n\n\
         target      {}\n\
         contract    {}\n\
         began       {}\n\
         requests    {}\n\
         seed        {}\n\
         command     {}\n\n\
         report.html is for people; again.sh sends the requests of each finding again.\n\
         `idemspec report run.record.json` judges the run anew, without a request.\n\
         Secrets are masked everywhere; idempotency keys are not secret.\n\
         SHA256SUMS: `sha256sum -c SHA256SUMS`.\n",
        report::line(&about.idemspec),
        report::line(&about.target),
        report::line(&about.base_urls.join(", ")),
        report::line(&about.contract),
        report::line(&about.started),
        about.requests,
        about.seed,
        commands(report).join("\n            "),
    )
}

/// The commands of the run, or of each of the runs that were joined.
fn commands(report: &Report) -> Vec<String> {
    let about = &report.about;
    let runs = report.scenarios.iter().flat_map(|case| &case.runs);
    let mut commands = vec![report::line(&about.again).into_owned()];
    for run in runs.filter(|run| run.again != about.again || run.seed != about.seed) {
        let command = format!("{} --seed {}", report::line(&run.again), run.seed);
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}

/// A name as a part of a path that stays where it is.
fn plain(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let plain: String = name
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { '_' })
        .collect();
    match plain.trim_matches('.') {
        "" => "unnamed".to_owned(),
        _ => plain,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_name_leads_nowhere_else() {
        assert_eq!(plain("create-payment"), "create-payment");
        assert_eq!(plain("../a\\b"), ".._a_b");
        assert_eq!(plain(".."), "unnamed");
    }
}
