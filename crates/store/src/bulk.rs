//! Bulk writes: inserts, updates and deletes of many rows in several tables.
//!
//! On PostgreSQL all parts are one statement, so one round trip; each column is an array, or one value if all rows have
//! the same. On SQLite, where a statement costs no round trip, each part is a list of values.

use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, AssertSqlSafe, PgConnection, Row as _};

use crate::StoreError;
use crate::sql::{Connection, Database, Value};

/// The maximum number of rows of a part in one statement, on PostgreSQL and on SQLite.
const ROWS: usize = 1000;
const TUPLES: usize = 64;

/// The minimum number of rows to look for constant columns. Fewer rows are often equal by chance, and each combination
/// would be another prepared statement.
const ALIKE: usize = 8;

/// Rows of one table to insert, to update or to delete.
#[derive(Debug)]
pub(crate) struct Part {
    kind: Kind,
    rows: Vec<Vec<Value>>,
}

#[derive(Debug)]
enum Kind {
    /// The statement up to its columns, and its conflict clause.
    Insert(&'static str, &'static str),
    Update(Update),
    Delete(Delete),
}

/// Rows to delete from a table.
#[derive(Debug)]
pub(crate) struct Delete {
    pub(crate) table: &'static str,
    /// The columns that identify a row.
    pub(crate) keys: &'static [&'static str],
}

/// Rows to update in a table.
#[derive(Debug)]
pub(crate) struct Update {
    pub(crate) table: &'static str,
    /// The columns of the first values, which identify a row in its expected state.
    pub(crate) keys: &'static [&'static str],
    /// The columns of the other values, which change.
    pub(crate) columns: &'static [&'static str],
    /// A further condition.
    pub(crate) only: &'static str,
    /// The error if a row is not in its expected state; without it such rows stay as they are.
    pub(crate) every: Option<&'static str>,
}

impl Update {
    fn sql(&self, source: &str, value: impl Fn(usize) -> String) -> String {
        let table = self.table;
        let keys = self.keys.len();
        let sets = self.columns.iter().enumerate().map(|(at, column)| format!("{column} = {}", value(keys + at)));
        let sets = sets.collect::<Vec<_>>().join(", ");
        let fits = self.keys.iter().enumerate().map(|(at, key)| format!("{table}.{key} = {}", value(at)));
        let fits = fits.collect::<Vec<_>>().join(" AND ");
        format!("UPDATE {table} SET {sets}{source} WHERE {fits}{}", self.only)
    }
}

impl Part {
    /// Rows to insert; `head` is the statement up to its columns.
    pub(crate) fn insert(head: &'static str, rows: Vec<Vec<Value>>) -> Self {
        Self { kind: Kind::Insert(head, ""), rows }
    }

    /// Rows to insert unless they exist.
    pub(crate) fn insert_new(head: &'static str, rows: Vec<Vec<Value>>) -> Self {
        Self { kind: Kind::Insert(head, " ON CONFLICT DO NOTHING"), rows }
    }

    /// Rows to insert, or to write over those that exist; `conflict` is the clause that says how.
    pub(crate) fn insert_or(head: &'static str, conflict: &'static str, rows: Vec<Vec<Value>>) -> Self {
        Self { kind: Kind::Insert(head, conflict), rows }
    }

    /// Rows to update.
    pub(crate) fn update(update: Update, rows: Vec<Vec<Value>>) -> Self {
        Self { kind: Kind::Update(update), rows }
    }

    /// Rows to delete.
    pub(crate) fn delete(delete: Delete, rows: Vec<Vec<Value>>) -> Self {
        Self { kind: Kind::Delete(delete), rows }
    }

