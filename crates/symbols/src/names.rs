//! The names of symbols, made of fields of their nodes.

use tree_sitter::{Node, TreeCursor};

use crate::languages::Kind;

/// Longest qualified name; a symbol whose name would be longer is part of the one around it.
pub(crate) const LONGEST: usize = 200;
/// How many nodes to search for the name of a type.
const SEARCHED: usize = 200;

/// The name of a node of a kind; `None` if it has none, as a syntax error leaves it.
pub(crate) fn of(kind: &Kind, node: Node<'_>, source: &[u8]) -> Option<String> {
    kind.name.iter().find_map(|form| filled(form, node, source)).filter(|name| !name.is_empty())
}

/// A form with its fields replaced by their texts.
fn filled(form: &str, node: Node<'_>, source: &[u8]) -> Option<String> {
    let mut name = String::new();
    let mut rest = form;
    while let Some((before, after)) = rest.split_once('{') {
        let (field, after) = after.split_once('}')?;
        name.push_str(before);
        match field.strip_suffix('*') {
            Some(field) => name.push_str(&text(node.child_by_field_name(field)?, source)?),
            None => name.push_str(&text(type_in(node.child_by_field_name(field)?), source)?),
        }
        rest = after;
    }
    name.push_str(rest);
    Some(name)
}

/// The first name of a type in a node, such as `Parser` in `&mut Parser<'a>`; the node itself if there is none.
fn type_in(node: Node<'_>) -> Node<'_> {
    let mut cursor = node.walk();
    for _ in 0..SEARCHED {
        if cursor.node().kind() == "type_identifier" {
            return cursor.node();
        }
        if !next(&mut cursor) {
            break;
        }
    }
    node
}

/// Goes to the next node, parents before children; false at the end.
fn next(cursor: &mut TreeCursor<'_>) -> bool {
    if cursor.goto_first_child() {
        return true;
    }
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

/// The text of a node in one line, without control characters; `None` if it is too long.
fn text(node: Node<'_>, source: &[u8]) -> Option<String> {
    let bytes = source.get(node.byte_range()).filter(|bytes| bytes.len() <= LONGEST)?;
    let text = String::from_utf8_lossy(bytes);
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    Some(words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}
