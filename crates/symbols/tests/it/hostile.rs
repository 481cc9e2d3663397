//! Text that is no code, or too much of it.

use std::time::Duration;

use proptest::prelude::*;
use symbols::{Language, Limits, changed, symbols};

/// Pieces that grammars have rules for.
const PIECES: [&str; 24] = [
    "{", "}", "(", ")", "[", "]", "<", ">", "\"", "'", "`", "${", "/*", "*/", "//", "#", "\n", "    ", "fn f",
    "class A", "def f():", "func ", "impl ", "\u{0}",
];

fn all(text: &[u8]) {
    for language in Language::all() {
        if let Some(found) = symbols(language, text, Limits::default()) {
            assert!(found.all.iter().all(|symbol| !symbol.name.is_empty() && symbol.name.len() <= 200));
            assert_eq!(changed(&found, &found), []);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        all(&bytes);
    }

    #[test]
    fn random_pieces_of_code_are_read(pieces in proptest::collection::vec(0..PIECES.len(), 0..200)) {
        all(pieces.iter().map(|at| PIECES[*at]).collect::<String>().as_bytes());
    }
}

/// On a thread with a small stack: nothing recurses.
fn with_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 * 1024).spawn(work).unwrap().join().unwrap();
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    with_a_small_stack(|| {
        let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
        for piece in ["(\n", "[\n", "{\n", "fn f() {\n", "function f() {\n", "mod m {\n", "<\n", "a(\n", "-\n"] {
            let text = piece.repeat(5000);
            for language in Language::all() {
                symbols(language, text.as_bytes(), limits);
            }
        }
        let nested: String = (0..90).map(|depth| format!("{}def f():\n", " ".repeat(depth))).collect();
        let python = Language::of("a.py".as_ref()).unwrap();
        let found = symbols(python, format!("{nested}{}pass\n", " ".repeat(90)).as_bytes(), limits).unwrap();
        assert!(found.all.iter().any(|symbol| symbol.name.matches('f').count() > 50));
    });
}

#[test]
fn work_is_limited() {
    let rust = Language::of("a.rs".as_ref()).unwrap();
    let text = "fn f() { 1 }\n".repeat(1000);
    let limits = Limits::default();
    assert_eq!(symbols(rust, text.as_bytes(), limits).unwrap().all.len(), 1000);
    assert_eq!(symbols(rust, text.as_bytes(), Limits { symbols: 999, ..limits }), None);
    assert_eq!(symbols(rust, text.as_bytes(), Limits { bytes: 1000, ..limits }), None);
    assert_eq!(symbols(rust, text.as_bytes(), Limits { time: Duration::ZERO, ..limits }), None);
    assert_eq!(symbols(rust, b"fn f() { \"\0\" }", limits), None, "binary");
    assert_eq!(symbols(rust, "fn f() { 1 }".repeat(100).as_bytes(), limits), None, "packed by a tool");
    assert!(Language::of("a.txt".as_ref()).is_none() && Language::of("rs".as_ref()).is_none());
}
