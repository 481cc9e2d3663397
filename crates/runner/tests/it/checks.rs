//! Reports are checked to the end, whatever is killed, and results are sent until acknowledged.

use std::path::Path;

use domain::{ApprovalKind, ProjectId, ReportId, TaskId};
use protocol::Criterion;
use protocol::link::{CheckTrouble, DesiredCheck, DesiredWorkspace, FactBody, LineFacts, StartFrom, Subject};

use crate::hub::FakeHub;
use crate::support::{TestRunner, bo, empty_workspace, fixture, git, repository, shell};

fn check(workspace: DesiredWorkspace, criteria: Vec<Criterion>) -> DesiredCheck {
    DesiredCheck {
        report: ReportId::generate(),
        task: TaskId::generate(),
        project: ProjectId::generate(),
        activity: None,
        criteria,
        files: Vec::new(),
        workspace,
        commands_by: None,
        sandbox: None,
        begin_told: false,
        summary: None,
        forks: vec![],
    }
}

fn workspace(origin: &Path) -> DesiredWorkspace {
    DesiredWorkspace { repository: Some(repository(origin)), ..empty_workspace() }
}

fn command(line: &str) -> Criterion {
    Criterion::Command {
        argv: ["/bin/sh", "-c", line].map(str::to_owned).to_vec(),
        exit_code: None,
        timeout_seconds: Some(120),
    }
}

fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with('Z'))
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn files_that_a_report_names_must_be_committed() {
    let origin = fixture(&[("README.md", "one\n"), (".gitignore", "/out\n")]);
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let line = "echo two > README.md; echo x > out; git -c user.name=a -c user.email=a@b.c commit -qam work";
    let mut session = shell(line);
    session.workspace = workspace(origin.path());
    hub.desire(vec![session.clone()]);
    assert_eq!(hub.over(session.session).await.code, Some(0));
    for (named, passes) in [("README.md", true), ("out", false)] {
        let check = DesiredCheck {
            files: vec![named.to_owned()],
            ..check(session.workspace.clone(), vec![Criterion::Committed {}])
        };
        hub.want_checked(vec![check.clone()]);
        let (results, _) = hub.checked(&check).await.unwrap();
        assert_eq!(results[0].passed, Some(passes), "{results:?}");
    }
}

#[tokio::test]
async fn a_report_is_checked_in_its_workspace_and_its_changes_are_reported() {
    let origin = fixture(&[("README.md", "one\ntwo\nthree\n"), ("old", "x\n")]);
    let first = git(origin.path(), &["rev-parse", "HEAD"]);
    std::fs::write(origin.path().join("more"), "x\ny\n").unwrap();
    git(origin.path(), &["add", "-A"]);
    git(origin.path(), &["commit", "-qm", "more"]);
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let line = "printf 'one\\n2\\nthree\\n' > README.md; git mv old new; \
                git -c user.name=a -c user.email=a@b.c commit -qam work; echo more > untracked";
    let mut session = shell(line);
    session.workspace = workspace(origin.path());
    hub.desire(vec![session.clone()]);
    assert_eq!(hub.over(session.session).await.code, Some(0));
    let criteria = vec![
        Criterion::FileExists { path: "untracked".to_owned() },
        Criterion::Committed {},
        command("test -e new"),
        Criterion::Text { text: "it is good".to_owned() },
        Criterion::OnlyTouches { globs: vec!["*".to_owned()] },
        Criterion::NoConflictWithBase {},
    ];
    let forks = vec!["1".repeat(40), first.clone()];
    let check = DesiredCheck { begin_told: true, forks, ..check(session.workspace.clone(), criteria) };
    hub.want_checked(vec![check.clone()]);
    let (results, changes) = hub.checked(&check).await.unwrap();
    let begun = |body: &FactBody| matches!(body, FactBody::Checking { report } if *report == check.report);
    assert_eq!(hub.facts().iter().filter(|fact| begun(&fact.body)).count(), 1, "its start is reported");
    let passed: Vec<_> = results.iter().map(|result| result.passed).collect();
    assert_eq!(passed, [Some(true), Some(false), Some(true), None, Some(true), Some(true)], "{results:?}");
    assert!(results[1].reason.contains("untracked"), "{}", results[1].reason);
    let told: Vec<_> = changes.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(told, ["README.md", "new", "untracked"]);
    let [own, older] = changes.work.as_slice() else { panic!("{:?}", changes.work) };
    assert_eq!((&own.against, &older.against), (&changes.base, &first));
    let LineFacts::Changed { hunks } = &own.files[0].lines else { panic!("{own:?}") };
    assert_eq!((hunks.len(), hunks[0].0, hunks[0].1), (1, 1, 2));
    assert_eq!(own.files[1].from.as_deref(), Some("old"));
    let paths: Vec<_> = older.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["README.md", "more", "new", "untracked"], "what main brought is among them");
    assert_eq!(changes.base, git(origin.path(), &["rev-parse", "HEAD"]));
    assert!(changes.head != changes.base && !changes.tree.is_empty());
    assert!(changes.patch.contains("-two\n+2\n"), "{}", changes.patch);
}

