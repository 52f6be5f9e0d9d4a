//! The commonest trap of YAML's flow style: within `{ }` and `[ ]`, a plain value ends at a
//! bracket or comma, so `{ ids: $.data[*].id }` is no map with one text.

/// A plain value that was cut short by a bracket within it.
pub(super) struct Trap {
    /// Where the value begins.
    pub(super) start: usize,
    /// Where its author meant it to end.
    pub(super) end: usize,
    /// The same value in quotes, with its key if it has one.
    pub(super) quoted: String,
}

/// Looks from `from` on for the first plain value in a flow map or list that has a bracket in its
/// middle and begins before `error`.
pub(super) fn trap(text: &str, from: usize, error: usize) -> Option<Trap> {
    let until = text[error..]
        .find('\n')
        .map_or(text.len(), |end| error + end);
    let mut reader = Reader {
        text: &text[..until],
        at: from.min(error),
        depth: 0,
        key: None,
    };
    while let Some(value) = reader.next_plain() {
        if value.start > error {
            return None;
        }
        if let Some(trap) = trap_of(&value) {
            return Some(trap);
        }
    }
    None
}

fn trap_of(value: &Plain<'_>) -> Option<Trap> {
    if !value.words.contains(['[', '{']) {
        return None;
    }
    let quoted = if value.words.contains('"') {
        format!("'{}'", value.words.replace('\'', "''"))
    } else {
        format!("\"{}\"", value.words.replace('\\', "\\\\"))
    };
    Some(Trap {
        start: value.start,
        end: value.start + value.words.len(),
        quoted: match value.key {
            Some(key) => format!("{key}: {quoted}"),
            None => quoted,
        },
    })
}

/// A plain value as a reader would see it, balanced brackets and all.
struct Plain<'a> {
    start: usize,
    words: &'a str,
    key: Option<&'a str>,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// The key whose value comes next.
    key: Option<&'a str>,
}

impl<'a> Reader<'a> {
    /// The next plain value in flow context.
    fn next_plain(&mut self) -> Option<Plain<'a>> {
        let mut word_begins = true;
        while let Some(c) = self.text[self.at..].chars().next() {
            match c {
                '[' | '{' if word_begins => {
                    self.depth += 1;
                    self.at += 1;
                    self.key = None;
                }
                ']' | '}' | ',' => {
                    if c != ',' {
                        self.depth = self.depth.saturating_sub(1);
                    }
                    self.at += 1;
                    self.key = None;
                    word_begins = true;
                }
                '"' | '\'' if word_begins => self.skip_quoted(c),
                '#' if word_begins => self.skip_line(),
                c if c.is_whitespace() => {
                    self.at += c.len_utf8();
                    word_begins = true;
                }
                _ if self.depth > 0 && word_begins => {
                    let start = self.at;
                    let words = balanced_words(&self.text[start..]);
                    self.at += words.len().max(1);
                    let rest = self.text[self.at..].strip_prefix(':');
                    if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n'])) {
                        self.key = Some(words);
                        self.at += 1;
                        continue;
                    }
                    let key = self.key.take();
                    return Some(Plain { start, words, key });
                }
                c => {
                    self.at += c.len_utf8();
                    word_begins = matches!(c, '-' | ':' | '?');
                }
            }
        }
        None
    }

    fn skip_quoted(&mut self, quote: char) {
        let mut escaped = false;
        let body = &self.text[self.at + 1..];
        let close = body.char_indices().find(|&(_, c)| {
            let closes = c == quote && !escaped;
            escaped = quote == '"' && c == '\\' && !escaped;
            closes
        });
        self.at += close.map_or(body.len() + 1, |(length, _)| length + 2);
        if self.text[self.at..].starts_with(':') {
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }
}

/// Up to a comma, a closing bracket, `: `, ` #` or the line's end, where brackets opened within
/// the value do not count.
fn balanced_words(text: &str) -> &str {
    let mut depth = 0usize;
    for (position, c) in text.char_indices() {
        let rest = &text[position + c.len_utf8()..];
        let ends = match c {
            '\n' => break,
            '[' | '{' => {
                depth += 1;
                false
            }
            ']' | '}' if depth > 0 => {
                depth -= 1;
                false
            }
            ']' | '}' | ',' => depth == 0,
            ':' => depth == 0 && (rest.is_empty() || rest.starts_with([' ', '\n'])),
            ' ' => depth == 0 && rest.starts_with('#'),
            _ => false,
        };
        if ends {
            return text[..position].trim_end();
        }
    }
    if depth == 0 {
        return text.lines().next().unwrap_or("").trim_end();
    }
    // An unbalanced bracket: the value ends where a plain reader would stop.
    let end = text.find(|c: char| c.is_whitespace() || c == ',');
    &text[..end.unwrap_or(text.len())]
}
