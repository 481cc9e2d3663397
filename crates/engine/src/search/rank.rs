//! How well a thing matches a query, and what of it to show.

use std::ops::Range;

use super::near::is_near;
use super::tokens::Query;
use super::words::{fold, parts, words};

/// How much of a text to show, in characters, and how much of it before the first match.
const SHOWN: usize = 160;
const BEFORE: usize = 40;

/// The quality of a match, best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quality {
    /// A word of the title with a typo.
    Near,
    /// In the text.
    Body,
    /// All words are in the title.
    Title,
    /// The query is the title, or another name.
    Name,
}

/// A found thing.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Its title.
    pub title: &'a str,
    /// Further names that count as part of the title.
    pub names: &'a [&'a str],
    /// Its text.
    pub body: &'a str,
    /// Whether it is still open.
    pub open: bool,
    /// When it appeared or changed, in milliseconds.
    pub at: i64,
}

/// The place of a thing among the results: the greater one comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    quality: Quality,
    open: bool,
    at: i64,
}

impl Rank {
    /// The rank of a thing that the query names by an id.
    pub fn named(open: bool, at: i64) -> Self {
        Self { quality: Quality::Name, open, at }
    }

    /// The quality of the match.
    pub fn quality(&self) -> Quality {
        self.quality
    }
}

/// A piece of a text; `hit` if the query asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether the query asks for it.
    pub hit: bool,
}

impl Query {
    /// Ranks a thing; `None` if it does not match.
    pub fn rank(&self, thing: &Candidate<'_>) -> Option<Rank> {
        let titles = || [thing.title].into_iter().chain(thing.names.iter().copied());
        let named = titles().any(|name| words(name).map(|word| word.folded).collect::<String>() == self.name());
        let in_title = |word: &String| titles().any(|title| begins(title, word));
        let near = |word: &String| in_title(word) || titles().any(|title| spelt(title, word));
        let quality = if named {
            Quality::Name
        } else if self.words.iter().all(in_title) {
            Quality::Title
        } else if self.words.iter().all(|word| in_title(word) || begins(thing.body, word)) {
            Quality::Body
        } else if self.words.iter().all(near) {
            Quality::Near
        } else {
            return None;
        };
        Some(Rank { quality, open: thing.open, at: thing.at })
    }

    /// The title, with its matches.
    pub fn title(&self, title: &str) -> Vec<Piece> {
        let found = self.found(title);
        let hits = if found.is_empty() { self.nearly_found(title) } else { found };
        pieces(title, 0..title.len(), &hits)
    }

    /// The part of a text around its first match, in one line; its beginning if nothing matches.
    pub fn snippet(&self, text: &str) -> Vec<Piece> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let hits = self.found(&text);
        let first = hits.first().map_or(0, |hit| hit.start);
        let mut start = text[..first].char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
        if start > 0 {
            // Begin with a whole word.
            start += text[start..first].find(' ').map_or(0, |at| at + 1);
        }
        let end = text[start..].char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| start + at);
        let mut shown = pieces(&text, start..end, &hits);
        if start > 0 {
            shown.insert(0, Piece { text: "…".to_owned(), hit: false });
        }
        if end < text.len() {
            shown.push(Piece { text: "…".to_owned(), hit: false });
        }
        shown
    }

    /// Where the words of the query are in a text.
    fn found(&self, text: &str) -> Vec<Range<usize>> {
        let hit = |folded: &str| self.words.iter().any(|asked| folded.starts_with(asked.as_str()));
        let mut hits = Vec::new();
        for word in words(text) {
            if hit(&word.folded) {
                hits.push(word.at);
                continue;
            }
            let identifier = &text[word.at.clone()];
            let parts = parts(identifier).into_iter().filter(|at| hit(&fold(&identifier[at.clone()])));
            hits.extend(parts.map(|at| word.at.start + at.start..word.at.start + at.end));
        }
        hits
    }

    fn nearly_found(&self, text: &str) -> Vec<Range<usize>> {
        let hit = |folded: &str| self.words.iter().any(|asked| is_near(folded, asked));
        words(text).filter(|word| hit(&word.folded)).map(|word| word.at).collect()
    }
}

