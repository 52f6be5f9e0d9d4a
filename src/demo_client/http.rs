//! HTTP/1.1 as far as the demo client needs it: one request on a connection of its own, or one after
//! another on a connection that is kept.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Where the API is.
#[derive(Clone, Debug)]
pub(super) struct Target {
    authority: String,
    path: String,
}

/// What the API answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The pause that it asks for.
    pub(super) retry_after: Option<Duration>,
}

impl Target {
    /// `http://127.0.0.1:8080/base`.
    pub(super) fn parse(url: &str) -> Result<Target, String> {
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| format!("`{url}` is no http URL"))?;
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        Ok(Target {
            authority: authority.to_owned(),
            path: path.trim_end_matches('/').to_owned(),
        })
    }
}

/// The way to the API.
pub(super) struct Line {
    target: Target,
    keeps: bool,
    kept: Option<TcpStream>,
}

impl Line {
    /// A way to the API. One that `keeps` its connection sends a request again where it broke, as
    /// libraries do that take it for one that had been idle too long.
    pub(super) fn new(target: Target, keeps: bool) -> Line {
        Line {
            target,
            keeps,
            kept: None,
        }
    }

    /// Sends a request, and reads its whole answer.
    pub(super) fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: &str,
        timeout: Duration,
    ) -> Result<Answer, String> {
        let Target {
            authority,
            path: base,
        } = &self.target;
        let end = if self.keeps { "keep-alive" } else { "close" };
        let mut request = format!(
            "{method} {base}{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: {end}\r\nContent-Length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        request.push_str(body);
        if let Some(kept) = self.kept.take()
            && let Ok(answer) = self.exchange(kept, &request)
        {
            return Ok(answer);
        }
        let tcp = self
            .connect(timeout)
            .map_err(|problem| problem.to_string())?;
        self.exchange(tcp, &request)
            .map_err(|problem| problem.to_string())
    }

    fn connect(&self, timeout: Duration) -> io::Result<TcpStream> {
        let mut addresses = self.target.authority.to_socket_addrs()?;
        let address = addresses.next().ok_or(ErrorKind::NotFound)?;
        let tcp = TcpStream::connect_timeout(&address, timeout)?;
        tcp.set_read_timeout(Some(timeout))?;
        tcp.set_nodelay(true)?;
        Ok(tcp)
    }

    fn exchange(&mut self, mut tcp: TcpStream, request: &str) -> io::Result<Answer> {
        tcp.write_all(request.as_bytes())?;
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            match tcp.read(&mut chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => bytes.extend_from_slice(&chunk[..length]),
                Err(problem) if problem.kind() == ErrorKind::Interrupted => {}
                Err(problem) => return Err(problem),
            }
            if let Some(answer) = whole(&bytes) {
                self.kept = self.keeps.then_some(tcp);
                return Ok(answer);
            }
        }
    }
}

/// The answer, once all of it is there.
fn whole(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]);
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let header = |wanted: &str| {
        head.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.trim().to_owned())
    };
    let length: usize = header("content-length")?.parse().ok()?;
    (bytes.len() >= end + 4 + length).then(|| Answer {
        status,
        retry_after: header("retry-after").and_then(|value| pause(&value)),
    })
}

/// A number of seconds, or the time until a date.
fn pause(value: &str) -> Option<Duration> {
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = date(value)?;
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    Some(Duration::from_secs(date).saturating_sub(now))
}

/// Seconds since 1970 of an IMF-fixdate (RFC 9110, section 5.6.7).
fn date(value: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut parts = value.split([' ', ':']);
    let _weekday = parts.next()?;
    let day: u64 = parts.next()?.parse().ok()?;
    let month = MONTHS.find(parts.next()?)? as u64 / 3 + 1;
    let year: u64 = parts.next()?.parse().ok()?;
    let mut time = || parts.next()?.parse::<u64>().ok();
    let (hours, minutes, seconds) = (time()?, time()?, time()?);
    // Days since 1970, counted in years that begin in March.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    Some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::{Answer, date, whole};
    use std::time::Duration;

    #[test]
    fn a_date_is_read() {
        assert_eq!(date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(date("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        assert_eq!(date("tomorrow"), None);
    }

    #[test]
    fn an_answer_is_whole_with_its_last_byte() {
        let text = b"HTTP/1.1 503 X\r\nretry-after: 2\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(whole(&text[..text.len() - 1]), None);
        let answer = Answer {
            status: 503,
            retry_after: Some(Duration::from_secs(2)),
        };
        assert_eq!(whole(text), Some(answer));
    }
}
