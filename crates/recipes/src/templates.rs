//! The recipes that come with Shopfloor, to start from.

/// A recipe to start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// Its name: `fix-issue`.
    pub name: &'static str,
    /// What it does, in one line.
    pub title: &'static str,
    /// Its text, as YAML with comments.
    pub text: &'static str,
}

/// The recipes that come with Shopfloor.
pub fn templates() -> &'static [Shipped] {
    &[
        Shipped {
            name: "fix-issue",
            title: "An agent fixes an issue, the tests pass, a person approves, the work lands",
            text: include_str!("../templates/fix-issue.yaml"),
        },
        Shipped {
            name: "nightly-checks",
            title: "Runs the checks and asks an agent to repair what is broken",
            text: include_str!("../templates/nightly-checks.yaml"),
        },
        Shipped {
            name: "review-pr",
            title: "Agents review a branch from several sides, and one summary goes to the chat",
            text: include_str!("../templates/review-pr.yaml"),
        },
        Shipped {
            name: "dependency-update",
            title: "Updates dependencies one by one, keeps those whose tests pass",
            text: include_str!("../templates/dependency-update.yaml"),
        },
        Shipped {
            name: "best-of-n",
            title: "Several agents do the same task, a judge chooses, the best work lands",
            text: include_str!("../templates/best-of-n.yaml"),
        },
        Shipped {
            name: "release-notes",
            title: "An agent drafts release notes, a person edits and approves them",
            text: include_str!("../templates/release-notes.yaml"),
        },
    ]
}
