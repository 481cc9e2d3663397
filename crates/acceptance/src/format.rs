//! Whether a text is valid in its format.

use protocol::FileFormat;
use saphyr_parser::{Event, Parser};
use serde::de::IgnoredAny;

use crate::xml;

/// Deeper than any document that a person wrote.
const DEEPEST: usize = 256;

/// Checks the text; an error says what is wrong and where.
pub(crate) fn parses(format: FileFormat, bytes: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        format!("not UTF-8 text (byte {}, line {line})", error.valid_up_to())
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        FileFormat::Json => json(text).map_err(|why| format!("invalid JSON: {why}")),
        FileFormat::Jsonl => jsonl(text),
        FileFormat::Toml => text.parse::<toml::Table>().map(drop).map_err(|why| format!("invalid TOML: {why}")),
        FileFormat::Yaml => yaml(text).map_err(|why| format!("invalid YAML: {why}")),
        FileFormat::Csv => csv(text).map_err(|why| format!("invalid CSV: {why}")),
        FileFormat::Xml => xml::parses(text).map_err(|why| format!("invalid XML: {why}")),
        FileFormat::Text => plain(text),
    }
}

fn json(text: &str) -> Result<(), String> {
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| error.to_string())
}

fn jsonl(text: &str) -> Result<(), String> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    for (number, line) in text.split('\n').enumerate() {
        let wrong = |why: String| format!("invalid JSON in line {}: {why}", number + 1);
        if line.trim().is_empty() {
            return Err(format!("line {} is empty; each line must be one JSON value", number + 1));
        }
        json(line.trim_end_matches('\r')).map_err(wrong)?;
    }
    Ok(())
}

fn yaml(text: &str) -> Result<(), String> {
    let (mut depth, mut documents) = (0_usize, 0);
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                documents += usize::from(depth == 0);
                depth += 1;
            }
            Event::MappingEnd | Event::SequenceEnd => depth = depth.saturating_sub(1),
            // Otherwise any text would be YAML.
            Event::Scalar(..) if depth == 0 => return Err("it is a single value, not a list or a mapping".to_owned()),
            _ => {}
        }
        if depth > DEEPEST {
            return Err(format!("it is nested more than {DEEPEST} levels deep"));
        }
    }
    if documents == 0 { Err("it contains no list or mapping".to_owned()) } else { Ok(()) }
}

fn csv(text: &str) -> Result<(), String> {
    if text.bytes().filter(|byte| *byte == b'"').count() % 2 == 1 {
        return Err("a quote is not closed; the file may be cut off".to_owned());
    }
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let mut rows = 0_u64;
    for record in reader.byte_records() {
        let record = record.map_err(|error| error.to_string())?;
        if record.len() < 2 {
            return Err(format!("row {} has no comma", rows + 1));
        }
        rows += 1;
    }
    if rows == 0 { Err("it has no rows".to_owned()) } else { Ok(()) }
}

fn plain(text: &str) -> Result<(), String> {
    let odd = |c: char| c.is_control() && !"\n\r\t".contains(c);
    for (number, line) in text.split('\n').enumerate() {
        if let Some(found) = line.chars().find(|c| odd(*c)) {
            return Err(format!("line {} contains a control character ({})", number + 1, found.escape_unicode()));
        }
    }
    Ok(())
}
