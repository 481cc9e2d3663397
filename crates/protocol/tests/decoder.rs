//! The decoder of clients' frames, against frames of every verb and what becomes of them when they are damaged.

#[path = "support/calls.rs"]
mod calls;
#[path = "support/check.rs"]
mod check;

use check::check;
use protocol::{Call, PROTOCOL, Place, ToHub};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

/// A short run; `cargo +nightly fuzz run decode` in `fuzz/` goes on for as long as one likes.
const INPUTS: u32 = 200_000;

/// What decoders trip over.
const WORDS: [&str; 34] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "true",
    "-1",
    "0",
    "1e999",
    "18446744073709551616",
    "4294967296",
    "\\",
    "\\u0000",
    "\\ud800",
    "\\ud83d\\ude00",
    "\u{feff}",
    "\u{0}",
    "\u{202e}",
    "type",
    "verb",
    "input",
    "call",
    "id",
    "key",
    "request",
    "hello",
    "look",
    "prj_",
    "/*",
    "'",
    "NaN",
];

/// A frame of each verb, and the others.
fn seeds() -> Vec<Vec<u8>> {
    let project = "prj_01a1e119f7ce75098aed4a97f220a95d".parse().expect("an id");
    let mut frames: Vec<ToHub> = calls::one_of_each()
        .into_iter()
        .zip(1..)
        .map(|(call, id)| ToHub::Request { id, key: (id % 2 == 0).then(|| format!("key {id}")), call })
        .collect();
    assert_eq!(frames.len(), Call::VERBS.len());
    frames.push(ToHub::Hello { protocol: PROTOCOL, hub: None, since: None, client: None });
    let hub = Some("hub_01a1e119f7ce75098aed4a97f220a95d".parse().expect("an id"));
    frames.push(ToHub::Hello { protocol: 9, hub, since: Some(domain::Seq(7)), client: Some("é".into()) });
    frames.push(ToHub::Look { at: None, visible: false });
    frames.push(ToHub::Look { at: Some(Place { project, activity: None }), visible: false });
    frames.iter().map(|frame| serde_json::to_vec(frame).expect("JSON")).collect()
}

fn damage(rng: &mut StdRng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds.choose(rng).expect("seeds").clone();
    for _ in 0..rng.random_range(0..4) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.random_range(0..bytes.len());
        let end = (at + rng.random_range(0..20)).min(bytes.len());
        match rng.random_range(0..8) {
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => bytes[at] = rng.random(),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part.repeat(rng.random_range(1..5)));
            }
            4 => {
                let word = WORDS.choose(rng).expect("words");
                bytes.splice(at..at, word.bytes());
            }
            5 => {
                let other = seeds.choose(rng).expect("seeds");
                let from = rng.random_range(0..other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            6 => bytes.truncate(at),
            _ => {
                let open = *b"[{\"".choose(rng).expect("three");
                bytes.splice(at..at, vec![open; rng.random_range(1..300)]);
            }
        }
    }
    bytes
}

#[test]
fn a_frame_of_every_verb_is_read() {
    for seed in seeds() {
        let frame = check(&seed).unwrap_or_else(|| panic!("not read: {}", String::from_utf8_lossy(&seed)));
        assert_eq!(serde_json::to_vec(&frame).expect("JSON"), seed);
    }
}

#[test]
fn damaged_frames_are_refused_in_words_or_still_frames() {
    let mut rng = StdRng::seed_from_u64(20_261_115);
    let seeds = seeds();
    let read = (0..INPUTS).filter(|_| check(&damage(&mut rng, &seeds)).is_some()).count() as u32;
    // Neither all nor none: the damage is small enough to get past the first byte.
    assert!((INPUTS / 50..INPUTS / 2).contains(&read), "{read} of {INPUTS} were still frames");
}

#[test]
fn long_and_deep_nonsense_is_refused_in_few_words() {
    let long = "x".repeat(900_000);
    for text in [
        long.clone(),
        format!("\"{long}\""),
        format!("{{\"type\":\"{long}\"}}"),
        format!("{{\"type\":\"request\",\"id\":1,\"call\":{{\"verb\":\"{long}\"}}}}"),
        format!("{{\"type\":\"request\",\"id\":1,\"{long}\":1,\"call\":{{\"verb\":\"me\"}}}}"),
        format!("{{\"type\":\"request\",\"id\":1,\"call\":{{\"verb\":\"me\",\"{long}\":1}}}}"),
        format!("{{\"type\":\"look\",\"at\":{{\"project\":\"{long}\"}}}}"),
        format!("{{\"type\":\"hello\",\"protocol\":{}}}", "9".repeat(100_000)),
        "[".repeat(1_000_000),
        format!("{{\"type\":\"look\",\"at\":{}", "{\"a\":".repeat(100_000)),
    ] {
        assert!(check(text.as_bytes()).is_none());
    }
}
