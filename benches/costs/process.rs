//! What a process took, as the system tells.

use std::error::Error;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a process took.
pub struct Cost {
    /// From its start to its end.
    pub wall: Duration,
    /// Of itself and of its children, user and system.
    pub cpu: Duration,
    /// The most memory that it ever held, in KiB.
    pub peak_kib: u64,
}

/// How often the memory is looked at.
const LOOK: Duration = Duration::from_millis(2);
/// The system counts CPU time in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// Runs a program to its end.
pub fn cost(command: &[&str]) -> Result<Cost, Box<dyn Error>> {
    let before = children_ticks()?;
    let start = Instant::now();
    let mut process = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut peak_kib = 0;
    let status = loop {
        // What is read as it ends is incomplete, and smaller than what was read before.
        peak_kib = peak_kib.max(high_water(process.id()).unwrap_or_default());
        if let Some(status) = process.try_wait()? {
            break status;
        }
        std::thread::sleep(LOOK.min(start.elapsed() / 8));
    };
    let wall = start.elapsed();
    if !status.success() {
        let mut says = String::new();
        if let Some(mut error) = process.stderr.take() {
            std::io::Read::read_to_string(&mut error, &mut says)?;
        }
        return Err(format!("{command:?} ended with {status}: {says}").into());
    }
    let ticks = u32::try_from(children_ticks()? - before)?;
    Ok(Cost {
        wall,
        cpu: TICK * ticks,
        peak_kib,
    })
}

/// CPU time of all children that have ended, in ticks: fields 16 and 17 of proc_pid_stat(5).
fn children_ticks() -> Result<u64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, after_name) = stat.rsplit_once(") ").ok_or("no name")?;
    let fields: Vec<&str> = after_name.split(' ').collect();
    Ok(fields[13].parse::<u64>()? + fields[14].parse::<u64>()?)
}

/// The high-water mark of a process's memory, in KiB.
fn high_water(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
