//! A command line as a POSIX shell (and `$'…'` of bash) would part it into words. Nothing is
//! expanded and nothing is run.

use std::iter::Peekable;
use std::str::Chars;

/// The words of a command, which may go over several lines that end with `\`.
///
/// # Errors
/// A quote that is never closed.
pub(super) fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                // A line that goes on, also with the line ends of Windows.
                Some('\n') => {}
                Some('\r') if rest.peek() == Some(&'\n') => {
                    rest.next();
                }
                Some(escaped) => word.get_or_insert_default().push(escaped),
                None => {}
            },
            '\'' => {
                let quoted = word.get_or_insert_default();
                until(&mut rest, '\'', quoted)?;
            }
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '$' if rest.peek() == Some(&'\'') => {
                rest.next();
                ansi_quoted(&mut rest, word.get_or_insert_default())?;
            }
            '#' if word.is_none() => {
                // A comment, up to the end of its line.
                while rest.next_if(|c| *c != '\n').is_some() {}
            }
            // What follows is another command.
            ';' | '|' | '&' if word.is_none() => break,
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn until(rest: &mut Peekable<Chars<'_>>, end: char, into: &mut String) -> Result<(), String> {
    for c in rest.by_ref() {
        if c == end {
            return Ok(());
        }
        into.push(c);
    }
    Err(format!("a {end} is never closed"))
}

fn double_quoted(rest: &mut Peekable<Chars<'_>>, into: &mut String) -> Result<(), String> {
    while let Some(c) = rest.next() {
        match c {
            '"' => return Ok(()),
            '\\' => match rest.next() {
                Some('\n') => {}
                Some(c @ ('"' | '\\' | '$' | '`')) => into.push(c),
                Some(c) => {
                    into.push('\\');
                    into.push(c);
                }
                None => break,
            },
            c => into.push(c),
        }
    }
    Err("a \" is never closed".to_owned())
}

/// `$'…'`, which browsers write where a body has quotes or control characters.
fn ansi_quoted(rest: &mut Peekable<Chars<'_>>, into: &mut String) -> Result<(), String> {
    while let Some(c) = rest.next() {
        match c {
            '\'' => return Ok(()),
            '\\' => match rest.next() {
                Some('n') => into.push('\n'),
                Some('t') => into.push('\t'),
                Some('r') => into.push('\r'),
                Some('a') => into.push('\u{7}'),
                Some('b') => into.push('\u{8}'),
                Some('f') => into.push('\u{c}'),
                Some('v') => into.push('\u{b}'),
                Some('e' | 'E') => into.push('\u{1b}'),
                Some('x') => into.extend(number(rest, 16, 2)),
                Some('u') => {
                    let unit = digits(rest, 16, 4);
                    into.push(character(unit, rest));
                }
                Some('U') => into.extend(number(rest, 16, 8)),
                Some(c) if c.is_digit(8) => {
                    let mut code = c.to_digit(8).unwrap_or_default();
                    for _ in 0..2 {
                        match rest.next_if(|c| c.is_digit(8)) {
                            Some(c) => code = code * 8 + c.to_digit(8).unwrap_or_default(),
                            None => break,
                        }
                    }
                    into.extend(char::from_u32(code));
                }
                Some(c) => into.push(c),
                None => break,
            },
            c => into.push(c),
        }
    }
    Err("a $' is never closed".to_owned())
}

fn digits(rest: &mut Peekable<Chars<'_>>, radix: u32, most: usize) -> u32 {
    let mut code = 0;
    for _ in 0..most {
        match rest.next_if(|c| c.is_digit(radix)) {
            Some(c) => code = code * radix + c.to_digit(radix).unwrap_or_default(),
            None => break,
        }
    }
    code
}

fn number(rest: &mut Peekable<Chars<'_>>, radix: u32, most: usize) -> Option<char> {
    char::from_u32(digits(rest, radix, most))
}

/// Chrome writes characters beyond the basic plane as two `\u` of UTF-16.
fn character(unit: u32, rest: &mut Peekable<Chars<'_>>) -> char {
    if (0xd800..0xdc00).contains(&unit) {
        let mut ahead = rest.clone();
        if ahead.next() == Some('\\') && ahead.next() == Some('u') {
            let low = digits(&mut ahead, 16, 4);
            if (0xdc00..0xe000).contains(&low) {
                *rest = ahead;
                let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            }
        }
    }
    char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn quotes_are_taken_off_as_the_shell_does() {
        let line = r#"curl 'a b' "c \"d\" $e" f\ g '' h'i'"j""#;
        assert_eq!(
            words(line).expect("it is whole"),
            ["curl", "a b", "c \"d\" $e", "f g", "", "hij"]
        );
    }

    #[test]
    fn a_command_goes_over_several_lines() {
        let line = "curl \\\n  -X POST \\\r\n  http://a\n";
        assert_eq!(
            words(line).expect("it is whole"),
            ["curl", "-X", "POST", "http://a"]
        );
    }

    #[test]
    fn a_quote_of_bash_has_escapes() {
        let line = r"$'it\'s \u00e9 \x41\n' $'\ud83d\ude00' $'\101'";
        assert_eq!(words(line).expect("it is whole"), ["it's é A\n", "😀", "A"]);
    }

    #[test]
    fn what_stands_behind_the_command_is_left_out() {
        let line = "# first\ncurl http://a | jq .";
        assert_eq!(words(line).expect("it is whole"), ["curl", "http://a"]);
    }

    #[test]
    fn an_ampersand_within_a_word_is_part_of_it() {
        assert_eq!(
            words("curl http://a/?b=1&c=2").expect("it is whole"),
            ["curl", "http://a/?b=1&c=2"]
        );
    }

    #[test]
    fn a_quote_that_is_never_closed_is_said() {
        for line in ["curl 'a", "curl \"a", "curl $'a"] {
            assert!(words(line).expect_err("open").contains("never closed"));
        }
    }
}
