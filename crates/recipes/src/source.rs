//! Where in an expression or a template a name is, without evaluating it.

use crate::scope::Form;

/// The code of a source at its own bytes; texts around it and in quotes are blanked.
pub(crate) fn code(text: &str, form: Form) -> String {
    let mut code = vec![b' '; text.len()];
    match form {
        Form::Expr => drop(copy(text, 0, None, &mut code)),
        Form::Template => drop(template(text, &mut code)),
    }
    // Only whole ASCII characters were copied.
    String::from_utf8(code).unwrap_or_default()
}

/// The first and last bytes of each `{{ … }}`, `{% … %}` and `{# … #}`.
pub(crate) fn regions(text: &str) -> Vec<(usize, usize)> {
    template(text, &mut vec![b' '; text.len()])
}

/// Copies the code of a template; returns its regions.
fn template(text: &str, code: &mut [u8]) -> Vec<(usize, usize)> {
    let (mut regions, mut at) = (Vec::new(), 0);
    while let Some(open) = text[at..].find('{').map(|found| at + found) {
        at = match text.as_bytes().get(open + 1) {
            Some(b'#') => text[open + 2..].find("#}").map_or(text.len(), |end| open + 2 + end + 2),
            Some(b'{') => copy(text, open + 2, Some("}}"), code),
            Some(b'%') => copy(text, open + 2, Some("%}"), code),
            _ => {
                at = open + 1;
                continue;
            }
        };
        regions.push((open, at));
    }
    regions
}

/// Copies code up to its end; returns the place after it.
fn copy(text: &str, begin: usize, end: Option<&str>, code: &mut [u8]) -> usize {
    let (mut depth, mut quote) = (0usize, None);
    let mut characters = text[begin..].char_indices();
    while let Some((at, c)) = characters.next() {
        let at = begin + at;
        match quote {
            Some(_) if c == '\\' => drop(characters.next()),
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None => {
                if let Some(end) = end.filter(|end| depth == 0 && text[at..].starts_with(end)) {
                    return at + end.len();
                }
                match c {
                    '"' | '\'' => quote = Some(c),
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if c.is_ascii() && !matches!(c, '"' | '\'') {
                    code[at] = c as u8;
                }
            }
        }
    }
    text.len()
}

/// The expression of a text that is one `{{ … }}` and nothing else.
pub(crate) fn alone(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix("{{")?.strip_suffix("}}")?;
    let mut code = vec![b' '; trimmed.len()];
    let whole = copy(trimmed, 2, Some("}}"), &mut code) == trimmed.len();
    (whole && !inner.starts_with(['-', '+']) && !inner.ends_with(['-', '+'])).then_some(inner.trim())
}

/// The first byte of a name such as `steps.fix` in code, as a whole word.
pub(crate) fn find(code: &str, name: &str) -> Option<usize> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = code[..*at].chars().next_back();
        let after = code[at + name.len()..].chars().next();
        !before.is_some_and(|c| word(c) || c == '.') && !after.is_some_and(word)
    })
}

/// The names after a word or sign: filters after `|`, tests after `is`. Each with its first byte.
pub(crate) fn names(code: &str, kind: Named) -> Vec<(usize, &str)> {
    let bytes = code.as_bytes();
    let word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let skip = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    };
    let name = |begin: usize| {
        let mut end = begin;
        while word(end) {
            end += 1;
        }
        (begin, &code[begin..end])
    };
    let mut found = Vec::new();
    for at in 0..bytes.len() {
        let begin = match kind {
            Named::Filter if bytes[at] == b'|' => skip(at + 1),
            Named::Test if name(at).1 == "is" && (at == 0 || !word(at - 1) && bytes[at - 1] != b'.') => {
                let next = skip(at + 2);
                if name(next).1 == "not" { skip(next + 3) } else { next }
            }
            _ => continue,
        };
        if word(begin) {
            found.push(name(begin));
        }
    }
    found
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// `inputs.list|sort`
    Filter,
    /// `inputs.x is defined`
    Test,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stays_at_its_bytes() {
        let text = "Fïx {{ inputs.a ~ 'inputs.b' }} inputs.c {# inputs.d #}{% if e is not odd %}";
        let code = code(text, Form::Template);
        assert_eq!(code.len(), text.len());
        assert_eq!(find(&code, "inputs.a"), text.find("inputs.a"));
        for hidden in ["inputs.b", "inputs.c", "inputs.d"] {
            assert_eq!(find(&code, hidden), None, "{hidden}");
        }
        assert_eq!(names(&code, Named::Test), [(text.find("odd").unwrap(), "odd")]);
        assert_eq!(names("a|b(c) | d", Named::Filter), [(2, "b"), (9, "d")]);
    }

    #[test]
    fn a_text_may_be_one_expression() {
        assert_eq!(alone(" {{ a }} "), Some("a"));
        assert_eq!(alone("{{ {'a': {}} }}"), Some("{'a': {}}"));
        for text in ["{{ a }}{{ b }}", "a", "x {{ a }}", "{{ a", "{{- a }}"] {
            assert_eq!(alone(text), None, "{text}");
        }
    }
}