#[tokio::test]
async fn a_commands_output_is_reported_without_secrets() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let (half, colour) = ("0123456789abcdef".repeat(2), r"\033[31m");
    let line = format!("printf 'whole sf_{half}{half} coloured sf_{half}{colour}{half} end'; exit 1");
    let check = check(empty_workspace(), vec![command(&line)]);
    hub.want_checked(vec![check.clone()]);
    let reason = hub.checked(&check).await.unwrap().0.remove(0).reason;
    let printed = reason.rsplit_once('\n').unwrap().1;
    let hidden = format!("whole {} coloured {}[31m{} end", "•".repeat(67), "•".repeat(35), "•".repeat(32));
    assert_eq!(printed, hidden);
}

#[tokio::test]
async fn commands_end_with_a_killed_runner_and_are_checked_again() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let (marks, go) = (runner.folder.path().join("marks"), runner.folder.path().join("go"));
    let line = format!(
        "setsid sh -c 'echo $$ >> \"{marks}\"; while [ ! -e \"{go}\" ]; do sleep 0.05; done' & wait",
        marks = marks.display(),
        go = go.display()
    );
    let mut wanted = workspace(Path::new("/unused"));
    wanted.repository = None;
    let check = check(wanted, vec![command(&line)]);
    hub.want_checked(vec![check.clone()]);
    testkit::wait_until("the command runs", || async { (lines(&marks).len() == 1).then_some(()) }).await;
    runner.kill().await;
    let first = lines(&marks).remove(0);
    testkit::wait_until("its tree is gone", || async { (!alive(&first)).then_some(()) }).await;
    runner.spawn();
    testkit::wait_until("it runs again", || async { (lines(&marks).len() == 2).then_some(()) }).await;
    std::fs::write(&go, "").unwrap();
    let (results, _) = hub.checked(&check).await.unwrap();
    assert_eq!(results[0].passed, Some(true), "{results:?}");
}

#[tokio::test]
async fn a_result_is_sent_until_acknowledged_and_not_checked_again() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let marks = runner.folder.path().join("marks");
    let mut wanted = workspace(Path::new("/unused"));
    wanted.repository = None;
    let check = check(wanted, vec![command(&format!("echo ran >> '{}'", marks.display()))]);
    hub.acknowledge(false);
    hub.want_checked(vec![check.clone()]);
    let first = hub.checked(&check).await.unwrap();
    runner.kill().await;
    runner.spawn();
    testkit::wait_until("it is reported again", || async { (hub.repeated() > 0).then_some(()) }).await;
    hub.acknowledge(true);
    hub.cut();
    hub.connected(3).await;
    // Still wanted, by a hub that has forgotten: reported again from the journal.
    let told = |hub: &FakeHub| {
        let facts = hub.facts();
        facts.iter().filter(|fact| matches!(fact.body, protocol::link::FactBody::Checked { .. })).count()
    };
    let before = told(&hub);
    testkit::wait_until("it is reported again", || async {
        hub.want_checked(vec![check.clone()]);
        (told(&hub) > before).then_some(())
    })
    .await;
    assert_eq!(hub.checked(&check).await.unwrap(), first);
    assert_eq!(lines(&marks), ["ran"]);
}

