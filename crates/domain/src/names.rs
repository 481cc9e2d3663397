//! Names that identify people and things: normalized, visible, and hard to confuse.

use unicode_normalization::UnicodeNormalization;
use unicode_security::confusable_detection::skeleton;
use unicode_security::{MixedScript, RestrictionLevel, RestrictionLevelDetection};

use crate::text::{Field, TextError};

impl Field {
    /// The normalized name (NFKC, trimmed), or why it is refused: what [`Field::check`] refuses, invisible characters,
    /// and words that mix scripts, such as a Cyrillic letter among Latin ones.
    pub fn name(&self, text: &str) -> Result<String, TextError> {
        self.check(text)?;
        let field = self.name;
        // Emoji often have a presentation mark, which means nothing in a name.
        let shown = text.chars().filter(|c| !matches!(c, '\u{FE0E}' | '\u{FE0F}'));
        let name: String = shown.nfkc().collect::<String>().trim().to_owned();
        if let Some((position, c)) = name.char_indices().find(|(_, c)| is_invisible(*c)) {
            return Err(TextError::Invisible { field, code: c as u32, position });
        }
        if let Some(word) = name.split(|c: char| !c.is_alphanumeric()).find(|word| mixes(word)) {
            return Err(TextError::Mixed { field, word: word.to_owned() });
        }
        self.check(&name)?;
        Ok(name)
    }

    /// Refuses a free text whose first line is not a valid name; the text itself is not changed.
    pub fn check_title(&self, content: &str) -> Result<(), TextError> {
        self.check(content)?;
        let title = crate::text::title(content);
        Field { limit: usize::MAX, ..*self }.name(&title).map(drop)
    }
}

/// A skeleton of a name: names that people could confuse have the same one.
pub fn looks_like(name: &str) -> String {
    let lower = name.nfkc().collect::<String>().trim().to_lowercase();
    skeleton(&lower).collect::<String>().to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a word mixes scripts that are not written together.
fn mixes(word: &str) -> bool {
    // Rare scripts are allowed, as long as there is only one.
    !word.is_single_script() && word.detect_restriction_level() > RestrictionLevel::HighlyRestrictive
}

/// Invisible characters: Unicode's ignorable ones, and those that are drawn as nothing.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{17B4}'
            | '\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{NAME, PROJECT_CONTENT};
    use proptest::prelude::*;

    #[test]
    fn ordinary_names_of_one_script_are_accepted() {
        for name in [
            "Ada Lovelace",
            "Łukasz Żółć",
            "Zoë-2",
            "Ада",
            "Ελένη",
            "王小明",
            "山田 太郎",
            "たろうさん",
            "김민수",
            "محمد",
            "नीलम",
            "สมชาย",
            "ᏣᎳᎩ",
            "build box #1",
            "Проект Apollo",
            "王 Wei",
            "🛠 builder",
            "codex-1 (web)",
        ] {
            assert_eq!(NAME.name(name).as_deref(), Ok(name));
        }
        assert_eq!(NAME.name(" ﬁne \u{FF21}da ").as_deref(), Ok("fine Ada"), "one form");
        assert_eq!(NAME.name("🛠\u{FE0F} builder").as_deref(), Ok("🛠 builder"));
    }

    #[test]
    fn invisible_characters_and_mixed_scripts_are_refused_with_a_reason() {
        for (name, why) in [
            ("Ada\u{200B}", "U+200B"),
            ("A\u{200D}da", "U+200D"),
            ("\u{2060}Ada", "U+2060"),
            ("Ada\u{3164}", "U+1160"),
            ("A\u{00AD}da", "U+00AD"),
            ("Ada\u{E0041}", "U+E0041"),
            ("\u{0410}da", "mixes"),
            ("Ad\u{0430} Lovelace", "mixes"),
            ("\u{03A9}mega", "mixes"),
        ] {
            let error = NAME.name(name).unwrap_err().to_string();
            assert!(error.contains(why), "{name:?}: {error}");
        }
        assert!(PROJECT_CONTENT.check_title("# P\u{0430}yments\nmore").is_err());
        assert!(PROJECT_CONTENT.check_title("# Payments\nP\u{0430}yments, and a zero\u{200B}width").is_ok());
    }

    #[test]
    fn names_that_could_be_mistaken_look_alike() {
        for (one, other) in
            [("ada", "Ada "), ("Ada", "\u{0410}d\u{0430}"), ("paul", "pau1"), ("bo", "b0"), ("a b", "a  b")]
        {
            assert_eq!(looks_like(one), looks_like(other), "{one} {other}");
        }
        assert_eq!(
            looks_like("scope"),
            looks_like("\u{0455}\u{0441}\u{043E}\u{0440}\u{0435}"),
            "all of another script"
        );
        for (one, other) in [("Ada", "Ida"), ("Ann", "Anna"), ("bo", "bob"), ("王小明", "王小朋")] {
            assert_ne!(looks_like(one), looks_like(other), "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn a_normalized_name_does_not_change(name in ".{0,40}") {
            if let Ok(once) = NAME.name(&name) {
                prop_assert_eq!(NAME.name(&once), Ok(once.clone()));
            }
            looks_like(&name);
        }
    }
}
