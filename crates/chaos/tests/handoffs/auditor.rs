//! Looks at files, at the repository and into the database, and holds them against what a handoff promises.

use std::path::{Path, PathBuf};
use std::process::Command;

use domain::{HandoffId, HandoffOutcome, HandoffStep, SessionId};
use protocol::{Call, ExecutionFilter, HandoffDetail, Session, Workspace};
use testkit::Raw;

use crate::fixture::Fixture;

/// Checks a handoff that is done.
pub(crate) async fn audit(fixture: &Fixture, handoff: HandoffId) {
    let detail = fixture.shown(handoff).await.unwrap();
    let about = format!("{detail:#?}\n{}", fixture.logs());
    never_two_at_once(fixture, &about).await;
    nothing_is_lost(fixture, &about).await;
    the_save_has_everything(fixture, &detail, &about);
    the_document_arrived(fixture, &detail, &about);
    acknowledged_once(fixture, &detail, &about).await;
}

/// No agent found the lock of another; of all sessions only the last one lives.
async fn never_two_at_once(fixture: &Fixture, about: &str) {
    let violations = std::fs::read_to_string(fixture.out().join("violations")).unwrap_or_default();
    assert_eq!(violations, "", "{about}");
    let filter = ExecutionFilter { project: Some(fixture.project), ..Default::default() };
    let all: Vec<Session> = fixture.client().ask(Call::SessionList { filter }).await.unwrap();
    let live: Vec<SessionId> = all.iter().filter(|one| !one.state.ended()).map(|one| one.id).collect();
    assert_eq!(live, fixture.chain[fixture.chain.len() - 1..], "{about}");
}

/// What every session of the chain wrote is in the workspace of the last one, byte for byte.
async fn nothing_is_lost(fixture: &Fixture, about: &str) {
    let last = *fixture.chain.last().unwrap();
    let workspace = fixture.session(last).await.workspace.id;
    let found: Workspace = fixture.client().ask(Call::WorkspaceShow { workspace }).await.unwrap();
    let place = PathBuf::from(found.path.unwrap());
    let readme = std::fs::read_to_string(place.join("README.md")).unwrap();
    for session in &fixture.chain {
        assert!(readme.contains(&session.to_string()), "README.md lost the line of {session}: {about}");
        let sums = fixture.out().join(format!("{session}.sums"));
        let checked = Command::new("sha256sum").arg("-c").arg(&sums).current_dir(&place).output().unwrap();
        let said = format!("{}{}", text(&checked.stdout), text(&checked.stderr));
        assert!(checked.status.success(), "work of {session} is lost: {said}\n{about}");
        assert_eq!(text(&checked.stdout).lines().count(), 3, "{said}");
    }
}

/// The pushed commit has everything that the sessions before the fresh one wrote, committed or not.
fn the_save_has_everything(fixture: &Fixture, detail: &HandoffDetail, about: &str) {
    let handoff = &detail.handoff;
    let saved = handoff.saved.as_deref().unwrap_or_else(|| panic!("the work was not saved: {about}"));
    assert_eq!(handoff.branch.is_some(), handoff.push, "{about}");
    let Some(branch) = &handoff.branch else { return };
    let repository = fixture.repository();
    assert_eq!(git(&repository, &["rev-parse", branch]).trim(), saved, "{about}");
    let tree = git(&repository, &["ls-tree", "-r", "-z", "--name-only", saved]);
    for session in &fixture.chain[..fixture.chain.len() - 1] {
        for kind in ["committed", "staged", " not added"] {
            let path = format!("work/{session}.{kind}");
            assert!(tree.split('\0').any(|found| found == path), "{path} is not in {saved}: {about}");
        }
    }
}

/// The fresh session got the sealed document, quoted, and its hash is that of its content.
fn the_document_arrived(fixture: &Fixture, detail: &HandoffDetail, about: &str) {
    let (document, hash) = (detail.document.as_deref().unwrap(), detail.handoff.hash.as_deref().unwrap());
    let [.., before, after] = fixture.chain[..] else { panic!("a chain of one: {about}") };
    let prompt = std::fs::read_to_string(fixture.out().join(format!("{after}.prompt"))).unwrap();
    let quoted: String = document.lines().map(|line| format!("> {line}\n")).collect();
    assert!(prompt.contains(quoted.trim_end()), "{prompt}\n{about}");
    assert!(document.contains(&format!("session: {before}")), "{about}");
    let file = fixture.out().join("document");
    std::fs::write(&file, document.replace(&format!("hash: {hash}\n"), "")).unwrap();
    let sum = Command::new("sha256sum").arg(&file).output().unwrap();
    assert!(text(&sum.stdout).starts_with(hash), "{about}");
}

/// Each step was done, the last one once, and one acknowledgement is in the audit log.
async fn acknowledged_once(fixture: &Fixture, detail: &HandoffDetail, about: &str) {
    let handoff = &detail.handoff;
    let done = |step: HandoffStep| {
        let taken = handoff.steps.iter().filter(|taken| taken.step == step && taken.outcome == HandoffOutcome::Done);
        taken.count()
    };
    for step in HandoffStep::ALL {
        assert!(done(*step) >= 1, "{step} was not done: {about}");
    }
    assert_eq!(done(HandoffStep::Acknowledge), 1, "{about}");
    assert!(handoff.steps.iter().all(|taken| taken.outcome != HandoffOutcome::Skipped), "{about}");
    let mut raw = Raw::connect(fixture.database()).await;
    let sql = format!("SELECT COUNT(*) FROM audit WHERE verb = 'handoff.ack' AND subject LIKE '%{}%'", handoff.id);
    assert_eq!(raw.number(&sql).await, 1, "{about}");
    raw.close().await;
}

fn git(place: &Path, args: &[&str]) -> String {
    let done = Command::new("git").args(args).current_dir(place).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
