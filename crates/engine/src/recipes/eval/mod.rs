//! Expressions and templates, by minijinja: the same text and the same values give the same result, within limits.

mod bounded;
mod filters;
mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind};
use serde_json::{Map, Value as Json};

use super::limits;
use super::model::{Expr, Template, Value};
use bounded::Bounded;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An expression: `inputs.issue > 3`.
    Expression,
    /// A text with expressions in it: `Fix {{ inputs.issue }}`.
    Template,
}

/// Why a text cannot be evaluated, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// What is wrong.
    pub message: String,
    /// The line of the text, from 1, where known.
    pub line: Option<usize>,
}

impl EvalError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), line: None }
    }

    fn at(line: usize, message: impl Into<String>) -> Self {
        Self { message: message.into(), line: Some(line) }
    }

    fn of(error: &Error) -> Self {
        let message = match (error.kind(), error.detail()) {
            (ErrorKind::OutOfFuel, _) => "it takes too many instructions".to_owned(),
            (ErrorKind::UndefinedError, None) => "it uses a value that is not there".to_owned(),
            (kind, None) => kind.to_string(),
            (_, Some(detail)) => detail.to_owned(),
        };
        Self { message, line: error.line() }
    }
}

/// The value of an expression.
pub fn expression(expr: &Expr, scope: &Json) -> Result<Json, EvalError> {
    evaluate(&expr.0, scope)
}

/// Whether a condition holds; anything but `true` and `false` is an error.
pub fn condition(expr: &Expr, scope: &Json) -> Result<bool, EvalError> {
    holds(evaluate(&expr.0, scope)?)
}

/// The value of a condition.
pub(super) fn holds(value: Json) -> Result<bool, EvalError> {
    match value {
        Json::Bool(holds) => Ok(holds),
        other => Err(EvalError::new(format!("a condition is true or false, and this is {}", noun(&other)))),
    }
}

/// The text of a template.
pub fn template(template: &Template, scope: &Json) -> Result<String, EvalError> {
    variables(&template.0, Kind::Template)?;
    render_checked(template, scope)
}

/// The text of a template whose variables were asked for, which checks it.
pub(super) fn render_checked(template: &Template, scope: &Json) -> Result<String, EvalError> {
    if !template.0.contains('{') {
        return Ok(template.0.clone());
    }
    let env = environment();
    let compiled = env.template_from_str(&template.0).map_err(|error| EvalError::of(&error))?;
    let mut out = Bounded::default();
    let rendered = compiled.render_captured_to(minijinja::Value::from(Serde(scope)), &mut out).map(drop);
    match rendered {
        Err(_) if out.full => Err(too_large()),
        Err(error) => Err(EvalError::of(&error)),
        Ok(()) => Ok(out.text),
    }
}

/// A value whose texts are templates; a text that is one `{{ … }}` alone keeps the type of its expression.
pub fn value(value: &Value, scope: &Json) -> Result<Json, EvalError> {
    json(&value.0, scope)
}

/// A value whose texts are templates, as [`value`].
pub(super) fn json(value: &Json, scope: &Json) -> Result<Json, EvalError> {
    Ok(match value {
        Json::String(text) => match alone(text) {
            Some(expr) => evaluate(expr, scope)?,
            None => Json::String(template(&Template(text.clone()), scope)?),
        },
        Json::Array(items) => Json::Array(items.iter().map(|item| json(item, scope)).collect::<Result<_, _>>()?),
        Json::Object(fields) => {
            let field = |(name, field): (&String, &Json)| Ok((name.clone(), json(field, scope)?));
            Json::Object(fields.iter().map(field).collect::<Result<Map<_, _>, EvalError>>()?)
        }
        other => other.clone(),
    })
}

/// The variables that a text reads, as full paths: `inputs.issue`, `steps.fix.output.branch`. A text that cannot be
/// compiled is an error.
pub fn variables(text: &str, kind: Kind) -> Result<Vec<String>, EvalError> {
    let regions = source::regions(text, kind)?;
    if regions.is_empty() {
        return Ok(Vec::new());
    }
    let env = environment();
    let found = match kind {
        Kind::Expression => env.compile_expression(text).map(|expr| expr.undeclared_variables(true)),
        Kind::Template => env.template_from_str(text).map(|template| template.undeclared_variables(true)),
    };
    let mut found: BTreeSet<String> = found.map_err(|error| EvalError::of(&error))?.into_iter().collect();
    found.extend(regions.iter().flat_map(|region| source::chains(&region.code)).map(str::to_owned));
    if found.contains("steps") {
        return Err(EvalError::new("`steps` alone is not a value: write `steps.ID.output`"));
    }
    Ok(found.into_iter().collect())
}

/// The variables that the texts of a value read.
pub fn variables_of(value: &Json) -> Result<BTreeSet<String>, EvalError> {
    Ok(match value {
        Json::String(text) => variables(text, Kind::Template)?.into_iter().collect(),
        Json::Array(items) => join(items.iter())?,
        Json::Object(fields) => join(fields.values())?,
        _ => BTreeSet::new(),
    })
}

fn join<'a>(values: impl Iterator<Item = &'a Json>) -> Result<BTreeSet<String>, EvalError> {
    let mut found = BTreeSet::new();
    for value in values {
        found.append(&mut variables_of(value)?);
    }
    Ok(found)
}

/// The expression of a text that is one `{{ … }}` and nothing else.
fn alone(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    let regions = source::regions(text, Kind::Template).ok()?;
    (regions.len() == 1 && !inner.starts_with(['-', '+']) && !inner.ends_with(['-', '+'])).then_some(inner.trim())
}

fn evaluate(text: &str, scope: &Json) -> Result<Json, EvalError> {
    variables(text, Kind::Expression)?;
    evaluate_checked(text, scope)
}

/// The value of an expression whose variables were asked for, which checks it.
pub(super) fn evaluate_checked(text: &str, scope: &Json) -> Result<Json, EvalError> {
    let env = environment();
    let compiled = env.compile_expression(text).map_err(|error| EvalError::of(&error))?;
    let value = compiled.eval(minijinja::Value::from(Serde(scope))).map_err(|error| EvalError::of(&error))?;
    if value.is_undefined() {
        return Err(EvalError::new(format!("`{}` is not there", text.trim())));
    }
    let mut out = Bounded::default();
    match serde_json::to_writer(&mut out, &value) {
        Ok(()) => serde_json::from_str(&out.text).map_err(|error| EvalError::new(error.to_string())),
        Err(_) if out.full => Err(too_large()),
        Err(error) => Err(EvalError::new(error.to_string())),
    }
}

fn too_large() -> EvalError {
    EvalError::new(format!("its result is larger than {} KiB", limits::RENDERED / 1024))
}

fn noun(value: &Json) -> &'static str {
    match value {
        Json::Null => "nothing",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(filters::environment)
}
