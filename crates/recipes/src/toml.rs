//! TOML into nodes, in the order of the text.

use serde_json::Number;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Finding;
use crate::node::{Budget, Field, Kind, Node, Spot, Text, Written};

/// The value of a TOML text.
pub(crate) fn parse(text: &str) -> Result<Node, Vec<Finding>> {
    let lines = Lines::of(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let wrong = errors.iter().map(|error| {
            let spot = error.span().map_or(Spot::START, |span| lines.spot(span.start));
            Finding::new(spot, "", format!("invalid TOML: {}", error.message().replace('\n', ", ")))
        });
        return Err(wrong.collect());
    }
    let mut reader = Reader { lines, budget: Budget::new() };
    let spot = Spot::START;
    reader.table(table.into_inner(), spot).map(|kind| Node { spot, kind }).map_err(|wrong| vec![wrong])
}

struct Reader<'a> {
    lines: Lines<'a>,
    budget: Budget,
}

impl Reader<'_> {
    fn table(&mut self, table: DeTable<'_>, spot: Spot) -> Result<Kind, Finding> {
        self.budget.enter(spot)?;
        let mut fields = Vec::new();
        for (name, value) in table {
            let spot = self.lines.spot(name.span().start);
            fields.push(Field { name: name.into_inner().into_owned(), spot, value: self.value(value)? });
        }
        // The library sorts by name.
        fields.sort_by_key(|field| field.spot);
        self.budget.leave();
        Ok(Kind::Fields(fields))
    }

    fn value(&mut self, value: Spanned<DeValue<'_>>) -> Result<Node, Finding> {
        let span = value.span();
        let spot = self.lines.spot(span.start);
        self.budget.count(spot)?;
        let kind = match value.into_inner() {
            DeValue::String(value) => {
                let written = self.lines.written(span, spot, &value);
                Kind::Text(Text { value: value.into_owned(), written })
            }
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Kind::Number(number.into()),
                Err(_) => return Err(Finding::new(spot, "", format!("the number {number} is too large"))),
            },
            DeValue::Float(number) => match number.as_str().parse().ok().and_then(Number::from_f64) {
                Some(number) => Kind::Number(number),
                None => return Err(Finding::new(spot, "", format!("{number} is not a finite number"))),
            },
            DeValue::Boolean(value) => Kind::Bool(value),
            DeValue::Datetime(time) => Kind::Text(Text { value: time.to_string(), written: Written::Escaped }),
            DeValue::Array(items) => {
                self.budget.enter(spot)?;
                let items = items.into_iter().map(|item| self.value(item)).collect::<Result<_, _>>()?;
                self.budget.leave();
                Kind::List(items)
            }
            DeValue::Table(table) => self.table(table, spot)?,
        };
        Ok(Node { spot, kind })
    }
}

/// The beginnings of the lines of a text.
struct Lines<'a> {
    text: &'a str,
    begins: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let begins = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, begins }
    }

    fn spot(&self, at: usize) -> Spot {
        let line = self.begins.partition_point(|begin| *begin <= at).max(1);
        let before = self.text.get(self.begins[line - 1]..at).unwrap_or_default();
        Spot { line, column: before.chars().count() + 1 }
    }

    /// How the text is written that these bytes with quotes stand for.
    fn written(&self, span: std::ops::Range<usize>, spot: Spot, value: &str) -> Written {
        let raw = self.text.get(span).unwrap_or_default();
        for quotes in ["\"\"\"", "'''", "\"", "'"] {
            let inner = raw.strip_prefix(quotes).and_then(|raw| raw.strip_suffix(quotes));
            match inner {
                Some(inner) if inner == value => {
                    return Written::Plain { first: Spot { column: spot.column + quotes.len(), ..spot }, indent: 0 };
                }
                // A line break directly after the quotes does not count.
                Some(inner) if inner.strip_prefix('\n') == Some(value) => {
                    return Written::Plain { first: Spot { line: spot.line + 1, column: 1 }, indent: 0 };
                }
                _ => {}
            }
        }
        Written::Escaped
    }
}