#[tokio::test]
async fn an_unwanted_check_is_cancelled() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let marks = runner.folder.path().join("marks");
    let mut wanted = workspace(Path::new("/unused"));
    wanted.repository = None;
    let check = check(wanted, vec![command(&format!("echo $$ >> '{}'; sleep 1000", marks.display()))]);
    hub.want_checked(vec![check]);
    testkit::wait_until("the command runs", || async { (lines(&marks).len() == 1).then_some(()) }).await;
    hub.want_checked(vec![]);
    let pid = lines(&marks).remove(0);
    testkit::wait_until("it is gone", || async { (!alive(&pid)).then_some(()) }).await;
}

/// A runner's processes that read files.
fn judges(runner: u32) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let mine = entries.filter(|entry| {
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        let parent =
            read("status").lines().find_map(|line| line.strip_prefix("PPid:").map(|pid| pid.trim().to_owned()));
        parent == Some(runner.to_string()) && read("cmdline").contains("check-file")
    });
    mine.count()
}

#[tokio::test]
async fn an_endless_schema_delays_neither_other_checks_nor_the_stop() {
    let levels = 60;
    let file = format!("{}{{}}{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    let origin = fixture(&[("a.json", &file)]);
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let matches = |schema: &str| Criterion::FileMatches {
        path: "a.json".to_owned(),
        regex: None,
        not_regex: None,
        min_words: None,
        json_schema: Some(serde_json::from_str(schema).unwrap()),
        parses: None,
    };
    // Twice for each level of the file.
    let hostile = || {
        let schema = r##"{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}"##;
        check(workspace(origin.path()), vec![matches(schema)])
    };
    let all = vec![hostile(), hostile(), hostile()];
    hub.want_checked(all.clone());
    let pid = runner.pid();
    testkit::wait_until("they are looked at", || async { (judges(pid) == 2).then_some(()) }).await;
    let plain = check(workspace(origin.path()), vec![matches(r#"{"type":"object"}"#)]);
    hub.want_checked(vec![plain.clone()]);
    let (results, _) = hub.checked(&plain).await.unwrap();
    assert_eq!(results[0].passed, Some(true), "{results:?}");
    testkit::wait_until("they are gone", || async { (judges(pid) == 0).then_some(()) }).await;
    hub.want_checked(all);
    testkit::wait_until("they are looked at again", || async { (judges(pid) == 2).then_some(()) }).await;
    runner.end().await;
    assert_eq!(judges(pid), 0, "they ended with the runner");
}

#[tokio::test]
async fn commands_of_others_run_only_when_the_owner_allowed_them() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let marks = runner.folder.path().join("marks");
    let line = format!("echo ran >> '{}'", marks.display());
    let theirs = |line: &str| DesiredCheck { commands_by: Some(bo()), ..check(empty_workspace(), vec![command(line)]) };
    let (first, denied) = (theirs(&line), theirs("true; true"));
    // A check that needs no approval does not wait behind those that do.
    let own = check(empty_workspace(), vec![command("true")]);
    hub.want_checked(vec![first.clone(), denied.clone(), theirs("true"), own.clone()]);
    assert_eq!(hub.checked(&own).await.unwrap().0[0].passed, Some(true));
    let subject = Subject::Report(first.report);
    let wishes = hub.wishes(subject, ApprovalKind::Command).await;
    assert!(wishes.len() == 1 && wishes[0].text.contains("echo ran >>"), "{wishes:?}");
    assert_eq!(lines(&marks), Vec::<String>::new());
    hub.answer(subject, &wishes, true);
    let (results, _) = hub.checked(&first).await.unwrap();
    assert_eq!(results[0].passed, Some(true), "{results:?}");
    assert_eq!(lines(&marks), ["ran"]);
    let subject = Subject::Report(denied.report);
    let wishes = hub.wishes(subject, ApprovalKind::Command).await;
    hub.answer(subject, &wishes, false);
    let (results, _) = hub.checked(&denied).await.unwrap();
    assert_eq!(results[0].passed, None, "a person decides");
    assert!(results[0].reason.contains("did not allow"), "{}", results[0].reason);
}

#[tokio::test]
async fn a_folder_that_others_named_is_not_read_unasked() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("secret.txt", "canary\n")]);
    let wanted = DesiredWorkspace { repository_by: Some(bo()), ..workspace(origin.path()) };
    let reads = Criterion::FileMatches {
        path: "secret.txt".into(),
        regex: Some("canary".into()),
        not_regex: None,
        min_words: None,
        json_schema: None,
        parses: None,
    };
    let check = check(wanted, vec![reads]);
    hub.want_checked(vec![check.clone()]);
    let subject = Subject::Report(check.report);
    let wishes = hub.wishes(subject, ApprovalKind::Repository).await;
    assert_eq!(wishes[0].text, origin.path().to_string_lossy());
    hub.answer(subject, &wishes, false);
    let why = hub.checked(&check).await.unwrap_err();
    assert!(why.contains("did not allow"), "{why}");
}

