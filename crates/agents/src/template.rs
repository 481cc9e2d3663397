//! Texts with `{placeholders}`, checked when the adapter is read.

use serde::{Deserialize, Deserializer};

/// How to format a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Plain,
    Json,
    Toml,
    /// Not at all: only its presence counts.
    If,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    Value { name: String, format: Format },
}

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template(pub(crate) Vec<Part>);

/// A placeholder.
#[rustfmt::skip]
pub(crate) const NAMES: &[&str] = &[
    "argv", "args", "ask", "autonomy", "command", "config", "conversation", "edit", "env", "env_names", "full", "git_dir",
    "home", "mcp", "model", "new_conversation", "prompt_file", "server", "session_dir", "shell", "system", "system_file",
    "trusted", "untrusted", "variable", "workspace",
];

impl Template {
    /// Reads a template with our own placeholders.
    pub(crate) fn ours(text: &str) -> Result<Self, String> {
        parse(text, is_ours)
    }

    /// Reads a template whose placeholders are paths into a JSON object rather than our own names.
    pub(crate) fn of_paths(text: &str) -> Result<Self, String> {
        parse(text, |_| true)
    }

    /// The name, if the whole template is one placeholder.
    pub(crate) fn whole(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Value { name, format: Format::Plain }] => Some(name),
            _ => None,
        }
    }

    /// Whether it is nothing but a condition.
    pub(crate) fn is_condition(&self) -> bool {
        matches!(self.0.as_slice(), [Part::Value { format: Format::If, .. }])
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Value { name, .. } => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// The filled text; `None` if a value is absent.
    pub(crate) fn fill(&self, get: impl Fn(&str) -> Option<String>) -> Option<String> {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Value { name, format } => text.push_str(&format.write(get(name)?)),
            }
        }
        Some(text)
    }
}

impl Format {
    fn write(self, value: String) -> String {
        match self {
            Self::Plain => value,
            Self::Json => serde_json::Value::String(value).to_string(),
            Self::Toml => toml::Value::String(value).to_string(),
            Self::If => String::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::ours(&text).map_err(serde::de::Error::custom)
    }
}

fn is_ours(name: &str) -> bool {
    NAMES.contains(&name) || name.strip_prefix("json.").or(name.strip_prefix("file.")).is_some_and(|n| !n.is_empty())
}

fn parse(text: &str, known: impl Fn(&str) -> bool) -> Result<Template, String> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let found = &rest[at..];
        if found.starts_with("{{") || found.starts_with("}}") {
            plain.push_str(&found[..1]);
            rest = &found[2..];
            continue;
        }
        let end = found.find('}').filter(|end| *end > 0);
        let end =
            end.ok_or_else(|| format!("a brace in {text:?} has no partner; write {{{{ or }}}} for a brace itself"))?;
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        parts.push(placeholder(&found[1..end], &known)?);
        rest = &found[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() || parts.is_empty() {
        parts.push(Part::Text(plain));
    }
    Ok(Template(parts))
}

fn placeholder(inside: &str, known: &impl Fn(&str) -> bool) -> Result<Part, String> {
    let (name, format) = inside.split_once(':').unwrap_or((inside, "plain"));
    let format = match format {
        "plain" => Format::Plain,
        "json" => Format::Json,
        "toml" => Format::Toml,
        "if" => Format::If,
        other => return Err(format!("unknown format `{other}` in {{{inside}}}, expected json, toml or if")),
    };
    if !known(name) {
        return Err(format!(
            "unknown placeholder {{{name}}}, expected one of {}, json.NAME, file.NAME",
            NAMES.join(", ")
        ));
    }
    Ok(Part::Value { name: name.to_owned(), format })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Option<String> {
        let template = parse(text, is_ours).unwrap();
        template.fill(|name| (name == "model").then(|| "a \"b\"\n".to_owned()))
    }

    #[test]
    fn values_are_put_in_as_the_format_says() {
        assert_eq!(fill("plain {{}}").as_deref(), Some("plain {}"));
        assert_eq!(fill("m={model}").as_deref(), Some("m=a \"b\"\n"));
        assert_eq!(fill("m={model:json}").as_deref(), Some(r#"m="a \"b\"\n""#));
        let toml: toml::Table = fill("m={model:toml}").unwrap().parse().unwrap();
        assert_eq!(toml["m"].as_str(), Some("a \"b\"\n"));
        assert_eq!(fill("{system}"), None, "an absent value makes the whole absent");
    }

    #[test]
    fn a_fault_says_what_is_allowed() {
        let fault = |text| parse(text, is_ours).unwrap_err();
        assert!(fault("{modell}").contains("expected one of argv, "), "{}", fault("{modell}"));
        assert!(fault("{model:xml}").contains("expected json, toml or if"));
        assert!(fault("{model").contains("no partner"));
        assert!(fault("}").contains("no partner"));
    }
}
