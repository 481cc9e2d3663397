//! Spawning: activity, workspace, session and links in one transaction, or nothing.

use domain::text::MAX_LINKS;
use domain::{ActivityId, LinkKind, SessionMode, SessionStatus, Visibility, WorkspaceId, WorkspaceStatus};
use protocol::link::FactBody;
use protocol::{ActivityCreate, Change, ExecutionFilter, Repository, SessionSpawn, verbs};
use store::{Caller, EventBody, StoreError};

use super::{Memory, everything, in_project, project, runner, spawn};
use crate::fixture::{Fixture, id};

both!(
    a_session_gets_a_new_activity_workspace_and_branch,
    a_session_joins_an_activity_and_a_workspace,
    a_refused_spawn_leaves_nothing,
    hostile_names_are_refused_and_leave_nothing,
    a_branch_belongs_to_one_workspace_and_is_never_the_base,
    many_sessions_keep_the_activity_within_its_limits,
    the_same_key_spawns_once_even_without_free_capacity,
    two_spawns_do_not_share_the_last_free_slot,
);

async fn a_session_gets_a_new_activity_workspace_and_branch(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let runner = runner(&fixture, &fixture.ada, "box", 4).await;
    let before = fixture.heard().len();
    let made = fixture.done(&fixture.ada, spawn(in_project(&project, "Fix the lexer\nall of it"), &[runner])).await;
    assert_eq!((made.project, made.runner, made.owner.id), (project.id, runner, id(&fixture.ada)));
    assert_eq!(
        (made.agent.as_str(), made.mode, made.title.as_str()),
        ("codex", SessionMode::Interactive, "Fix the lexer")
    );
    assert_eq!((made.state.status, made.stopping, made.resumable), (SessionStatus::Starting, false, false));

    let detail = fixture.store.session_detail(&fixture.ada, made.id).await.unwrap();
    assert_eq!((detail.prompt.as_str(), &detail.session), ("Fix the lexer\nall of it", &made));
    let workspace = detail.workspace;
    assert_eq!((workspace.status, workspace.repository.as_deref()), (WorkspaceStatus::Preparing, Some("/srv/parser")));
    assert_eq!(workspace.base.as_deref(), Some("main"), "the repository's base branch");
    let branch = workspace.branch.clone().unwrap();
    assert!(branch.starts_with("shopfloor/fix-the-lexer-"), "{branch}");

    let activity = fixture.store.activity(&fixture.ada, made.activity).await.unwrap();
    assert_eq!((activity.content.as_str(), activity.project), ("Fix the lexer\nall of it", project.id));
    let links: Vec<_> = activity.links.iter().map(|link| (link.kind, link.target.clone())).collect();
    let wanted = [
        (LinkKind::Workspace, workspace.id.to_string()),
        (LinkKind::Branch, branch),
        (LinkKind::Session, made.id.to_string()),
    ];
    assert_eq!(links, wanted);

    let told: Vec<String> = fixture.heard()[before..].iter().map(|event| kind(&event.body)).collect();
    assert_eq!(
        told,
        ["activity", "workspace", "desired", "session", "activity"],
        "clients receive the events in an order that they can apply"
    );
}

fn kind(body: &EventBody) -> String {
    let kind = match body {
        EventBody::Change { change: Change::Activity { .. } } => "activity",
        EventBody::Change { change: Change::Workspace { .. } } => "workspace",
        EventBody::Change { change: Change::Session { .. } } => "session",
        EventBody::Desired { .. } => "desired",
        other => panic!("{other:?}"),
    };
    kind.to_owned()
}

