//! Deltas follow what the receiver may see now.

use domain::{ProjectId, Visibility};
use protocol::{Call, Change, Freeze, FromHub, MarkRead, MessageText, TaskAdd, TaskTake, TasksAdd};
use testkit::TestHub;

use super::{activity, project, resume, say, set};
use crate::support::socket::change;
use crate::support::state::Follower;
use crate::support::{Credential, Socket, ann, join, observe, view};

/// What the frames are about, in short.
fn words(frames: &[FromHub]) -> Vec<String> {
    let word = |change: &Change| match change {
        Change::User { user } => format!("user {}", user.name),
        Change::UserGone { .. } => "user gone".to_owned(),
        Change::Project { project } => format!("project {}", project.name),
        Change::ProjectGone { .. } => "gone".to_owned(),
        Change::Activity { activity } => format!("activity {}", activity.name),
        Change::Message { message, .. } => format!("message {}", message.content),
        Change::Unread { unread } => format!("unread {} of {}", unread.count, unread.read),
        Change::Runner { runner } => format!("runner {}", runner.name),
        Change::RunnerGone { .. } => "runner gone".to_owned(),
        Change::Workspace { .. } => "workspace".to_owned(),
        Change::Session { session } => format!("session {}", session.title),
        Change::Overlap { overlap } => format!("overlap {}", overlap.id),
        Change::Reservation { reservation } => format!("reservation {}", reservation.id),
        Change::ExecutionGone { .. } => "execution gone".to_owned(),
        Change::Tasks { tasks } => format!("{} tasks", tasks.len()),
        Change::Workers { workers } => {
            let mut names: Vec<&str> = workers.iter().map(|worker| worker.name.as_str()).collect();
            names.sort_unstable();
            format!("workers {}", names.join(" "))
        }
        Change::WorkerGone { .. } => "worker gone".to_owned(),
        Change::Escalation { escalation } => format!("escalation {}", escalation.question),
        Change::Review { review } => format!("review of {}", review.of),
        Change::Approval { approval } => format!("approval {}", approval.text),
        Change::WorkEntry { entry } => format!("decided {}", entry.what),
        Change::WorkSettings { .. } => "work settings".to_owned(),
        Change::MergeQueue { .. } => "merge queue".to_owned(),
        Change::Candidate { candidate } => format!("candidate {}", candidate.branch),
        Change::MergeSettings { .. } => "merge settings".to_owned(),
        Change::Landing { landing } => format!("landing {}", landing.branch),
        Change::LandingSettings { .. } => "landing settings".to_owned(),
        Change::Handoff { handoff } => format!("handoff of {}", handoff.title),
        Change::Recipe { recipe } => format!("recipe {}", recipe.name),
        Change::Profiles { profiles, .. } => format!("{} profiles", profiles.len()),
        Change::Execution { execution } => format!("execution of {}", execution.name),
        Change::Schedule { schedule } => format!("schedule {}", schedule.name),
        Change::ScheduleRemoved { .. } => "schedule removed".to_owned(),
        Change::Unknown => "unknown".to_owned(),
    };
    frames.iter().filter_map(change).map(word).collect()
}

#[tokio::test]
async fn revoked_rights_end_at_once_and_restored_rights_resend_everything() {
    let hub = TestHub::start().await;
    let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
    let common = project(&hub, &olga, "common", Visibility::ReadWrite).await;
    let plan = project(&hub, &olga, "plan", Visibility::ReadOnly).await;
    activity(&hub, &olga, plan, "first").await;
    let mut socket = Socket::live(hub.url(), &pete).await;
    socket.early.clear();

    set(&hub, &olga, plan, Visibility::Private).await;
    activity(&hub, &olga, plan, "second").await;
    say(&hub, &olga, plan, "among ourselves").await;
    say(&hub, &olga, common, "one").await;
    assert_eq!(words(&socket.until_message("one").await), ["gone", "message one"]);

    set(&hub, &olga, plan, Visibility::ReadWrite).await;
    say(&hub, &olga, common, "two").await;
    let given = words(&socket.until_message("two").await);
    let whole = ["project plan", "activity first", "activity second", "unread 1 of 0", "message two"];
    assert_eq!(given, whole, "everything in it, also what came while it was hidden");

    view!(&hub, &pete, Message, Call::ChatSend { project: plan, input: MessageText { content: "hi".into() } });
    assert_eq!(words(&socket.until_message("hi").await), ["message hi"]);
}

