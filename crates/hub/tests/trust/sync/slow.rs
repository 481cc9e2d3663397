//! A client that stops reading is cut off, slows nobody, and resumes without gap or double.

use domain::Visibility;
use protocol::{Call, Change, FromHub, MessageText, ToHub};
use testkit::TestHub;

use super::{project, resume};
use crate::support::socket::{Came, change};
use crate::support::state::Follower;
use crate::support::{Socket, ann, join, view};

const MESSAGES: u32 = 700;
/// As large as a message may be: more than the kernel's buffers take for one connection.
const SIZE: usize = 16_000;

fn numbers(frames: &[FromHub]) -> Vec<u32> {
    let number = |change: &Change| match change {
        Change::Message { message, .. } => Some(message.number),
        _ => None,
    };
    frames.iter().filter_map(change).filter_map(number).collect()
}

#[tokio::test]
async fn a_client_that_stops_reading_is_cut_off_and_resumes() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let slow = join(&hub, "slow").await;
    let slow_id = view!(&hub, &slow, Me, Call::Me {}).user.expect("a person").id;
    let common = project(&hub, &ann, "common", Visibility::ReadWrite).await;
    let mut fast = Socket::live(hub.url(), &ann).await;
    let mut stalled =
        Socket::with_buffer(hub.url(), slow.headers(hub.url()), Some(4096)).await.expect("the hub lets in");
    stalled.hello(None).await;
    stalled.until_live().await;
    let mut follower = Follower::default();
    stalled.early.drain(..).for_each(|frame| follower.apply(&frame));

    // From here on `stalled` reads nothing.
    let text = "x".repeat(SIZE);
    let mut writer = Socket::live(hub.url(), &ann).await;
    let (mut sent, mut answered) = (0, 0);
    while answered < MESSAGES {
        while sent < MESSAGES && sent < answered + 30 {
            let call = Call::ChatSend { project: common, input: MessageText { content: text.clone() } };
            writer.send(&ToHub::Request { id: sent, key: None, call }).await;
            sent += 1;
        }
        match writer.fresh().await {
            Came::Frame(frame) => answered += u32::from(matches!(*frame, FromHub::Answer { .. })),
            Came::Closed(code) => panic!("the writer was closed with {code:?}"),
        }
    }
    let mut got = Vec::new();
    let mut cut_off = false;
    while got.len() < MESSAGES as usize {
        match fast.next().await {
            Came::Frame(frame) => {
                let gone = |entry: &protocol::PresenceEntry| entry.user == slow_id && !entry.connected;
                cut_off |= matches!(&*frame, FromHub::Presence { entries, .. } if entries.iter().any(gone));
                got.extend(numbers(&[*frame]));
            }
            Came::Closed(code) => panic!("the reader was closed with {code:?}"),
        }
    }
    assert_eq!(got, (1..=MESSAGES).collect::<Vec<_>>(), "a client that reads gets everything, in order");
    if !cut_off {
        fast.until("the stalled client is cut off", |frame| match frame {
            FromHub::Presence { entries, .. } => entries.iter().any(|entry| entry.user == slow_id && !entry.connected),
            _ => false,
        })
        .await;
    }

    // What was on its way can still be read; the rest comes after the resume.
    let (frames, _) = stalled.until_closed().await;
    frames.iter().for_each(|frame| follower.apply(frame));
    let mut got = numbers(&frames);
    assert!(got.len() < MESSAGES as usize, "it was cut off in the middle");
    let mut again = Socket::connect(hub.url(), &slow).await.expect("the hub lets in");
    assert!(resume(&mut again, follower.seen).await.0);
    got.extend(numbers(again.early.make_contiguous()));
    assert_eq!(got, (1..=MESSAGES).collect::<Vec<_>>(), "without gap or double");
}
