//! A snapshot and what follows it show what the whole stream shows: in the emulator of the page, and in another one.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::process::Command;

use support::streams::{self, Numbers, Stream};
use terminal::Screen;

const COLS: u16 = 120;
const ROWS: u16 = 32;
const JOINS: usize = 12;

/// Where a stream is joined: anywhere, and inside escape sequences.
fn cuts(stream: &Stream, numbers: &mut Numbers) -> Vec<usize> {
    let escapes: Vec<usize> = memchr::memchr_iter(0x1B, &stream.bytes).collect();
    let mut cuts: Vec<usize> = (0..JOINS)
        .map(|join| match join % 2 {
            0 => numbers.below(stream.bytes.len()),
            _ => escapes.get(numbers.below(escapes.len())).map_or(0, |at| at + 1 + numbers.below(6)),
        })
        .filter(|cut| *cut < stream.bytes.len())
        .collect();
    cuts.sort();
    cuts.dedup();
    cuts
}

#[test]
fn in_the_emulator_of_the_page() {
    let xterm = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/xterm");
    assert!(
        xterm.join("node_modules/@xterm/headless").exists(),
        "the emulator of the page is not installed: run npm ci in crates/terminal/tests/xterm"
    );
    let dir = tempfile::tempdir().unwrap();
    let mut jobs = Vec::new();
    let mut largest = (0, String::new());
    for stream in streams::all() {
        let mut numbers = Numbers(stream.bytes.len() as u64);
        let data = format!("{}.data", stream.name);
        std::fs::write(dir.path().join(&data), &stream.bytes).unwrap();
        let mut steps: Vec<(usize, Option<(u16, u16)>)> =
            cuts(&stream, &mut numbers).into_iter().map(|cut| (cut, None)).collect();
        steps.extend(stream.resizes.iter().map(|(at, cols, rows)| (*at, Some((*cols, *rows)))));
        steps.sort_by_key(|(at, _)| *at);
        let mut screen = Screen::new(COLS, ROWS, 1000);
        let mut at = 0;
        let mut described = Vec::new();
        for (number, (cut, size)) in steps.into_iter().enumerate() {
            screen.feed(&stream.bytes[at..cut]);
            at = cut;
            if let Some((cols, rows)) = size {
                screen.resize(cols, rows);
            }
            let snapshot = screen.snapshot().bytes;
            if snapshot.len() > largest.0 {
                largest = (snapshot.len(), stream.name.clone());
            }
            let file = format!("{}.{number}", stream.name);
            std::fs::write(dir.path().join(&file), &snapshot).unwrap();
            let size = size.map(|(cols, rows)| vec![cols, rows]);
            described.push(serde_json::json!({ "at": cut, "snapshot": file, "size": size, "again": true }));
        }
        jobs.push(serde_json::json!({
            "name": stream.name, "cols": COLS, "rows": ROWS, "data": data, "steps": described
        }));
    }
    assert!(jobs.len() >= 30, "{} streams", jobs.len());
    std::fs::write(dir.path().join("jobs.json"), serde_json::to_vec(&jobs).unwrap()).unwrap();
    let compared = Command::new("node").arg(xterm.join("compare.mjs")).arg(dir.path()).output().unwrap();
    let told = String::from_utf8_lossy(&compared.stdout);
    assert!(compared.status.success(), "{told}{}", String::from_utf8_lossy(&compared.stderr));
    println!("{told}largest snapshot: {} bytes of {}", largest.0, largest.1);
}
