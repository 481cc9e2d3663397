//! `shopfloor recipe diff`.

use clap::Args;
use client::Client;
use protocol::{Diff, DiffKind, DiffLine, RecipeDetail};
use similar::{ChangeTag, TextDiff};

use super::{One, detail};
use crate::commands::history::show_diff;
use crate::{Failure, Output};

/// Arguments of `recipe diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    one: One,
    /// The older version, by number or content hash [default: the one before the newer]
    older: Option<String>,
    /// The newer version [default: the newest]
    newer: Option<String>,
}

/// Shows what changed between two versions.
pub(super) async fn run(args: &DiffArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let recipe = args.one.id(client).await?;
    let newer = detail(client, recipe, args.newer.clone()).await?;
    let before = newer.version.number.saturating_sub(1).max(1).to_string();
    let older = detail(client, recipe, Some(args.older.clone().unwrap_or(before))).await?;
    show_diff(out, &between(&older, &newer))
}

/// The difference between the texts of two versions, line by line.
pub(crate) fn between(older: &RecipeDetail, newer: &RecipeDetail) -> Diff {
    // Without line breaks: a last line that gets a successor has not changed.
    let (old, new): (Vec<&str>, Vec<&str>) = (older.text.lines().collect(), newer.text.lines().collect());
    let diff = TextDiff::from_slices(&old, &new);
    let lines = diff.iter_all_changes().map(|change| DiffLine {
        kind: match change.tag() {
            ChangeTag::Equal => DiffKind::Same,
            ChangeTag::Insert => DiffKind::Added,
            ChangeTag::Delete => DiffKind::Removed,
        },
        text: change.value().to_owned(),
    });
    Diff { from: older.version.number, to: newer.version.number, lines: lines.collect() }
}
