//! A report as text: each format is one pure function of a finished [`Report`]. Nothing is judged
//! or graded here, and nothing is written anywhere.

mod again;
mod clean;
pub mod console;
mod entry;
mod evidence;
mod gravity;
pub mod html;
pub mod json;
pub mod junit;
mod words;

use crate::grade::Report;

pub use again::quoted;
pub use clean::{clip, line};
pub use entry::{Entry, Standing, counts, entries, severity};
pub use evidence::plural;

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
}

impl Format {
    /// Every format, in the order of lists.
    pub const ALL: [Format; 4] = [Format::Console, Format::Junit, Format::Json, Format::Html];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Console => "console",
            Format::Junit => "junit",
            Format::Json => "json",
            Format::Html => "html",
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
