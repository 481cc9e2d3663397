//! YAML 1.2 into nodes: no aliases, no merge keys, no tags, one document.

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};
use serde_json::Number;

use crate::Finding;
use crate::node::{Budget, Field, Kind, Node, Spot, Text, Written};

/// The value of a YAML text.
pub(crate) fn parse(text: &str) -> Result<Node, Finding> {
    let mut reader =
        Reader { parser: Parser::new_from_str(text), lines: text.lines().collect(), budget: Budget::new() };
    loop {
        match reader.next()? {
            (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
            (Event::StreamEnd | Event::DocumentEnd, _) => {
                return Err(Finding::new(Spot::START, "", "the recipe is empty").instead("name: …"));
            }
            (event, span) => {
                let node = reader.value(event, span)?;
                reader.end()?;
                return Ok(node);
            }
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    lines: Vec<&'a str>,
    budget: Budget,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Finding> {
        match self.parser.next() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(wrong(spot(error.marker()), error.info())),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// Nothing follows the value.
    fn end(&mut self) -> Result<(), Finding> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentEnd | Event::Nothing, _) => {}
                (_, span) => {
                    let said = "a second document begins here; a file holds one recipe";
                    return Err(Finding::new(spot(&span.start), "", said));
                }
            }
        }
    }

    fn value(&mut self, event: Event<'a>, span: Span) -> Result<Node, Finding> {
        let at = spot(&span.start);
        self.budget.count(at)?;
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag) => (*anchor, tag.is_some()),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => (*anchor, tag.is_some()),
            _ => (0, false),
        };
        if anchor > 0 {
            return Err(Finding::new(
                at,
                "",
                "anchors (`&name`) are not allowed in recipes; write the value where it is used",
            ));
        }
        if tag {
            return Err(Finding::new(at, "", "tags (`!name`) are not allowed in recipes; put quotes around a text"));
        }
        let kind = match event {
            Event::Scalar(value, style, ..) => self.scalar(value.into_owned(), style, at, &span),
            Event::SequenceStart(..) => {
                self.budget.enter(at)?;
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break,
                        (event, span) => items.push(self.value(event, span)?),
                    }
                }
                self.budget.leave();
                Kind::List(items)
            }
            Event::MappingStart(..) => {
                self.budget.enter(at)?;
                let mut fields = Vec::new();
                loop {
                    match self.next()? {
                        (Event::MappingEnd, _) => break,
                        (event, span) => fields.push(self.field(event, span)?),
                    }
                }
                self.budget.leave();
                Kind::Fields(fields)
            }
            Event::Alias(_) => {
                let said = "aliases (`*name`) are not allowed in recipes; write the value out";
                return Err(Finding::new(at, "", said));
            }
            _ => return Err(wrong(at, "a value is missing")),
        };
        Ok(Node { spot: at, kind })
    }

    fn field(&mut self, event: Event<'a>, span: Span) -> Result<Field, Finding> {
        let at = spot(&span.start);
        let Event::Scalar(name, style, 0, None) = event else {
            let said = match event {
                Event::MappingStart(0, None) => {
                    "a name is missing before this mapping; put quotes around a text that begins with `{{`"
                }
                Event::SequenceStart(0, None) => {
                    "a list cannot be a name; put quotes around a text that begins with `[`"
                }
                _ => "a name cannot have an anchor, an alias or a tag",
            };
            return Err(Finding::new(at, "", said));
        };
        if style == ScalarStyle::Plain && name == "<<" {
            return Err(Finding::new(at, "", "merge keys (`<<`) are not allowed in recipes; write the fields out"));
        }
        let (event, span) = self.next()?;
        let value = self.value(event, span)?;
        Ok(Field { name: name.into_owned(), spot: at, value })
    }

    fn scalar(&self, value: String, style: ScalarStyle, at: Spot, span: &Span) -> Kind {
        let one_line = span.start.line() == span.end.line();
        let written = match style {
            ScalarStyle::Plain if one_line => Written::Plain { first: at, indent: 0 },
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted if one_line => {
                let escaped = self.written(at, span).is_none_or(|written| written != value);
                let first = Spot { column: at.column + 1, ..at };
                if escaped { Written::Escaped } else { Written::Plain { first, indent: 0 } }
            }
            // The library gives the place of its first line that is not empty.
            ScalarStyle::Literal => {
                let empty = value.len() - value.trim_start_matches('\n').len();
                let line = at.line.saturating_sub(empty).max(1);
                Written::Plain { first: Spot { line, ..at }, indent: at.column - 1 }
            }
            _ => Written::Escaped,
        };
        match style {
            ScalarStyle::Plain => plain(value, written),
            _ => Kind::Text(Text { value, written }),
        }
    }

    /// What is between the quotes.
    fn written(&self, at: Spot, span: &Span) -> Option<String> {
        let line = self.lines.get(at.line - 1)?;
        let length = span.end.col().checked_sub(span.start.col())?.checked_sub(2)?;
        Some(line.chars().skip(at.column).take(length).collect())
    }
}

/// What an unquoted scalar is, by the core schema of YAML 1.2: `yes` and `on` are texts.
fn plain(value: String, written: Written) -> Kind {
    match value.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
        "true" | "True" | "TRUE" => return Kind::Bool(true),
        "false" | "False" | "FALSE" => return Kind::Bool(false),
        _ => {}
    }
    match number(&value) {
        Some(number) => Kind::Number(number),
        None => Kind::Text(Text { value, written }),
    }
}

fn number(text: &str) -> Option<Number> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Number::from);
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !digits.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let whole = text.strip_prefix('+').unwrap_or(text);
        let read = whole.parse::<i64>().ok().map(Number::from);
        return read.or_else(|| whole.parse::<u64>().ok().map(Number::from));
    }
    let float = digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    if float { text.parse::<f64>().ok().and_then(Number::from_f64) } else { None }
}

/// A place of the library: its columns begin at 0.
fn spot(marker: &saphyr_parser::Marker) -> Spot {
    Spot { line: marker.line().max(1), column: marker.col() + 1 }
}

fn wrong(at: Spot, said: &str) -> Finding {
    Finding::new(at, "", format!("invalid YAML: {said}"))
}
