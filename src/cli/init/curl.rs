//! A curl command, as far as it says what is sent. Nothing is sent here.

use super::words::words;
use std::path::Path;

/// What a curl command sends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Curl {
    /// The method, in capitals.
    pub(super) method: String,
    /// The URL, with a scheme.
    pub(super) url: String,
    /// The headers, in order.
    pub(super) headers: Vec<(String, String)>,
    /// The body.
    pub(super) body: Option<String>,
    /// `-u`.
    pub(super) user: Option<String>,
    /// `-b` with cookies in it.
    pub(super) cookies: Option<String>,
    /// `--cert`, a path.
    pub(super) cert: Option<String>,
    /// `--key`, a path.
    pub(super) key: Option<String>,
    /// `--cacert`, a path.
    pub(super) ca: Option<String>,
    /// `-k`.
    pub(super) insecure: bool,
    /// What is not understood, or changes nothing of the request.
    pub(super) ignored: Vec<String>,
}

/// Reads the files that a command mentions with `@`.
pub(super) type ReadFile<'a> = &'a dyn Fn(&Path) -> Result<String, String>;

/// Options that take a value and say nothing of what is sent.
const WITH_VALUE: &str = "-o --output -A --user-agent -e --referer -m --max-time --connect-timeout -x --proxy \
    -U --proxy-user -w --write-out --retry --retry-delay --retry-max-time --resolve \
    --interface -D --dump-header -c --cookie-jar -K --config --ciphers --limit-rate \
    --max-redirs -r --range -T --upload-file -y -Y -z -C -P -Q -t --cert-type --key-type \
    --pass --capath --noproxy --dns-servers --trace --trace-ascii --stderr --connect-to \
    --unix-socket --aws-sigv4 --tls-max --keepalive-time --variable";

/// Everything that is given so far.
#[derive(Default)]
struct Reading {
    curl: Curl,
    method: Option<String>,
    data: Vec<String>,
    to_query: bool,
    is_json: bool,
    url: Option<String>,
    others: Vec<String>,
}

impl Curl {
    /// Reads a command.
    ///
    /// # Errors
    /// It is no curl command, has no URL, or asks for something that a target file cannot say.
    pub(super) fn parse(text: &str, read: ReadFile<'_>) -> Result<Curl, String> {
        let words = words(text)?;
        let mut words = words.into_iter().skip_while(|word| word == "$").peekable();
        let program = words.next().unwrap_or_default();
        let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
        if !matches!(program, "curl" | "curl.exe") {
            return Err("this is no curl command: it must begin with `curl`".to_owned());
        }
        let mut reading = Reading::default();
        let mut only_words = false;
        while let Some(word) = words.next() {
            if only_words || !word.starts_with('-') || word == "-" {
                reading.word(word);
            } else if word == "--" {
                only_words = true;
            } else if let Some(long) = word.strip_prefix("--") {
                let (name, given) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (long, None),
                };
                let name = format!("--{name}");
                if takes_value(&name) {
                    let value = given.or_else(|| words.next());
                    let value = value.ok_or_else(|| format!("{name} has no value"))?;
                    reading.option(&name, &value, read)?;
                } else {
                    reading.flag(&name);
                }
            } else {
                for (at, letter) in word[1..].char_indices() {
                    let name = format!("-{letter}");
                    if !takes_value(&name) {
                        reading.flag(&name);
                        continue;
                    }
                    // The rest of the word is its value; with nothing left, the next word is.
                    let rest = &word[1 + at + letter.len_utf8()..];
                    let value = match rest {
                        "" => words.next(),
                        rest => Some(rest.to_owned()),
                    };
                    let value = value.ok_or_else(|| format!("{name} has no value"))?;
                    reading.option(&name, &value, read)?;
                    break;
                }
            }
        }
        reading.finish()
    }

    /// The first value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

fn takes_value(name: &str) -> bool {
    const UNDERSTOOD: &str = "-X --request -H --header -d --data --data-raw --data-ascii --data-binary \
    --data-urlencode --json -F --form --form-string -u --user --url -b --cookie -E \
    --cert --key --cacert --oauth2-bearer --url-query";
    [UNDERSTOOD, WITH_VALUE]
        .iter()
        .any(|list| list.split(' ').any(|known| known == name))
}

impl Reading {
    fn word(&mut self, word: String) {
        if self.url.is_none() && !self.looks_like_a_value(&word) {
            self.url = Some(word);
        } else {
            self.others.push(word);
        }
    }

    /// The value of an option that is not known to have one.
    fn looks_like_a_value(&self, word: &str) -> bool {
        !word.contains("://") && !word.contains(['.', ':', '/'])
    }

    fn flag(&mut self, name: &str) {
        match name {
            "-G" | "--get" => self.to_query = true,
            "-k" | "--insecure" => self.curl.insecure = true,
            "-I" | "--head" => self.method = Some("HEAD".to_owned()),
            name => self.curl.ignored.push(name.to_owned()),
        }
    }

