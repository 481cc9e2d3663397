//! Merge runs build, check and land what the hub orders, whatever is killed, and report each outcome as its own.

use std::path::Path;

use domain::{ApprovalKind, CandidateId, CheckOutcome, LandOutcome, MergeMethod, MergeRunId, ProjectId};
use protocol::link::{
    DesiredMerge, FactBody, LevelBuilt, MAX_MERGE_LOG, MergeCandidate, MergeCheck, MergeOrder, MergeTest, Subject,
};

use crate::hub::FakeHub;
use crate::support::{TestRunner, bo, fixture, git, repository};

pub(crate) fn merge(origin: &Path, order: MergeOrder) -> DesiredMerge {
    DesiredMerge {
        run: MergeRunId::generate(),
        project: ProjectId::generate(),
        repository: repository(origin),
        target: "main".to_owned(),
        method: MergeMethod::Merge,
        order,
        repository_by: None,
        commands_by: None,
        code_by: None,
        sandbox: None,
    }
}

pub(crate) fn check(line: &str) -> MergeCheck {
    MergeCheck { argv: ["/bin/sh", "-c", line].map(str::to_owned).to_vec(), seconds: 120 }
}

pub(crate) fn test(origin: &Path, branches: &[&str], checks: &[&str]) -> DesiredMerge {
    let candidates = branches.iter().map(|branch| MergeCandidate {
        candidate: CandidateId::generate(),
        branch: (*branch).to_owned(),
        head: None,
        title: format!("Add {branch}"),
    });
    let checks = checks.iter().map(|line| check(line)).collect();
    merge(origin, MergeOrder::Test { base: None, candidates: candidates.collect(), checks })
}

pub(crate) fn land(origin: &Path, base: &str, commit: &str) -> DesiredMerge {
    let (base, commit) = (base.to_owned(), commit.to_owned());
    merge(origin, MergeOrder::Land { tested: MergeRunId::generate(), base, commit })
}

/// Commits one file on a new branch of main.
pub(crate) fn branch(origin: &Path, name: &str, file: &str, text: &str) -> String {
    git(origin, &["checkout", "-q", "-B", name, "main"]);
    std::fs::write(origin.join(file), text).unwrap();
    git(origin, &["add", "-A"]);
    git(origin, &["commit", "-q", "-m", name]);
    let head = git(origin, &["rev-parse", "HEAD"]);
    git(origin, &["checkout", "-q", "main"]);
    head
}

pub(crate) fn tip(origin: &Path) -> String {
    git(origin, &["rev-parse", "main"])
}

