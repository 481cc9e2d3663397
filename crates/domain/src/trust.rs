//! What may run on a runner: its owner's own text, what its policy allows, and what its owner approved.

use crate::values::words;
use crate::{ProjectId, UserId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

words! {
    /// A runner's policy: what it runs of other people's text without asking its owner.
    RunnerPolicy {
        /// Nothing: the owner is asked.
        Ask = "ask",
        /// The project owner's text; the owner is asked about everything else.
        ProjectOwner = "project-owner",
        /// The text of people who may write in the project, and of their agents.
        Writers = "writers",
        /// Anything in a sandbox that hides the home folder; the owner is asked before another person's repository is
        /// read.
        SandboxOnly = "sandbox-only",
    }
}

words! {
    /// What a runner's owner is asked to approve.
    ApprovalKind {
        /// A session that another person wants on this runner.
        Session = "session",
        /// To read a repository, or a folder of this machine, that another person named.
        Repository = "repository",
        /// To copy files that git ignores from the repository's folder into a workspace.
        Copy = "copy",
        /// The command that prepares a workspace.
        Setup = "setup",
        /// The command that runs before a workspace is deleted.
        Teardown = "teardown",
        /// Settings in the repository that agents, editors or git would run: hooks, MCP servers, tasks.
        Settings = "settings",
        /// An acceptance command of a task.
        Command = "command",
        /// Another person's code, which the checks of a task would run.
        Code = "code",
    }
}

impl ApprovalKind {
    /// Whether a sandbox contains it: reading a repository happens outside, and its content reaches other people.
    pub fn is_contained(self) -> bool {
        !matches!(self, Self::Repository | Self::Copy)
    }
}

words! {
    /// The answer to a request.
    Answered {
        /// Allowed only for this session or check.
        Once = "once",
        /// Allowed for this exact text in this project, from now on.
        Text = "text",
        /// Allowed for everything that this author writes in this project, from now on.
        Author = "author",
        /// Not allowed.
        Denied = "denied",
        /// Allowed by the runner's policy.
        Policy = "policy",
        /// Allowed by an earlier answer.
        Granted = "granted",
        /// No longer needed: the session or check has ended.
        Withdrawn = "withdrawn",
    }
}

impl Answered {
    /// Whether it may run.
    pub fn allows(self) -> bool {
        matches!(self, Self::Once | Self::Text | Self::Author | Self::Policy | Self::Granted)
    }

    /// Whether a person gives this answer; the hub gives the others.
    pub fn is_choice(self) -> bool {
        matches!(self, Self::Once | Self::Text | Self::Author | Self::Denied)
    }
}

/// An author: a person or their agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Author {
    /// The person.
    pub user: UserId,
    /// Whether an agent wrote it on their behalf.
    pub agent: bool,
}

/// A text that would run on a runner, or be read there.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// What it is.
    pub kind: ApprovalKind,
    /// A hash of its exact text.
    pub sha256: &'a str,
    /// Who wrote it.
    pub author: Author,
    /// What it would reach.
    pub reach: Reach,
}

/// What something reaches on its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Everything that the runner's owner does.
    Machine,
    /// What its sandbox allows, besides its workspace.
    Sandbox {
        /// Whether it reaches the network.
        network: bool,
        /// Whether it reads the owner's home folder.
        home: bool,
    },
}

impl Reach {
    /// Whether it reaches nothing that `other` does not reach.
    pub fn is_within(self, other: Self) -> bool {
        let no_more = |mine: bool, theirs: bool| theirs || !mine;
        match (self, other) {
            (_, Self::Machine) => true,
            (Self::Machine, Self::Sandbox { .. }) => false,
            (Self::Sandbox { network, home }, Self::Sandbox { network: other_network, home: other_home }) => {
                no_more(network, other_network) && no_more(home, other_home)
            }
        }
    }

    /// Whether a sandbox hides the owner's files from it: a readable home folder does not count.
    pub fn is_contained(self) -> bool {
        matches!(self, Self::Sandbox { home: false, .. })
    }
}

/// Where it would run.
#[derive(Debug, Clone, Copy)]
pub struct Ground {
    /// Who owns the runner.
    pub owner: UserId,
    /// What the runner runs without asking.
    pub policy: RunnerPolicy,
    /// The project that it is for.
    pub project: ProjectId,
    /// Who owns the project.
    pub project_owner: UserId,
    /// Whether the author may write in the project now.
    pub author_writes: bool,
}