/// Whether a word of the text starts so.
fn begins(text: &str, asked: &str) -> bool {
    words(text).any(|word| {
        let identifier = &text[word.at.clone()];
        word.folded.starts_with(asked)
            || parts(identifier).into_iter().any(|at| fold(&identifier[at]).starts_with(asked))
    })
}

/// Whether a word of the text is written nearly so.
fn spelt(text: &str, asked: &str) -> bool {
    words(text).any(|word| is_near(&word.folded, asked))
}

/// A part of the text, cut where hits begin and end. `hits` are in order and do not overlap.
fn pieces(text: &str, part: Range<usize>, hits: &[Range<usize>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut add = |at: Range<usize>, hit: bool| {
        if let Some(text) = text.get(at).filter(|text| !text.is_empty()) {
            pieces.push(Piece { text: text.to_owned(), hit });
        }
    };
    let mut done = part.start;
    for hit in hits {
        let (start, end) = (hit.start.clamp(done, part.end), hit.end.clamp(done, part.end));
        add(done..start, false);
        add(start..end, true);
        done = end;
    }
    add(done..part.end, false);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thing<'a>(title: &'a str, body: &'a str) -> Candidate<'a> {
        Candidate { title, names: &[], body, open: true, at: 0 }
    }

    fn rank(query: &str, thing: Candidate<'_>) -> Option<Rank> {
        Query::read(query).unwrap().rank(&thing)
    }

    #[test]
    fn a_better_match_comes_first_then_what_is_open_then_what_is_newer() {
        let closed = |thing| Candidate { open: false, ..thing };
        let late = |thing| Candidate { at: 9, ..thing };
        let order = [
            closed(thing("deploy", "")),
            late(thing("deploy the parser", "")),
            thing("deploy the parser", ""),
            late(closed(thing("to deploy", ""))),
            thing("the rest", "deploy it"),
            closed(thing("the rest", "deploy it")),
            late(thing("depoly", "")),
        ];
        let ranks: Vec<Rank> = order.iter().map(|thing| rank("deploy", *thing).unwrap()).collect();
        assert!(ranks.windows(2).all(|pair| pair[0] > pair[1]), "{ranks:#?}");
    }

    #[test]
    fn all_words_must_match() {
        assert_eq!(rank("deploy moon", thing("deploy", "the parser")), None);
        assert!(rank("deploy pars", thing("deploy", "the parser")).is_some());
        assert_eq!(rank("rest", thing("interest", "")), None, "only beginnings of words match");
    }

    fn marked(pieces: &[Piece]) -> String {
        pieces.iter().map(|piece| if piece.hit { format!("[{}]", piece.text) } else { piece.text.clone() }).collect()
    }

    #[test]
    fn matches_are_marked() {
        let title = |query: &str, text: &str| marked(&Query::read(query).unwrap().title(text));
        assert_eq!(title("dep pars", "Deploy the parser"), "[Deploy] the [parser]");
        assert_eq!(title("depoly", "Deploy it"), "[Deploy] it");
        assert_eq!(title("task", "the takeTask call"), "the take[Task] call");
        assert_eq!(title("x", "Deploy"), "Deploy");
    }

    #[test]
    fn a_snippet_shows_the_first_match_in_one_line() {
        let snippet = |query: &str, text: &str| marked(&Query::read(query).unwrap().snippet(text));
        assert_eq!(snippet("par", "Fix\n  the parser"), "Fix the [parser]");
        let long = format!("{}needle {}", "before ".repeat(30), "after ".repeat(60));
        let shown = snippet("needle", &long);
        assert!(shown.starts_with("…before ") && shown.contains("[needle]") && shown.ends_with('…'), "{shown}");
        assert!(shown.chars().count() < SHOWN + 10, "{shown}");
        assert_eq!(snippet("none", ""), "");
    }

    proptest::proptest! {
        #[test]
        fn pieces_are_the_text(query in "\\PC{1,12}", text in "\\PC{0,300}") {
            if let Some(query) = Query::read(&query) {
                let whole: String = query.title(&text).into_iter().map(|piece| piece.text).collect();
                assert_eq!(whole, text);
                query.snippet(&text);
            }
        }
    }
}
