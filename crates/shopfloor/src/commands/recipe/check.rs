//! `shopfloor recipe check`.

use clap::Args;
use recipes::Finding;
use serde::Serialize;

use super::FileArgs;
use super::file::{Source, line};
use crate::commands::words;
use crate::output::clean;
use crate::{Exit, Failure, Output};

/// Arguments of `recipe check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    file: FileArgs,
}

/// A check's result, for programs.
#[derive(Serialize)]
struct Verdict<'a> {
    file: &'a str,
    ok: bool,
    name: Option<String>,
    version: Option<String>,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
}

/// Reports everything that is wrong in a recipe.
pub(super) fn run(args: &CheckArgs, out: &Output) -> Result<Exit, Failure> {
    let source = Source::read(&args.file)?;
    let read = source.text.as_ref().map_err(Clone::clone).and_then(|text| recipes::read(text, source.format));
    let file = source.name.as_str();
    let verdict = match read {
        Ok(read) => Verdict {
            file,
            ok: true,
            name: Some(read.recipe.name),
            version: Some(read.hash),
            errors: Vec::new(),
            warnings: read.warnings,
        },
        Err(errors) => Verdict { file, ok: false, name: None, version: None, errors, warnings: Vec::new() },
    };
    out.show(&verdict, |_| said(&verdict))?;
    Ok(if verdict.ok { Exit::Done } else { Exit::Usage })
}

fn said(verdict: &Verdict<'_>) -> String {
    let Verdict { file, errors, warnings, name, .. } = verdict;
    let mut lines: Vec<String> = errors.iter().map(|finding| line(file, finding, false)).collect();
    lines.extend(warnings.iter().map(|finding| line(file, finding, true)));
    let warned = match warnings.len() {
        0 => String::new(),
        some => format!(", {}", words::counted(some, "warning", "warnings")),
    };
    lines.push(match errors.len() {
        0 => format!("{file}: recipe `{}`, no errors{warned}", name.as_deref().unwrap_or_default()),
        wrong => format!("{file}: {}", words::counted(wrong, "error", "errors")),
    });
    clean(&lines.join("\n"))
}
