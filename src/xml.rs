//! A small part of XPath 1.0 over XML bodies: `/a/b`, `//b`, `*`, a last `text()` or `@name`.
//! Prefixes of names are ignored. A body that was cut short is read as far as it goes.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use std::fmt;

/// A path that finds texts and attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlPath {
    steps: Vec<Step>,
    /// The attribute that is wanted; `None` for the text.
    attribute: Option<String>,
    written: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    /// At any depth below the step before, not only right below it.
    anywhere: bool,
    /// `*` for every name.
    name: String,
}

impl XmlPath {
    /// Reads a path.
    ///
    /// # Errors
    /// What is not understood of it.
    pub fn parse(path: &str) -> Result<XmlPath, String> {
        let mut steps = Vec::new();
        let mut attribute = None;
        let mut rest = path;
        if !rest.starts_with('/') {
            return Err("it begins with / or //".to_owned());
        }
        while let Some(tail) = rest.strip_prefix('/') {
            let (anywhere, tail) = match tail.strip_prefix('/') {
                Some(tail) => (true, tail),
                None => (false, tail),
            };
            let end = tail.find('/').unwrap_or(tail.len());
            let (name, after) = tail.split_at(end);
            rest = after;
            if let Some(name) = name.strip_prefix('@') {
                attribute = Some(plain(name)?);
            } else if name != "text()" {
                let name = if name == "*" {
                    name.to_owned()
                } else {
                    plain(name)?
                };
                steps.push(Step { anywhere, name });
                continue;
            }
            if !rest.is_empty() || anywhere {
                return Err(format!("{name} comes last, after a single /"));
            }
        }
        if steps.is_empty() {
            return Err("it names no element".to_owned());
        }
        Ok(XmlPath {
            steps,
            attribute,
            written: path.to_owned(),
        })
    }

    /// Every text that the path leads to, without blanks around it, as far as the body can be read.
    pub fn find(&self, body: &str) -> Vec<String> {
        let mut reader = Reader::from_str(body);
        let mut open: Vec<(String, String)> = Vec::new();
        let mut found = Vec::new();
        while let Ok(event) = reader.read_event() {
            match event {
                Event::Start(start) => {
                    open.push((local(&start), String::new()));
                    self.note_attribute(&open, &start, &mut found);
                }
                Event::Empty(start) => {
                    open.push((local(&start), String::new()));
                    self.note_attribute(&open, &start, &mut found);
                    self.close(&mut open, &mut found);
                }
                Event::End(_) => self.close(&mut open, &mut found),
                Event::Text(text) => {
                    if let (Some((_, own)), Ok(text)) = (open.last_mut(), text.decode()) {
                        own.push_str(&text);
                    }
                }
                Event::CData(text) => {
                    if let (Some((_, own)), Ok(text)) = (open.last_mut(), text.decode()) {
                        own.push_str(&text);
                    }
                }
                Event::GeneralRef(entity) => {
                    if let (Some((_, own)), Ok(name)) = (open.last_mut(), entity.decode())
                        && let Ok(text) = unescape(&format!("&{name};"))
                    {
                        own.push_str(&text);
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        found
    }

    fn note_attribute(
        &self,
        open: &[(String, String)],
        start: &BytesStart<'_>,
        found: &mut Vec<String>,
    ) {
        let Some(wanted) = self.attribute.as_ref().filter(|_| self.fits(open)) else {
            return;
        };
        for attribute in start.attributes().flatten() {
            if attribute.key.local_name().as_ref() == wanted.as_bytes() {
                let raw = String::from_utf8_lossy(&attribute.value).into_owned();
                found.push(unescape(&raw).map_or(raw.clone(), |text| text.into_owned()));
            }
        }
    }

    fn close(&self, open: &mut Vec<(String, String)>, found: &mut Vec<String>) {
        let fits = self.attribute.is_none() && self.fits(open);
        if let Some((_, text)) = open.pop()
            && fits
        {
            found.push(text.trim().to_owned());
        }
    }

    /// Whether the path leads to the innermost open element.
    fn fits(&self, open: &[(String, String)]) -> bool {
        fn led(steps: &[Step], open: &[(String, String)]) -> bool {
            let (Some((step, steps)), Some(((name, _), outer))) =
                (steps.split_last(), open.split_last())
            else {
                return false;
            };
            if step.name != "*" && step.name != *name {
                return false;
            }
            if steps.is_empty() {
                return step.anywhere || outer.is_empty();
            }
            if step.anywhere {
                (1..=outer.len()).any(|depth| led(steps, &outer[..depth]))
            } else {
                led(steps, outer)
            }
        }
        led(&self.steps, open)
    }
}

impl fmt::Display for XmlPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

fn plain(name: &str) -> Result<String, String> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(fits) {
        return Err(format!("`{name}` is no plain name"));
    }
    Ok(name.to_owned())
}

fn local(start: &BytesStart<'_>) -> String {
    String::from_utf8_lossy(start.local_name().as_ref()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::XmlPath;

    const BODY: &str = r#"<?xml version="1.0"?><p:service><reply><error code="9"><![CDATA[Request]]> in &amp; progress</error></reply><error code="5"/></p:service>"#;

    fn find(path: &str) -> Vec<String> {
        XmlPath::parse(path)
            .unwrap_or_else(|problem| panic!("{problem}"))
            .find(BODY)
    }

    #[test]
    fn texts_and_attributes_are_found_by_child_and_descendant() {
        assert_eq!(find("/service/reply/error/@code"), ["9"]);
        assert_eq!(find("//error/@code"), ["9", "5"]);
        assert_eq!(find("//reply/error/text()"), ["Request in & progress"]);
        assert_eq!(find("/service//error/@code"), ["9", "5"]);
        assert_eq!(find("/*/error/@code"), ["5"]);
        assert!(find("/reply/error").is_empty());
    }

    #[test]
    fn a_body_that_was_cut_is_read_as_far_as_it_goes() {
        let path = XmlPath::parse("//error/@code").expect("a path");
        assert_eq!(path.find(&BODY[..70]), ["9"]);
        assert!(path.find("{\"not\": \"xml\"}").is_empty());
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for path in ["error", "/", "/a[1]", "/@a/b", "/a//@b", "/a/b()", "//"] {
            assert!(XmlPath::parse(path).is_err(), "{path}");
        }
    }
}
