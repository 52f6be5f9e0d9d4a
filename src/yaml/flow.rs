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

/// Looks from `from` to the end of the line of `error` for the last plain value in a flow map or
/// list that has a bracket in its middle and begins before the error or on its line.
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
    let mut found = None;
    while let Some(token) = reader.next_plain() {
        let trap = trap_of(&token);
        if trap.is_some() {
            found = trap;
        }
        // Whatever comes after the error says nothing about it.
        if reader.at >= error && found.is_some() {
            break;
        }
    }
    found
}

fn trap_of(token: &Token<'_>) -> Option<Trap> {
    if !token.word.contains(['[', '{']) {
        return None;
    }
    let quoted = if token.word.contains('"') {
        format!("'{}'", token.word.replace('\'', "''"))
    } else {
        format!("\"{}\"", token.word.replace('\\', "\\\\"))
    };
    Some(Trap {
        start: token.start,
        end: token.start + token.word.len(),
        quoted: match token.key {
            Some(key) => format!("{key}: {quoted}"),
            None => quoted,
        },
    })
}

/// A word as a reader would see it, balanced brackets and all.
struct Token<'a> {
    start: usize,
    word: &'a str,
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
    fn next_plain(&mut self) -> Option<Token<'a>> {
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
                    let word = balanced_word(&self.text[start..]);
                    self.at += word.len().max(1);
                    if let Some(key) = word.strip_suffix(':') {
                        self.key = Some(key);
                        continue;
                    }
                    let key = self.key.take();
                    return Some(Token { start, word, key });
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

/// Up to a blank, a comma or a closing bracket, where brackets opened within the word do not
/// count.
fn balanced_word(text: &str) -> &str {
    let mut depth = 0usize;
    for (position, c) in text.char_indices() {
        match c {
            '\n' => return &text[..position],
            '[' | '{' => depth += 1,
            ']' | '}' if depth == 0 => return &text[..position],
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => return &text[..position],
            c if c.is_whitespace() && depth == 0 => return &text[..position],
            _ => {}
        }
    }
    // An unbalanced bracket: the word ends where a plain reader would stop.
    let end = text.find(|c: char| c.is_whitespace() || c == ',');
    &text[..end.unwrap_or(text.len())]
}
