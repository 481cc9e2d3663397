//! Recipes and their versions as text.

use protocol::{Recipe, RecipeDetail, RecipeInput, RecipeVersion, WrittenBy};

use crate::output::clean;
use crate::table::{Cell, Style, Table, fields};
use crate::{Output, when};

/// How many digits of a content hash to show.
const DIGITS: usize = 12;

/// The recipes of a project.
pub(super) fn table(recipes: &[Recipe], out: &Output) -> String {
    let titles = ["NAME", "VERSION", "INPUTS…", "SAVED", "BY", "DESCRIPTION…", "ID"];
    let empty = "no recipes yet; `shopfloor recipe new --list` shows recipes to start from";
    let mut table = Table::new(&titles, empty);
    for recipe in recipes {
        let inputs: Vec<String> = recipe.inputs.iter().map(short).collect();
        table.row([
            name(recipe),
            recipe.number.into(),
            if inputs.is_empty() { "-".into() } else { inputs.join(" ").into() },
            when::relative(recipe.saved_at, out.now).into(),
            by(&recipe.saved_by).into(),
            (&recipe.description).into(),
            recipe.id.into(),
        ]);
    }
    table.render(out)
}

/// A recipe in a line.
pub(super) fn line(recipe: &Recipe, _out: &Output) -> String {
    let state = if recipe.disabled { "disabled" } else { "enabled" };
    clean(&format!("{}  {}  {state}", recipe.id, recipe.name))
}

/// A recipe with its inputs.
pub(super) fn recipe(recipe: &Recipe, out: &Output) -> String {
    let version = format!("{} ({})", recipe.number, hash(&recipe.version));
    let saved = format!("{} by {}", when::relative(recipe.saved_at, out.now), by(&recipe.saved_by));
    let mut pairs =
        vec![("recipe", name(recipe)), ("id", recipe.id.into()), ("version", version.into()), ("saved", saved.into())];
    if !recipe.description.is_empty() {
        pairs.push(("description", (&recipe.description).into()));
    }
    let text = fields(out, &pairs);
    if recipe.inputs.is_empty() {
        return format!("{text}\n\nno inputs");
    }
    format!("{text}\n\n{}", inputs(&recipe.inputs, out))
}

/// A recipe with its inputs and the text of a version.
pub(super) fn detail(detail: &RecipeDetail, out: &Output) -> String {
    let shown = match detail.version.number == detail.recipe.number {
        true => String::new(),
        false => format!(" of version {} ({})", detail.version.number, hash(&detail.version.version)),
    };
    let title = Style::Bold.paint(&format!("Text{shown}"), out.color);
    format!("{}\n\n{title}\n{}", recipe(&detail.recipe, out), clean(detail.text.trim_end()))
}

/// The versions of a recipe.
pub(super) fn versions(versions: &[RecipeVersion], out: &Output) -> String {
    let mut table = Table::new(&["VERSION", "SAVED", "BY", "CONTENT HASH"], "no versions");
    for version in versions {
        table.row([
            version.number.into(),
            when::relative(version.saved_at, out.now).into(),
            by(&version.saved_by).into(),
            (&version.version).into(),
        ]);
    }
    table.render(out)
}

fn name(recipe: &Recipe) -> Cell {
    match recipe.disabled {
        true => Cell::styled(format!("{} (disabled)", recipe.name), Style::Dim),
        false => (&recipe.name).into(),
    }
}

/// An input's name; one that need not be given is in brackets.
fn short(input: &RecipeInput) -> String {
    if input.required { input.name.clone() } else { format!("[{}]", input.name) }
}

fn inputs(inputs: &[RecipeInput], out: &Output) -> String {
    let mut table = Table::new(&["INPUT", "TYPE", "DEFAULT…", "DESCRIPTION…"], "no inputs");
    for input in inputs {
        let default = match (&input.default, input.required) {
            (Some(default), _) => default.to_string(),
            (None, true) => "(required)".to_owned(),
            (None, false) => "-".to_owned(),
        };
        table.row([(&input.name).into(), kind(input).into(), default.into(), (&input.description).into()]);
    }
    table.render(out)
}

/// The type of an input in a word, or its choices.
fn kind(input: &RecipeInput) -> String {
    if let Some(choices) = input.schema["enum"].as_array() {
        let choices: Vec<String> =
            choices.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned)).collect();
        return choices.join("|");
    }
    match &input.schema["type"] {
        serde_json::Value::String(one) => one.clone(),
        serde_json::Value::Array(several) => {
            several.iter().filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join("|")
        }
        _ => "any".to_owned(),
    }
}

/// Who saved something.
pub(crate) fn by(author: &WrittenBy) -> String {
    if author.by_agent { format!("{} (agent)", author.user.name) } else { author.user.name.clone() }
}

/// The beginning of a content hash.
pub(crate) fn hash(version: &str) -> String {
    let digits = version.strip_prefix("sha256:").unwrap_or(version);
    digits.chars().take(DIGITS).collect()
}
