//! What ends a server, and removes its folder, when the tool itself is killed and can do neither.

use super::words::fresh_word;
use std::io::{Result, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Remembers the process group that it is told last. At the end of its input, which ends with us
/// however we end, it ends that group and removes the folder.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
group=
while read -r line; do group=$line; done
[ -z "$group" ] || kill -s KILL -- "-$group" 2>/dev/null
rm -rf -- "$1"
"#;

/// A small process in a group of its own.
pub(super) struct Guard {
    child: Child,
    input: Option<ChildStdin>,
    folder: PathBuf,
}

impl Guard {
    /// Starts it, with a new folder that only this user may look into.
    ///
    /// # Errors
    /// When the folder cannot be made, or no process can be started.
    pub(super) fn new() -> Result<Guard> {
        let folder = std::env::temp_dir().join(format!("idemspec-{}", fresh_word()));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        let mut command = Command::new("sh");
        command
            .args(["-c", SCRIPT, "guard"])
            .arg(&folder)
            .current_dir(std::env::temp_dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // Ctrl-C in a terminal goes to the whole group of the tool.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let started = command.spawn();
        if started.is_err() {
            // Of the two problems the other one is told.
            let _ = std::fs::remove_dir(&folder);
        }
        let mut child = started?;
        let input = child.stdin.take();
        Ok(Guard {
            child,
            input,
            folder,
        })
    }

    /// The folder that is removed with it.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// From now on it would end this group; `None` is nobody.
    ///
    /// # Errors
    /// When it has ended.
    pub(super) fn watch_over(&mut self, group: Option<i32>) -> Result<()> {
        let line = group.map_or_else(String::new, |group| group.to_string());
        match &mut self.input {
            Some(input) => writeln!(input, "{line}").and_then(|()| input.flush()),
            None => Ok(()),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.input.take());
        // It ends at once; an error is that somebody else has collected it.
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::Guard;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Command;

    #[test]
    fn with_its_input_end_the_group_and_the_folder() {
        let mut server = Command::new("sleep");
        let mut server = server.arg("600").process_group(0).spawn().expect("it runs");
        let mut guard = Guard::new().expect("it starts");
        let folder = guard.folder().to_owned();
        std::fs::write(folder.join("data"), "x").expect("it can be written");
        let group = i32::try_from(server.id()).expect("a number");
        guard.watch_over(Some(group)).expect("it listens");
        drop(guard);
        let ended = server.wait().expect("it has ended");
        assert_eq!(ended.signal(), Some(9));
        assert!(!folder.exists());
    }

    #[test]
    fn a_group_that_is_nobodys_any_more_is_left_alone() {
        let mut other = Command::new("sleep");
        let mut other = other.arg("600").process_group(0).spawn().expect("it runs");
        let mut guard = Guard::new().expect("it starts");
        let group = i32::try_from(other.id()).expect("a number");
        guard.watch_over(Some(group)).expect("it listens");
        guard.watch_over(None).expect("it listens");
        drop(guard);
        assert!(other.try_wait().expect("it can be asked").is_none());
        other.kill().expect("it can be ended");
        other.wait().expect("it has ended");
    }
}
