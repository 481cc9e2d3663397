//! Values on the command line: `name=value` inputs, files of inputs, and JSON.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value as Json};

use crate::Failure;
use crate::text_arg::TextArg;

/// The inputs of an execution.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct InputArgs {
    /// An input; `NAME=@FILE` reads a file, `NAME=@-` standard input; may be repeated
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) inputs: Vec<(String, String)>,
    /// Read inputs from a JSON object; --input comes on top
    #[arg(long, value_name = "FILE")]
    pub(crate) input_file: Option<PathBuf>,
}

impl InputArgs {
    /// The inputs. Texts stay texts: the hub reads them as the types that the recipe names.
    pub(crate) fn read(&self) -> Result<BTreeMap<String, Json>, Failure> {
        let mut found: BTreeMap<String, Json> = match &self.input_file {
            Some(path) => object(path)?.into_iter().collect(),
            None => BTreeMap::new(),
        };
        for (name, value) in &self.inputs {
            found.insert(name.clone(), text(value)?.into());
        }
        Ok(found)
    }
}

/// Parses `name=value`.
fn pair(given: &str) -> Result<(String, String), String> {
    match given.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE, such as issue=42".to_owned()),
    }
}

/// The object in a file of inputs.
fn object(path: &Path) -> Result<Map<String, Json>, Failure> {
    match json(&text(&format!("@{}", path.display()))?)? {
        Json::Object(object) => Ok(object),
        _ => Err(Failure::usage(format!("{} is not a JSON object", path.display()))
            .advise("write the inputs by name, such as {\"issue\": 42}")),
    }
}

/// A text, or with `@` before it the content of a file; `@@` is one `@`.
fn text(given: &str) -> Result<String, Failure> {
    match given.strip_prefix('@') {
        None => Ok(given.to_owned()),
        Some(rest) if rest.starts_with('@') => Ok(rest.to_owned()),
        Some("") => {
            Err(Failure::usage("`@` names no file").advise("write @FILE, @- for standard input, or @@ for an @"))
        }
        Some("-") => TextArg::of("-".to_owned()).required(),
        Some(file) => TextArg::from_parts(None, Some(file.into())).required(),
    }
}

/// A JSON value as an option gives it; `@FILE` reads a file.
pub(crate) fn value(given: &str) -> Result<Json, Failure> {
    json(&text(given)?)
}

fn json(text: &str) -> Result<Json, Failure> {
    serde_json::from_str(text).map_err(|error| {
        let shown = domain::text::plain(text, 60);
        Failure::usage(format!("`{shown}` is not JSON: {error}")).advise("a text needs quotes: '\"done\"'")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_come_from_options_and_files() {
        let folder = tempfile::tempdir().unwrap();
        let (inputs, words) = (folder.path().join("inputs.json"), folder.path().join("words.txt"));
        std::fs::write(&inputs, r#"{"issue": 7, "deep": {"a": [1]}}"#).unwrap();
        std::fs::write(&words, "from a file\n").unwrap();
        let read = |pairs: &[&str], file: Option<&PathBuf>| {
            let inputs = pairs.iter().map(|text| pair(text).unwrap()).collect();
            let read = InputArgs { inputs, input_file: file.cloned() }.read();
            read.map(|found| serde_json::to_string(&found).unwrap()).map_err(|error| error.render(false))
        };
        let file = format!("words=@{}", words.display());
        assert_eq!(
            read(&["issue=42", "at=@@ann", "eq=a=b"], None).unwrap(),
            r#"{"at":"@ann","eq":"a=b","issue":"42"}"#
        );
        assert_eq!(
            read(&["issue=42", &file], Some(&inputs)).unwrap(),
            r#"{"deep":{"a":[1]},"issue":"42","words":"from a file"}"#
        );
        assert!(read(&[], Some(&words)).unwrap_err().contains("is not JSON"));
        assert!(read(&["x=@"], None).unwrap_err().contains("@FILE"));
        assert!(read(&["x=@/nowhere"], None).unwrap_err().contains("/nowhere"));
        std::fs::write(&inputs, "[1]").unwrap();
        assert!(read(&[], Some(&inputs)).unwrap_err().contains("not a JSON object"));
        for bad in ["", "x", "=x"] {
            assert!(pair(bad).unwrap_err().contains("issue=42"), "{bad}");
        }
    }

    #[test]
    fn a_text_is_not_taken_for_json() {
        assert_eq!(value("{\"a\": 1}").unwrap(), serde_json::json!({"a": 1}));
        assert!(value("done").unwrap_err().render(false).contains("needs quotes"));
    }
}