    /// The table that `head` inserts into.
    pub(crate) fn table(head: &str) -> &str {
        head.strip_prefix("INSERT INTO ").and_then(|rest| rest.split(' ').next()).unwrap_or_default()
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether it updates a row that one of these parts inserts: then the inserts must come first.
    pub(crate) fn follows(&self, inserts: &[Part]) -> bool {
        let Kind::Update(update) = &self.kind else { return false };
        let into = format!("INSERT INTO {} (", update.table);
        let of_table = |part: &&Part| matches!(part.kind, Kind::Insert(head, _) if head.starts_with(&into));
        let new = inserts.iter().filter(of_table).flat_map(|part| &part.rows).filter_map(|row| row.first());
        let new: std::collections::HashSet<&Value> = new.collect();
        !new.is_empty() && self.rows.iter().filter_map(|row| row.first()).any(|key| new.contains(key))
    }

    /// The SQLite statement for `count` tuples of values.
    fn on_sqlite(&self, width: usize, count: usize) -> String {
        let tuple = |at: usize| {
            let places: Vec<String> = (1..=width).map(|place| format!("${}", at * width + place)).collect();
            format!("({})", places.join(", "))
        };
        let tuples = (0..count).map(tuple).collect::<Vec<_>>().join(", ");
        match &self.kind {
            Kind::Insert(head, or) => format!("{head} VALUES {tuples}{or}"),
            Kind::Update(update) => {
                update.sql(&format!(" FROM (VALUES {tuples}) AS v"), |at| format!("v.column{}", at + 1))
            }
            Kind::Delete(Delete { table, keys }) => {
                format!("DELETE FROM {table} WHERE ({}) IN (VALUES {tuples})", keys.join(", "))
            }
        }
    }

    /// The PostgreSQL statement for these columns; `before` is the number of earlier arguments.
    fn on_postgres(&self, columns: &[Column], before: usize) -> String {
        let place = |at: usize| format!("${}::{}", before + at + 1, columns[at].kind());
        let arrays: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].is_array()).collect();
        let value = |at: usize| if columns[at].is_array() { format!("v.c{at}") } else { place(at) };
        let names = arrays.iter().map(|at| format!("c{at}")).collect::<Vec<_>>().join(", ");
        let places = arrays.iter().map(|at| place(*at)).collect::<Vec<_>>().join(", ");
        let source = if arrays.is_empty() { String::new() } else { format!(" FROM UNNEST({places}) AS v ({names})") };
        match &self.kind {
            Kind::Insert(head, or) => {
                let values = (0..columns.len()).map(value).collect::<Vec<_>>().join(", ");
                format!("{head} SELECT {values}{source}{or}")
            }
            Kind::Update(update) => update.sql(&source, value),
            Kind::Delete(Delete { table, keys }) => {
                let fits = keys.iter().enumerate().map(|(at, key)| format!("{table}.{key} = {}", value(at)));
                let fits = fits.collect::<Vec<_>>().join(" AND ");
                format!("DELETE FROM {table}{} WHERE {fits}", source.replacen("FROM", "USING", 1))
            }
        }
    }

    /// The number of leading columns that identify a row.
    fn naming(&self) -> usize {
        match &self.kind {
            Kind::Update(update) => update.keys.len(),
            Kind::Delete(delete) => delete.keys.len(),
            Kind::Insert(..) => 1,
        }
    }

    fn every(&self) -> Option<&'static str> {
        match &self.kind {
            Kind::Update(update) => update.every,
            Kind::Delete(_) | Kind::Insert(..) => None,
        }
    }
}

impl Connection<'_> {
    /// Writes all parts. No part may depend on another one.
    pub(crate) async fn write(&mut self, mut parts: Vec<Part>) -> Result<(), StoreError> {
        parts.retain(|part| !part.is_empty());
        match &mut self.database {
            Database::Sqlite(_) => {
                for part in parts {
                    self.write_tuples(part).await?;
                }
            }
            Database::Postgres(connection) => {
                while !parts.is_empty() {
                    write_columns(connection, &mut parts).await?;
                    parts.retain(|part| !part.is_empty());
                }
            }
        }
        Ok(())
    }

    async fn write_tuples(&mut self, mut part: Part) -> Result<(), StoreError> {
        let mut rows = std::mem::take(&mut part.rows).into_iter();
        while rows.len() > 0 {
            // Powers of two keep the number of prepared statements small.
            let count = 1 << rows.len().min(TUPLES).ilog2();
            let some: Vec<Vec<Value>> = rows.by_ref().take(count).collect();
            let sql = part.on_sqlite(some.first().map_or(0, Vec::len), count);
            let written = self.run(&sql, some.into_iter().flatten().collect()).await?;
            counted(&part, written, count)?;
        }
        Ok(())
    }
}

/// Refuses if a row was not in its expected state.
fn counted(part: &Part, written: u64, rows: usize) -> Result<(), StoreError> {
    match part.every() {
        Some(why) if written != rows as u64 => Err(StoreError::Conflict(why.to_owned())),
        _ => Ok(()),
    }
}

