//! Strings of the target, made harmless: they may hold terminal escapes, control characters and
//! megabytes, and none of that may reach a terminal or an XML file.

use std::borrow::Cow;

/// The text on one line, with pictures in place of control characters, so that `ESC [ 31 m` is
/// seen and has no effect.
pub fn line(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(picture).collect())
}

/// The text cleaned like [`line`], at most `most` characters of it, with the whole length behind
/// what is left of it.
pub fn clip(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return line(text).into_owned();
    };
    format!("{}… ({} bytes in all)", line(&text[..end]), text.len())
}

/// The text cleaned like [`line`], and with `…` after `most` characters.
pub fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line(&text[..end])),
        None => line(text).into_owned(),
    }
}

/// Whether a terminal shows the character as what it is, and does nothing else.
pub(super) fn is_harmless(c: char) -> bool {
    !c.is_control() && !is_invisible(c)
}

/// Characters that reorder, hide or break lines, and those that XML forbids.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}'
    )
}

fn picture(c: char) -> char {
    match c {
        '\n' | '\t' => ' ',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        c if is_harmless(c) => c,
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use super::{clip, line, shorten};

    #[test]
    fn escapes_are_shown_and_never_written() {
        assert_eq!(line("a\u{1b}[31mred"), "a␛[31mred");
        assert_eq!(line("one\ntwo\u{9b}2J"), "one two\u{fffd}2J");
        assert_eq!(line("gnp\u{202e}exe"), "gnp\u{fffd}exe");
    }

    #[test]
    fn a_long_text_says_how_long_it_was() {
        assert_eq!(clip("äöü", 3), "äöü");
        assert_eq!(clip("äöü", 2), "äö… (6 bytes in all)");
        assert_eq!(shorten("äöü", 2), "äö…");
    }
}
