//! A small part of XPath 1.0 over XML bodies: `/a/b`, `//b`, `*`, `b[2]`, a last `text()` or `@name`.
//! Prefixes of names are ignored. A body that was cut short is read as far as it goes.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
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
    /// The how-manieth of its name it is below its parent, from 1; of all elements for `*`.
    number: Option<usize>,
}

/// An element that is open while a body is read.
#[derive(Debug)]
struct Open {
    name: String,
    text: String,
    /// The how-manieth of its name it is below its parent, from 1.
    of_name: usize,
    /// The same of all elements.
    of_all: usize,
    /// How many elements there are right below it so far, by name.
    children: HashMap<String, usize>,
}

impl Step {
    /// Reads `name`, `*`, `name[2]` or `*[2]`.
    fn parse(text: &str, anywhere: bool) -> Result<Step, String> {
        let (name, number) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            None => (text, None),
            Some((name, number)) => {
                let counted = number.parse().ok().filter(|number| *number > 0);
                let why = || format!("`[{number}]` is no number from 1 on");
                (name, Some(counted.ok_or_else(why)?))
            }
        };
        Ok(Step {
            anywhere,
            name: match name {
                "*" => name.to_owned(),
                name => plain(name)?,
            },
            number,
        })
    }

    fn fits(&self, element: &Open) -> bool {
        let own = match self.name.as_str() {
            "*" => element.of_all,
            name if name == element.name => element.of_name,
            _ => return false,
        };
        self.number.is_none_or(|number| number == own)
    }
}

impl Open {
    /// The element that begins here, below those that are open.
    fn begin(start: &BytesStart<'_>, above: &mut [Open]) -> Open {
        let name = local(start);
        let (mut of_name, mut of_all) = (1, 1);
        if let Some(parent) = above.last_mut() {
            let own = parent.children.entry(name.clone()).or_default();
            *own += 1;
            of_name = *own;
            of_all = parent.children.values().sum();
        }
        Open {
            name,
            text: String::new(),
            of_name,
            of_all,
            children: HashMap::new(),
        }
    }
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
                steps.push(Step::parse(name, anywhere)?);
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
        let mut open: Vec<Open> = Vec::new();
        let mut found = Vec::new();
        while let Ok(event) = reader.read_event() {
            match event {
                Event::Start(start) => {
                    let element = Open::begin(&start, &mut open);
                    open.push(element);
                    self.note_attribute(&open, &start, &mut found);
                }
                Event::Empty(start) => {
                    let element = Open::begin(&start, &mut open);
                    open.push(element);
                    self.note_attribute(&open, &start, &mut found);
                    self.close(&mut open, &mut found);
                }
                Event::End(_) => self.close(&mut open, &mut found),
                Event::Text(text) => {
                    if let (Some(own), Ok(text)) = (open.last_mut(), text.decode()) {
                        own.text.push_str(&text);
                    }
                }
                Event::CData(text) => {
                    if let (Some(own), Ok(text)) = (open.last_mut(), text.decode()) {
                        own.text.push_str(&text);
                    }
                }
                Event::GeneralRef(entity) => {
                    if let (Some(own), Ok(name)) = (open.last_mut(), entity.decode())
                        && let Ok(text) = unescape(&format!("&{name};"))
                    {
                        own.text.push_str(&text);
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        found
    }

    fn note_attribute(&self, open: &[Open], start: &BytesStart<'_>, found: &mut Vec<String>) {
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

    fn close(&self, open: &mut Vec<Open>, found: &mut Vec<String>) {
        let fits = self.attribute.is_none() && self.fits(open);
        if let Some(element) = open.pop()
            && fits
        {
            found.push(element.text.trim().to_owned());
        }
    }

    /// Whether the path leads to the innermost open element.
    fn fits(&self, open: &[Open]) -> bool {
        fn led(steps: &[Step], open: &[Open]) -> bool {
            let (Some((step, steps)), Some((element, outer))) =
                (steps.split_last(), open.split_last())
            else {
                return false;
            };
            if !step.fits(element) {
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
    fn the_second_is_counted_below_each_parent_and_by_its_name() {
        const LIST: &str = "<l><i>a</i><n/><i>b<i>in b</i></i><g><i>c</i><i>d</i></g></l>";
        for (path, found) in [
            ("/l/i[1]", &["a"] as &[&str]),
            ("/l/i[2]", &["b"]),
            ("/l/i[3]", &[]),
            ("/l/*[3]", &["b"]),
            ("//i[1]", &["a", "in b", "c"]),
            ("//g/i[2]/text()", &["d"]),
            ("/l[1]/g/i[1]", &["c"]),
            ("/l[2]/i", &[]),
            ("/l/i[2]/i[1]", &["in b"]),
        ] {
            let own = XmlPath::parse(path).unwrap_or_else(|problem| panic!("{path}: {problem}"));
            assert_eq!(own.find(LIST), found, "{path}");
        }
    }

    #[test]
    fn a_body_that_was_cut_is_read_as_far_as_it_goes() {
        let path = XmlPath::parse("//error/@code").expect("a path");
        assert_eq!(path.find(&BODY[..70]), ["9"]);
        assert!(path.find("{\"not\": \"xml\"}").is_empty());
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for path in [
            "error",
            "/",
            "/a[0]",
            "/a[last()]",
            "/a[@b]",
            "/a[1",
            "/a/text()[1]",
            "/@a/b",
            "/a//@b",
            "/a/b()",
            "//",
        ] {
            assert!(XmlPath::parse(path).is_err(), "{path}");
        }
    }
}