/// A grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// One exact text of one kind.
    Text {
        /// The project.
        project: ProjectId,
        /// The kind.
        kind: ApprovalKind,
        /// A hash of the text.
        sha256: String,
        /// What it reached when it was approved.
        reach: Reach,
    },
    /// Everything of one author.
    Author {
        /// The project.
        project: ProjectId,
        /// The author.
        author: Author,
        /// What the requested text reached.
        reach: Reach,
    },
}

/// Whether something may run: by which right, or `None` if the runner's owner must be asked.
pub fn judge(wish: &Wish<'_>, ground: &Ground, grants: &[Grant]) -> Option<Right> {
    if is_own(wish.author, ground.owner) {
        return Some(Right::Own);
    }
    // What is read outside of every sandbox reaches no further without one.
    let no_further = |reach: &Reach| !wish.kind.is_contained() || wish.reach.is_within(*reach);
    let granted = |grant: &Grant| match grant {
        Grant::Text { project, kind, sha256, reach } => {
            *project == ground.project && *kind == wish.kind && sha256 == wish.sha256 && no_further(reach)
        }
        Grant::Author { project, author, reach } => {
            *project == ground.project && *author == wish.author && no_further(reach)
        }
    };
    if grants.iter().any(granted) {
        return Some(Right::Granted);
    }
    let lets = match ground.policy {
        RunnerPolicy::Ask => false,
        RunnerPolicy::ProjectOwner => is_own(wish.author, ground.project_owner),
        RunnerPolicy::Writers => ground.author_writes,
        RunnerPolicy::SandboxOnly => wish.reach.is_contained() && wish.kind.is_contained(),
    };
    lets.then_some(Right::Policy)
}

/// Maximum length of a text for its reader: a text that the owner cannot read completely cannot be approved.
pub const LONGEST_TEXT: usize = 96 * 1024;

/// A text for its reader: complete, with control characters written out. `None`: it is too long.
pub fn readable(text: &str) -> Option<String> {
    let mut shown = String::with_capacity(text.len().min(LONGEST_TEXT));
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() => shown.extend(c.escape_debug()),
            c => shown.push(c),
        }
        if shown.len() > LONGEST_TEXT {
            return None;
        }
    }
    Some(shown)
}

/// Whether a person wrote it, not an agent.
pub fn is_own(author: Author, owner: UserId) -> bool {
    author.user == owner && !author.agent
}

/// Whose work a workspace has when it comes from another workspace. A person answers for everything from their machine,
/// even if it came from somebody else. Between two workspaces of one person nothing changes.
pub fn brought(from: UserId, written_by: Option<UserId>, to: UserId) -> Option<UserId> {
    if from == to { written_by } else { Some(from) }
}

