//! Both sides of a conflict, for those who solve it.

use crate::bare::{Oid, oid};
use crate::scan::paths;
use crate::store::Store;
use crate::{Location, Result, Worktrees};

/// The most files whose sides are shown, and the longest text.
const MOST_FILES: usize = 8;
const MOST_BYTES: usize = 8 << 10;
/// The largest file that is read.
const LARGEST: usize = 1 << 20;

impl Worktrees {
    /// The conflicting lines of two commits with both sides, file by file; empty if they merge. Both must be in the store.
    pub async fn sides(&self, location: &Location, ours: &Oid, theirs: &Oid) -> Result<String> {
        let store = Store(self.layout().store(Some(location)));
        let ended = store.merge_tree(ours, theirs).await?;
        let said = paths(&ended.stdout);
        let (Some(1), Some(tree)) = (ended.status.code(), said.first()) else { return Ok(String::new()) };
        let tree = oid(&tree.to_string_lossy())?;
        let mut text = String::new();
        for path in said.iter().skip(1).take(MOST_FILES) {
            let Some(name) = path.to_str() else { continue };
            let git = store.git("cat-file").args(["blob"]).operands([format!("{tree}:{name}")]).limit(LARGEST);
            // A file that one side deleted, or that is too large, is only named.
            let content = git.run().await.unwrap_or_default();
            text.push_str(&format!("--- {}\n", name.escape_debug()));
            text.push_str(&marked(&String::from_utf8_lossy(&content)));
            if text.len() > MOST_BYTES {
                text.truncate(text.floor_char_boundary(MOST_BYTES));
                text.push_str("\n…\n");
                break;
            }
        }
        Ok(text)
    }
}

/// The parts between conflict markers, with names instead of commits.
fn marked(content: &str) -> String {
    let (mut text, mut inside) = (String::new(), false);
    for line in content.lines() {
        let begins = line.starts_with("<<<<<<< ");
        let ends = inside && line.starts_with(">>>>>>> ");
        inside |= begins;
        if inside {
            text.push_str(match (begins, ends) {
                (true, _) => "<<<<<<< on the target branch",
                (_, true) => ">>>>>>> on your branch",
                _ => line,
            });
            text.push('\n');
        }
        inside &= !ends;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn only_conflicting_lines_are_shown() {
        let content = "same\n<<<<<<< 1234\na\n=======\nb\n>>>>>>> 5678\nsame\n>>>>>>> quoted\n";
        let shown = "<<<<<<< on the target branch\na\n=======\nb\n>>>>>>> on your branch\n";
        assert_eq!(marked(content), shown);
        assert_eq!(marked("no conflict\n"), "");
    }
}
