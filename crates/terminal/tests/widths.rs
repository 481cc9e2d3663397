//! The page must give characters the width that the host gives them; this keeps its table in step.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

fn ranges(width: usize) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for code in 0xA0..=0x10_FFFFu32 {
        if char::from_u32(code).and_then(|character| character.width()) != Some(width) {
            continue;
        }
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == code => *last = code,
            _ => ranges.push((code, code)),
        }
    }
    let mut out = String::new();
    for row in ranges.chunks(8) {
        let _ = write!(out, "\n ");
        for (first, last) in row {
            let _ = write!(out, " 0x{first:x}, 0x{last:x},");
        }
    }
    out
}

#[test]
fn the_table_of_the_page_is_that_of_the_host() {
    let table = format!(
        "// The width of characters as the session host has it. Written by\n\
         // `UPDATE_WIDTHS=1 cargo nextest run -p terminal --test widths`.\n\n\
         // First and last of each range without width, and of each that takes two cells.\n\
         // prettier-ignore\nconst ZERO = [{}\n];\n\n// prettier-ignore\nconst WIDE = [{}\n];\n{}",
        ranges(0),
        ranges(2),
        include_str!("xterm/provider.txt")
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/ui/terminal/widths.js");
    if std::env::var_os("UPDATE_WIDTHS").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let current = std::fs::read_to_string(path).unwrap_or_default();
    assert!(current == table, "run UPDATE_WIDTHS=1 cargo nextest run -p terminal --test widths");
}
