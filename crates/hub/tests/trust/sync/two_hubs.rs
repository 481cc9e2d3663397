//! Two hubs on one PostgreSQL: clients of both are in step.

use domain::Visibility;
use protocol::{Call, Change, FromHub, MessageText};
use testkit::{Postgres, TestHub};

use super::{activity, project, resume, say, set};
use crate::support::socket::{Came, change};
use crate::support::state::Follower;
use crate::support::{Credential, Socket, ann, call, join, view};

async fn pair(database: &testkit::Database) -> (TestHub, TestHub) {
    let on = |options: &mut hub::Options| options.database = database.url().to_owned();
    (TestHub::with(on).await, TestHub::with(on).await)
}

#[tokio::test]
async fn changes_at_two_hubs_reach_the_clients_of_both_in_order() {
    let database = Postgres::shared().database().await;
    let (one, two) = pair(&database).await;
    let olga = join(&one, "olga").await;
    let common = project(&one, &olga, "common", Visibility::ReadWrite).await;
    let mut sockets = Vec::new();
    for hub in [&one, &two] {
        for person in [&olga, &ann(hub)] {
            let mut socket = Socket::live(hub.url(), person).await;
            socket.early.clear();
            sockets.push(socket);
        }
    }
    let talk = async |hub: &TestHub, by: &Credential, word: &str| {
        for number in 0..40 {
            say(hub, by, common, &format!("{word} {number}")).await;
        }
    };
    let other = ann(&two);
    tokio::join!(talk(&one, &olga, "one"), talk(&two, &olga, "two"), talk(&two, &other, "ann"));

    let mut first: Option<Vec<(u64, String)>> = None;
    for socket in &mut sockets {
        let mut got = Vec::new();
        while got.len() < 120 {
            match socket.next().await {
                Came::Frame(frame) => {
                    if let FromHub::Delta(delta) = *frame
                        && let Change::Message { message, .. } = delta.change
                    {
                        assert_eq!(message.number as usize, got.len() + 1, "no gap, in order");
                        got.push((delta.seq.0, message.content));
                    }
                }
                Came::Closed(code) => panic!("closed with {code:?}"),
            }
        }
        assert!(got.windows(2).all(|pair| pair[0].0 < pair[1].0), "positions grow");
        assert_eq!(first.get_or_insert_with(|| got.clone()), &got, "all get the same in the same order");
    }
    one.stop().await;
    two.stop().await;
}

#[tokio::test]
async fn rights_and_credentials_revoked_at_one_hub_end_at_the_other() {
    let database = Postgres::shared().database().await;
    let (one, two) = pair(&database).await;
    let (olga, pete) = (join(&one, "olga").await, join(&one, "pete").await);
    let common = project(&one, &olga, "common", Visibility::ReadWrite).await;
    let plan = project(&one, &olga, "plan", Visibility::ReadOnly).await;
    let mut socket = Socket::live(two.url(), &pete).await;
    let mut follower = Follower::default();
    socket.early.drain(..).for_each(|frame| follower.apply(&frame));
    assert_eq!(follower.state.projects.len(), 2);

    set(&one, &olga, plan, Visibility::Private).await;
    activity(&one, &olga, plan, "hidden").await;
    say(&one, &olga, common, "one").await;
    let frames = socket.until_message("one").await;
    let changes: Vec<&Change> = frames.iter().filter_map(change).collect();
    assert!(
        matches!(changes[..], [Change::ProjectGone { .. }, Change::Message { .. }]),
        "gone at once, and nothing of what came after: {changes:?}"
    );
    frames.iter().for_each(|frame| follower.apply(frame));

    // A client of one hub resumes at the other.
    drop(socket);
    say(&two, &olga, common, "two").await;
    let mut socket = Socket::connect(one.url(), &pete).await.expect("let in");
    assert!(resume(&mut socket, follower.seen).await.0);
    // What was said at the second hub may reach the first only now.
    let mut missed: Vec<_> = socket.early.drain(..).collect();
    if missed.iter().filter_map(change).count() == 0 {
        missed.extend(socket.until_message("two").await);
    }
    assert_eq!(missed.iter().filter_map(change).count(), 1);

    let tokens = view!(&two, &pete, Tokens, Call::TokenList {});
    crate::support::ask(&two, &pete, Call::TokenRevoke { token: tokens[0].id }).await;
    assert_eq!(socket.until_closed().await.1, Some(4401));
    let send = Call::ChatSend { project: common, input: MessageText { content: "still?".into() } };
    assert_eq!(call(&one, &pete, &send).await.status, 401);
    one.stop().await;
    two.stop().await;
}
