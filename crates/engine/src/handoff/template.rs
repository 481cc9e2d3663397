//! Templates: which sections a handoff document has, for everybody or for a role.

/// The sections that the tool has fields for: the field, the title, and what is asked.
pub const STANDARD: [(&str, &str, &str); 5] = [
    ("done", "Done", "what is done"),
    ("remaining", "Remaining", "what remains"),
    ("tried", "Tried and failed", "what you tried that failed"),
    ("questions", "Open questions", "open questions"),
    ("next", "Next step", "the next step"),
];

const SECTIONS: usize = 12;
const ROLES: usize = 20;
const TITLE: usize = 60;
const ASKED: usize = 400;

/// The sections for a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The role; absent: everybody without a template of their own.
    pub role: Option<String>,
    /// The sections, in order.
    pub sections: Vec<Section>,
}

/// One section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its title.
    pub title: String,
    /// What the agent is asked for.
    pub ask: String,
}

/// Why a text is not a list of templates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct TemplateError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there, and what to do.
    pub why: String,
}

/// Reads templates: lines `Title: what the agent writes there`, for everybody until a line `[role]`. Empty lines and
/// lines that begin with `#` are skipped.
pub fn templates(text: &str) -> Result<Vec<Template>, TemplateError> {
    let mut all: Vec<Template> = Vec::new();
    let mut last = 1;
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line.trim())) {
        let error = |why: String| TemplateError { line: number, why };
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        last = number;
        if let Some(role) = line.strip_prefix('[') {
            let role = role.strip_suffix(']').map(str::trim).filter(|role| (1..=TITLE).contains(&role.chars().count()));
            let role = role.ok_or_else(|| error(format!("write a role of up to {TITLE} characters as `[role]`")))?;
            filled(&all, number)?;
            if all.iter().any(|known| known.role.as_deref().is_some_and(|known| same(known, role))) {
                return Err(error(format!("the role `{role}` has two templates: join them")));
            }
            if all.len() > ROLES {
                return Err(error(format!("there are templates for at most {ROLES} roles")));
            }
            all.push(Template { role: Some(role.to_owned()), sections: Vec::new() });
            continue;
        }
        let section = section(line).map_err(error)?;
        if all.is_empty() {
            all.push(Template { role: None, sections: Vec::new() });
        }
        if let Some(template) = all.last_mut() {
            if template.sections.iter().any(|known| same(&known.title, &section.title)) {
                return Err(error(format!("the section `{}` is there twice: remove one", section.title)));
            }
            if template.sections.len() == SECTIONS {
                return Err(error(format!("a template has at most {SECTIONS} sections")));
            }
            template.sections.push(section);
        }
    }
    filled(&all, last)?;
    Ok(all)
}

fn section(line: &str) -> Result<Section, String> {
    let (title, ask) = line.split_once(':').ok_or("write a section as `Title: what the agent writes there`")?;
    let (title, ask) = (title.trim(), ask.trim());
    if title.is_empty() || title.chars().count() > TITLE || title.starts_with(['#', '>', '-']) {
        return Err(format!("a title has 1 to {TITLE} characters, and does not begin with `#`, `>` or `-`"));
    }
    if ask.is_empty() || ask.chars().count() > ASKED {
        return Err(format!("say after `{title}:` what the agent writes there, in up to {ASKED} characters"));
    }
    Ok(Section { title: title.to_owned(), ask: ask.to_owned() })
}

/// Refuses a role without sections.
fn filled(all: &[Template], line: usize) -> Result<(), TemplateError> {
    match all.last().filter(|last| last.sections.is_empty()).and_then(|last| last.role.as_deref()) {
        Some(role) => Err(TemplateError { line, why: format!("the role `{role}` has no sections: add one") }),
        None => Ok(()),
    }
}

/// The sections for a role: its own, else everybody's, else the standard ones.
pub fn sections(templates: &[Template], role: Option<&str>) -> Vec<Section> {
    let own = |template: &&Template| match (&template.role, role) {
        (Some(known), Some(role)) => same(known, role),
        _ => false,
    };
    let found = templates.iter().find(own).or(templates.iter().find(|template| template.role.is_none()));
    let standard = || STANDARD.map(|(_, title, ask)| Section { title: title.into(), ask: ask.into() }).to_vec();
    found.map_or_else(standard, |template| template.sections.clone())
}

