//! A client that writes, and asks again with the same key until it is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use client::{Client, ClientError, View};
use domain::{ActivityId, MessageId, ProjectId};
use protocol::{Activity, ActivityCreate, ActivityUpdate, Call, Message, MessageText, ProblemKind};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::book::Book;

/// Writes until told to stop; nothing is left unanswered then.
pub(crate) async fn run(
    number: u64,
    seed: u64,
    client: Client,
    project: ProjectId,
    book: Arc<Book>,
    writing: Arc<AtomicBool>,
) {
    let mut random = StdRng::seed_from_u64(seed.wrapping_add(number + 1));
    let (mut messages, mut activities) = (Vec::<(String, MessageId)>::new(), Vec::<(String, ActivityId)>::new());
    for step in 0.. {
        if !writing.load(Ordering::SeqCst) {
            return;
        }
        let name = format!("{number}/{step}");
        match random.random_range(0..10) {
            0 | 1 if !messages.is_empty() => {
                let (name, message) = messages[random.random_range(0..messages.len())].clone();
                let content = format!("{name} {}", book.edit(&name));
                let call = Call::ChatEdit { message, input: MessageText { content: content.clone() } };
                assert_eq!(insist::<Message>(&client, call, &content).await.content, content);
                book.edited(&name);
            }
            2 | 3 if !activities.is_empty() => {
                let (name, activity) = activities[random.random_range(0..activities.len())].clone();
                let content = format!("{name} {}", book.edit(&name));
                let input = ActivityUpdate { content: Some(content.clone()), ..ActivityUpdate::default() };
                let call = Call::ActivityUpdate { activity, input };
                assert_eq!(insist::<Activity>(&client, call, &content).await.content, content);
                book.edited(&name);
            }
            4 => {
                book.make(&name);
                let content = format!("{name} 0");
                let input = ActivityCreate { content: content.clone(), ..ActivityCreate::default() };
                let made: Activity = insist(&client, Call::ActivityCreate { project, input }, &content).await;
                book.made(&name, made.id.to_string());
                activities.push((name, made.id));
            }
            _ => {
                book.make(&name);
                let content = format!("{name} 0");
                let call = Call::ChatSend { project, input: MessageText { content: content.clone() } };
                let made: Message = insist(&client, call, &content).await;
                book.made(&name, made.id.to_string());
                messages.push((name, made.id));
            }
        }
        tokio::time::sleep(Duration::from_micros(random.random_range(0..5_000))).await;
    }
}

/// Asks with the same key until there is an answer.
async fn insist<T: View>(client: &Client, call: Call, key: &str) -> T {
    loop {
        match client.call_with_key(call.clone(), Some(key)).await {
            Ok(answer) => return T::from_answer(answer).unwrap(),
            Err(ClientError::Unreachable { .. }) => {}
            Err(ClientError::Problem(problem)) if problem.kind == ProblemKind::Unavailable => {}
            Err(other) => panic!("{key}: {other:?}"),
        }
    }
}
