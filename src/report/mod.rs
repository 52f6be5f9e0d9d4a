//! A report as text: each format is one pure function of a finished [`Report`]. Nothing is judged
//! or graded here, and nothing is written anywhere.

mod again;
mod attempts;
mod clean;
pub mod console;
pub mod curl;
mod entry;
mod evidence;
pub mod github;
mod gravity;
pub mod har;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod place;
pub mod sarif;
mod words;

use crate::grade::Report;

pub use again::quoted;
pub use clean::{clip, line};
pub use entry::{Entry, Standing, counts, entries, severity};
pub use evidence::plural;
pub use words::{counts as words_of, verdict};

/// The formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables for people, without colour.
    Console,
    /// JUnit XML, for whatever shows test results.
    Junit,
    /// Everything, transcripts included.
    Json,
    /// A page for people, in one file.
    Html,
    /// For a comment on a pull request or the summary of a CI job.
    Markdown,
    /// Annotations of GitHub Actions.
    Github,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// HAR 1.2: all exchanges, for the tools of a browser.
    Har,
    /// A script of curl commands for what is broken.
    Curl,
}

impl Format {
    /// Every format, in the order of lists.
    pub const ALL: [Format; 9] = [
        Format::Console,
        Format::Junit,
        Format::Json,
        Format::Html,
        Format::Markdown,
        Format::Github,
        Format::Sarif,
        Format::Har,
        Format::Curl,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Console => "console",
            Format::Junit => "junit",
            Format::Json => "json",
            Format::Html => "html",
            Format::Markdown => "markdown",
            Format::Github => "github",
            Format::Sarif => "sarif",
            Format::Har => "har",
            Format::Curl => "curl",
        }
    }

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// What a reader may wish of a report in a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What becomes of inconclusive findings, where the format knows no such thing.
    pub inconclusive: junit::Inconclusive,
    /// Warnings count as failures.
    pub strict: bool,
    /// All rounds and exchanges, where the format can leave some out.
    pub verbose: bool,
}

/// The report as the text of a file.
pub fn render(report: &Report, format: Format, options: &Options) -> String {
    match format {
        Format::Console => {
            let detail = if options.verbose {
                console::Detail::Verbose
            } else {
                console::Detail::Normal
            };
            console::render(
                report,
                &console::Look {
                    color: false,
                    width: console::FILE_WIDTH,
                    detail,
                },
            )
        }
        Format::Junit => junit::render(report, options),
        Format::Json => json::render(report),
        Format::Html => html::render(report),
        Format::Markdown => markdown::render(report),
        Format::Github => github::render(report),
        Format::Sarif => sarif::render(report),
        Format::Har => har::render(report),
        Format::Curl => curl::render(report),
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(format));
        }
        assert_eq!(Format::from_name("pdf"), None);
    }
}