pub(crate) fn top(test: &MergeTest) -> String {
    match &test.levels.last().unwrap().built {
        LevelBuilt::Merged { commit, .. } => commit.clone(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

pub(crate) fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with('Z'))
}

#[tokio::test]
async fn a_stack_is_checked_in_a_clean_checkout_and_lands_as_tested() {
    let origin = fixture(&[("README.md", "one\n")]);
    let path = origin.path();
    let heads = [branch(path, "one", "one.txt", "1\n"), branch(path, "two", "two.txt", "2\n")];
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let checks = ["test -e one.txt && test -e two.txt && test -z \"$(git status --porcelain)\"", "echo second"];
    let wanted = test(path, &["one", "two"], &checks);
    hub.want_merged(vec![wanted.clone()]);
    let tested = hub.tested(&wanted).await;
    assert_eq!(tested.trouble, None);
    assert_eq!(tested.base, Some(tip(path)));
    let found: Vec<_> = tested.levels.iter().map(|level| level.head.clone().unwrap()).collect();
    assert_eq!(found, heads);
    for (level, file) in tested.levels.iter().zip(["one.txt", "two.txt"]) {
        let LevelBuilt::Merged { paths, differs, .. } = &level.built else { panic!("{level:?}") };
        assert_eq!((paths.as_slice(), differs.len()), ([file.to_owned()].as_slice(), 0));
    }
    assert!(tested.checks.iter().all(|check| check.outcome == CheckOutcome::Passed && check.code == Some(0)));
    assert_eq!(tested.checks[1].log, "second");
    let began = |body: &FactBody| matches!(body, FactBody::MergeBegan { run } if *run == wanted.run);
    assert!(hub.facts().iter().any(|fact| began(&fact.body)), "its start is reported");
    let checkouts = runner.data_dir().join("checkouts");
    testkit::wait_until("the checkout is deleted", || async {
        std::fs::read_dir(&checkouts).unwrap().next().is_none().then_some(())
    })
    .await;
    let base = tip(path);
    let order = land(path, &base, &top(&tested));
    hub.want_merged(vec![order.clone()]);
    let landed = hub.landed(&order).await;
    assert_eq!((landed.outcome, landed.tip), (LandOutcome::Landed, Some(top(&tested))), "{}", landed.detail);
    assert_eq!(tip(path), top(&tested));
    assert_eq!(git(path, &["status", "--porcelain"]), "", "its checkout follows");
    // Delivered again, by a hub that forgot: nothing moves.
    let again = land(path, &base, &top(&tested));
    hub.want_merged(vec![again.clone()]);
    assert_eq!(hub.landed(&again).await.outcome, LandOutcome::Landed);
    assert_eq!(tip(path), top(&tested));
}

#[tokio::test]
async fn checks_have_the_copied_files_and_the_commit_has_not() {
    let origin = fixture(&[("README.md", "one\n"), (".gitignore", ".env\nlocal/\n")]);
    let path = origin.path();
    branch(path, "one", "one.txt", "1\n");
    std::fs::write(path.join(".env"), "TOKEN=5\n").unwrap();
    std::fs::write(path.join("README.md"), "unsaved\n").unwrap();
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let checks =
        ["grep -q TOKEN=5 .env && grep -q one README.md && test -z \"$(git status --porcelain)$(git ls-files .env)\""];
    let mut wanted = test(path, &["one"], &checks);
    wanted.repository.copy = vec![".env".to_owned(), "README.md".to_owned()];
    hub.want_merged(vec![wanted.clone()]);
    let tested = hub.tested(&wanted).await;
    assert_eq!(tested.trouble, None);
    assert_eq!(tested.checks[0].outcome, CheckOutcome::Passed, "{}", tested.checks[0].log);
}

#[tokio::test]
async fn unmergeable_candidates_are_refused_with_a_reason_before_checks() {
    let origin = fixture(&[("README.md", "one\n")]);
    let path = origin.path();
    branch(path, "one", "README.md", "1\n");
    branch(path, "two", "README.md", "2\n");
    branch(path, "moved", "moved.txt", "x\n");
    git(path, &["branch", "old", "main"]);
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let marks = runner.folder.path().join("marks");
    let ran = format!("echo ran >> '{}'", marks.display());
    let mut wanted = test(path, &["one", "two", "moved", "missing", "old"], &[&ran]);
    if let MergeOrder::Test { candidates, .. } = &mut wanted.order {
        candidates[2].head = Some("1".repeat(40));
    }
    hub.want_merged(vec![wanted.clone()]);
    let tested = hub.tested(&wanted).await;
    let built: Vec<_> = tested.levels.iter().map(|level| &level.built).collect();
    assert!(matches!(built[0], LevelBuilt::Merged { .. }), "{built:?}");
    assert_eq!(
        built[1],
        &LevelBuilt::Conflict { paths: vec!["README.md".into()], with_tip: false, sides: String::new() }
    );
    assert_eq!(built[2..], [&LevelBuilt::Moved, &LevelBuilt::Missing, &LevelBuilt::Contained]);
    assert_eq!((tested.checks.len(), lines(&marks).len()), (0, 0));
    // The target is not where it should be.
    let mut wanted = test(path, &["one"], &[&ran]);
    if let MergeOrder::Test { base, .. } = &mut wanted.order {
        *base = Some("1".repeat(40));
    }
    hub.want_merged(vec![wanted.clone()]);
    let tested = hub.tested(&wanted).await;
    assert_eq!((tested.base, tested.levels.len(), tested.trouble), (Some(tip(path)), 0, None));
    // And the machine's own trouble is nobody's fault.
    let wanted = test(&path.join("nowhere"), &["one"], &[&ran]);
    hub.want_merged(vec![wanted.clone()]);
    assert!(hub.tested(&wanted).await.trouble.unwrap().contains("no repository"));
}

#[tokio::test]
async fn each_end_of_a_check_is_its_own_outcome() {
    let origin = fixture(&[("README.md", "one\n")]);
    let path = origin.path();
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let (half, colour) = ("0123456789abcdef".repeat(2), r"\033[31m");
    let secret = format!("printf 'token sf_{half}{colour}{half}\\033]0;title\\007 end\\n'; exit 3");
    let mut late = test(path, &[], &[]);
    if let MergeOrder::Test { checks, .. } = &mut late.order {
        *checks = vec![MergeCheck { seconds: 1, ..check("exec sleep 1000") }, check("true")];
    }
    let mut missing = test(path, &[], &[]);
    if let MergeOrder::Test { checks, .. } = &mut missing.order {
        *checks = vec![MergeCheck { argv: vec!["/no/such/program".into()], seconds: 9 }];
    }
    let mut unprepared = test(path, &[], &["true"]);
    unprepared.repository.setup = Some("echo cannot; exit 7".to_owned());
    let mut prepared = test(path, &[], &["test -e made", "yes line | head -c 200000"]);
    prepared.repository.setup = Some("touch made".to_owned());
    let (failing, killed) = (test(path, &[], &[&secret, "true"]), test(path, &[], &["kill -9 $$"]));
    let crashing = test(path, &[], &["kill -SEGV $$"]);
    let all =
        vec![failing.clone(), late.clone(), missing.clone(), unprepared.clone(), prepared.clone(), killed.clone()];
    hub.want_merged([all, vec![crashing.clone()]].concat());
    let outcomes = |test: &MergeTest| test.checks.iter().map(|check| check.outcome).collect::<Vec<_>>();
    let tested = hub.tested(&failing).await;
    assert_eq!(outcomes(&tested), [CheckOutcome::Failed, CheckOutcome::NotRun]);
    assert_eq!(tested.checks[0].code, Some(3));
    assert_eq!(tested.checks[0].log, format!("token {} end", "•".repeat(67)));
    assert_eq!((tested.base, tested.levels.len()), (Some(tip(path)), 0), "the bare tip");
    let tested = hub.tested(&late).await;
    assert_eq!(outcomes(&tested), [CheckOutcome::TimedOut, CheckOutcome::NotRun]);
    assert_eq!(tested.checks[0].log, "it took longer than 1 s and was killed");
    let tested = hub.tested(&missing).await;
    assert_eq!(outcomes(&tested), [CheckOutcome::Infrastructure]);
    let tested = hub.tested(&unprepared).await;
    assert_eq!(outcomes(&tested), [CheckOutcome::Failed]);
    assert_eq!(tested.checks[0].log, "the project's setup did not succeed\ncannot");
    let tested = hub.tested(&prepared).await;
    assert_eq!(outcomes(&tested), [CheckOutcome::Passed, CheckOutcome::Passed]);
    assert!((1..=MAX_MERGE_LOG).contains(&tested.checks[1].log.len()));
    assert_eq!(outcomes(&hub.tested(&killed).await), [CheckOutcome::Infrastructure]);
    assert_eq!(outcomes(&hub.tested(&crashing).await), [CheckOutcome::Failed]);
}

#[tokio::test]
async fn checks_end_with_a_killed_runner_and_run_again() {
    let origin = fixture(&[("README.md", "one\n")]);
    branch(origin.path(), "one", "one.txt", "1\n");
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let (marks, go) = (runner.folder.path().join("marks"), runner.folder.path().join("go"));
    let line = format!(
        "setsid sh -c 'echo $$ >> \"{marks}\"; while [ ! -e \"{go}\" ]; do sleep 0.05; done' & wait",
        marks = marks.display(),
        go = go.display()
    );
    let wanted = test(origin.path(), &["one"], &[&line]);
    hub.want_merged(vec![wanted.clone()]);
    testkit::wait_until("the check runs", || async { (lines(&marks).len() == 1).then_some(()) }).await;
    runner.kill().await;
    let first = lines(&marks).remove(0);
    testkit::wait_until("its tree is gone", || async { (!alive(&first)).then_some(()) }).await;
    runner.spawn();
    testkit::wait_until("it runs again", || async { (lines(&marks).len() == 2).then_some(()) }).await;
    std::fs::write(&go, "").unwrap();
    let tested = hub.tested(&wanted).await;
    assert_eq!(tested.checks[0].outcome, CheckOutcome::Passed, "{tested:?}");
    // Once it has a result, it does not run again, however often it is wanted.
    runner.kill().await;
    runner.spawn();
    hub.connected(3).await;
    let other = test(origin.path(), &[], &["true"]);
    hub.want_merged(vec![wanted, other.clone()]);
    hub.tested(&other).await;
    assert_eq!(lines(&marks).len(), 2);
}

#[tokio::test]
async fn an_unwanted_run_is_cancelled_with_all_its_processes() {
    let origin = fixture(&[("README.md", "one\n")]);
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let marks = runner.folder.path().join("marks");
    let line = format!("setsid sh -c 'echo $$ >> \"{}\"; sleep 1000' & wait", marks.display());
    hub.want_merged(vec![test(origin.path(), &[], &[&line])]);
    testkit::wait_until("the check runs", || async { (lines(&marks).len() == 1).then_some(()) }).await;
    hub.want_merged(vec![]);
    let pid = lines(&marks).remove(0);
    testkit::wait_until("it is gone", || async { (!alive(&pid)).then_some(()) }).await;
    let checkouts = runner.data_dir().join("checkouts");
    testkit::wait_until("its checkout is gone", || async {
        std::fs::read_dir(&checkouts).unwrap().next().is_none().then_some(())
    })
    .await;
}

#[tokio::test]
async fn refused_landings_change_nothing_and_say_why() {
    let origin = fixture(&[("README.md", "one\n")]);
    let path = origin.path();
    branch(path, "one", "README.md", "1\n");
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let wanted = test(path, &["one"], &[]);
    hub.want_merged(vec![wanted.clone()]);
    let tested = hub.tested(&wanted).await;
    let (base, commit) = (tip(path), top(&tested));
    let outcome = async |base: &str, commit: &str| {
        let order = land(path, base, commit);
        hub.want_merged(vec![order.clone()]);
        hub.landed(&order).await
    };
    std::fs::write(path.join("README.md"), "mine\n").unwrap();
    let landed = outcome(&base, &commit).await;
    assert_eq!(landed.outcome, LandOutcome::CheckedOutDirty);
    assert!(landed.detail.ends_with("with uncommitted changes: `README.md`"), "{}", landed.detail);
    git(path, &["checkout", "-q", "README.md"]);
    let hook = path.join(".git/hooks/pre-receive");
    for (words, expected) in [("go away", LandOutcome::Refused), ("a protected branch", LandOutcome::Protected)] {
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::write(&hook, format!("#!/bin/sh\necho '{words}' >&2\nexit 1\n")).unwrap();
        std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let landed = outcome(&base, &commit).await;
        assert_eq!(landed.outcome, expected, "{}", landed.detail);
        assert!(landed.detail.starts_with(words), "{}", landed.detail);
    }
    std::fs::remove_file(&hook).unwrap();
    assert_eq!(outcome(&base, &"1".repeat(40)).await.outcome, LandOutcome::Infrastructure);
    assert_eq!(tip(path), base);
    git(path, &["commit", "-q", "--allow-empty", "-m", "somebody else's"]);
    let landed = outcome(&base, &commit).await;
    assert_eq!((landed.outcome, landed.tip), (LandOutcome::BaseMoved, Some(tip(path))));
}

#[tokio::test]
async fn others_text_and_code_run_only_when_the_owner_allowed_them() {
    let origin = fixture(&[("README.md", "one\n")]);
    let path = origin.path();
    branch(path, "one", "one.txt", "1\n");
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let marks = runner.folder.path().join("marks");
    let line = format!("echo ran >> '{}'", marks.display());
    let theirs = || {
        let mut theirs = test(path, &["one"], &[&line]);
        (theirs.repository_by, theirs.commands_by, theirs.code_by) = (Some(bo()), Some(bo()), Some(bo()));
        theirs
    };
    let (allowed, denied) = (theirs(), theirs());
    for (wanted, allow) in [(&denied, false), (&allowed, true)] {
        hub.want_merged(vec![wanted.clone()]);
        let subject = Subject::Merge(wanted.run);
        let wishes = hub.wishes(subject, ApprovalKind::Repository).await;
        assert_eq!(wishes[0].text, path.to_string_lossy());
        hub.answer(subject, &wishes, true);
        let mut all = hub.wishes(subject, ApprovalKind::Command).await;
        all.extend(hub.wishes(subject, ApprovalKind::Code).await);
        assert_eq!(lines(&marks), Vec::<String>::new());
        hub.answer(subject, &[wishes, all].concat(), allow);
        let tested = hub.tested(wanted).await;
        assert_eq!(tested.trouble.is_none(), allow, "{tested:?}");
    }
    assert_eq!(lines(&marks), ["ran"]);
    let mut order = land(path, &tip(path), &"1".repeat(40));
    order.repository_by = Some(bo());
    hub.want_merged(vec![order.clone()]);
    let wishes = hub.wishes(Subject::Merge(order.run), ApprovalKind::Repository).await;
    hub.answer(Subject::Merge(order.run), &wishes, false);
    assert_eq!(hub.landed(&order).await.outcome, LandOutcome::Refused);
}
