//! Other people's text runs here only with the approval of this runner's owner: asks the hub and waits for the answer.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use domain::ApprovalKind;
use domain::trust::{Reach, readable};
use protocol::link::{DesiredWorkspace, FactBody, StartFrom, Subject, Wish, WishAnswer};
use protocol::{Repository, Sandbox};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::journal::Journal;

/// Maximum size of all texts of one request: they travel in one frame.
const LONGEST_REQUEST: usize = 1024 * 1024;

type Known = HashMap<Asked, bool>;

/// What one answer is about.
type Asked = (Subject, ApprovalKind, String, Reach);

/// The hub's answers.
#[derive(Debug)]
pub(crate) struct Approvals {
    journal: Arc<Journal>,
    known: watch::Sender<Known>,
}

impl Approvals {
    /// No answers yet; facts in `journal` ask the hub.
    pub(crate) fn new(journal: Arc<Journal>) -> Self {
        Self { journal, known: watch::Sender::default() }
    }

    /// Stores the hub's answers; what they do not mention is no longer pending.
    pub(crate) fn take_in(&self, answers: &[WishAnswer]) {
        let key = |answer: &WishAnswer| -> Asked {
            (answer.subject, answer.kind, answer.sha256.clone(), Sandbox::reach(answer.sandbox.as_ref()))
        };
        self.known.send_replace(answers.iter().map(|answer| (key(answer), answer.allowed)).collect());
    }

    /// Waits for all answers, for the sandbox that it would run in; an error names what may not run.
    pub(crate) async fn allowed(
        &self,
        subject: Subject,
        wishes: Vec<Wish>,
        sandbox: Option<&Sandbox>,
    ) -> Result<(), String> {
        if wishes.is_empty() {
            return Ok(());
        }
        let wishes: Vec<Wish> = shown(wishes)?.map(|wish| Wish { sandbox: sandbox.cloned(), ..wish }).collect();
        let key =
            |wish: &Wish| -> Asked { (subject, wish.kind, wish.sha256.clone(), Sandbox::reach(wish.sandbox.as_ref())) };
        let mut answers = self.known.subscribe();
        let answered = |known: &Known| wishes.iter().all(|wish| known.contains_key(&key(wish)));
        if !answered(&answers.borrow()) {
            self.journal.tell(FactBody::ApprovalWanted { subject, wishes: wishes.clone() }).await;
        }
        let known = answers.wait_for(answered).await.map_err(|_| "the runner is stopping".to_owned())?;
        let denied = wishes.iter().filter(|wish| known.get(&key(wish)) == Some(&false));
        match list(denied) {
            None => Ok(()),
            Some(denied) => Err(format!("the runner's owner did not allow {denied}")),
        }
    }
}

/// Texts as the owner reads them; a text that cannot be shown completely cannot be approved.
fn shown(wishes: Vec<Wish>) -> Result<impl Iterator<Item = Wish>, String> {
    let mut room = LONGEST_REQUEST;
    let mut all = Vec::with_capacity(wishes.len());
    for wish in wishes {
        let text = readable(&wish.text).filter(|text| text.len() <= room);
        let Some(text) = text else {
            let what = list([&wish].into_iter()).unwrap_or_default();
            return Err(format!("{what} is too long for the runner's owner to read and approve"));
        };
        room -= text.len();
        all.push(Wish { text, ..wish });
    }
    Ok(all.into_iter())
}

/// A summary of what would run; `None` if nothing would.
pub(crate) fn list<'a>(wishes: impl Iterator<Item = &'a Wish>) -> Option<String> {
    let named: Vec<String> =
        wishes.map(|wish| format!("{} `{}`", wish.kind, printable(first_line(&wish.text)))).collect();
    match named.len() {
        0 => None,
        1..=4 => Some(named.join(", ")),
        many => Some(format!("{} and {} more", named[..3].join(", "), many - 3)),
    }
}

/// A request identified by its exact text.
pub(crate) fn wish(kind: ApprovalKind, text: String) -> Wish {
    let sha256 = hex::encode(Sha256::digest(text.as_bytes()));
    named(kind, text, sha256)
}

/// A request identified by a hash of what its text describes.
pub(crate) fn named(kind: ApprovalKind, text: String, sha256: String) -> Wish {
    Wish { kind, text, sha256, sandbox: None }
}

/// What must be approved before a workspace is created from other people's settings.
pub(crate) fn to_make(wanted: &DesiredWorkspace) -> Vec<Wish> {
    let (Some(_), Some(repository)) = (&wanted.repository_by, &wanted.repository) else { return Vec::new() };
    let mut wishes = vec![wish(ApprovalKind::Repository, repository.location.clone())];
    wishes.extend(to_copy(repository));
    wishes
}

/// What must be approved before files of a repository's folder are copied by other people's patterns.
pub(crate) fn to_copy(repository: &Repository) -> Option<Wish> {
    let text = || format!("{}\nfrom {}", repository.copy.join("\n"), repository.location);
    (!repository.copy.is_empty()).then(|| wish(ApprovalKind::Copy, text()))
}

