//! Everything that somebody else needs to see what was seen: one archive with the reports, all
//! exchanges, the scenarios and contracts that were used, and checksums. Secrets are masked in all of
//! it, as they are in the transcripts.

use super::failure::Failure;
use super::record::{self, Recorded, Texts};
use crate::grade::Report;
use crate::report::{self, Format, Options};
use sha2::{Digest, Sha256};

use std::io::{Cursor, Write};
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

/// Writes the archive.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write(
    report: &Report,
    recorded: &Recorded,
    texts: &Texts,
    options: &Options,
    path: &Path,
) -> Result<(), Failure> {
    let files = files(report, recorded, texts, options);
    archive(&files, path).map_err(|problem| {
        Failure::Unable(format!(
            "cannot write the bundle to {}: {problem}",
            path.display()
        ))
    })
}

fn files(
    report: &Report,
    recorded: &Recorded,
    texts: &Texts,
    options: &Options,
) -> Vec<(String, String)> {
    let mut files = vec![("ABOUT.txt".to_owned(), about(report))];
    for (format, name) in REPORTS {
        files.push((name.to_owned(), report::render(report, format, options)));
    }
    files.push(("run.record.json".to_owned(), record::text(recorded, texts)));
    for (operation, contract) in &recorded.contracts {
        files.push((
            format!("contracts/{}.yaml", plain(operation)),
            contract.to_yaml(),
        ));
    }
    for (id, text) in texts.iter() {
        let parts: Vec<String> = id.split('/').map(plain).collect();
        files.push((
            format!("scenarios/{}.yaml", parts.join("/")),
            text.to_owned(),
        ));
    }
    let sums: String = files
        .iter()
        .map(|(name, text)| format!("{}  {name}\n", hex(&Sha256::digest(text))))
        .collect();
    files.push(("SHA256SUMS".to_owned(), sums));
    files
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

fn archive(files: &[(String, String)], path: &Path) -> std::io::Result<()> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, text) in files {
        archive.start_file(name.as_str(), options)?;
        archive.write_all(text.as_bytes())?;
    }
    let bytes = archive.finish()?.into_inner();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, bytes)
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
