//! The commands `check` and `init`, and servers that the tool starts itself, from the outside: what
//! they print, how they end, and what they leave behind.

mod api;
mod from_curl;
mod server;
mod target_file;

use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with files, in which commands run.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file is written");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("the file is there")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The tool, with the owner's token in its environment.
    fn idemspec(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("idemspec"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env("API_TOKEN", "tenant-a")
            .env_remove("RUST_BACKTRACE");
        command
    }

    fn run(&self, arguments: &[&str]) -> Done {
        Done::of(self.idemspec(arguments).output().expect("it runs"))
    }
}

/// How a command ended, and what it said.
#[derive(Debug)]
struct Done {
    code: Option<i32>,
    says: String,
    remarks: String,
}

impl Done {
    fn of(output: Output) -> Done {
        Done {
            code: output.status.code(),
            says: String::from_utf8_lossy(&output.stdout).into_owned(),
            remarks: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The line about something.
    fn line(&self, name: &str) -> &str {
        self.says
            .lines()
            .find(|line| {
                let line = line.trim_start().trim_start_matches(['✓', '✗', '–']);
                line.trim_start().starts_with(name)
            })
            .unwrap_or_else(|| panic!("no line about {name}: {self:?}"))
    }
}
