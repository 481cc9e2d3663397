//! Plain values: texts, numbers, words, names, lists of texts, expressions, templates.

use engine::recipes::eval;
use engine::recipes::model::{Expr, Template, Value};
use serde_json::Value as Json;

use super::at::short;
use super::{At, Reader};
use crate::node::Kind;
use crate::scope::Form;

/// How long a name may be.
pub(crate) const NAME: usize = 60;

/// Why a text cannot be the id of a step, with a better one.
pub(crate) fn id_fault(id: &str) -> Option<(String, Option<String>)> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if !id.is_empty() && id.len() <= NAME && id.starts_with(|c: char| c.is_ascii_lowercase()) && id.chars().all(fits) {
        return None;
    }
    let why = if id.len() > NAME {
        format!("is longer than {NAME} letters")
    } else {
        let shown = short(id);
        format!("`{shown}` is not an id: it begins with a letter, and has a to z, 0 to 9 and `_` only")
    };
    Some((why, tidied(id)))
}

/// Why a text cannot be the name of an input, an output, a variable or a lane.
pub(crate) fn name_fault(name: &str) -> Option<String> {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fits = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(inside);
    if fits && name.len() <= NAME {
        return None;
    }
    Some(format!("`{}` is not a name: it begins with a letter, and has letters, digits and `_` only", short(name)))
}

/// The nearest id.
fn tidied(id: &str) -> Option<String> {
    let tidy: String =
        id.trim().to_ascii_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let tidy: String = tidy.trim_matches('_').chars().take(NAME).collect();
    tidy.starts_with(|c: char| c.is_ascii_lowercase()).then_some(tidy)
}

impl<'n> Reader<'n> {
    /// A text, which a person sees.
    pub(super) fn text(&mut self, at: &At<'n>) -> Option<String> {
        match &at.node.kind {
            Kind::Text(text) => Some(text.value.clone()),
            _ => {
                let finding = at.say(format!("is {}; expected a text", at.node.what()));
                self.error(quoted(at, finding));
                None
            }
        }
    }

    /// A text with at least one visible character.
    pub(super) fn visible(&mut self, at: &At<'n>) -> Option<String> {
        let text = self.text(at)?;
        if text.trim().is_empty() {
            self.error(at.say("is empty"));
            return None;
        }
        Some(text)
    }

    pub(super) fn boolean(&mut self, at: &At<'n>) -> Option<bool> {
        if let Kind::Bool(value) = at.node.kind {
            return Some(value);
        }
        let finding = at.say(format!("is {}; expected true or false", at.node.what()));
        self.error(match at.node.text().map(str::to_ascii_lowercase).as_deref() {
            Some("yes" | "on" | "true" | "y") => finding.instead("true"),
            Some("no" | "off" | "false" | "n") => finding.instead("false"),
            _ => finding,
        });
        None
    }

    pub(super) fn whole(&mut self, at: &At<'n>, least: u32, most: u32) -> Option<u32> {
        let range = format!("a whole number from {least} to {most}");
        let Kind::Number(number) = &at.node.kind else {
            let finding = at.say(format!("is {}; expected {range}", at.node.what()));
            let digits = at.node.text().map(str::trim).filter(|text| text.parse::<u32>().is_ok());
            self.error(finding.perhaps(digits));
            return None;
        };
        let fits = number.as_u64().and_then(|number| u32::try_from(number).ok());
        let fits = fits.filter(|number| (least..=most).contains(number));
        if fits.is_none() {
            self.error(at.say(format!("is {number}; expected {range}")));
        }
        fits
    }

    /// One of these words.
    pub(super) fn word<T: Copy>(&mut self, at: &At<'n>, words: &[(&str, T)]) -> Option<T> {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let all = names.join(", ");
        let Some(text) = at.node.text() else {
            self.error(at.say(format!("is {}; expected one of: {all}", at.node.what())));
            return None;
        };
        let found = words.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        if found.is_none() {
            let finding = at.say(format!("`{}` is not one of: {all}", short(text)));
            self.error(finding.perhaps(super::at::meant(text, &names)));
        }
        found
    }