#[tokio::test]
async fn code_of_others_is_not_run_by_own_commands_unasked() {
    let origin = fixture(&[("run.sh", "echo base\n")]);
    git(origin.path(), &["checkout", "-q", "-b", "theirs"]);
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let marks = runner.folder.path().join("marks");
    std::fs::write(origin.path().join("run.sh"), format!("echo ran >> '{}'\n", marks.display())).unwrap();
    git(origin.path(), &["commit", "-q", "-a", "-m", "theirs"]);
    git(origin.path(), &["checkout", "-q", "main"]);
    let mut wanted = DesiredWorkspace { code_by: Some(bo()), ..workspace(origin.path()) };
    wanted.from = Some(StartFrom::Branch { branch: "theirs".into() });
    let check = check(wanted, vec![command("sh run.sh")]);
    hub.want_checked(vec![check.clone()]);
    let subject = Subject::Report(check.report);
    let wishes = hub.wishes(subject, ApprovalKind::Code).await;
    assert_eq!((wishes.len(), lines(&marks)), (1, Vec::new()));
    hub.answer(subject, &wishes, true);
    assert_eq!(hub.checked(&check).await.unwrap().0[0].passed, Some(true));
    assert_eq!(lines(&marks), ["ran"]);
}

#[tokio::test]
async fn a_pushed_branch_is_checked_in_its_own_workspace() {
    let origin = fixture(&[("README.md", "one\n")]);
    git(origin.path(), &["checkout", "-q", "-b", "theirs"]);
    std::fs::write(origin.path().join("new"), "x\n").unwrap();
    git(origin.path(), &["add", "-A"]);
    git(origin.path(), &["commit", "-q", "-m", "new"]);
    git(origin.path(), &["checkout", "-q", "main"]);
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let from = |branch: &str| Some(StartFrom::Branch { branch: branch.to_owned() });
    let criteria = vec![Criterion::Committed {}, Criterion::FileExists { path: "new".to_owned() }];
    let good = check(DesiredWorkspace { from: from("theirs"), ..workspace(origin.path()) }, criteria.clone());
    let bad = check(DesiredWorkspace { from: from("nowhere"), ..workspace(origin.path()) }, criteria.clone());
    let gone = check(workspace(&origin.path().join("gone")), criteria);
    hub.want_checked(vec![good.clone(), bad.clone(), gone.clone()]);
    let (results, changes) = hub.checked(&good).await.unwrap();
    assert!(results.iter().all(|result| result.passed == Some(true)), "{results:?}");
    assert_eq!(changes.files.len(), 1);
    let why = hub.checked(&bad).await.unwrap_err();
    assert!(why.starts_with(&format!("there is no branch `nowhere` at {}", origin.path().display())), "{why}");
    assert!(why.ends_with("; push it, then report again"), "{why}");
    assert!(hub.checked(&gone).await.unwrap_err().contains("no repository"));
    let cause = |of: &DesiredCheck| {
        hub.facts().iter().find_map(|fact| match &fact.body {
            FactBody::CheckFailed { report, cause, .. } if *report == of.report => Some(*cause),
            _ => None,
        })
    };
    assert_eq!((cause(&bad), cause(&gone)), (Some(CheckTrouble::Missing), Some(CheckTrouble::Unreachable)));
}
