//! Walks a syntax tree and hashes the code of each symbol. The walk does not recurse: code may be nested deeply.

use std::ops::Range;

use sha2::{Digest, Sha256};
use tree_sitter::{Node, Tree};

use crate::languages::{Kind, Language, Role};
use crate::names::{self, LONGEST};

/// What is hashed: a token, text between tokens, and the begin and end of a node, because the same tokens nested in another
/// way are other code.
const TOKEN: u8 = 1;
const GAP: u8 = 2;
const BEGIN: u8 = 3;
const END: u8 = 4;

/// A walk through the tree of a text.
pub(crate) struct Scan<'a> {
    language: &'a Language,
    text: &'a [u8],
    /// The symbols and scopes around the current node.
    around: Vec<Around>,
    /// Whether a value at the current depth is a symbol, for each depth.
    plain: Vec<bool>,
    /// The tokens of the attributes before the current node.
    attributes: Vec<Range<usize>>,
}

/// A symbol or scope around the current node.
struct Around {
    name: String,
    /// Absent for a scope.
    code: Option<Code>,
    depth: usize,
}

/// The code of a symbol up to a place.
struct Code {
    hash: Sha256,
    upto: usize,
}

impl Code {
    fn add(&mut self, tag: u8, bytes: &[u8]) {
        self.hash.update([tag]);
        self.hash.update((bytes.len() as u64).to_le_bytes());
        self.hash.update(bytes);
    }

    /// What is in no token, such as the text of some strings, up to a place.
    fn gap(&mut self, text: &[u8], to: usize) {
        let gap = text.get(self.upto..to).unwrap_or_default().trim_ascii();
        if !gap.is_empty() {
            self.add(GAP, gap);
        }
        self.upto = self.upto.max(to);
    }

    fn token(&mut self, text: &[u8], at: Range<usize>) {
        self.gap(text, at.start);
        self.upto = self.upto.max(at.end);
        if let Some(token) = text.get(at).filter(|token| !token.is_empty()) {
            self.add(TOKEN, token);
        }
    }
}

impl<'a> Scan<'a> {
    pub(crate) fn new(language: &'a Language, text: &'a [u8]) -> Self {
        Self { language, text, around: vec![], plain: vec![true], attributes: vec![] }
    }

    /// Hands each symbol to `found`, until that returns false; then the walk ends and this is false, too.
    pub(crate) fn run(mut self, tree: &Tree, mut found: impl FnMut(String, Sha256) -> bool) -> bool {
        let mut cursor = tree.walk();
        loop {
            if self.enter(cursor.node()) && cursor.goto_first_child() {
                continue;
            }
            loop {
                if !self.leave(cursor.node(), &mut found) {
                    return false;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
                self.unclaimed();
                if !cursor.goto_parent() {
                    return true;
                }
            }
        }
    }

    /// Enters a node; whether to go on with its children. Whatever it is, the depth is one more until it is left.
    fn enter(&mut self, node: Node<'_>) -> bool {
        let plain = self.plain.last().copied().unwrap_or_default();
        if self.skipped(node) {
            self.skip(node.byte_range());
            if !node.is_extra() {
                tokens(node, &mut self.attributes);
            }
            self.plain.push(false);
            return false;
        }
        let kind = self.language.kinds.iter().find(|kind| node.is_named() && kind.node == node.kind());
        let begun = kind.filter(|kind| plain || kind.role != Role::Value).and_then(|kind| self.begun(kind, node));
        match begun {
            Some((name, role)) => {
                self.plain.push(plain && matches!(role, Role::Type | Role::Scope));
                self.begin(name, role, node.start_byte());
            }
            None => {
                self.unclaimed();
                self.plain.push(plain && self.language.through.contains(&node.kind()));
            }
        }
        match self.around.last_mut() {
            Some(Around { code: Some(code), .. }) if node.child_count() == 0 => {
                code.token(self.text, node.byte_range())
            }
            Some(Around { code: Some(code), depth, .. }) if *depth != self.plain.len() => code.add(BEGIN, &[]),
            _ => {}
        }
        true
    }

    /// Whether a node is no code of the symbol around it: a comment, or an attribute of the next symbol.
    fn skipped(&self, node: Node<'_>) -> bool {
        is_comment(node) || self.language.prefixes.contains(&node.kind())
    }

    /// Leaves a node; hands it to `found` if it is a symbol.
    fn leave(&mut self, node: Node<'_>, found: &mut impl FnMut(String, Sha256) -> bool) -> bool {
        let depth = self.plain.len();
        self.plain.pop();
        let Some(ended) = self.around.pop_if(|around| around.depth == depth) else {
            if node.child_count() > 0 && !self.skipped(node) {
                self.add(END, &[]);
            }
            return true;
        };
        // It is not part of the symbol around it.
        if let Some(Around { code: Some(outer), .. }) = self.around.last_mut() {
            outer.upto = outer.upto.max(node.end_byte());
        }
        let Some(mut code) = ended.code else { return true };
        code.gap(self.text, node.end_byte());
        found(ended.name, code.hash)
    }

    /// The qualified name of a node that begins a symbol or scope.
    fn begun(&self, kind: &Kind, node: Node<'_>) -> Option<(String, Role)> {
        let name = names::of(kind, node, self.text)?;
        let name = match self.around.last() {
            Some(around) => format!("{}{}{name}", around.name, self.language.separator),
            None => name,
        };
        (name.len() <= LONGEST).then_some((name, kind.role))
    }

    fn begin(&mut self, name: String, role: Role, at: usize) {
        let depth = self.plain.len();
        let mut code = (role != Role::Scope).then(|| Code { hash: Sha256::new(), upto: at });
        match &mut code {
            Some(code) => {
                for attribute in self.attributes.drain(..) {
                    code.add(TOKEN, self.text.get(attribute).unwrap_or_default());
                }
            }
            None => self.unclaimed(),
        }
        self.skip(at..at);
        self.around.push(Around { name, code, depth });
    }

    /// The attributes belong to no symbol after them: they are code of the one around them.
    fn unclaimed(&mut self) {
        for attribute in std::mem::take(&mut self.attributes) {
            self.add(TOKEN, self.text.get(attribute).unwrap_or_default());
        }
    }

    /// Something is not part of the code.
    fn skip(&mut self, at: Range<usize>) {
        if let Some(Around { code: Some(code), .. }) = self.around.last_mut() {
            code.gap(self.text, at.start);
            code.upto = code.upto.max(at.end);
        }
    }

    fn add(&mut self, tag: u8, bytes: &[u8]) {
        if let Some(Around { code: Some(code), .. }) = self.around.last_mut() {
            code.add(tag, bytes);
        }
    }
}

fn is_comment(node: Node<'_>) -> bool {
    node.is_extra() && !node.is_error()
}

/// Adds the tokens of a node.
fn tokens(node: Node<'_>, found: &mut Vec<Range<usize>>) {
    let mut cursor = node.walk();
    loop {
        let comment = is_comment(cursor.node());
        if !comment && cursor.goto_first_child() {
            continue;
        }
        if !comment {
            found.push(cursor.node().byte_range());
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
