//! Looking terms up: the expression and the condition of each database.

use domain::{ProjectId, SearchKind};
use engine::search::Term;

use crate::sql::{Connection, Database};

/// The lengths of prefixes that the index on SQLite has (`sqlite.sql`). It would merge all words with a prefix of another
/// length first.
const PREFIXES: [usize; 5] = [8, 6, 4, 3, 2];

/// The term of all entries of a kind.
pub(crate) fn of_kind(kind: SearchKind) -> Term {
    Term { text: format!("+{kind}"), prefix: false }
}

/// The term of all entries of a project.
pub(crate) fn of_project(project: ProjectId) -> Term {
    let id = project.to_string();
    Term { text: format!("@{}", id.trim_start_matches(|c| c != '_').trim_start_matches('_')), prefix: false }
}

/// The source of entries `e`, the condition for those that match the expression at `place`, and their number.
pub(crate) fn matches(c: &Connection<'_>, place: usize) -> (&'static str, String, &'static str) {
    match c.database {
        Database::Sqlite(_) => (
            "search_terms JOIN search_entries e ON e.number = search_terms.rowid",
            format!("search_terms MATCH ${place}"),
            "search_terms.rowid",
        ),
        Database::Postgres(_) => {
            ("search_entries e", format!("e.lexemes @@ CAST(${place}::text AS tsquery)"), "e.number")
        }
    }
}

/// The expression for things that match one term of each group; it may match more. Terms have no character that would
/// need an escape.
pub(crate) fn query(c: &Connection<'_>, groups: &[Vec<Term>]) -> String {
    let (and, or) = match c.database {
        Database::Sqlite(_) => (" AND ", " OR "),
        Database::Postgres(_) => (" & ", " | "),
    };
    let one = |term: &Term| match (&c.database, term.prefix) {
        (Database::Sqlite(_), true) => format!("\"{}\" *", shorter(&term.text)),
        (Database::Sqlite(_), false) => format!("\"{}\"", term.text),
        (Database::Postgres(_), true) => format!("'{}':*", term.text),
        (Database::Postgres(_), false) => format!("'{}'", term.text),
    };
    let any = |terms: &Vec<Term>| format!("({})", terms.iter().map(one).collect::<Vec<_>>().join(or));
    groups.iter().map(any).collect::<Vec<_>>().join(and)
}

/// The longest beginning of a term that has an index.
fn shorter(term: &str) -> &str {
    let length = term.chars().count();
    let fitting = PREFIXES.iter().find(|prefix| **prefix <= length);
    let end = fitting.and_then(|prefix| term.char_indices().nth(*prefix)).map_or(term.len(), |(at, _)| at);
    &term[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_shortened_to_a_length_that_is_indexed() {
        for (term, expected) in [("^w", "^w"), ("pars", "pars"), ("parse", "pars"), ("éclairs", "éclair"), ("w", "w")]
        {
            assert_eq!(shorter(term), expected);
        }
        assert_eq!(shorter("deployment"), "deployme");
    }

    #[test]
    fn a_project_is_one_term() {
        let project = ProjectId::generate();
        let term = of_project(project).text;
        assert_eq!(term.len(), 33, "{term}");
        assert!(project.to_string().ends_with(&term[1..]) && !term.contains('_'));
    }
}
