//! Recipes right and wrong. Files below `corpus` hold what is read; `BLESS_RECIPES=1` writes what they should say.

mod corpus;
mod good;
mod hostile;
mod inputs;
mod prompts;
mod schema;
mod shipped;

use crate::{Checked, Finding, Format, read};

/// A recipe without errors.
fn good(text: &str) -> Checked {
    match read(text, Format::Yaml) {
        Ok(checked) => checked,
        Err(errors) => panic!("{text}\n{}", lines(&errors)),
    }
}

/// The errors of a recipe.
fn bad(text: &str) -> Vec<Finding> {
    match read(text, Format::Yaml) {
        Ok(checked) => panic!("{text}\n{checked:#?}"),
        Err(errors) => errors,
    }
}

fn lines(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}
