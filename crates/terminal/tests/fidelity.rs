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
    // And where the cursor is saved, so that it is compared there.
    cuts.extend(memchr::memmem::find_iter(&stream.bytes, b"\x1b7").map(|at| at + 2).step_by(5).take(12));
    cuts.retain(|cut| *cut < stream.bytes.len());
    cuts.sort();
    cuts.dedup();
    cuts
}

#[test]
fn a_snapshot_looks_the_same_in_the_page_s_emulator() {
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

/// Streams that the other emulator understands as we do; it knows no tabs, no odd modes, no joined emoji.
const OTHER: [&str; 28] = [
    "agent",
    "bat",
    "build-log",
    "cmatrix",
    "dialog",
    "dialog-gauge",
    "docker-build",
    "fzf",
    "git-diff",
    "git-log",
    "git-log-pager",
    "htop",
    "less",
    "ls",
    "man",
    "mc",
    "monitor",
    "nano",
    "ncdu",
    "npm-spinner",
    "pip-progress",
    "progress",
    "ranger",
    "synchronized",
    "top",
    "true-colour",
    "vim",
    "watch",
];

/// `top` erases to the end of a line that it has just filled. As in xterm, the other emulator has the cursor on the last
/// cell and erases that; in the page it is behind the cell and erases nothing. So that column is not compared.
const FILLED: [&str; 1] = ["top"];

#[test]
fn a_snapshot_looks_the_same_in_another_emulator() {
    let mut joins = 0;
    let mut failures = Vec::new();
    for stream in streams::all().into_iter().filter(|stream| OTHER.contains(&stream.name.as_str())) {
        let mut numbers = Numbers(3 + stream.bytes.len() as u64);
        for cut in cuts(&stream, &mut numbers) {
            let mut screen = Screen::new(COLS, ROWS, 1000);
            screen.feed(&stream.bytes[..cut]);
            let size = || shpool_vterm::Size { width: COLS.into(), height: ROWS.into() };
            let mut whole = shpool_vterm::Term::new(ROWS.into(), size());
            whole.process(&stream.bytes[..cut]);
            let mut joined = shpool_vterm::Term::new(ROWS.into(), size());
            joined.process(&screen.snapshot().bytes);
            joins += 1;
            for rest in [&[][..], &stream.bytes[cut..]] {
                whole.process(rest);
                joined.process(rest);
                let [one, other] = [&whole, &joined].map(|term| {
                    let mut shown = Screen::new(COLS, ROWS, 0);
                    shown.feed(&term.contents(shpool_vterm::ContentRegion::Screen));
                    if FILLED.contains(&stream.name.as_str()) {
                        shown.feed(b"\x1b[0m");
                        (1..=ROWS).for_each(|row| shown.feed(format!("\x1b[{row};{COLS}H\x1b[X").as_bytes()));
                    }
                    // All that can be seen, not only the text.
                    (shown.text(), shown.snapshot().bytes)
                });
                if one != other {
                    let lines = one.0.lines().zip(other.0.lines()).find(|(one, other)| one != other);
                    failures.push(format!("{} at {cut}, {} more: {lines:?}", stream.name, rest.len()));
                    break;
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {joins} joins differ:\n{}", failures.len(), failures.join("\n"));
}