/// The prose in the order of its sections. Standard sections that are not asked for come last; empty ones are left out.
/// An unknown title is an error with the titles that there are.
pub fn body(sections: &[Section], parts: &[(String, String)]) -> Result<String, String> {
    let standard = STANDARD.iter().map(|(_, title, _)| *title).filter(|title| !has(sections, title));
    let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).chain(standard).collect();
    if let Some((unknown, _)) = parts.iter().find(|(title, _)| !titles.iter().any(|known| same(known, title))) {
        let asked: Vec<String> = sections.iter().map(|section| format!("`{}`", section.title)).collect();
        return Err(format!("the document has no section `{unknown}`; its sections: {}", asked.join(", ")));
    }
    let texts = |title: &str| {
        let own = parts.iter().filter(|(known, text)| same(known, title) && !text.trim().is_empty());
        own.map(|(_, text)| text.trim()).collect::<Vec<_>>().join("\n\n")
    };
    let written = titles.into_iter().map(|title| (title, texts(title))).filter(|(_, text)| !text.is_empty());
    Ok(written.map(|(title, text)| format!("## {title}\n\n{text}\n")).collect::<Vec<_>>().join("\n"))
}

fn has(sections: &[Section], title: &str) -> bool {
    sections.iter().any(|section| same(&section.title, title))
}

/// What the agent is asked for, as it gives it to the tool.
pub(super) fn asked(sections: &[Section]) -> String {
    let line = |section: &Section| match STANDARD.iter().find(|(_, title, _)| same(title, &section.title)) {
        Some((field, _, _)) => format!("- `{field}`: {}", section.ask),
        None => format!("- in `sections`, `{}: …`: {}", section.title, section.ask),
    };
    sections.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether these are the sections without any template.
pub(super) fn is_standard(given: &[Section]) -> bool {
    *given == *sections(&[], None)
}

fn same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# For everybody\nDone: what works\nRisks: what could break\n\n[Reviewer]\nFindings: what you saw\n";

    #[test]
    fn a_role_has_its_own_sections() {
        let all = templates(TEXT).unwrap();
        let titles = |role| sections(&all, role).into_iter().map(|section| section.title).collect::<Vec<_>>();
        assert_eq!(titles(None), ["Done", "Risks"]);
        assert_eq!(titles(Some("reviewer")), ["Findings"]);
        assert_eq!(titles(Some("builder")), ["Done", "Risks"]);
        assert_eq!(sections(&[], Some("builder")).len(), STANDARD.len());
        assert!(is_standard(&sections(&templates("").unwrap(), None)));
    }

    #[test]
    fn an_error_names_its_line() {
        let check = |text: &str, line: usize, words: &str| {
            let error = templates(text).unwrap_err();
            assert!(error.line == line && error.why.contains(words), "{text:?}: {error}");
        };
        check("Done: a\nno colon", 2, "`Title: what");
        check("Done:", 1, "say after `Done:`");
        check("# x\n: a", 2, "a title has");
        check("Done: a\ndone: b", 2, "twice");
        check("[]", 1, "`[role]`");
        check("[a\nDone: a", 1, "`[role]`");
        check("[a]\n\n[b]\nDone: a", 3, "`a` has no sections");
        check("Done: a\n[a]\n", 2, "`a` has no sections");
        check("[a]\nDone: a\n[A]\nDone: b", 3, "two templates");
        check(
            &"x: y\n".replace('x', "Title of a section that is much longer than sixty characters are"),
            1,
            "a title has",
        );
        let many: String = (0..13).map(|n| format!("T{n}: a\n")).collect();
        check(&many, 13, "at most 12");
    }

    #[test]
    fn the_prose_follows_the_sections() {
        let all = templates(TEXT).unwrap();
        let part = |title: &str, text: &str| (title.to_owned(), text.to_owned());
        let parts = [
            part("Next step", "test it"),
            part("risks", "the cache"),
            part("Done", "the parser"),
            part("Remaining", " "),
        ];
        let written = body(&sections(&all, None), &parts).unwrap();
        assert_eq!(written, "## Done\n\nthe parser\n\n## Risks\n\nthe cache\n\n## Next step\n\ntest it\n");
        let unknown = body(&sections(&all, None), &[part("Findings", "x")]).unwrap_err();
        assert!(unknown.contains("`Findings`") && unknown.contains("`Done`, `Risks`"), "{unknown}");
        assert_eq!(body(&sections(&[], None), &[]), Ok(String::new()));
        let text = asked(&sections(&all, None));
        assert_eq!(text, "- `done`: what works\n- in `sections`, `Risks: …`: what could break");
    }
}