    fn option(&mut self, name: &str, value: &str, read: ReadFile<'_>) -> Result<(), String> {
        match name {
            "-X" | "--request" => self.method = Some(value.to_ascii_uppercase()),
            "-H" | "--header" => self.header(value),
            "-d" | "--data" | "--data-ascii" => {
                let data = match value.strip_prefix('@') {
                    // curl takes line ends out of what it reads so.
                    Some(path) => read(Path::new(path))?.replace(['\n', '\r'], ""),
                    None => value.to_owned(),
                };
                self.data.push(data);
            }
            "--data-raw" => self.data.push(value.to_owned()),
            "--data-binary" => self.data.push(at_file(value, read)?),
            "--data-urlencode" => self.data.push(url_encoded(value, read)?),
            "--json" => {
                self.is_json = true;
                self.data.push(at_file(value, read)?);
            }
            "-F" | "--form" | "--form-string" => {
                return Err("multipart bodies (-F) are not read from a curl command: write `multipart` into the target file".to_owned());
            }
            "-u" | "--user" => self.curl.user = Some(value.to_owned()),
            "--url" => self.url = Some(value.to_owned()),
            "--url-query" => {
                self.curl.ignored.push(name.to_owned());
            }
            "-b" | "--cookie" => {
                // Without a `=` it is the name of a file.
                if value.contains('=') {
                    self.curl.cookies = Some(value.to_owned());
                } else {
                    self.curl.ignored.push(name.to_owned());
                }
            }
            "-E" | "--cert" => {
                // What stands behind a colon is the key's password.
                let path = value.split(':').next().unwrap_or(value);
                self.curl.cert = Some(path.to_owned());
            }
            "--key" => self.curl.key = Some(value.to_owned()),
            "--cacert" => self.curl.ca = Some(value.to_owned()),
            "--oauth2-bearer" => self
                .curl
                .headers
                .push(("Authorization".to_owned(), format!("Bearer {value}"))),
            name => self.curl.ignored.push(name.to_owned()),
        }
        Ok(())
    }

    /// `Name: value`; `Name;` is one without a value, and `Name:` takes one away.
    fn header(&mut self, line: &str) {
        let headers = &mut self.curl.headers;
        match line.split_once(':') {
            Some((name, value)) if !value.trim().is_empty() => {
                headers.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            Some(_) => {}
            None => {
                if let Some(name) = line.trim().strip_suffix(';') {
                    headers.push((name.to_owned(), String::new()));
                }
            }
        }
    }

    fn finish(mut self) -> Result<Curl, String> {
        let mut others = self.others.into_iter();
        let url = match self.url {
            Some(url) => url,
            None => others.next().ok_or("the command has no URL")?,
        };
        self.curl.ignored.extend(others);
        self.curl.url = if url.contains("://") {
            url
        } else {
            format!("http://{url}")
        };
        let data = match (self.data.is_empty(), self.is_json) {
            (true, _) => None,
            (false, true) => Some(self.data.concat()),
            (false, false) => Some(self.data.join("&")),
        };
        let has_body = data.is_some() && !self.to_query;
        self.curl.method = self
            .method
            .unwrap_or_else(|| if has_body { "POST" } else { "GET" }.to_owned());
        match data {
            Some(data) if self.to_query => {
                let sign = if self.curl.url.contains('?') {
                    '&'
                } else {
                    '?'
                };
                self.curl.url = format!("{}{sign}{data}", self.curl.url);
            }
            data => self.curl.body = data,
        }
        if has_body && self.curl.header("content-type").is_none() {
            let kind = if self.is_json {
                "application/json"
            } else {
                "application/x-www-form-urlencoded"
            };
            self.curl
                .headers
                .push(("Content-Type".to_owned(), kind.to_owned()));
        }
        Ok(self.curl)
    }
}

fn at_file(value: &str, read: ReadFile<'_>) -> Result<String, String> {
    match value.strip_prefix('@') {
        Some(path) => read(Path::new(path)),
        None => Ok(value.to_owned()),
    }
}

/// `content`, `=content`, `name=content`, `@file` and `name@file`.
fn url_encoded(value: &str, read: ReadFile<'_>) -> Result<String, String> {
    let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    let at = value.find(['=', '@']);
    let Some(at) = at else {
        return Ok(encoded(value));
    };
    let (name, content) = (&value[..at], &value[at + 1..]);
    let content: String = if value[at..].starts_with('@') {
        encoded(&read(Path::new(content))?)
    } else {
        encoded(content)
    };
    Ok(if name.is_empty() {
        content
    } else {
        format!("{name}={content}")
    })
}

#[cfg(test)]
mod tests {
    use super::Curl;

    fn parse(line: &str) -> Result<Curl, String> {
        Curl::parse(line, &|path| match path.to_str() {
            Some("body.json") => Ok("{\"a\":\n1}".to_owned()),
            _ => Err("no such file".to_owned()),
        })
    }

    fn curl(line: &str) -> Curl {
        parse(line).expect("it is understood")
    }