async fn a_session_joins_an_activity_and_a_workspace(fixture: Fixture) {
    let project = project(&fixture, Visibility::ReadWrite, true).await;
    let mine = runner(&fixture, &fixture.bo, "bo's", 4).await;
    let input = ActivityCreate { content: "Lexer".into(), ..Default::default() };
    let activity = fixture.done(&fixture.ada, verbs::ActivityCreate { project: project.id, input }).await.id;
    // Bo works in Ada's activity, on his own machine.
    let input = SessionSpawn {
        activity: Some(activity),
        agent: "command".into(),
        argv: vec!["make".into(), "test".into()],
        repository: Some("https://example.org/lexer".into()),
        base: Some("next".into()),
        branch: Some("bo/lexer".into()),
        mode: Some(SessionMode::Headless),
        model: Some("big".into()),
        cols: Some(80),
        rows: Some(24),
        ..Default::default()
    };
    let first = fixture.done(&fixture.bo, spawn(input.clone(), &[mine])).await;
    assert_eq!((first.activity, first.title.as_str(), first.owner.id), (activity, "make test", id(&fixture.bo)));
    let detail = fixture.store.session_detail(&fixture.ada, first.id).await.unwrap();
    assert_eq!(
        (detail.workspace.branch.as_deref(), detail.workspace.base.as_deref()),
        (Some("bo/lexer"), Some("next"))
    );
    assert_eq!(detail.argv, ["make", "test"]);

    let again = SessionSpawn { workspace: Some(first.workspace), branch: None, ..input };
    let second = fixture.done(&fixture.bo, spawn(again.clone(), &[mine])).await;
    assert_eq!((second.workspace, second.runner), (first.workspace, mine));
    let all = ExecutionFilter { activity: Some(activity), ..Default::default() };
    assert_eq!(fixture.store.workspaces(&fixture.bo, all).await.unwrap().len(), 1);
    assert_eq!(fixture.store.sessions(&fixture.bo, all).await.unwrap().len(), 2);

    // A workspace that was deleted or could not be created accepts no session.
    let mut memory = Memory::new(mine);
    memory.happened(&fixture, FactBody::WorkspaceCleaned { workspace: first.workspace }).await;
    let error = fixture.refused(&fixture.bo, spawn(again.clone(), &[mine])).await;
    assert!(matches!(&error, StoreError::Conflict(reason) if reason.contains("deleted")), "{error:?}");
    let fact = FactBody::WorkspaceFailed { workspace: first.workspace, detail: "no disk".into() };
    memory.happened(&fixture, fact).await;
    assert!(matches!(fixture.refused(&fixture.bo, spawn(again, &[mine])).await, StoreError::Conflict(_)));
}

async fn a_refused_spawn_leaves_nothing(fixture: Fixture) {
    let shared = project(&fixture, Visibility::ReadWrite, true).await;
    let readable = project(&fixture, Visibility::ReadOnly, true).await;
    let private = project(&fixture, Visibility::Private, true).await;
    let hers = runner(&fixture, &fixture.ada, "ada's", 4).await;
    let his = runner(&fixture, &fixture.bo, "bo's", 4).await;
    let made = fixture.done(&fixture.ada, spawn(in_project(&shared, "work"), &[hers])).await;
    let before = everything(&fixture).await;
    let ask = |input| fixture.refused(&fixture.bo, spawn(input, &[hers, his]));
    let base = in_project(&shared, "more");

    let error = ask(in_project(&private, "x")).await;
    assert!(matches!(error, StoreError::NotFound("project")), "{error:?}");
    let error = ask(in_project(&readable, "x")).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    let nowhere = SessionSpawn { activity: Some(ActivityId::generate()), ..base.clone() };
    assert!(matches!(ask(nowhere).await, StoreError::NotFound("activity")));
    let error = ask(SessionSpawn { project: None, ..base.clone() }).await;
    assert!(matches!(error, StoreError::Invalid { field: "activity", .. }), "{error:?}");
    let error = ask(SessionSpawn { activity: Some(made.activity), project: Some(readable.id), ..base.clone() }).await;
    assert!(matches!(error, StoreError::Invalid { field: "project", .. }), "{error:?}");
    // Bo sees Ada's workspace but may not work in it; an unknown workspace is not found.
    let foreign = SessionSpawn { activity: Some(made.activity), workspace: Some(made.workspace), ..base.clone() };
    assert!(matches!(ask(foreign).await, StoreError::Forbidden(_)));
    let nowhere = SessionSpawn { workspace: Some(WorkspaceId::generate()), ..base.clone() };
    assert!(matches!(ask(nowhere).await, StoreError::NotFound("workspace")));
    let error = ask(SessionSpawn { repository: Some("/etc".into()), ..base.clone() }).await;
    assert!(matches!(error, StoreError::Invalid { field: "repository", .. }), "{error:?}");
    let error = ask(SessionSpawn { runner: Some(hers), ..base.clone() }).await;
    assert!(matches!(&error, StoreError::Forbidden(reason) if reason.contains("not yours")), "{error:?}");
    // His own workspace, for another activity.
    let error = fixture.refused(&Fixture::observer(shared.id), spawn(base.clone(), &[hers, his])).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    let error = fixture.refused(&Caller::hub("link"), spawn(base, &[hers, his])).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    assert_eq!(everything(&fixture).await, before);
}

/// T5: names that git, a shell, a command line or a terminal could misinterpret.
pub(super) const HOSTILE: [&str; 20] = [
    "--upload-pack=id",
    "--output=x",
    "-x",
    "$(id)",
    "`id`",
    "a;id",
    "a|id",
    "a&&id",
    "a\nb",
    "a\0b",
    "@{-1}",
    "a..b",
    "../../etc",
    "a\u{1b}[2J",
    "a\u{202e}b",
    "HEAD",
    "a.lock",
    "a b",
    "",
    "a:b",
];

