//! A recipe's file, with the prompts beside it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use recipes::{Finding, Format, PromptFile};

use super::FileArgs;
use crate::{Failure, task_file};

/// A recipe as it was read.
pub(super) struct Source {
    /// What errors call the file.
    pub(super) name: String,
    pub(super) format: Format,
    /// The text with its prompt files in it, or why that is impossible.
    pub(super) text: Result<String, Vec<Finding>>,
}

impl Source {
    /// Reads the file and its prompt files.
    pub(super) fn read(args: &FileArgs) -> Result<Self, Failure> {
        let name = task_file::name_of(&args.file);
        let format = match &args.format {
            Some(format) => format.parse().map_err(Failure::usage)?,
            None => recipes::format_of(&name),
        };
        let text = String::from_utf8(task_file::bytes_of(&args.file)?)
            .map_err(|error| Failure::usage(format!("{name} is not UTF-8: {}", error.utf8_error())))?;
        let folder = match args.file.to_str() {
            Some("-") => Path::new("."),
            _ => args.file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")),
        };
        Ok(Self { name, format, text: whole(text, format, folder) })
    }
}

/// The text with its prompt files in it.
fn whole(text: String, format: Format, folder: &Path) -> Result<String, Vec<Finding>> {
    let files = recipes::prompt_files(&text, format)?;
    if files.is_empty() {
        return Ok(text);
    }
    let (mut contents, mut errors) = (BTreeMap::new(), Vec::new());
    for file in files {
        match prompt(folder, &file.path) {
            Ok(content) => drop(contents.insert(file.path, content)),
            Err(why) => errors.push(wrong(&file, why)),
        }
    }
    if errors.is_empty() { recipes::inline(&text, format, &contents) } else { Err(errors) }
}

fn wrong(file: &PromptFile, message: String) -> Finding {
    Finding { line: file.line, column: file.column, path: "prompt_file".to_owned(), message, instead: None }
}

/// The content of a prompt file: it is sent to the hub, so a recipe reaches no file outside of its folder.
fn prompt(folder: &Path, path: &str) -> Result<String, String> {
    let shown = domain::text::plain(path, 200);
    let unreadable = |error: std::io::Error| format!("could not read `{shown}`: {error}");
    let found = folder.join(path).canonicalize().map_err(unreadable)?;
    let inside = folder.canonicalize().is_ok_and(|folder| found.starts_with(folder));
    if !inside || Path::new(path).is_absolute() {
        return Err(format!("`{shown}` is outside of the recipe's folder"));
    }
    read(&found).map_err(unreadable)
}

fn read(path: &PathBuf) -> std::io::Result<String> {
    let mut text = String::new();
    // One byte more than any recipe may have, so that a large file is refused by its size.
    let most = u64::try_from(recipes::LARGEST).unwrap_or(u64::MAX).saturating_add(1);
    std::fs::File::open(path)?.take(most).read_to_string(&mut text)?;
    Ok(text)
}

/// A finding as compilers print theirs.
pub(super) fn line(name: &str, finding: &Finding, warning: bool) -> String {
    let warning = if warning { "warning: " } else { "" };
    let place = if finding.path.is_empty() { String::new() } else { format!("{}: ", finding.path) };
    let instead = finding.instead.as_ref().map(|instead| format!("; write `{instead}`")).unwrap_or_default();
    format!("{name}:{}:{}: {warning}{place}{}{instead}", finding.line, finding.column, finding.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPE: &str = "name: a\nsteps:\n  - id: fix\n    agent: {agent: codex, prompt_file: PATH}\n";

    fn source(folder: &Path, path: &str) -> Source {
        let file = folder.join("a.yaml");
        std::fs::write(&file, RECIPE.replace("PATH", path)).unwrap();
        Source::read(&FileArgs { file, format: None }).unwrap()
    }

    #[test]
    fn prompt_files_come_from_the_recipes_folder_only() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("recipes");
        std::fs::create_dir_all(folder.join("prompts")).unwrap();
        std::fs::write(folder.join("prompts/fix.md"), "Fix \"it\"\nnow").unwrap();
        std::fs::write(outer.path().join("key"), "secret").unwrap();
        let read = recipes::read(&source(&folder, "prompts/fix.md").text.unwrap(), Format::Yaml).unwrap();
        assert_eq!(serde_json::to_value(&read.recipe).unwrap()["steps"][0]["action"]["prompt"], "Fix \"it\"\nnow");
        #[cfg(unix)]
        std::os::unix::fs::symlink(outer.path().join("key"), folder.join("link")).unwrap();
        for outside in ["../key", "link"] {
            let errors = source(&folder, outside).text.unwrap_err();
            let said = line("a.yaml", &errors[0], false);
            assert!(said.starts_with("a.yaml:4:") && said.contains("outside of the recipe's folder"), "{said}");
        }
        let missing = source(&folder, "nowhere.md").text.unwrap_err();
        assert!(missing[0].message.contains("could not read `nowhere.md`"), "{missing:?}");
    }
}