    #[test]
    fn data_makes_a_post() {
        let curl = curl("curl http://a/b -d x=1 -d y=2");
        assert_eq!(curl.method, "POST");
        assert_eq!(curl.body.as_deref(), Some("x=1&y=2"));
        assert_eq!(
            curl.header("content-type"),
            Some("application/x-www-form-urlencoded")
        );
    }

    #[test]
    fn the_method_is_what_x_says() {
        assert_eq!(curl("curl -XPUT http://a -d x").method, "PUT");
        assert_eq!(curl("curl --request=patch http://a").method, "PATCH");
        assert_eq!(curl("curl http://a").method, "GET");
    }

    #[test]
    fn short_options_may_share_a_word() {
        let curl = curl("curl -sSkXPOST -uid:pw http://a");
        assert_eq!(curl.method, "POST");
        assert_eq!(curl.user.as_deref(), Some("id:pw"));
        assert!(curl.insecure);
        assert_eq!(curl.ignored, ["-s", "-S"]);
    }

    #[test]
    fn headers_are_trimmed_and_empty_ones_left_out() {
        let curl = curl("curl http://a -H 'A:  b ' --header 'C: d:e' -H 'Accept:' -H 'X-Empty;'");
        assert_eq!(
            curl.headers,
            [
                ("A".to_owned(), "b".to_owned()),
                ("C".to_owned(), "d:e".to_owned()),
                ("X-Empty".to_owned(), String::new()),
            ]
        );
    }

    #[test]
    fn json_sets_the_content_type() {
        let json = curl(r#"curl --json '{"a":1}' http://a"#);
        assert_eq!(json.header("content-type"), Some("application/json"));
        assert_eq!(json.body.as_deref(), Some("{\"a\":1}"));
        let own = curl(r#"curl -H 'content-type: application/json' -d '{}' http://a"#);
        assert_eq!(own.headers.len(), 1);
    }

    #[test]
    fn get_moves_the_data_into_the_query() {
        let curl = curl("curl -G http://a/?x=1 -d y=2 --data-urlencode 'z=a b&c'");
        assert_eq!(curl.method, "GET");
        assert_eq!(curl.url, "http://a/?x=1&y=2&z=a+b%26c");
        assert_eq!(curl.body, None);
    }

    #[test]
    fn files_are_read_as_curl_reads_them() {
        assert_eq!(
            curl("curl http://a -d @body.json").body.as_deref(),
            Some("{\"a\":1}")
        );
        assert_eq!(
            curl("curl http://a --data-binary @body.json")
                .body
                .as_deref(),
            Some("{\"a\":\n1}")
        );
        assert_eq!(
            curl("curl http://a --data-raw @body.json").body.as_deref(),
            Some("@body.json")
        );
        assert!(parse("curl http://a -d @other").is_err());
    }

    #[test]
    fn a_url_without_a_scheme_is_http() {
        assert_eq!(
            curl("curl localhost:8080/x -d a").url,
            "http://localhost:8080/x"
        );
        assert_eq!(curl("curl --url https://a/b -d a").url, "https://a/b");
    }

    #[test]
    fn certificates_are_paths() {
        let curl = curl("curl --cert c.pem:secret --key k.pem --cacert ca.pem https://a");
        assert_eq!(curl.cert.as_deref(), Some("c.pem"));
        assert_eq!(curl.key.as_deref(), Some("k.pem"));
        assert_eq!(curl.ca.as_deref(), Some("ca.pem"));
    }

    #[test]
    fn unknown_options_are_named_and_left_out() {
        let curl = curl("curl --compressed --retry 3 --made-up value -L http://a.b/c -d x");
        assert_eq!(curl.url, "http://a.b/c");
        assert_eq!(
            curl.ignored,
            ["--compressed", "--retry", "--made-up", "-L", "value"]
        );
    }

    #[test]
    fn cookies_in_a_file_are_left_out() {
        assert_eq!(
            curl("curl -b 'sid=1; a=2' http://a").cookies.as_deref(),
            Some("sid=1; a=2")
        );
        assert_eq!(curl("curl -b jar.txt http://a").ignored, ["-b"]);
    }

    #[test]
    fn what_is_no_curl_command_is_said() {
        assert!(parse("wget http://a").is_err());
        assert!(parse("").is_err());
        assert!(parse("curl -s").expect_err("no URL").contains("URL"));
        assert!(
            parse("curl http://a -H")
                .expect_err("no value")
                .contains("-H")
        );
        assert!(
            parse("curl http://a -F f=@x")
                .expect_err("multipart")
                .contains("-F")
        );
    }

    #[test]
    fn what_chrome_copies_is_read() {
        let text = "curl 'https://api.acme.test/payments' \\\n  -H 'accept: */*' \\\n  -H 'sec-fetch-mode: cors' \\\n  --data-raw $'{\"note\":\"it\\'s\"}' \\\n  --compressed";
        let curl = curl(text);
        assert_eq!(curl.method, "POST");
        assert_eq!(curl.body.as_deref(), Some("{\"note\":\"it's\"}"));
    }
}