    /// A list; `what` says of what.
    pub(super) fn list(&mut self, at: &At<'n>, what: &str, least: usize) -> Option<Vec<At<'n>>> {
        let Kind::List(_) = &at.node.kind else {
            self.error(at.say(format!("is {}; expected a list of {what}", at.node.what())));
            return None;
        };
        let items = at.items();
        if items.len() < least {
            self.error(at.say(format!("is empty; expected a list of {what}")));
            return None;
        }
        Some(items)
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, at: &At<'n>, what: &str) -> Vec<String> {
        let items = self.list(at, what, 0).unwrap_or_default();
        items.iter().filter_map(|item| self.visible(item)).collect()
    }

    /// A list of templates.
    pub(super) fn templates(&mut self, at: &At<'n>, what: &str) -> Vec<Template> {
        let items = self.list(at, what, 0).unwrap_or_default();
        items.iter().filter_map(|item| self.template(item)).collect()
    }

    /// A text with expressions in it; a number or true stands for its text.
    pub(super) fn template(&mut self, at: &At<'n>) -> Option<Template> {
        let text = match &at.node.kind {
            Kind::Number(number) => return Some(Template(number.to_string())),
            Kind::Bool(value) => return Some(Template(value.to_string())),
            _ => self.text(at)?,
        };
        self.uses(at, Form::Template);
        Some(Template(text))
    }

    /// A template that is not empty.
    pub(super) fn said(&mut self, at: &At<'n>) -> Option<Template> {
        if at.node.text().is_some_and(|text| text.trim().is_empty()) {
            self.error(at.say("is empty"));
            return None;
        }
        self.template(at)
    }

    /// An expression, or one in braces.
    pub(super) fn expr(&mut self, at: &At<'n>) -> Option<Expr> {
        let text = match &at.node.kind {
            Kind::Number(number) => return Some(Expr(number.to_string())),
            Kind::Bool(value) => return Some(Expr(value.to_string())),
            Kind::Text(text) => &text.value,
            _ => {
                self.error(at.say(format!("is {}; expected an expression such as `inputs.issue > 0`", at.node.what())));
                return None;
            }
        };
        if text.trim().is_empty() {
            self.error(at.say("is empty; expected an expression such as `inputs.issue > 0`"));
            return None;
        }
        let inner = crate::source::alone(text);
        if inner.is_none() && text.contains("{{") && eval::variables(text, eval::Kind::Expression).is_err() {
            let said = "is a text with expressions; expected one expression, without braces or text around it";
            self.error(at.say(said));
            return None;
        }
        self.uses(at, if inner.is_some() { Form::Template } else { Form::Expr });
        Some(Expr(inner.unwrap_or_else(|| text.trim()).to_owned()))
    }

    /// A value whose texts are templates.
    pub(super) fn value(&mut self, at: &At<'n>) -> Value {
        self.inner(at);
        Value(at.node.to_json())
    }

    fn inner(&mut self, at: &At<'n>) {
        match &at.node.kind {
            Kind::Text(_) => self.uses(at, Form::Template),
            Kind::List(_) => at.items().iter().for_each(|item| self.inner(item)),
            Kind::Fields(fields) => {
                for field in fields {
                    self.inner(&at.below(&field.name, &field.value));
                }
            }
            _ => {}
        }
    }

    /// A JSON Schema.
    pub(super) fn schema(&mut self, at: &At<'n>) -> Option<Json> {
        let (Kind::Fields(_) | Kind::Bool(_)) = at.node.kind else {
            self.error(at.say(format!("is {}; expected a JSON Schema: a mapping", at.node.what())));
            return None;
        };
        let schema = at.node.to_json();
        match engine::recipes::schema::fault(&schema) {
            Some(why) => {
                self.error(at.say(format!("is not a usable JSON Schema: {why}")));
                None
            }
            None => Some(schema),
        }
    }

    pub(super) fn recipe_name(&mut self, at: &At<'n>) -> Option<String> {
        let name = self.text(at)?;
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(fits) && name.len() <= NAME {
            return Some(name);
        }
        let said = format!(
            "`{}` is not a name of a recipe: it begins with a letter, and has a to z, 0 to 9, `-` and `_` only, at most {NAME}",
            short(&name)
        );
        let finding = at.say(said);
        self.error(match tidied(&name) {
            Some(tidy) => finding.instead(tidy.replace('_', "-")),
            None => finding,
        });
        None
    }
}

/// What to write for a number or a word that should be a text.
fn quoted(at: &At<'_>, finding: crate::Finding) -> crate::Finding {
    match &at.node.kind {
        Kind::Number(number) => finding.instead(format!("\"{number}\"")),
        Kind::Bool(value) => finding.instead(format!("\"{value}\"")),
        // `{{ x }}` without quotes is a mapping in YAML.
        Kind::Fields(fields) if fields.len() == 1 && matches!(fields[0].value.kind, Kind::Null) => {
            finding.instead("\"{{ … }}\"")
        }
        _ => finding,
    }
}
