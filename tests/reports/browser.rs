//! The page in a real browser, where one is installed: its script may work under its own policy.

use super::sample;
use idemspec::report::{Format, Options, render};
use std::path::PathBuf;
use std::process::Command;

/// Debian's name for the browser.
const BROWSER: &str = "chromium";

fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(BROWSER))
        .find(|file| file.exists())
}

#[test]
fn the_filter_works_in_a_browser() {
    let Some(browser) = installed() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("report.html");
    let page = render(&sample::report(), Format::Html, &Options::default());
    std::fs::write(&file, page).expect("it can be written");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("it starts");
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(page.contains("<output>3 of 3 cases</output>"), "{page}");
    assert!(!page.contains("<form id=\"filter\" hidden"), "it is shown");
}
