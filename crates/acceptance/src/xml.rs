//! Whether a text is XML; refuses documents that would grow without limit inside the parser.
//!
//! The parser does not recurse for elements, but it expands entities at every reference, compares each attribute with
//! the others of its element, and copies namespaces to each element that declares one.

use std::collections::{HashMap, HashSet};

/// Maximum number of elements, texts and comments.
const MOST_NODES: u32 = 1_000_000;
const MOST_ENTITIES: usize = 1000;
/// Maximum total size of expanded entities.
const MOST_ADDED: usize = 16 << 20;
/// How deep the parser expands nested entities.
const ENTITIES_DEEP: usize = 10;
/// Maximum attributes of one element.
const MOST_ATTRIBUTES: usize = 1000;
/// Maximum comparisons of prefixes.
const MOST_COMPARED: usize = 1_000_000_000;

/// Checks the text; an error says what is wrong and where.
pub(crate) fn parses(text: &str) -> Result<(), String> {
    bounded(text)?;
    let options = roxmltree::ParsingOptions { allow_dtd: true, nodes_limit: MOST_NODES, ..Default::default() };
    roxmltree::Document::parse_with_options(text, options).map(drop).map_err(|error| error.to_string())
}

/// Refuses documents that are much harder to parse than to write. The parser reports other errors.
fn bounded(text: &str) -> Result<(), String> {
    let (entities, content) = prolog(text);
    if entities.len() > MOST_ENTITIES {
        return Err(format!("it declares more than {MOST_ENTITIES} entities"));
    }
    if added(&entities, content) > MOST_ADDED {
        return Err(format!("its entities expand to more than {MOST_ADDED} bytes"));
    }
    let mut spaces = Spaces::default();
    tags(content, 1, &mut spaces)?;
    for (_, value) in &entities {
        // The number of expansions is unknown.
        tags(value, MOST_NODES as usize, &mut spaces)?;
    }
    let known = spaces.prefixes.len();
    if spaces.declared.saturating_mul(known).saturating_mul(known) > MOST_COMPARED {
        return Err("it declares too many namespaces".to_owned());
    }
    Ok(())
}

/// Counts namespace declarations.
#[derive(Default)]
struct Spaces<'a> {
    prefixes: HashSet<&'a str>,
    declared: usize,
}

/// The total size of all expanded references.
fn added(entities: &[(&str, &str)], content: &str) -> usize {
    let mut places = HashMap::new();
    for (place, (name, _)) in entities.iter().enumerate() {
        places.entry(*name).or_insert(place);
    }
    let asked = |text: &str| -> Vec<usize> {
        let names = text.split('&').skip(1).filter_map(|after| after.split_once(';'));
        names.filter_map(|(name, _)| places.get(name).copied()).collect()
    };
    let own: Vec<(usize, Vec<usize>)> = entities.iter().map(|(_, value)| (value.len(), asked(value))).collect();
    let all = |sizes: &[usize], asked: &[usize]| asked.iter().fold(0_usize, |sum, at| sum.saturating_add(sizes[*at]));
    let mut sizes = vec![0; own.len()];
    for _ in 0..=ENTITIES_DEEP {
        sizes = own.iter().map(|(size, asked)| size.saturating_add(all(&sizes, asked))).collect();
    }
    all(&sizes, &asked(content))
}

/// A document's entities by name, and the rest of the document.
fn prolog(text: &str) -> (Vec<(&str, &str)>, &str) {
    let mut entities = Vec::new();
    let content = after_prolog(text, &mut entities).unwrap_or_default();
    (entities, content)
}

