//! Where a reader should look for what a finding is about: a line of a scenario file of the user's
//! own, else the operation in the target file.

use super::entry::Entry;
use crate::grade::Report;
use std::fmt::Write;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named on the command line.
    pub file: String,
    /// From 1.
    pub line: usize,
}

/// The place of an entry; the first line of the target file where nothing better is known.
pub fn of(report: &Report, entry: &Entry<'_>) -> Place {
    let places = &report.about.places;
    let own = entry.finding.and_then(|finding| {
        places.get(&format!(
            "{}/{}/{}",
            entry.case.scenario, finding.item, finding.id
        ))
    });
    own.or_else(|| places.get(&entry.case.operation))
        .and_then(|text| read(text))
        .unwrap_or_else(|| Place {
            file: report.about.file.clone(),
            line: 1,
        })
}

/// `acme.yaml:9`.
pub fn read(text: &str) -> Option<Place> {
    let (file, line) = text.rsplit_once(':')?;
    Some(Place {
        file: file.to_owned(),
        line: line.parse().ok()?,
    })
}

impl Place {
    /// The file as a reference of a URI (RFC 3986): relative where it was.
    pub fn uri(&self) -> String {
        let mut uri = match self.file.strip_prefix('/') {
            Some(_) => "file://".to_owned(),
            None => String::new(),
        };
        for byte in self.file.replace('\\', "/").bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                    uri.push(char::from(byte));
                }
                // Writing to a String cannot fail.
                byte => drop(write!(uri, "%{byte:02X}")),
            }
        }
        uri
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_place_is_a_file_and_a_line() {
        let place = read("my targets/ä:b.yaml:12").expect("it is a place");
        assert_eq!(
            (place.file.as_str(), place.line),
            ("my targets/ä:b.yaml", 12)
        );
        assert_eq!(place.uri(), "my%20targets/%C3%A4%3Ab.yaml");
        assert_eq!(
            read("/a/b.yaml:1").expect("it is").uri(),
            "file:///a/b.yaml"
        );
        assert_eq!(read("no line"), None);
    }
}