async fn hostile_names_are_refused_and_leave_nothing(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let before = everything(&fixture).await;
    let base = in_project(&project, "work");
    let mut tried = 0;
    for bad in HOSTILE {
        let text = bad.to_owned();
        let mut inputs = vec![
            ("branch", SessionSpawn { branch: Some(text.clone()), ..base.clone() }),
            ("base", SessionSpawn { base: Some(text.clone()), ..base.clone() }),
            ("repository", SessionSpawn { repository: Some(text.clone()), ..base.clone() }),
        ];
        if !["HEAD", "a.lock", "a..b"].contains(&bad) {
            inputs.push(("agent", SessionSpawn { agent: text.clone(), ..base.clone() }));
        }
        if bad.starts_with('-') || bad.is_empty() || bad.chars().any(|c| c.is_control() || c == '\u{202e}') {
            inputs.push(("model", SessionSpawn { model: Some(text.clone()), ..base.clone() }));
        }
        if bad.contains(['\0', '\u{1b}', '\u{202e}']) {
            inputs.push(("prompt", SessionSpawn { prompt: Some(text.clone()), ..base.clone() }));
            inputs.push(("labels", SessionSpawn { labels: vec![text.clone()], ..base.clone() }));
        }
        if bad.contains('\0') || bad.is_empty() {
            let argv = vec![text.clone(), "x".into()];
            inputs.push(("argv", SessionSpawn { agent: "command".into(), argv, ..base.clone() }));
        }
        for (name, input) in inputs {
            let error = fixture.refused(&fixture.ada, spawn(input, &[mine])).await;
            assert!(matches!(error, StoreError::Invalid { field, .. } if field == name), "{name} {bad:?}: {error:?}");
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
    for (name, input) in [
        ("prompt", SessionSpawn { prompt: Some("x".repeat(70_000)), ..base.clone() }),
        ("argv", SessionSpawn { argv: vec!["x".into(); 501], ..base.clone() }),
        ("argv", SessionSpawn { argv: vec!["x".repeat(70_000)], ..base.clone() }),
        ("argv", SessionSpawn { agent: "command".into(), ..base.clone() }),
        ("labels", SessionSpawn { labels: vec!["x".into(); 21], ..base.clone() }),
        ("cols", SessionSpawn { cols: Some(1), ..base.clone() }),
        ("cols", SessionSpawn { rows: Some(301), ..base.clone() }),
    ] {
        let error = fixture.refused(&fixture.ada, spawn(input, &[mine])).await;
        assert!(matches!(error, StoreError::Invalid { field, .. } if field == name), "{name}: {error:?}");
    }
    for bad in ["ext::sh -c id", "-oProxyCommand=id", "fd::17/x", "a\u{1b}b"] {
        let repositories = Some(vec![Repository { location: bad.into(), ..Default::default() }]);
        let input = protocol::ProjectUpdate { repositories, ..Default::default() };
        let error = fixture.refused(&fixture.ada, verbs::ProjectUpdate { project: project.id, input }).await;
        assert!(matches!(error, StoreError::Invalid { field: "repositories.location", .. }), "{bad}: {error:?}");
    }
    assert_eq!(everything(&fixture).await, before);

    // A command's arguments may contain anything, but the text that others read is sanitized.
    let argv = vec!["sh".into(), "-c".into(), "printf '\u{1b}[31m'\nid".into()];
    let input = SessionSpawn { agent: "command".into(), argv: argv.clone(), prompt: None, ..base };
    let made = fixture.done(&fixture.ada, spawn(input, &[mine])).await;
    assert_eq!(made.title, "sh -c printf '[31m'");
    assert_eq!(fixture.store.session_detail(&fixture.ada, made.id).await.unwrap().argv, argv);
}

async fn a_branch_belongs_to_one_workspace_and_is_never_the_base(fixture: Fixture) {
    let here = project(&fixture, Visibility::ReadWrite, true).await;
    let elsewhere = project(&fixture, Visibility::ReadWrite, true).await;
    let hers = runner(&fixture, &fixture.ada, "ada's", 9).await;
    let his = runner(&fixture, &fixture.bo, "bo's", 9).await;
    let on = |project: &protocol::Project, branch: &str| {
        spawn(SessionSpawn { branch: Some(branch.into()), ..in_project(project, "work") }, &[hers, his])
    };
    let made = fixture.done(&fixture.ada, on(&here, "dup")).await;
    let before = everything(&fixture).await;
    let refused = async |caller: &Caller, project: &protocol::Project, branch: &str, word: &str| {
        let error = fixture.refused(caller, on(project, branch)).await;
        let message = match &error {
            StoreError::Conflict(message) if branch != "shopfloor" => message,
            StoreError::Invalid { field: "branch", message } if branch == "shopfloor" => message,
            _ => panic!("{branch}: {error:?}"),
        };
        assert!(message.contains(word) && message.contains("choose"), "{branch}: {message}");
    };
    refused(&fixture.ada, &here, "main", "starts from").await;
    refused(&fixture.ada, &here, "main/sub", "`main`").await;
    refused(&fixture.ada, &here, "shopfloor", "shopfloor/").await;
    let own_base = SessionSpawn { base: Some("next".into()), branch: Some("next".into()), ..in_project(&here, "work") };
    let error = fixture.refused(&fixture.ada, spawn(own_base, &[hers])).await;
    assert!(matches!(error, StoreError::Invalid { field: "branch", .. }), "{error:?}");
    let workspace = made.workspace.to_string();
    refused(&fixture.ada, &here, "dup", &format!("--workspace {workspace}")).await;
    refused(&fixture.ada, &elsewhere, "dup", &workspace).await;
    refused(&fixture.bo, &here, "dup", &workspace).await;
    refused(&fixture.ada, &here, "dup/sub", &workspace).await;
    assert_eq!(everything(&fixture).await, before);
    let error = fixture.refused(&fixture.ada, on(&here, "refs/heads/x")).await;
    assert!(error.to_string().contains("refs/heads/"), "{error}");

    // Another repository, another person's project, and similar names do not conflict.
    let other = SessionSpawn {
        branch: Some("dup".into()),
        repository: Some("https://example.org/lexer".into()),
        ..in_project(&here, "work")
    };
    fixture.done(&fixture.ada, spawn(other, &[hers])).await;
    fixture.done(&fixture.bo, on(&elsewhere, "dup")).await;
    fixture.done(&fixture.ada, on(&here, "dup2")).await;
    // A session in the same workspace may use the branch; if the workspace failed or was deleted, its name is free.
    let again = SessionSpawn {
        activity: Some(made.activity),
        workspace: Some(made.workspace),
        branch: Some("dup".into()),
        ..in_project(&here, "more")
    };
    fixture.done(&fixture.ada, spawn(again, &[hers])).await;
    let mut memory = Memory::new(hers);
    memory.happened(&fixture, FactBody::WorkspaceCleaned { workspace: made.workspace }).await;
    let failed = fixture.done(&fixture.ada, on(&here, "dup")).await.workspace;
    memory.happened(&fixture, FactBody::WorkspaceFailed { workspace: failed, detail: "no disk".into() }).await;
    fixture.done(&fixture.ada, on(&here, "dup")).await;
}

async fn many_sessions_keep_the_activity_within_its_limits(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 500).await;
    let first = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await;
    let input = SessionSpawn {
        activity: Some(first.activity),
        workspace: Some(first.workspace),
        ..in_project(&project, "more")
    };
    for _ in 0..MAX_LINKS {
        fixture.done(&fixture.ada, spawn(input.clone(), &[mine])).await;
    }
    let links = fixture.store.activity(&fixture.ada, first.activity).await.unwrap().links;
    assert_eq!(links.len(), MAX_LINKS);
    assert_eq!(links[0].target, first.workspace.to_string(), "the oldest sessions make room, not the workspace");
    assert!(!links.iter().any(|link| link.target == first.id.to_string()));
}

async fn the_same_key_spawns_once_even_without_free_capacity(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 1).await;
    let key = || Some("key".to_owned());
    let command = |connected: &[domain::RunnerId]| spawn(in_project(&project, "work"), connected);
    let first = fixture.store.write(&fixture.ada, key(), command(&[mine])).await.unwrap().value;
    let second = fixture.store.write(&fixture.ada, key(), command(&[])).await.unwrap().value;
    assert_eq!(first, second, "the runner is full or away, and the answer is the same");
    let error = fixture.refused(&fixture.ada, command(&[mine])).await;
    assert!(matches!(&error, StoreError::Conflict(reason) if reason.contains("full")), "{error:?}");
}

async fn two_spawns_do_not_share_the_last_free_slot(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 1).await;
    let one = |prompt: &str| fixture.store.write(&fixture.ada, None, spawn(in_project(&project, prompt), &[mine]));
    let (a, b, c) = tokio::join!(one("a"), one("b"), one("c"));
    assert_eq!([a.is_ok(), b.is_ok(), c.is_ok()].into_iter().filter(|done| *done).count(), 1);
}
