//! What an expression or a template may contain, checked before minijinja compiles it.
//!
//! Fuel counts instructions, not bytes: a text that is doubled forty times fits into a line. So nothing that was
//! computed can be bound to a name (no `set`, `with`, macros), texts are not multiplied, and joins are counted.

use std::sync::OnceLock;

use regex::Regex;

use super::{EvalError, Kind};
use crate::recipes::limits;

/// The code between two delimiters, with the inside of its string literals blanked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// Whether it is `{% … %}`.
    pub statement: bool,
    /// The code.
    pub code: String,
    /// The line where it begins, from 1.
    pub line: usize,
}

/// The code of a source, after all checks.
pub(super) fn regions(text: &str, kind: Kind) -> Result<Vec<Region>, EvalError> {
    if text.len() > limits::SOURCE {
        return Err(EvalError::new(format!("it is longer than {} KiB", limits::SOURCE / 1024)));
    }
    let regions = match kind {
        Kind::Expression => {
            let (code, _) = code(text, None).ok_or_else(|| EvalError::new("it is not closed"))?;
            vec![Region { statement: false, code, line: 1 }]
        }
        Kind::Template => split(text)?,
    };
    let mut loops = 0usize;
    for region in &regions {
        check(region)?;
        if region.statement {
            loops = statement(region, loops)?;
        }
    }
    Ok(regions)
}

fn split(text: &str) -> Result<Vec<Region>, EvalError> {
    let (mut regions, mut at) = (Vec::new(), 0);
    while let Some(open) = text[at..].find('{').map(|found| at + found) {
        let line = || text[..open].matches('\n').count() + 1;
        let unclosed =
            |end: &str| EvalError::at(line(), format!("`{}` is not closed by `{end}`", &text[open..open + 2]));
        let rest = text.get(open + 2..).unwrap_or_default();
        let after = match text.as_bytes().get(open + 1) {
            Some(b'#') => rest.find("#}").ok_or_else(|| unclosed("#}"))? + 2,
            Some(b'{') | Some(b'%') => {
                let statement = text.as_bytes()[open + 1] == b'%';
                let end = if statement { "%}" } else { "}}" };
                let (code, length) = code(rest, Some(end)).ok_or_else(|| unclosed(end))?;
                regions.push(Region { statement, code, line: line() });
                length
            }
            _ => {
                at = open + 1;
                continue;
            }
        };
        at = open + 2 + after;
    }
    Ok(regions)
}

/// The code up to a delimiter outside of brackets and strings, and the length with the delimiter; as minijinja reads it.
fn code(text: &str, end: Option<&str>) -> Option<(String, usize)> {
    let (mut code, mut depth, mut quote) = (String::new(), 0usize, None);
    let mut chars = text.char_indices();
    while let Some((at, letter)) = chars.next() {
        if let Some(open) = quote {
            match letter {
                '\\' => drop(chars.next()),
                _ if letter == open => {
                    code.push(open);
                    quote = None;
                }
                _ => {}
            }
            continue;
        }
        if let Some(end) = end.filter(|end| depth == 0 && text[at..].starts_with(end)) {
            return Some((code, at + end.len()));
        }
        match letter {
            '"' | '\'' => quote = Some(letter),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        code.push(letter);
    }
    (end.is_none() && quote.is_none()).then_some((code, text.len()))
}

fn check(region: &Region) -> Result<(), EvalError> {
    let error = |message: String| Err(EvalError::at(region.line, message));
    let code = region.code.trim_matches(['-', '+']);
    if code.len() > limits::CODE {
        return error(format!("an expression is longer than {} bytes", limits::CODE));
    }
    if code.contains('*') {
        return error("`*` is not there: write `a|times(b)`".to_owned());
    }
    if code.matches(['~', '+']).count() > limits::JOINS {
        return error(format!("an expression has more than {} `~` and `+`", limits::JOINS));
    }
    if let Some(call) = pattern(&CALL, r"\bloop\s*\(").find(code) {
        return error(format!("`{}` is not there: a loop cannot call itself", call.as_str()));
    }
    Ok(())
}

static CALL: OnceLock<Regex> = OnceLock::new();
static WORD: OnceLock<Regex> = OnceLock::new();
static FOR: OnceLock<Regex> = OnceLock::new();
static CHAIN: OnceLock<Regex> = OnceLock::new();

/// A pattern that is compiled once.
fn pattern(cell: &'static OnceLock<Regex>, text: &str) -> &'static Regex {
    cell.get_or_init(|| Regex::new(text).expect("a constant pattern compiles"))
}

/// Checks a statement, and returns how many loops are open after it.
fn statement(region: &Region, loops: usize) -> Result<usize, EvalError> {
    let code = region.code.trim_matches(['-', '+']).trim();
    let error = |message: String| Err(EvalError::at(region.line, message));
    let word = pattern(&WORD, r"^\w+").find(code).map_or("", |word| word.as_str());
    match word {
        "if" | "elif" | "else" | "endif" => Ok(loops),
        "endfor" => Ok(loops.saturating_sub(1)),
        "for" if loops == limits::LOOPS => error(format!("more than {} loops are inside of each other", limits::LOOPS)),
        "for" => {
            let simple =
                r"^for\s+\w+(\s*,\s*\w+)?\s+in\s+[\w.]+(\s*\|\s*(items|sort|reverse|unique|lines|list))*(\s+if\s.*)?$";
            match pattern(&FOR, &format!("(?s){simple}")).is_match(code) {
                true => Ok(loops + 1),
                false => error("a loop goes over a variable: write `{% for x in steps.ID.output.list %}`".to_owned()),
            }
        }
        _ => error(format!("`{{% {word} %}}` is not there; there are `if` and `for`")),
    }
}

/// Chains such as `steps.fix.output` in code, which minijinja does not report inside of slices.
pub(super) fn chains(code: &str) -> impl Iterator<Item = &str> {
    pattern(&CHAIN, r"(?:^|[^\w.])((?:inputs|steps|execution|trigger)(?:\.[A-Za-z_]\w*)+)")
        .captures_iter(code)
        .filter_map(|found| found.get(1))
        .map(|found| found.as_str())
}
