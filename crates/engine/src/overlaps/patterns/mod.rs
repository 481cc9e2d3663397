//! Patterns of paths: which files a reservation or a task names, and whether two of them can name the same file.
//!
//! A pattern is a path or a glob, from the root of the repository. A path names the file, or the folder with everything
//! in it. In a glob, `*` and `?` do not match `/`, `**` matches any number of folders, and `[a-z]` and `{a,b}` are
//! alternatives. A glob that ends with `/` names everything below what it matches.

mod meet;
mod parse;

use self::meet::meet;
pub use self::parse::PatternError;
use self::parse::{is_special, split};

/// Maximum length of a pattern, in bytes.
pub const MAX_PATTERN: usize = 200;
/// Maximum number of alternatives that the braces of a pattern stand for.
pub const MAX_ALTERNATIVES: usize = 32;

/// A part of a pattern between two slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// Any number of folders, or none.
    Deep,
    /// This name.
    Name(String),
    /// The names that match.
    Glob(Vec<Unit>),
}

/// A part of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Unit {
    /// Any number of characters.
    Many,
    /// One character in one of the ranges.
    One(Vec<(char, char)>),
}

/// A checked pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    /// Whether it has a wildcard.
    glob: bool,
    /// The paths that it names, by alternative.
    forms: Vec<Vec<Piece>>,
    /// What is below a path, if the path is a folder.
    below: Option<Vec<Piece>>,
}

impl Pattern {
    /// Reads a pattern, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let text = text.trim();
        let plain = text.trim_start_matches("./").trim();
        if plain.len() > MAX_PATTERN {
            return Err(PatternError::Long(plain.len()));
        }
        if plain.is_empty() || plain == "." {
            return Err(PatternError::Empty);
        }
        if plain.chars().any(char::is_control) {
            return Err(PatternError::Control);
        }
        if plain.starts_with('/') {
            return Err(PatternError::Absolute);
        }
        let folder = plain.ends_with('/');
        let plain = plain.trim_end_matches('/');
        let glob = plain.contains(is_special);
        let mut forms = parse::alternatives(plain)?.iter().map(|one| split(one)).collect::<Result<Vec<_>, _>>()?;
        let below = |form: &Vec<Piece>| form.iter().cloned().chain(anything()).collect::<Vec<_>>();
        if folder && glob {
            forms = forms.iter().map(below).collect();
        }
        let below = (!glob).then(|| below(&forms[0]));
        let text = if folder { format!("{plain}/") } else { plain.to_owned() };
        Ok(Self { text, glob, forms, below })
    }

    /// Reads what a task names. A text that is no pattern stands for everything after its part without wildcards, which
    /// may warn too often but never too rarely.
    pub fn lenient(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|_| {
            let plain = text.trim().trim_start_matches(['.', '/']);
            let start = plain.find(is_special).map_or(plain, |at| &plain[..at]);
            let folders = start.rsplit_once('/').map_or("", |(folders, _)| folders);
            let names = folders.split('/').filter(|name| !name.is_empty());
            let form = names.map(|name| Piece::Name(name.to_owned())).chain([Piece::Deep]).collect();
            Self { text: text.to_owned(), glob: true, forms: vec![form], below: None }
        })
    }

    /// The pattern as it is shown.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it has wildcards or alternatives.
    pub fn is_glob(&self) -> bool {
        self.glob
    }

    /// Whether two patterns can name the same file.
    pub fn meets(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.extent(other.glob), other.extent(self.glob));
        mine.iter().any(|one| theirs.iter().any(|other| meet(one, other)))
    }

    /// Whether it names this path, or the folder that the path is in.
    pub fn names(&self, path: &str) -> bool {
        let path: Vec<Piece> = path.split('/').map(|name| Piece::Name(name.to_owned())).collect();
        self.forms.iter().chain(&self.below).any(|form| meet(form, &path))
    }

    /// The start that all paths have which it names.
    pub(super) fn start(&self) -> String {
        let [form] = self.forms.as_slice() else { return String::new() };
        let named = |piece: &Piece| match piece {
            Piece::Name(name) => Some(name.clone()),
            Piece::Deep | Piece::Glob(_) => None,
        };
        form.iter().map_while(named).collect::<Vec<_>>().join("/")
    }

    /// The forms to compare with another pattern. A path with a file's ending is no folder for a glob: otherwise
    /// `**/*.md` would meet `main.rs`.
    fn extent(&self, other_is_glob: bool) -> Vec<&[Piece]> {
        let folder = self.text.ends_with('/') || !self.text.rsplit('/').next().is_some_and(has_ending);
        let below = self.below.iter().filter(|_| folder || !other_is_glob);
        self.forms.iter().chain(below).map(Vec::as_slice).collect()
    }
}

/// Everything below.
fn anything() -> [Piece; 2] {
    [Piece::Glob(vec![Unit::Many]), Piece::Deep]
}

fn has_ending(name: &str) -> bool {
    name.trim_start_matches('.').contains('.')
}

#[cfg(test)]
mod tests;