/// Writes the first rows of each part in one statement.
async fn write_columns(connection: &mut PgConnection, parts: &mut [Part]) -> Result<(), StoreError> {
    let mut statement = Statement::of(parts);
    let sizes = std::mem::take(&mut statement.sizes);
    let sql = format!("WITH {} SELECT ARRAY[{}]::bigint[]", statement.parts.join(", "), statement.counts.join(", "));
    let query = sqlx::query_with(AssertSqlSafe(sql), statement.bound()?);
    let written: Vec<i64> = query.fetch_one(connection).await?.try_get(0)?;
    let mut written = written.into_iter().zip(sizes);
    parts.iter().zip(&mut written).try_for_each(|(part, (written, size))| counted(part, written.cast_unsigned(), size))
}

/// Parts of one statement with their arguments.
struct Statement {
    parts: Vec<String>,
    /// Expressions that count the rows of each part, if the count matters.
    counts: Vec<String>,
    sizes: Vec<usize>,
    arguments: Vec<Column>,
}

impl Statement {
    /// Takes the first rows of each part.
    fn of(parts: &mut [Part]) -> Self {
        let mut all = Self { parts: Vec::new(), counts: Vec::new(), sizes: Vec::new(), arguments: Vec::new() };
        for (at, part) in parts.iter_mut().enumerate() {
            let rest = part.rows.split_off(part.rows.len().min(ROWS));
            let rows = std::mem::replace(&mut part.rows, rest);
            all.sizes.push(rows.len());
            let columns = columns(rows, part.naming());
            let sql = part.on_postgres(&columns, all.arguments.len());
            match part.every() {
                Some(_) => {
                    all.parts.push(format!("w{at} AS ({sql} RETURNING 1)"));
                    all.counts.push(format!("(SELECT COUNT(*) FROM w{at})"));
                }
                None => {
                    all.parts.push(format!("w{at} AS ({sql})"));
                    all.counts.push("0".to_owned());
                }
            }
            all.arguments.extend(columns);
        }
        all
    }

    fn bound(self) -> Result<PgArguments, StoreError> {
        let mut arguments = PgArguments::default();
        for column in self.arguments {
            match column {
                Column::Texts(values) => arguments.add(values),
                Column::Integers(values) => arguments.add(values),
                Column::Text(value) => arguments.add(value),
                Column::Integer(value) => arguments.add(value),
            }
            .map_err(sqlx::Error::Encode)?;
        }
        Ok(arguments)
    }
}

/// One column of many rows; a single value if all rows have the same.
enum Column {
    Texts(Vec<Option<String>>),
    Integers(Vec<Option<i64>>),
    Text(Option<String>),
    Integer(Option<i64>),
}

impl Column {
    fn kind(&self) -> &'static str {
        match self {
            Self::Texts(_) => "text[]",
            Self::Integers(_) => "bigint[]",
            Self::Text(_) => "text",
            Self::Integer(_) => "bigint",
        }
    }

    fn is_array(&self) -> bool {
        matches!(self, Self::Texts(_) | Self::Integers(_))
    }

    fn push(&mut self, value: Value) {
        match (self, value) {
            (Self::Texts(column), Value::Text(text)) => column.push(Some(text)),
            (Self::Texts(column), _) => column.push(None),
            (Self::Integers(column), Value::Integer(number)) => column.push(Some(number)),
            (Self::Integers(column), _) => column.push(None),
            (Self::Text(_) | Self::Integer(_), _) => {}
        }
    }

    /// Replaces equal values by a single one.
    fn folded(self) -> Self {
        fn same<T: PartialEq>(values: &[T]) -> bool {
            values.windows(2).all(|pair| pair[0] == pair[1])
        }
        match self {
            Self::Texts(mut values) if same(&values) => Self::Text(values.pop().flatten()),
            Self::Integers(mut values) if same(&values) => Self::Integer(values.pop().flatten()),
            other => other,
        }
    }
}

/// Turns rows into columns; all values of a column have one kind. The first `naming` columns identify a row.
fn columns(rows: Vec<Vec<Value>>, naming: usize) -> Vec<Column> {
    let count = rows.len();
    let mut columns: Vec<Column> = Vec::new();
    for row in rows {
        for (at, value) in row.into_iter().enumerate() {
            if columns.len() == at {
                columns.push(match value {
                    Value::Text(_) | Value::NoText => Column::Texts(Vec::with_capacity(count)),
                    Value::Integer(_) | Value::NoInteger => Column::Integers(Vec::with_capacity(count)),
                });
            }
            columns[at].push(value);
        }
    }
    match count {
        1 => columns.into_iter().map(Column::folded).collect(),
        // Columns that identify a row stay arrays: the planner takes a single value for a selective one.
        ALIKE.. => columns.into_iter().enumerate().map(|(at, c)| if at < naming { c } else { c.folded() }).collect(),
        _ => columns,
    }
}