#[tokio::test]
async fn a_project_made_in_private_appears_whole_when_it_is_opened() {
    let hub = TestHub::start().await;
    let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
    let common = project(&hub, &olga, "common", Visibility::ReadWrite).await;
    let mut socket = Socket::live(hub.url(), &pete).await;
    socket.early.clear();
    let plan = project(&hub, &olga, "plan", Visibility::Private).await;
    activity(&hub, &olga, plan, "first").await;
    say(&hub, &olga, common, "one").await;
    assert_eq!(words(&socket.until_message("one").await), ["message one"]);
    set(&hub, &olga, plan, Visibility::ReadOnly).await;
    say(&hub, &olga, common, "two").await;
    let given = words(&socket.until_message("two").await);
    assert_eq!(given, ["project plan", "activity first", "unread 0 of 0", "message two"]);
}

#[tokio::test]
async fn a_returning_client_gets_changes_by_its_current_rights() {
    let hub = TestHub::start().await;
    let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
    let common = project(&hub, &olga, "common", Visibility::ReadWrite).await;
    let taken = project(&hub, &olga, "taken", Visibility::ReadOnly).await;
    let given = project(&hub, &olga, "given", Visibility::Private).await;
    let deleted = project(&hub, &olga, "deleted", Visibility::ReadOnly).await;
    let mut follower = Follower::default();
    let mut socket = Socket::live(hub.url(), &pete).await;
    socket.early.drain(..).for_each(|frame| follower.apply(&frame));
    drop(socket);

    say(&hub, &olga, taken, "while it was open").await;
    set(&hub, &olga, taken, Visibility::Private).await;
    activity(&hub, &olga, given, "work").await;
    set(&hub, &olga, given, Visibility::ReadOnly).await;
    say(&hub, &olga, deleted, "before its end").await;
    crate::support::ask(&hub, &olga, Call::ProjectDelete { project: deleted }).await;
    let mut socket = Socket::connect(hub.url(), &pete).await.expect("let in");
    assert!(resume(&mut socket, follower.seen).await.0);
    let frames: Vec<FromHub> = socket.early.drain(..).collect();
    assert_eq!(words(&frames), ["gone", "activity work", "project given", "activity work", "unread 0 of 0", "gone"]);
    frames.iter().for_each(|frame| follower.apply(frame));
    let known: Vec<_> = follower.state.projects.keys().copied().collect();
    assert_eq!(known, [common, given]);
}

#[tokio::test]
async fn a_project_cut_in_half_comes_whole_after_the_resume() {
    let hub = TestHub::start().await;
    let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
    let plan = project(&hub, &olga, "plan", Visibility::Private).await;
    for number in 0..3 {
        activity(&hub, &olga, plan, &format!("work {number}")).await;
    }
    let mut follower = Follower::default();
    let mut socket = Socket::live(hub.url(), &pete).await;
    socket.early.drain(..).for_each(|frame| follower.apply(&frame));
    set(&hub, &olga, plan, Visibility::ReadOnly).await;
    let project_only = |frame: &FromHub| matches!(change(frame), Some(Change::Project { .. }));
    let part = socket.until("the project", project_only).await;
    part.iter().for_each(|frame| follower.apply(frame));
    assert!(follower.state.activities.is_empty(), "the connection breaks after the project itself");
    drop(socket);

    let mut socket = Socket::connect(hub.url(), &pete).await.expect("let in");
    assert!(resume(&mut socket, follower.seen).await.0);
    socket.early.drain(..).for_each(|frame| follower.apply(&frame));
    assert_eq!(follower.state.activities.len(), 3);
}

#[tokio::test]
async fn observers_see_their_project_and_nothing_else() {
    let hub = TestHub::start().await;
    let olga = join(&hub, "olga").await;
    let shown = project(&hub, &olga, "shown", Visibility::Private).await;
    let other = project(&hub, &olga, "other", Visibility::ReadWrite).await;
    let (visitor, _) = observe(&hub, &olga, shown).await;
    let mut socket = Socket::live(hub.url(), &visitor).await;
    let mut follower = Follower::default();
    let greeting: Vec<FromHub> = socket.early.drain(..).collect();
    greeting.iter().for_each(|frame| follower.apply(frame));
    assert_eq!(follower.state.projects.keys().copied().collect::<Vec<_>>(), [shown]);
    assert!(follower.state.users.is_empty() && follower.state.read.is_empty());
    let me = greeting.iter().find_map(|frame| match frame {
        FromHub::Welcome { me, .. } => Some(me.clone()),
        _ => None,
    });
    assert!(me.is_some_and(|me| me.user.is_none() && me.observes == Some(shown)));

    say(&hub, &olga, other, "elsewhere").await;
    join(&hub, "newcomer").await;
    activity(&hub, &olga, shown, "work").await;
    set(&hub, &olga, shown, Visibility::ReadOnly).await;
    set(&hub, &olga, shown, Visibility::Private).await;
    view!(&hub, &olga, Unread, Call::ChatRead { project: other, input: MarkRead { number: 1 } });
    say(&hub, &olga, shown, "here").await;
    let frames = socket.until_message("here").await;
    assert_eq!(words(&frames), ["activity work", "project shown", "project shown", "message here"]);
    assert!(!frames.iter().any(|frame| matches!(frame, FromHub::Presence { .. })));
}

