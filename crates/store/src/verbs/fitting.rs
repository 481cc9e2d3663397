//! The newest rows of a table that fit into one answer, selected by the database, so that no other rows are read.

use domain::limits::MAX_LISTED_CHARACTERS;

/// A selection of rows.
pub(crate) struct Fitting<'a> {
    pub(crate) table: &'a str,
    /// SQL for the length of a row in characters.
    pub(crate) size: &'a str,
    /// The column to sort by.
    pub(crate) newest: &'a str,
    /// The SQL condition.
    pub(crate) among: &'a str,
    /// The maximum number of rows.
    pub(crate) most: usize,
}

impl Fitting<'_> {
    /// The query for their ids.
    pub(crate) fn ids(&self) -> String {
        let Self { table, size, newest, among, most } = self;
        format!(
            "SELECT id FROM (SELECT id, {newest} AS moment, SUM({size}) OVER (ORDER BY {newest} DESC, id DESC) AS taken \
             FROM {table} WHERE {among}) AS sized WHERE taken <= {MAX_LISTED_CHARACTERS} \
             ORDER BY moment DESC, id DESC LIMIT {most}"
        )
    }
}