/// What must be approved before a new workspace is set up: others' commands, and own commands that run others' code.
pub(crate) fn to_set_up(wanted: &DesiredWorkspace, commit: Option<&str>) -> Vec<Wish> {
    let Some(repository) = &wanted.repository else { return Vec::new() };
    let lines = [(ApprovalKind::Setup, &repository.setup), (ApprovalKind::Teardown, &repository.teardown)];
    let lines: Vec<(ApprovalKind, &String)> = lines
        .into_iter()
        .filter_map(|(kind, line)| Some((kind, line.as_ref()?)))
        .filter(|(_, line)| !line.trim().is_empty())
        .collect();
    let mut wishes = Vec::new();
    if wanted.repository_by.is_some() {
        wishes.extend(lines.iter().map(|(kind, line)| wish(*kind, (*line).clone())));
    }
    if !lines.is_empty() {
        wishes.extend(code(wanted, wanted.workspace, commit));
    }
    wishes
}

/// Other people's work, which our commands would run; `which` distinguishes its states.
pub(crate) fn code(wanted: &DesiredWorkspace, which: impl Display, commit: Option<&str>) -> Option<Wish> {
    let by = wanted.code_by.as_ref()?;
    let from = match &wanted.from {
        Some(StartFrom::Branch { branch }) => format!("pushed to branch `{branch}`"),
        Some(StartFrom::Bundle { .. }) => "brought from their machine".to_owned(),
        Some(StartFrom::Works { .. }) => "accepted before this task".to_owned(),
        None => format!("on branch `{}`", wanted.base.as_deref().unwrap_or(&wanted.branch)),
    };
    let commit = commit.unwrap_or("none");
    let text = format!("the work of {}, {from}, commit {commit}", by.user.name);
    let sha256 = hex::encode(Sha256::digest(format!("{which}\n{text}").as_bytes()));
    Some(named(ApprovalKind::Code, text, sha256))
}

/// A command as a person would type it; unique for each command.
pub(crate) fn command_line(argv: &[String]) -> String {
    shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| format!("{argv:?}"))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Untrusted text, shortened and without control characters.
fn printable(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{UserId, WorkspaceId};
    use protocol::{Repository, UserRef, WrittenBy};

    fn wanted(repository_by: bool, code_by: bool) -> DesiredWorkspace {
        let by = || {
            Some(WrittenBy {
                user: UserRef { id: UserId::generate(), name: "bo".into() },
                agent: None,
                by_agent: false,
            })
        };
        DesiredWorkspace {
            workspace: WorkspaceId::generate(),
            repository: Some(Repository {
                location: "/home/ann/notes".into(),
                setup: Some("make".into()),
                teardown: Some("  ".into()),
                copy: vec![".env".into()],
                ..Default::default()
            }),
            base: None,
            branch: "b".into(),
            repository_by: repository_by.then(by).flatten(),
            code_by: code_by.then(by).flatten(),
            from: None,
        }
    }

    fn kinds(wishes: &[Wish]) -> Vec<&'static str> {
        wishes.iter().map(|wish| wish.kind.word()).collect()
    }

    #[test]
    fn the_owners_own_text_needs_no_approval() {
        let own = wanted(false, false);
        assert!(to_make(&own).is_empty() && to_set_up(&own, None).is_empty());
    }

    #[test]
    fn other_peoples_text_needs_approval_before_it_is_read_or_run() {
        let theirs = wanted(true, false);
        assert_eq!(kinds(&to_make(&theirs)), ["repository", "copy"]);
        assert_eq!(kinds(&to_set_up(&theirs, None)), ["setup"]);
        let moved = wanted(false, true);
        assert!(to_make(&moved).is_empty());
        let asked = to_set_up(&moved, Some("1a2b"));
        assert_eq!(kinds(&asked), ["code"], "the owner's setup runs their code");
        assert!(asked[0].text.ends_with("commit 1a2b"), "{}", asked[0].text);
    }

    #[test]
    fn every_change_of_a_text_changes_the_hash() {
        let all = ["make", "make ", "Make", "make\n"].map(|text| wish(ApprovalKind::Setup, text.into()).sha256);
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn a_text_too_long_to_read_cannot_be_approved() {
        let of = |length| wish(ApprovalKind::Command, "x".repeat(length));
        assert_eq!(shown(vec![of(64 * 1024), of(64 * 1024)]).map(Iterator::count), Ok(2));
        let refused = |wishes| shown(wishes).map(Iterator::count).unwrap_err();
        assert!(refused(vec![of(100 * 1024)]).contains("too long for"));
        assert!(refused(vec![of(64 * 1024); 20]).contains("too long for"));
    }

    #[test]
    fn a_long_list_is_shortened_and_harmless() {
        let wishes: Vec<Wish> = (0..6).map(|at| wish(ApprovalKind::Command, format!("echo \u{1b}[2J{at}"))).collect();
        let text = list(wishes.iter()).unwrap();
        assert!(text.ends_with("and 3 more") && !text.contains('\u{1b}'), "{text}");
        assert_eq!(list([].iter()), None);
    }
}