#[tokio::test]
async fn unread_counts_reach_only_the_readers_own_tabs() {
    let hub = TestHub::start().await;
    let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
    let common = project(&hub, &olga, "common", Visibility::ReadWrite).await;
    say(&hub, &olga, common, "one").await;
    say(&hub, &olga, common, "two, @pete").await;
    let mut tabs = Vec::new();
    for credential in [&pete, &pete, &olga, &ann(&hub)] {
        let mut socket = Socket::live(hub.url(), credential).await;
        socket.early.clear();
        tabs.push(socket);
    }
    let unread = view!(&hub, &pete, Unreads, Call::ChatUnread {});
    assert_eq!((unread[0].count, unread[0].mentions), (2, 1));
    let read = view!(&hub, &pete, Unread, Call::ChatRead { project: common, input: MarkRead { number: 1 } });
    assert_eq!((read.read, read.count, read.mentions), (1, 1, 1));
    view!(&hub, &pete, Unread, Call::ChatRead { project: common, input: MarkRead { number: 0 } });
    say(&hub, &olga, common, "three").await;
    for (index, socket) in tabs.iter_mut().enumerate() {
        let told = words(&socket.until_message("three").await);
        let wanted: &[&str] = if index < 2 { &["unread 1 of 1", "message three"] } else { &["message three"] };
        assert_eq!(told, wanted, "tab {index}");
    }
}

/// A worker of `owner`'s that takes tasks itself, and has taken one.
async fn worker(hub: &TestHub, owner: &Credential, project: ProjectId, name: &str) {
    let tasks = vec![TaskAdd { description: format!("Work for {name}"), ..Default::default() }];
    view!(hub, owner, AddedTasks, Call::TaskAdd { project, input: TasksAdd { tasks } });
    let input = TaskTake { task: None, worker: Some(name.into()), abilities: Vec::new(), wait_seconds: None };
    assert!(view!(hub, owner, Taken, Call::TaskTake { project, input }).taken.is_some());
}

/// The received changes of workers, sorted.
fn of_workers(frames: &[FromHub]) -> Vec<String> {
    let mut found: Vec<String> = words(frames).into_iter().filter(|word| word.starts_with("worker")).collect();
    found.sort();
    found
}

#[tokio::test]
async fn worker_changes_reach_only_people_with_access_to_the_project() {
    let hub = TestHub::start().await;
    let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
    let common = project(&hub, &olga, "common", Visibility::ReadWrite).await;
    let plan = project(&hub, &olga, "plan", Visibility::Private).await;
    for (project, name) in [(common, "anvil"), (plan, "secret"), (common, "bellows"), (plan, "hidden")] {
        worker(&hub, &olga, project, name).await;
    }
    let (visitor, _) = observe(&hub, &olga, common).await;
    let mut sockets = Vec::new();
    for credential in [&pete, &visitor, &olga] {
        let mut socket = Socket::live(hub.url(), credential).await;
        let synced = format!("{:?}", socket.early);
        assert!(synced.contains("anvil") && synced.contains("bellows"), "{synced}");
        let sees_all = std::ptr::eq(credential, &olga);
        assert_eq!((synced.contains("secret"), synced.contains("hidden")), (sees_all, sees_all), "{synced}");
        socket.early.clear();
        sockets.push(socket);
    }

    // One transaction, two projects.
    view!(&hub, &olga, Frozen, Call::FloorFreeze { input: Freeze { project: None } });
    say(&hub, &olga, common, "one").await;
    let shown = "workers anvil bellows";
    let hidden = "workers hidden secret";
    for (socket, expected) in sockets.iter_mut().zip([vec![shown], vec![shown], vec![shown, hidden]]) {
        assert_eq!(of_workers(&socket.until_message("one").await), expected);
    }

    set(&hub, &olga, plan, Visibility::ReadOnly).await;
    say(&hub, &olga, common, "two").await;
    for (socket, expected) in sockets.iter_mut().zip([vec![hidden], vec![], vec![]]) {
        assert_eq!(of_workers(&socket.until_message("two").await), expected, "the project, whole");
    }
    set(&hub, &olga, plan, Visibility::Private).await;
    view!(&hub, &olga, Frozen, Call::FloorThaw { input: Freeze { project: None } });
    say(&hub, &olga, common, "three").await;
    assert_eq!(of_workers(&sockets[0].until_message("three").await), [shown], "and nothing after it is gone");
}
