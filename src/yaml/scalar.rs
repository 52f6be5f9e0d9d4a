//! What a plain scalar means: the YAML 1.2 core schema, cautious where exactness would be lost.
//! `yes` and `no`, dates, `1_000` and numbers with leading zeros are text.

use serde_json::Number;

use super::Value;

/// The value of a scalar that was written without quotes.
///
/// # Errors
/// When it is a number that JSON cannot hold or that would lose digits; the error says why.
pub(super) fn resolve(plain: &str) -> Result<Value, String> {
    match plain {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let number = if is_special_float(plain) {
        None
    } else if let Some((digits, radix)) = in_other_radix(plain) {
        u64::from_str_radix(digits, radix).ok().map(Number::from)
    } else if is_decimal(plain) {
        decimal(plain)
    } else {
        return Ok(Value::Text(plain.to_owned()));
    };
    number
        .map(Value::Number)
        .ok_or_else(|| format!("the number {plain} cannot be kept exactly"))
}

fn is_special_float(plain: &str) -> bool {
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(plain, ".nan" | ".NaN" | ".NAN")
}

fn in_other_radix(plain: &str) -> Option<(&str, u32)> {
    let (digits, radix) = match plain.get(..2)? {
        "0x" => (&plain[2..], 16),
        "0o" => (&plain[2..], 8),
        _ => return None,
    };
    let all_digits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    all_digits.then_some((digits, radix))
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`, without leading zeros.
fn is_decimal(plain: &str) -> bool {
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_is_fine = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    all_digits(whole)
        && all_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && !leading_zero
        && exponent_is_fine
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn decimal(plain: &str) -> Option<Number> {
    let unplussed = plain.strip_prefix('+').unwrap_or(plain);
    if plain.contains(['.', 'e', 'E']) {
        let value: f64 = unplussed.parse().ok()?;
        return Number::from_f64(value);
    }
    let unsigned = unplussed.parse::<u64>().map(Number::from);
    unsigned
        .or_else(|_| unplussed.parse::<i64>().map(Number::from))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(plain: &str) -> String {
        match resolve(plain).expect(plain) {
            Value::Null => "null".into(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Text(text) => format!("{text:?}"),
            Value::List(_) | Value::Map(_) => unreachable!("a scalar is no collection"),
        }
    }

    #[test]
    fn numbers_keep_their_kind_and_all_their_digits() {
        for (plain, expected) in [
            ("0", "0"),
            ("-7", "-7"),
            ("+5", "5"),
            ("9007199254740993", "9007199254740993"),
            ("18446744073709551615", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("10.00", "10.0"),
            (".5", "0.5"),
            ("1e3", "1000.0"),
            ("0x1F", "31"),
            ("0o17", "15"),
        ] {
            assert_eq!(json(plain), expected, "{plain}");
        }
    }

    #[test]
    fn what_only_looks_like_a_number_or_a_truth_value_is_text() {
        for plain in [
            "no",
            "yes",
            "on",
            "off",
            "y",
            "017",
            "00.5",
            "1_000",
            "2025-01-23",
            "12:30",
            "1.2.3",
            "0x",
            "0xZZ",
            "1e",
            "e5",
            ".",
            "-",
            "+",
            "5s",
            "inf",
            "NaN",
            "é5",
        ] {
            assert_eq!(json(plain), format!("{plain:?}"));
        }
    }

    #[test]
    fn numbers_that_would_lose_digits_are_refused() {
        for plain in [
            "18446744073709551616",
            "-9223372036854775809",
            "1e999",
            ".inf",
            ".nan",
        ] {
            assert!(resolve(plain).is_err(), "{plain}");
        }
    }
}
