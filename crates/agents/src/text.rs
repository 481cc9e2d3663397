//! Untrusted text, made safe to show or type: without control characters except chosen ones.

/// Without escape sequences' introducers and other control characters; line breaks and tabs stay.
pub(crate) fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

/// Without the sequences that colour and move.
pub(crate) fn uncoloured(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| (' '..='?').contains(&c));
        let mut rest = rest.chars();
        rest.next();
        out.push_str(rest.as_str());
    }
    out
}

/// One line of at most `limit` characters.
pub(crate) fn line(text: &str, limit: usize) -> String {
    let words = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    shorten(&words, limit)
}

/// At most `limit` characters, with a mark where something was cut off.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn plain_text_strips_control_sequences() {
        assert_eq!(super::plain("a\x1b[201~b\r\n\tc\x07\u{9b}d\x7f"), "a[201~b\n\tcd");
        assert_eq!(super::uncoloured("a\x1b[0;31mb\x1b[Kc\x1b["), "abc");
        assert_eq!(super::line(" a\n\n b ", 9), "a b");
        assert_eq!(super::line("äöüß", 3), "äöü…");
    }
}
