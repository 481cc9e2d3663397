//! The newest rows of a table that fit into one answer, chosen by the database: what does not fit is never read.

use domain::limits::MAX_LISTED_CHARACTERS;

/// Which rows of a table are listed.
pub(crate) struct Fitting<'a> {
    pub(crate) table: &'a str,
    /// How many characters a row has, as SQL.
    pub(crate) size: &'a str,
    /// The column that says how new it is.
    pub(crate) newest: &'a str,
    /// Which rows are meant, as SQL.
    pub(crate) among: &'a str,
    /// How many at most.
    pub(crate) most: usize,
}

impl Fitting<'_> {
    /// Their ids, as SQL.
    pub(crate) fn ids(&self) -> String {
        let Self { table, size, newest, among, most } = self;
        format!(
            "SELECT id FROM (SELECT id, {newest} AS moment, SUM({size}) OVER (ORDER BY {newest} DESC, id DESC) AS taken \
             FROM {table} WHERE {among}) AS sized WHERE taken <= {MAX_LISTED_CHARACTERS} \
             ORDER BY moment DESC, id DESC LIMIT {most}"
        )
    }
}
