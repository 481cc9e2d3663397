//! What a runner should have: its own sessions that are not over, whole, as of a generation.

use domain::{SessionMode, SessionStatus, Visibility};
use protocol::{Sandbox, SessionSpawn, SessionStop, verbs};

use super::{Memory, in_project, project, runner, spawn};
use crate::floor::Floor;

both!(
    the_whole_plan_is_there_and_nothing_of_others,
    only_ones_own_projects_are_trusted,
    whoever_works_where_a_contained_session_worked_is_contained,
);

async fn the_whole_plan_is_there_and_nothing_of_others(floor: Floor) {
    let project = project(&floor, Visibility::Private, false).await;
    let mine = runner(&floor, &floor.ada, "box", 4).await;
    let other = runner(&floor, &floor.ada, "other", 4).await;
    assert_eq!(floor.store.desired(domain::RunnerId::generate()).await.unwrap(), None);
    let empty = floor.store.desired(mine).await.unwrap().unwrap();
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
    let made = floor.done(&floor.ada, spawn(input, &[mine, other])).await;
    let elsewhere = SessionSpawn { runner: Some(other), ..in_project(&project, "elsewhere") };
    floor.done(&floor.ada, spawn(elsewhere, &[mine, other])).await;
    let wanted = floor.store.desired(mine).await.unwrap().unwrap();
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

    // Another text, another repository: what was planned stays as it was but for the context.
    let input = protocol::ProjectUpdate {
        content: Some("Parser 2".into()),
        repositories: Some(Vec::new()),
        ..Default::default()
    };
    floor.done(&floor.ada, verbs::ProjectUpdate { project: project.id, input }).await;
    let later = floor.store.desired(mine).await.unwrap().unwrap().sessions.remove(0);
    assert_eq!(later.workspace, plan.workspace);
    assert!(later.context.contains("Parser 2"));

    for (force, generation) in [(false, 2), (true, 3)] {
        floor.done(&floor.ada, verbs::SessionStop { session: made.id, input: SessionStop { force } }).await;
        let wanted = floor.store.desired(mine).await.unwrap().unwrap();
        let plan = &wanted.sessions[0];
        assert_eq!((wanted.generation, plan.run, plan.force), (generation, false, force));
    }
    Memory::new(mine).at(&floor, made.id, SessionStatus::Exited).await;
    let wanted = floor.store.desired(mine).await.unwrap().unwrap();
    assert_eq!((wanted.sessions.len(), wanted.acknowledged), (0, 1));
    assert_eq!(floor.store.desired(other).await.unwrap().unwrap().sessions.len(), 1);
}

async fn only_ones_own_projects_are_trusted(floor: Floor) {
    let project = project(&floor, Visibility::ReadWrite, true).await;
    let his = runner(&floor, &floor.bo, "bo's", 4).await;
    floor.done(&floor.bo, spawn(in_project(&project, "work"), &[his])).await;
    let wanted = floor.store.desired(his).await.unwrap().unwrap();
    let by = wanted.sessions[0].workspace.repository_by.as_ref().map(|by| (by.user.name.as_str(), by.agent));
    assert_eq!(by, Some(("Ada", None)), "another's setup does not run on his machine by itself");
}

async fn whoever_works_where_a_contained_session_worked_is_contained(floor: Floor) {
    let project = project(&floor, Visibility::Private, false).await;
    let mine = runner(&floor, &floor.ada, "box", 8).await;
    let of = |network, home| Some(Sandbox { network, home });
    let first = floor.done(&floor.ada, spawn(in_project(&project, "work"), &[mine])).await;
    let more = |sandbox| SessionSpawn {
        activity: Some(first.activity),
        workspace: Some(first.workspace),
        project: None,
        sandbox,
        ..in_project(&project, "more")
    };
    let refused = floor.refused(&floor.ada, spawn(more(of(true, true)), &[mine])).await;
    assert!(refused.to_string().contains("without a sandbox"), "{refused}");
    Memory::new(mine).at(&floor, first.id, SessionStatus::Exited).await;
    // What it wants, in the same workspace; and what it gets.
    for (wanted, got) in [
        (of(true, true), of(true, true)),
        (None, of(true, true)),
        (of(false, true), of(false, true)),
        (of(true, true), of(false, true)),
        (of(true, false), of(false, false)),
        (None, of(false, false)),
    ] {
        let made = floor.done(&floor.ada, spawn(more(wanted), &[mine])).await;
        let plans = floor.store.desired(mine).await.unwrap().unwrap().sessions;
        let plan = plans.iter().find(|plan| plan.session == made.id).unwrap();
        assert_eq!((plan.sandbox.clone(), made.sandbox), (got.clone(), got.is_some()));
    }
    let other = floor.done(&floor.ada, spawn(in_project(&project, "elsewhere"), &[mine])).await;
    assert!(!other.sandbox, "another workspace is another matter");
}
