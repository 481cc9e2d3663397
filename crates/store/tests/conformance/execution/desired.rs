//! A runner's desired state: all of its own unfinished sessions, as of a generation.

use domain::{SessionMode, SessionStatus, Visibility};
use protocol::{Sandbox, SessionSpawn, SessionStop, verbs};

use super::{Memory, in_project, project, runner, spawn};
use crate::fixture::Fixture;

both!(
    the_desired_state_is_complete_and_has_nothing_of_other_runners,
    only_the_owners_projects_are_trusted,
    sessions_in_a_sandboxed_workspace_are_sandboxed,
);

async fn the_desired_state_is_complete_and_has_nothing_of_other_runners(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let other = runner(&fixture, &fixture.ada, "other", 4).await;
    assert_eq!(fixture.store.desired(domain::RunnerId::generate()).await.unwrap(), None);
    let empty = fixture.store.desired(mine).await.unwrap().unwrap();
    assert_eq!((empty.generation, empty.acknowledged, empty.sessions.len()), (0, 0, 0));
    let input = SessionSpawn {
        mode: Some(SessionMode::Headless),
        model: Some("big".into()),
        argv: vec!["--fast".into()],
        sandbox: Some(Sandbox { network: true, home: false }),
        record_input: Some(true),
        cols: Some(100),
        rows: Some(40),
        runner: Some(mine),
        ..in_project(&project, "Fix it\nplease")
    };
    let made = fixture.done(&fixture.ada, spawn(input, &[mine, other])).await;
    let elsewhere = SessionSpawn { runner: Some(other), ..in_project(&project, "elsewhere") };
    fixture.done(&fixture.ada, spawn(elsewhere, &[mine, other])).await;
    let wanted = fixture.store.desired(mine).await.unwrap().unwrap();
    assert_eq!((wanted.generation, wanted.sessions.len()), (1, 1));
    let plan = &wanted.sessions[0];
    assert_eq!((plan.session, plan.project, plan.activity), (made.id, project.id, made.activity));
    assert_eq!((plan.run, plan.force, plan.agent.as_str(), plan.mode), (true, false, "codex", SessionMode::Headless));
    assert_eq!((plan.model.as_deref(), plan.prompt.as_str()), (Some("big"), "Fix it\nplease"));
    assert_eq!(plan.context, "# The project\n\nParser\ngoals\n\n# The activity\n\nFix it\nplease\n");
    assert_eq!((plan.argv.clone(), plan.conversation.clone()), (vec!["--fast".to_owned()], None));
    assert_eq!(plan.sandbox, Some(Sandbox { network: true, home: false }));
    assert_eq!((plan.record_input, plan.cols, plan.rows), (true, 100, 40));
    assert_eq!(plan.workspace.workspace, made.workspace);
    assert_eq!(plan.workspace.repository.as_ref(), project.repositories.first());
    assert_eq!((plan.workspace.base.as_deref(), plan.workspace.repository_by.clone()), (Some("main"), None));

    // The project gets another text and repository: the plan stays the same except for the context.
    let input = protocol::ProjectUpdate {
        content: Some("Parser 2".into()),
        repositories: Some(Vec::new()),
        ..Default::default()
    };
    fixture.done(&fixture.ada, verbs::ProjectUpdate { project: project.id, input }).await;
    let later = fixture.store.desired(mine).await.unwrap().unwrap().sessions.remove(0);
    assert_eq!(later.workspace, plan.workspace);
    assert!(later.context.contains("Parser 2"));

    for (force, generation) in [(false, 2), (true, 3)] {
        fixture.done(&fixture.ada, verbs::SessionStop { session: made.id, input: SessionStop { force } }).await;
        let wanted = fixture.store.desired(mine).await.unwrap().unwrap();
        let plan = &wanted.sessions[0];
        assert_eq!((wanted.generation, plan.run, plan.force), (generation, false, force));
    }
    Memory::new(mine).at(&fixture, made.id, SessionStatus::Exited).await;
    let wanted = fixture.store.desired(mine).await.unwrap().unwrap();
    assert_eq!((wanted.sessions.len(), wanted.acknowledged), (0, 1));
    assert_eq!(fixture.store.desired(other).await.unwrap().unwrap().sessions.len(), 1);
}

async fn only_the_owners_projects_are_trusted(fixture: Fixture) {
    let project = project(&fixture, Visibility::ReadWrite, true).await;
    let his = runner(&fixture, &fixture.bo, "bo's", 4).await;
    fixture.done(&fixture.bo, spawn(in_project(&project, "work"), &[his])).await;
    let wanted = fixture.store.desired(his).await.unwrap().unwrap();
    let by = wanted.sessions[0].workspace.repository_by.as_ref().map(|by| (by.user.name.as_str(), by.agent));
    assert_eq!(by, Some(("Ada", None)), "another's setup does not run on his machine by itself");
}

async fn sessions_in_a_sandboxed_workspace_are_sandboxed(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 8).await;
    let of = |network, home| Some(Sandbox { network, home });
    let first = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await;
    let more = |sandbox| SessionSpawn {
        activity: Some(first.activity),
        workspace: Some(first.workspace),
        project: None,
        sandbox,
        ..in_project(&project, "more")
    };
    let refused = fixture.refused(&fixture.ada, spawn(more(of(true, true)), &[mine])).await;
    assert!(refused.to_string().contains("without a sandbox"), "{refused}");
    Memory::new(mine).at(&fixture, first.id, SessionStatus::Exited).await;
    // The sandbox that a session in the same workspace wants, and the one that it gets.
    for (wanted, got) in [
        (of(true, true), of(true, true)),
        (None, of(true, true)),
        (of(false, true), of(false, true)),
        (of(true, true), of(false, true)),
        (of(true, false), of(false, false)),
        (None, of(false, false)),
    ] {
        let made = fixture.done(&fixture.ada, spawn(more(wanted), &[mine])).await;
        let plans = fixture.store.desired(mine).await.unwrap().unwrap().sessions;
        let plan = plans.iter().find(|plan| plan.session == made.id).unwrap();
        assert_eq!((plan.sandbox.clone(), made.sandbox), (got.clone(), got.is_some()));
    }
    let other = fixture.done(&fixture.ada, spawn(in_project(&project, "elsewhere"), &[mine])).await;
    assert!(!other.sandbox, "another workspace is another matter");
}
