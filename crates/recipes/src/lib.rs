//! Reads recipes: YAML, TOML or JSON into checked plans, with the line and column of every error.
//!
//! The CLI and the hub share this language; the page asks the hub. This crate opens no file, has no clock and no
//! randomness, and nothing that it reads is executed: the same text gives the same result, within limits.

mod check;
mod finding;
mod given;
mod hash;
mod json;
mod node;
mod prompts;
mod read;
mod schema;
mod scope;
mod source;
mod templates;
mod toml;
mod yaml;

use engine::recipes::model::Recipe;

pub use domain::RecipeFormat as Format;
pub use finding::Finding;
pub use given::inputs;
pub use hash::hash;
pub use prompts::{PromptFile, inline, prompt_files};
pub use schema::schema;
pub use templates::{Shipped, templates};

use node::{Node, Spot};

/// The largest text of a recipe, in bytes.
pub const LARGEST: usize = 256 * 1024;

/// How many findings are told.
const TOLD: usize = 100;

/// A recipe without errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The recipe.
    pub recipe: Recipe,
    /// What should be changed, in the order of the text.
    pub warnings: Vec<Finding>,
    /// Its content hash: `sha256:…`.
    pub hash: String,
}

/// Reads and checks a recipe; the errors are in the order of the text.
pub fn read(text: &str, format: Format) -> Result<Checked, Vec<Finding>> {
    let root = parse(text, format)?;
    let (recipe, reader) = read::read(&root);
    let mut errors = reader.errors;
    errors.extend(check::uses(&reader.uses, &reader.known));
    errors.extend(check::places(&reader.places, &reader.known));
    match recipe {
        Some(recipe) if errors.is_empty() => {
            let hash = hash(&recipe);
            Ok(Checked { recipe, warnings: sorted(reader.warnings), hash })
        }
        _ if errors.is_empty() => Err(vec![Finding::new(root.spot, "", "this is not a recipe")]),
        _ => Err(sorted(errors)),
    }
}

/// The name of a recipe, as far as its text can be read.
pub fn name(text: &str, format: Format) -> Option<String> {
    let root = parse(text, format).ok()?;
    root.field("name").and_then(Node::text).map(|name| domain::text::plain(name, 60))
}

/// The format that the name of a file tells; YAML, unless it ends in `.toml` or `.json`.
pub fn format_of(file: &str) -> Format {
    match file.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).as_deref() {
        Some("toml") => Format::Toml,
        Some("json") => Format::Json,
        _ => Format::Yaml,
    }
}

fn parse(text: &str, format: Format) -> Result<Node, Vec<Finding>> {
    if text.len() > LARGEST {
        let said = format!("the recipe has {} bytes; the limit is {} KiB", text.len(), LARGEST / 1024);
        return Err(vec![Finding::new(Spot::START, "", said)]);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Yaml => yaml::parse(text).map_err(|wrong| vec![wrong]),
        Format::Json => json::parse(text).map_err(|wrong| vec![wrong]),
        Format::Toml => toml::parse(text).map_err(sorted),
    }
}

/// In the order of the text, each once, and not too many.
fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort();
    findings.dedup();
    findings.truncate(TOLD);
    findings
}

#[cfg(test)]
mod tests;
