//! The grammar of placeholders: splits strings into text and names, and knows the placeholders of
//! other tools, to say what ours are.

/// A piece of a string before its names are looked up.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text as it is; `$${` has become `${`.
    Text(&'a str),
    /// What stands between `${` and `}`.
    Name(&'a str),
}

/// Splits a string into text and names. The error is a message and the byte where it applies.
pub fn pieces(text: &str) -> Result<Vec<Piece<'_>>, (String, usize)> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('$').map(|found| at + found) {
        let rest = &text[found..];
        if rest.starts_with("$${") {
            pieces.push(Piece::Text(&text[start..found]));
            start = found + 1;
            at = found + 3;
            continue;
        }
        if rest.starts_with("${{") {
            return Err((wrong_style(rest), found));
        }
        if !rest.starts_with("${") {
            at = found + 1;
            continue;
        }
        let end = closing_brace(&rest[2..]).ok_or_else(|| {
            let message = "a placeholder without its closing brace: write ${name}, or $${ for the text itself";
            (message.to_string(), found)
        })?;
        pieces.push(Piece::Text(&text[start..found]));
        pieces.push(Piece::Name(&rest[2..2 + end]));
        start = found + 2 + end + 1;
        at = start;
    }
    pieces.push(Piece::Text(&text[start..]));
    pieces.retain(|piece| *piece != Piece::Text(""));
    Ok(pieces)
}

/// Where the brace stands that ends a placeholder: selectors may hold braces in quotes.
fn closing_brace(text: &str) -> Option<usize> {
    let mut quote = None;
    let selects = text.starts_with("request:") || text.starts_with("response:");
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') if selects => quote = Some(letter),
            (None, '}') => return Some(at),
            (None, _) => {}
        }
    }
    None
}

fn wrong_style(text: &str) -> String {
    let inner = text
        .trim_start_matches(['$', '{'])
        .split('}')
        .next()
        .unwrap_or_default()
        .trim();
    format!("placeholders are ${{{inner}}}, not ${{{{{inner}}}}}")
}

/// A message about placeholders of other tools, with the byte where they stand: `{{x}}` of Postman,
/// Bruno and Hurl, `$response.body#/x` of Arazzo and OpenAPI links.
pub fn foreign_style(text: &str) -> Option<(String, usize)> {
    if let Some(at) = text.find("{{")
        && let Some(length) = text[at..].find("}}")
    {
        let inner = text[at + 2..at + length].trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if !inner.is_empty() && inner.chars().all(plain) {
            return Some((
                format!("placeholders are ${{{inner}}}, not {{{{{inner}}}}}"),
                at,
            ));
        }
    }
    for side in ["response", "request"] {
        let body = format!("${side}.body");
        if let Some(at) = text.find(&body) {
            let rest = &text[at + body.len()..];
            let pointer: String = rest
                .strip_prefix('#')
                .unwrap_or_default()
                .chars()
                .take_while(|c| c.is_alphanumeric() || matches!(c, '/' | '_' | '-'))
                .collect();
            let path = pointer.replace('/', ".");
            return Some((format!("here: ${{{side}:${path}}}"), at));
        }
        let header = format!("${side}.header.");
        if let Some(at) = text.find(&header) {
            let name: String = text[at + header.len()..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '-')
                .collect();
            return Some((format!("here: ${{{side}:header.{name}}}"), at));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<Piece<'_>> {
        pieces(text).expect("well formed")
    }

    #[test]
    fn text_and_names_alternate() {
        assert_eq!(
            names("a-${unique}/${env.X:-d}!"),
            [
                Piece::Text("a-"),
                Piece::Name("unique"),
                Piece::Text("/"),
                Piece::Name("env.X:-d"),
                Piece::Text("!")
            ]
        );
        assert_eq!(names("$5 and $.a"), [Piece::Text("$5 and $.a")]);
        assert_eq!(names(""), []);
    }

    #[test]
    fn a_doubled_dollar_is_literal() {
        let text: String = names("a $${b} c")
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Name(_) => panic!("no placeholder here"),
            })
            .collect();
        assert_eq!(text, "a ${b} c");
    }

    #[test]
    fn braces_in_quotes_of_a_selector_do_not_end_it() {
        assert_eq!(
            names("${request:$['a}b']}x"),
            [Piece::Name("request:$['a}b']"), Piece::Text("x")]
        );
    }

    #[test]
    fn an_open_placeholder_is_refused_at_its_place() {
        assert_eq!(pieces("ab${c").expect_err("open").1, 2);
    }

    #[test]
    fn placeholders_of_other_tools_get_ours() {
        let (message, at) = pieces("x ${{ env.host }}").expect_err("foreign");
        assert_eq!(
            (message.as_str(), at),
            ("placeholders are ${env.host}, not ${{env.host}}", 2)
        );
        assert_eq!(
            foreign_style("a {{token}}"),
            Some(("placeholders are ${token}, not {{token}}".to_string(), 2))
        );
        assert_eq!(
            foreign_style("$response.body#/data/id"),
            Some(("here: ${response:$.data.id}".to_string(), 0))
        );
        assert_eq!(
            foreign_style("$response.header.Location"),
            Some(("here: ${response:header.Location}".to_string(), 0))
        );
        assert_eq!(
            foreign_style("{ locations(first: 1) { nodes { id } } }"),
            None
        );
        assert_eq!(foreign_style("mutation {{ a b }}"), None);
    }
}
