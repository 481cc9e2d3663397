//! What a thing is indexed under, and the terms that a query looks up.

use std::collections::BTreeSet;

use super::near::spellings;
use super::words::{fold, parts, words};

/// The maximum number of different words of one text.
const WORDS: usize = 4096;

/// The maximum number of words of a title in which typos are forgiven.
const FORGIVEN: usize = 12;

/// The maximum number of words of a query; further ones are ignored.
const ASKED: usize = 8;

/// Marks a word of the title, a spelling of one, and a whole name.
const TITLE: char = '^';
const SPELLING: char = '~';
const NAME: char = '=';

/// A term that a database looks up in its index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// The term, made of letters, digits and at most one leading mark.
    pub text: String,
    /// Whether longer terms that start with it count as well.
    pub prefix: bool,
}

/// What a search asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub(super) words: Vec<String>,
}

impl Query {
    /// Reads what a person typed; `None` if it has no word.
    pub fn read(text: &str) -> Option<Self> {
        let words: Vec<String> = words(text).map(|word| word.folded).take(ASKED).collect();
        (!words.is_empty()).then_some(Self { words })
    }

    /// The whole query as a name.
    pub(super) fn name(&self) -> String {
        self.words.concat()
    }

    /// Finds what is named exactly so.
    pub fn as_name(&self) -> Vec<Vec<Term>> {
        vec![vec![Term { text: format!("{NAME}{}", fold(&self.name())), prefix: false }]]
    }

    /// Finds titles with all words, of which each may be the beginning of a longer one.
    pub fn in_titles(&self) -> Vec<Vec<Term>> {
        self.words.iter().map(|word| vec![Term { text: format!("{TITLE}{word}"), prefix: true }]).collect()
    }

    /// Finds texts with all words, of which each may be the beginning of a longer one, except single letters: a tenth
    /// of all words begin with the same one.
    pub fn anywhere(&self) -> Vec<Vec<Term>> {
        let term = |word: &String| Term { text: word.clone(), prefix: word.chars().nth(1).is_some() };
        self.words.iter().map(|word| vec![term(word)]).collect()
    }

    /// Finds titles with all words, with a typo in each; `None` if the words are too short for that.
    pub fn nearly(&self) -> Option<Vec<Vec<Term>>> {
        let any = |word: &String| {
            let begins = Term { text: format!("{TITLE}{word}"), prefix: true };
            let spelt = spellings(word).into_iter();
            let spelt = spelt.map(|spelling| Term { text: format!("{SPELLING}{spelling}"), prefix: false });
            [begins].into_iter().chain(spelt).collect::<Vec<_>>()
        };
        let all: Vec<Vec<Term>> = self.words.iter().map(any).collect();
        all.iter().any(|terms| terms.len() > 1).then_some(all)
    }
}

/// The terms that a thing is indexed under. `names` are further names that count as part of its title.
pub fn terms(title: &str, names: &[&str], body: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    for text in [title].into_iter().chain(names.iter().copied()) {
        let name = fold(&words(text).map(|word| word.folded).collect::<String>());
        if !name.is_empty() {
            terms.insert(format!("{NAME}{name}"));
        }
        for (number, word) in every(text).take(WORDS).enumerate() {
            terms.insert(format!("{TITLE}{word}"));
            if number < FORGIVEN {
                terms.extend(spellings(&word).into_iter().map(|spelling| format!("{SPELLING}{spelling}")));
            }
            terms.insert(word);
        }
    }
    let mut found = BTreeSet::new();
    for word in every(body) {
        found.insert(word);
        if found.len() >= WORDS {
            break;
        }
    }
    terms.append(&mut found);
    terms
}

/// The words of a text, and the parts of those that are identifiers.
fn every(text: &str) -> impl Iterator<Item = String> {
    words(text).flat_map(|word| {
        let identifier = &text[word.at.clone()];
        let parts = parts(identifier).into_iter().map(|at| fold(&identifier[at])).collect::<Vec<_>>();
        [word.folded].into_iter().chain(parts.into_iter().filter(|part| !part.is_empty()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the index finds it, as both databases do.
    fn finds(terms: &BTreeSet<String>, asked: &[Vec<Term>]) -> bool {
        let has = |term: &Term| match term.prefix {
            true => terms.range(term.text.clone()..).next().is_some_and(|found| found.starts_with(&term.text)),
            false => terms.contains(&term.text),
        };
        asked.iter().all(|any| any.iter().any(has))
    }

    #[test]
    fn a_query_finds_beginnings_of_words_in_titles_and_texts() {
        let terms = terms("Deploy the parser", &["CALC-12"], "It uses takeTask and Éclairs");
        let check = |query: &str, title: bool, text: bool| {
            let query = Query::read(query).unwrap();
            assert_eq!(finds(&terms, &query.in_titles()), title, "{query:?}");
            assert_eq!(finds(&terms, &query.anywhere()), text, "{query:?}");
        };
        check("dep", true, true);
        check("pars DEPLOY", true, true);
        check("calc-12", true, true);
        check("ecl", false, true);
        check("task", false, true);
        check("taketask", false, true);
        check("ploy", false, false);
        check("deploy nothing", false, false);
    }

    #[test]
    fn a_name_is_found_as_a_whole() {
        let terms = terms("Deploy the parser", &["CALC-12"], "");
        for (query, found) in [("calc-12", true), ("deploy THE parser", true), ("deploy", false), ("calc", false)] {
            assert_eq!(finds(&terms, &Query::read(query).unwrap().as_name()), found, "{query}");
        }
    }

    #[test]
    fn a_typo_in_a_title_is_forgiven_and_one_in_a_text_is_not() {
        let terms = terms("Deploy the parser", &[], "staging");
        for (query, found) in [("depoly", true), ("depoly prser", true), ("stging", false), ("depoly stging", false)] {
            assert_eq!(finds(&terms, &Query::read(query).unwrap().nearly().unwrap()), found, "{query}");
        }
        assert_eq!(Query::read("a bc").unwrap().nearly(), None, "short words have no typos");
    }

    #[test]
    fn a_query_of_signs_alone_is_empty() {
        for text in ["", "  ", "\"*^~=", "—"] {
            assert_eq!(Query::read(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_text_is_found_by_its_own_words(title in "\\PC{1,30}", body in "\\PC{0,60}") {
            let terms = terms(&title, &[], &body);
            if let Some(query) = Query::read(&title) {
                assert!(finds(&terms, &query.in_titles()), "{query:?} {terms:?}");
            }
            if let Some(query) = Query::read(&body) {
                assert!(finds(&terms, &query.anywhere()), "{query:?} {terms:?}");
            }
            for term in &terms {
                assert!(term.chars().filter(|c| !c.is_alphanumeric()).count() <= 1 && !term.contains(' '), "{term}");
            }
        }
    }
}