/// `None` where the parser stops, too.
fn after_prolog<'a>(text: &'a str, entities: &mut Vec<(&'a str, &'a str)>) -> Option<&'a str> {
    let mut left = text.strip_prefix('\u{feff}').unwrap_or(text);
    if left.starts_with("<?xml ") {
        left = &left[unquoted(left, &['>'])? + 1..];
    }
    loop {
        left = left.trim_start_matches(SPACE);
        match skipped(left) {
            Skip::Past(after) => left = after,
            Skip::Unclosed => return None,
            Skip::Not => break,
        }
    }
    let Some(kind) = left.strip_prefix("<!DOCTYPE") else { return Some(left) };
    let end = unquoted(kind, &['[', '>'])?;
    left = &kind[end + 1..];
    if kind[end..].starts_with('>') {
        return Some(left);
    }
    loop {
        left = left.trim_start_matches(SPACE);
        if let Some(entity) = left.strip_prefix("<!ENTITY") {
            let entity = entity.trim_start_matches(SPACE).trim_start_matches('%').trim_start_matches(SPACE);
            let (name, rest) = entity.split_once(SPACE)?;
            left = rest.trim_start_matches(SPACE);
            if let Some(quote) = left.chars().next().filter(|c| QUOTE.contains(c)) {
                let (value, rest) = left[1..].split_once(quote)?;
                entities.push((name, value));
                left = rest;
            }
            left = &left[unquoted(left, &['>'])? + 1..];
            continue;
        }
        match skipped(left) {
            Skip::Past(after) => left = after,
            Skip::Unclosed => return None,
            Skip::Not if left.starts_with(']') => return left[1..].trim_start_matches(SPACE).strip_prefix('>'),
            Skip::Not => left = left.strip_prefix("<!")?.split_once('>')?.1,
        }
    }
}

const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
const QUOTE: [char; 2] = ['"', '\''];

/// The first position of one of these, outside quotes.
fn unquoted(text: &str, wanted: &[char]) -> Option<usize> {
    let mut quote = None;
    text.char_indices().find_map(|(at, c)| {
        match quote {
            Some(open) if open == c => quote = None,
            Some(_) => {}
            None if wanted.contains(&c) => return Some(at),
            None => quote = Some(c).filter(|c| QUOTE.contains(c)),
        }
        None
    })
}

enum Skip<'a> {
    Past(&'a str),
    Unclosed,
    Not,
}

/// The rest after a comment, a CDATA section or an instruction.
fn skipped(text: &str) -> Skip<'_> {
    for (open, close) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
        if let Some(inside) = text.strip_prefix(open) {
            return inside.split_once(close).map_or(Skip::Unclosed, |(_, after)| Skip::Past(after));
        }
    }
    Skip::Not
}

/// Checks each tag; its declarations count as often as it may be expanded.
fn tags<'a>(text: &'a str, times: usize, spaces: &mut Spaces<'a>) -> Result<(), String> {
    let mut left = text;
    while let Some(at) = left.find('<') {
        left = &left[at..];
        match skipped(left) {
            Skip::Past(after) => left = after,
            Skip::Unclosed => return Ok(()),
            Skip::Not => left = tag(&left[1..], times, spaces)?,
        }
    }
    Ok(())
}

/// Counts one tag's attributes, and returns the rest.
fn tag<'a>(text: &'a str, times: usize, spaces: &mut Spaces<'a>) -> Result<&'a str, String> {
    let (mut left, mut attributes) = (text, 0);
    while let Some(at) = left.find(['"', '\'', '<', '>']) {
        let (name, value) = left.split_at(at);
        let Some(quote) = value.chars().next().filter(|c| QUOTE.contains(c)) else {
            return Ok(value.strip_prefix('>').unwrap_or(value));
        };
        attributes += 1;
        if attributes > MOST_ATTRIBUTES {
            return Err(format!("an element has more than {MOST_ATTRIBUTES} attributes"));
        }
        let name = name.trim_end_matches(SPACE).trim_end_matches('=').trim_end_matches(SPACE);
        let name = name.rsplit(SPACE).next().unwrap_or(name);
        if name == "xmlns" || name.starts_with("xmlns:") {
            spaces.prefixes.insert(name);
            spaces.declared = spaces.declared.saturating_add(times);
        }
        let Some((_, after)) = value[1..].split_once(quote) else { break };
        left = after;
    }
    // An unclosed tag: the parser reports it.
    Ok("")
}
