//! A text whose expressions are single letters, so that a grammar of words keeps each of them whole.

use serde_json::Value as Json;

/// The first of the letters, for private use.
const FIRST: u32 = 0xE000;

/// How many there are.
const MOST: usize = 6_400;

/// A text with letters for its expressions.
pub(super) struct Mask {
    pub(super) text: String,
    /// The expressions, with their braces.
    expressions: Vec<String>,
}

impl Mask {
    pub(super) fn of(text: &str) -> Self {
        let (mut masked, mut expressions, mut at) = (String::new(), Vec::new(), 0);
        let taken = text.contains(|c| (FIRST..FIRST + MOST as u32).contains(&(c as u32)));
        for (begin, end) in crate::source::regions(text) {
            let letter = u32::try_from(expressions.len()).ok().and_then(|number| char::from_u32(FIRST + number));
            let Some(letter) = letter.filter(|_| !taken && expressions.len() < MOST) else { break };
            masked.push_str(&text[at..begin]);
            masked.push(letter);
            expressions.push(text[begin..end].to_owned());
            at = end;
        }
        masked.push_str(&text[at..]);
        Self { text: masked, expressions }
    }

    /// The text with its expressions.
    pub(super) fn back(&self, text: &str) -> String {
        self.replace(text, |expression| expression)
    }

    /// The masked text with this word for each expression.
    pub(super) fn filled(&self, word: &str) -> String {
        self.replace(&self.text, |_| word)
    }

    /// All texts of a value with their expressions.
    pub(super) fn back_all(&self, value: Json) -> Json {
        match value {
            Json::String(text) => self.back(&text).into(),
            Json::Array(items) => items.into_iter().map(|item| self.back_all(item)).collect(),
            Json::Object(fields) => fields.into_iter().map(|(name, value)| (name, self.back_all(value))).collect(),
            other => other,
        }
    }

    fn replace<'a>(&'a self, text: &str, by: impl Fn(&'a str) -> &'a str) -> String {
        let mut whole = String::new();
        for c in text.chars() {
            let number = (c as u32).checked_sub(FIRST).and_then(|number| usize::try_from(number).ok());
            match number.and_then(|number| self.expressions.get(number)) {
                Some(expression) => whole.push_str(by(expression)),
                None => whole.push(c),
            }
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_come_back() {
        let text = "command: make {{ inputs.a ~ ' b' }} 'x {% if a %}y{% endif %}'";
        let mask = Mask::of(text);
        assert!(!mask.text.contains('{') && !mask.text.contains(" b"), "{}", mask.text);
        assert_eq!(mask.back(&mask.text), text);
        assert_eq!(mask.filled("x"), "command: make x 'x xyx'");
        assert_eq!(Mask::of("no \u{E000} {{ a }}").text, "no \u{E000} {{ a }}");
    }
}
