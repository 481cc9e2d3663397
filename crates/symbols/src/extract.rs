//! The symbols of one version of a file.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use tree_sitter::{ParseOptions, ParseState, Parser};

use crate::languages::Language;
use crate::scan::Scan;

/// How much work a file may be.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum length of the text in bytes.
    pub bytes: usize,
    /// Maximum number of symbols.
    pub symbols: usize,
    /// Maximum time for parsing.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 512 * 1024, symbols: 5000, time: Duration::from_millis(500) }
    }
}

/// The symbols of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbols {
    /// In the order in which they end; several may have the same name.
    pub all: Vec<Symbol>,
    /// Whether the text has a syntax error: symbols may be missing.
    pub broken: bool,
}

/// A symbol of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its qualified name, such as `Parser::next`.
    pub name: String,
    /// A hash of its code; equal for equal code.
    pub code: [u8; 32],
}

/// The symbols of a text; `None` if it is no text, too long, takes too long, or has too many symbols.
pub fn symbols(language: &Language, text: &[u8], limits: Limits) -> Option<Symbols> {
    if text.len() > limits.bytes || !written_by_people(text) {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&language.grammar.into()).ok()?;
    let start = Instant::now();
    let mut check = |_: &ParseState| match start.elapsed() < limits.time {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut check);
    let mut read = |at: usize, _| text.get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options))?;
    let mut found = Vec::new();
    let whole = Scan::new(language, text).run(&tree, |name, hash: Sha256| {
        found.push(Symbol { name, code: hash.finalize().into() });
        found.len() <= limits.symbols
    });
    whole.then(|| Symbols { all: found, broken: tree.root_node().has_error() })
}

/// Whether it is text with lines of a usual length: neither binary nor packed by a tool.
fn written_by_people(text: &[u8]) -> bool {
    const LONG: usize = 300;
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    !text.contains(&0) && text.len() / lines <= LONG
}
