//! A small client of the payments API to try the audit on: correct by construction, unless a
//! [`Habit`] says otherwise. It imports nothing else of the crate, and reaches the API over HTTP
//! only, from a process of its own.

mod habit;
mod http;

pub use habit::Habit;

use http::{Answer, Line, Target};
use std::time::Duration;

/// What is sent: the same each time.
const BODY: &str = r#"{"amount":2000,"currency":"EUR","reference":"order-1"}"#;

/// The most attempts of one operation.
const ATTEMPTS: u32 = 4;

/// The first pause; it doubles.
const PAUSE: Duration = Duration::from_millis(60);

/// How long one attempt may take.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Makes payments as the habit has it. `state` is where an unfinished operation's key is kept.
/// Whether all of them succeeded.
///
/// # Errors
/// What is wrong with the URL.
pub fn run(habit: Habit, url: &str, state: Option<&str>) -> Result<bool, String> {
    let target = Target::parse(url)?;
    let operations = match habit {
        Habit::KeepsKeyForNextCall | Habit::ResendsOnKeptConnection => 2,
        _ => 1,
    };
    let mut line = Line::new(target, habit == Habit::ResendsOnKeptConnection);
    let mut kept = None;
    let mut all = true;
    for _ in 0..operations {
        let key = kept.clone().unwrap_or_else(|| first_key(habit, state));
        if habit == Habit::KeepsKeyForNextCall {
            kept = Some(key.clone());
        }
        let done = operation(habit, &mut line, &key);
        if done && let Some(file) = state {
            // Nothing is unfinished any more; a file that is gone already is no harm.
            let _ = std::fs::remove_file(file);
        }
        all &= done;
    }
    Ok(all)
}

/// The key of an operation, as it is made before the first attempt.
fn first_key(habit: Habit, state: Option<&str>) -> String {
    match habit {
        Habit::DerivesKeyFromPayload => format!("payment-{:016x}", fingerprint(BODY)),
        Habit::PrefixesKey => format!("retry-{}", uuid()),
        Habit::NamesPersonInKey => format!("ada@example.com-{}", uuid()),
        Habit::CountsKeys => format!("payment-{}", std::process::id()),
        Habit::KeepsKeyOnDisk => {
            let Some(file) = state else {
                return uuid();
            };
            if let Ok(key) = std::fs::read_to_string(file) {
                return key;
            }
            let key = uuid();
            // Without it the key would not survive, which is what the audit is to find.
            let _ = std::fs::write(file, &key);
            key
        }
        _ => uuid(),
    }
}

/// One operation: attempts until a final answer, or until there were enough of them.
fn operation(habit: Habit, line: &mut Line, key: &str) -> bool {
    let layers = match habit {
        Habit::RetriesInLayers => 3,
        _ => 1,
    };
    let attempts = match habit {
        Habit::RetriesInLayers => 3,
        Habit::NeverRetries | Habit::SendsNoKeyAndNeverRetries | Habit::ResendsOnKeptConnection => {
            1
        }
        Habit::RetriesForEver => u32::MAX,
        // Two calls under one key count as one.
        Habit::KeepsKeyForNextCall => ATTEMPTS - 1,
        _ => ATTEMPTS,
    };
    let mut number = 0;
    for layer in 0..layers {
        if layer > 0 {
            std::thread::sleep(varied(PAUSE * 6));
        }
        for attempt in 0..attempts {
            let answer = attempt_once(habit, line, key, number);
            number += 1;
            match &answer {
                Ok(answer) if answer.status < 300 => return true,
                Ok(answer) if !is_retried(habit, answer.status) => return false,
                _ => {}
            }
            if attempt + 1 < attempts {
                std::thread::sleep(pause(habit, attempt, answer.as_ref().ok()));
            }
        }
    }
    if habit == Habit::KeepsKeyOnDisk {
        // Whatever it says: the outcome was asked for.
        let _ = line.send("GET", "/payments?reference=order-1", &[], "", TIMEOUT);
    }
    false
}

fn attempt_once(habit: Habit, line: &mut Line, key: &str, number: u32) -> Result<Answer, String> {
    let key = match habit {
        Habit::SendsNewKeyPerAttempt if number > 0 => Some(uuid()),
        Habit::SendsNoKey | Habit::SendsNoKeyAndNeverRetries | Habit::ResendsOnKeptConnection => {
            None
        }
        Habit::SendsKeyFromSecondOn if number == 0 => None,
        _ => Some(key.to_owned()),
    };
    let body = match habit {
        Habit::SendsEmptyBodyAgain if number > 0 => "",
        _ => BODY,
    };
    let mut headers = vec![
        ("Authorization", "Bearer tenant-a".to_owned()),
        ("Content-Type", "application/json".to_owned()),
    ];
    if let Some(key) = key {
        headers.push(("Idempotency-Key", key));
    }
    line.send("POST", "/payments", &headers, body, TIMEOUT)
}

/// Whether asking again may help.
fn is_retried(habit: Habit, status: u16) -> bool {
    match status {
        409 => habit != Habit::GivesUpInProgress,
        429 | 500..=599 => true,
        400..=499 => habit == Habit::RetriesRefused,
        _ => false,
    }
}

/// How long to wait before the next attempt.
fn pause(habit: Habit, attempt: u32, answer: Option<&Answer>) -> Duration {
    let own = match habit {
        Habit::PausesAlike => Duration::from_millis(100),
        Habit::NeverPauses => Duration::ZERO,
        Habit::RetriesForEver => varied(PAUSE),
        Habit::NeverCapsPauses => varied(PAUSE * 3_u32.pow(attempt)),
        Habit::RetriesAtOnceFirst if attempt == 0 => Duration::ZERO,
        _ => varied(PAUSE * 2_u32.pow(attempt)),
    };
    let asked = answer.and_then(|answer| answer.retry_after);
    match asked.filter(|_| habit != Habit::IgnoresRetryAfter) {
        Some(asked) => asked + own,
        None => own,
    }
}

/// A time between this one and twice it.
fn varied(time: Duration) -> Duration {
    let chance = uuid::Uuid::new_v4();
    let chance = chance.as_bytes();
    let share = f64::from(u16::from_le_bytes([chance[0], chance[1]])) / 65_536.0;
    time + time.mul_f64(share)
}

fn uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// FNV-1a, as good as any for a bad habit.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
