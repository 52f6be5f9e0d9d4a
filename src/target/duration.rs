//! Durations as they are written in YAML: a whole number and a unit.

use std::time::Duration;

/// Parses `500ms`, `2s`, `5m`, `24h` or `30d`; the error says what is missing.
pub fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(format!(
            "`{text}` is no duration: write a whole number and a unit, such as 500ms, 2s, 5m, 24h or 30d"
        ));
    }
    if unit.is_empty() {
        return Err(format!("a duration needs a unit: {number}s"));
    }
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => {
            return Err(format!(
                "unknown unit `{unit}`: units are ms, s, m, h and d"
            ));
        }
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|count| count.checked_mul(milliseconds))
        .map(Duration::from_millis)
        .ok_or_else(|| format!("`{text}` is too long"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_understood() {
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(parse("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse("24h"), Ok(Duration::from_secs(86_400)));
        assert_eq!(parse("30d"), Ok(Duration::from_secs(2_592_000)));
    }

    #[test]
    fn a_number_without_a_unit_gets_a_proposal() {
        assert_eq!(parse("2"), Err("a duration needs a unit: 2s".to_string()));
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(parse("").is_err());
        assert!(parse("soon").is_err());
        assert!(parse("2 s").is_err());
        assert!(parse("99999999999999999999d").is_err());
    }
}