/// Why something may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// The runner's owner wrote it as a person.
    Own,
    /// The runner's owner allowed it before.
    Granted,
    /// The runner's policy lets it through.
    Policy,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Authors (rows) and policies (columns): `+` runs, `s` runs in a sandbox only, `?` the owner is asked.
    const TABLE: &str = "
        author          ask  project-owner  writers  sandbox-only
        owner            +        +            +          +
        owner-agent      ?        ?            +          s
        project-owner    ?        +            +          s
        project-agent    ?        ?            +          s
        writer           ?        ?            +          s
        reader           ?        ?            ?          s
    ";

    const REACHES: [Reach; 5] = [
        Reach::Machine,
        Reach::Sandbox { network: true, home: true },
        Reach::Sandbox { network: false, home: true },
        Reach::Sandbox { network: true, home: false },
        Reach::Sandbox { network: false, home: false },
    ];

    /// What each of [`REACHES`] (rows) is within (columns).
    const WITHIN: &str = "
        +----
        ++---
        +++--
        ++-+-
        +++++
    ";

    #[test]
    fn a_tighter_sandbox_is_within_a_wider_one() {
        for (row, mine) in WITHIN.split_whitespace().zip(REACHES) {
            for (cell, other) in row.chars().zip(REACHES) {
                assert_eq!(mine.is_within(other), cell == '+', "{mine:?} within {other:?}");
            }
        }
    }

    #[test]
    fn nothing_of_a_text_is_left_out() {
        assert_eq!(readable("rm\t-rf /\n\u{1b}[2Jx\0").as_deref(), Some("rm\t-rf /\n\\u{1b}[2Jx\\0"));
        assert_eq!(readable(&"a".repeat(LONGEST_TEXT)).map(|text| text.len()), Some(LONGEST_TEXT));
        for long in ["a".repeat(LONGEST_TEXT + 1), "\u{1b}".repeat(LONGEST_TEXT / 4)] {
            assert_eq!(readable(&long), None);
        }
    }

    struct Cast {
        owner: UserId,
        project_owner: UserId,
        other: UserId,
        project: ProjectId,
    }

    fn cast() -> Cast {
        let [owner, project_owner, other] = [UserId::generate(), UserId::generate(), UserId::generate()];
        Cast { owner, project_owner, other, project: ProjectId::generate() }
    }

    fn author(cast: &Cast, word: &str) -> (Author, bool) {
        match word {
            "owner" => (Author { user: cast.owner, agent: false }, true),
            "owner-agent" => (Author { user: cast.owner, agent: true }, true),
            "project-owner" => (Author { user: cast.project_owner, agent: false }, true),
            "project-agent" => (Author { user: cast.project_owner, agent: true }, true),
            "writer" => (Author { user: cast.other, agent: false }, true),
            _ => (Author { user: cast.other, agent: false }, false),
        }
    }

    #[test]
    fn approvals_match_the_table() {
        let cast = cast();
        let mut checked = 0;
        for row in TABLE.trim().lines().skip(1) {
            let cells: Vec<&str> = row.split_whitespace().collect();
            let (author, author_writes) = author(&cast, cells[0]);
            for (policy, cell) in RunnerPolicy::ALL.iter().zip(&cells[1..]) {
                for (kind, reach) in ApprovalKind::ALL.iter().flat_map(|kind| REACHES.map(|reach| (kind, reach))) {
                    let wish = Wish { kind: *kind, sha256: "a", author, reach };
                    let Cast { owner, project_owner, project, .. } = cast;
                    let ground = Ground { owner, policy: *policy, project, project_owner, author_writes };
                    let runs = match *cell {
                        "+" => true,
                        "s" => kind.is_contained() && matches!(reach, Reach::Sandbox { home: false, .. }),
                        _ => false,
                    };
                    let got = judge(&wish, &ground, &[]);
                    assert_eq!(got.is_some(), runs, "{row} {policy} {kind} {reach:?}: {got:?}");
                    checked += 1;
                }
            }
        }
        assert_eq!(checked, 6 * 4 * 8 * REACHES.len());
    }

    proptest! {
        #[test]
        fn work_from_another_persons_machine_is_never_ones_own(way in prop::collection::vec(0usize..3, 1..8)) {
            let people = [UserId::generate(), UserId::generate(), UserId::generate()];
            let mut written_by = None;
            for step in way.windows(2) {
                written_by = brought(people[step[0]], written_by, people[step[1]]);
            }
            let (first, last) = (way[0], way[way.len() - 1]);
            let stayed = way.iter().all(|person| *person == first);
            let owner = people[last];
            prop_assert_eq!(written_by.is_none_or(|by| by == owner), stayed);
        }

        #[test]
        fn a_grant_holds_for_no_other_project_text_kind_author_or_wider_reach(
            which in 0usize..4,
            kind in 0..ApprovalKind::ALL.len(),
            other_kind in 0..ApprovalKind::ALL.len(),
            by_agent: bool,
            grant_agent: bool,
            reach in 0..REACHES.len(),
            granted in 0..REACHES.len(),
        ) {
            let cast = cast();
            let kinds = ApprovalKind::ALL;
            let author = Author { user: cast.other, agent: by_agent };
            let (reach, granted) = (REACHES[reach], REACHES[granted]);
            let wish = Wish { kind: kinds[kind], sha256: "a", author, reach };
            let Cast { owner, project_owner, project, .. } = cast;
            let ground = Ground { owner, policy: RunnerPolicy::Ask, project, project_owner, author_writes: true };
            let text = |project, sha256: &str| {
                Grant::Text { project, kind: kinds[other_kind], sha256: sha256.into(), reach: granted }
            };
            let fits = reach.is_within(granted) || !kinds[kind].is_contained();
            let (grant, expected) = match which {
                0 => (text(project, "a"), kind == other_kind && fits),
                1 => (text(ProjectId::generate(), "a"), false),
                2 => (text(project, "b"), false),
                _ => {
                    let author = Author { user: cast.other, agent: grant_agent };
                    (Grant::Author { project, author, reach: granted }, grant_agent == by_agent && fits)
                }
            };
            prop_assert_eq!(judge(&wish, &ground, &[grant]).is_some(), expected);
            prop_assert_eq!(judge(&wish, &ground, &[]), None);
        }
    }
}
