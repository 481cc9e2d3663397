//! The files below `corpus/bad`: cases of a title, a recipe, and after `---` its errors.

use std::fs;
use std::path::{Path, PathBuf};

use super::lines;
use crate::{Format, read};

/// A recipe of a file, and what is said about it.
pub(super) struct Case {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) said: String,
}

const CUT: &str = "--- says\n";

/// The path of a file of the corpus.
pub(super) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

/// Whether the expected texts are written instead of compared.
pub(super) fn blesses() -> bool {
    std::env::var_os("BLESS_RECIPES").is_some()
}

/// The cases of a file, after its introduction.
pub(super) fn cases(name: &str) -> (String, Vec<Case>) {
    let whole = fs::read_to_string(file(name)).unwrap();
    let mut parts = whole.split("\n=== ");
    let intro = parts.next().unwrap_or_default().to_owned();
    assert!(!intro.starts_with("=== "), "{name} begins with an introduction");
    let case = |part: &str| {
        let (title, rest) = part.split_once('\n').unwrap_or((part, ""));
        let (text, said) = rest.split_once(CUT).unwrap_or((rest, ""));
        Case { title: title.to_owned(), text: text.to_owned(), said: said.trim_end().to_owned() }
    };
    (intro, parts.map(case).collect())
}

fn check(name: &str) {
    let (intro, mut cases) = cases(name);
    for case in &mut cases {
        let errors = match read(&case.text, Format::Yaml) {
            Ok(_) => panic!("{}: it has no errors\n{}", case.title, case.text),
            Err(errors) => errors,
        };
        let places: Vec<_> = errors.iter().map(|error| (error.line, error.column)).collect();
        assert!(places.is_sorted(), "{}: {places:?}", case.title);
        let said = lines(&errors).trim_end().to_owned();
        if blesses() {
            case.said = said;
        } else {
            assert_eq!(said, case.said, "{}\n{}", case.title, case.text);
        }
    }
    if blesses() {
        let end = |text: &str| if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        let one = |case: &Case| format!("\n=== {}\n{}{}{CUT}{}\n", case.title, case.text, end(&case.text), case.said);
        fs::write(file(name), intro + &cases.iter().map(one).collect::<String>()).unwrap();
    }
}

#[test]
fn wrong_shapes() {
    check("bad/shape.txt");
}

#[test]
fn wrong_meanings() {
    check("bad/meaning.txt");
}

#[test]
fn wrong_texts() {
    check("bad/text.txt");
}
