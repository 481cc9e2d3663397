//! What others wrote runs here only when this runner's owner allowed it: the hub is asked, and its answer awaited.

use std::collections::HashMap;
use std::sync::Arc;

use domain::ApprovalKind;
use protocol::link::{DesiredWorkspace, FactBody, Subject, Wish, WishAnswer};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::floor::Floor;

/// How much of one text goes to the hub.
const SHOWN: usize = 32 * 1024;

type Known = HashMap<(Subject, ApprovalKind, String), bool>;

/// What the hub said may run here, of what was asked.
#[derive(Debug, Default)]
pub(crate) struct Approvals(watch::Sender<Known>);

impl Approvals {
    /// The hub said what may run; what it does not mention is over.
    pub(crate) fn take_in(&self, answers: &[WishAnswer]) {
        let key = |answer: &WishAnswer| (answer.subject, answer.kind, answer.sha256.clone());
        self.0.send_replace(answers.iter().map(|answer| (key(answer), answer.allowed)).collect());
    }
}

/// Waits until all of it is answered; an error names what may not run.
pub(crate) async fn allowed(floor: &Arc<Floor>, subject: Subject, wishes: &[Wish]) -> Result<(), String> {
    if wishes.is_empty() {
        return Ok(());
    }
    let key = |wish: &Wish| (subject, wish.kind, wish.sha256.clone());
    let mut answers = floor.approvals.0.subscribe();
    let answered = |known: &Known| wishes.iter().all(|wish| known.contains_key(&key(wish)));
    if !answered(&answers.borrow()) {
        floor.journal.tell(FactBody::ApprovalWanted { subject, wishes: wishes.to_vec() }).await;
    }
    let known = answers.wait_for(answered).await.map_err(|_| "the runner ends".to_owned())?;
    let denied = wishes.iter().filter(|wish| known.get(&key(wish)) == Some(&false));
    match list(denied) {
        None => Ok(()),
        Some(denied) => Err(format!("the runner's owner did not allow {denied}")),
    }
}

/// What of it would run, in words; nothing when there is none.
pub(crate) fn list<'a>(wishes: impl Iterator<Item = &'a Wish>) -> Option<String> {
    let named: Vec<String> =
        wishes.map(|wish| format!("{} `{}`", wish.kind, printable(first_line(&wish.text)))).collect();
    match named.len() {
        0 => None,
        1..=4 => Some(named.join(", ")),
        many => Some(format!("{} and {} more", named[..3].join(", "), many - 3)),
    }
}

/// Something that would run, named by its exact text.
pub(crate) fn wish(kind: ApprovalKind, text: String) -> Wish {
    let sha256 = hex::encode(Sha256::digest(text.as_bytes()));
    named(kind, text, sha256)
}

/// Something that would run, named by a hash of what its text describes.
pub(crate) fn named(kind: ApprovalKind, mut text: String, sha256: String) -> Wish {
    text.truncate(text.floor_char_boundary(SHOWN));
    Wish { kind, text, sha256 }
}

/// What must be allowed before a workspace is made from what somebody else named.
pub(crate) fn to_make(wanted: &DesiredWorkspace) -> Vec<Wish> {
    let (Some(_), Some(repository)) = (&wanted.repository_by, &wanted.repository) else { return Vec::new() };
    let mut wishes = vec![wish(ApprovalKind::Repository, repository.location.clone())];
    if !repository.copy.is_empty() {
        let text = format!("{}\nfrom {}", repository.copy.join("\n"), repository.location);
        wishes.push(wish(ApprovalKind::Copy, text));
    }
    wishes
}

/// What must be allowed before a fresh workspace is prepared: others' commands, and own ones that run others' code.
pub(crate) fn to_set_up(wanted: &DesiredWorkspace) -> Vec<Wish> {
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
        wishes.extend(code(wanted, &wanted.workspace.to_string()));
    }
    wishes
}

/// Somebody else's work, which commands of ours would run; `which` tells one state of it from another.
pub(crate) fn code(wanted: &DesiredWorkspace, which: &str) -> Option<Wish> {
    let by = wanted.code_by.as_ref()?;
    let text = format!("the work of {} on branch `{}`", by.user.name, wanted.branch);
    let sha256 = hex::encode(Sha256::digest(format!("{which}\n{text}").as_bytes()));
    Some(named(ApprovalKind::Code, text, sha256))
}

/// A command as a person would type it; one text for one command.
pub(crate) fn command_line(argv: &[String]) -> String {
    shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| format!("{argv:?}"))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A stranger's text, short and without control characters.
fn printable(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{UserId, WorkspaceId};
    use protocol::{Repository, UserRef, WrittenBy};

    fn wanted(repository_by: bool, code_by: bool) -> DesiredWorkspace {
        let by = || Some(WrittenBy { user: UserRef { id: UserId::generate(), name: "bo".into() }, agent: None });
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
    fn what_the_owner_wrote_is_not_asked_about() {
        let own = wanted(false, false);
        assert!(to_make(&own).is_empty() && to_set_up(&own).is_empty());
    }

    #[test]
    fn what_others_wrote_is_asked_about_before_it_is_read_or_run() {
        let theirs = wanted(true, false);
        assert_eq!(kinds(&to_make(&theirs)), ["repository", "copy"]);
        assert_eq!(kinds(&to_set_up(&theirs)), ["setup"]);
        let moved = wanted(false, true);
        assert!(to_make(&moved).is_empty());
        assert_eq!(kinds(&to_set_up(&moved)), ["code"], "an own setup runs their code");
    }

    #[test]
    fn any_change_of_a_text_is_another_hash() {
        let all = ["make", "make ", "Make", "make\n"].map(|text| wish(ApprovalKind::Setup, text.into()).sha256);
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn a_long_list_is_shortened_and_harmless() {
        let wishes: Vec<Wish> = (0..6).map(|at| wish(ApprovalKind::Command, format!("echo \u{1b}[2J{at}"))).collect();
        let text = list(wishes.iter()).unwrap();
        assert!(text.ends_with("and 3 more") && !text.contains('\u{1b}'), "{text}");
        assert_eq!(list([].iter()), None);
    }
}
