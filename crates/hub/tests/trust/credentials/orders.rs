//! Frames in any order: before a valid `hello` nothing is served, after it everything is answered (T4).

use domain::ProjectId;
use protocol::{Call, FromHub, PROTOCOL, Place, ToHub};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use testkit::TestHub;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Credential, Socket, ann, browser, observe, view};

const SEQUENCES: u32 = 600;

/// A frame of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Hello,
    ForeignHello,
    Request,
    Look,
    Garbage,
    Binary,
}

const STEPS: [Step; 6] = [Step::Hello, Step::ForeignHello, Step::Request, Step::Look, Step::Garbage, Step::Binary];

impl Step {
    fn message(self, id: u32) -> Message {
        let frame = match self {
            Self::Hello => ToHub::Hello { protocol: PROTOCOL, hub: None, since: None, client: None },
            Self::ForeignHello => ToHub::Hello { protocol: PROTOCOL + 1, hub: None, since: None, client: None },
            Self::Request => ToHub::Request { id, key: None, call: Call::ProjectList {} },
            Self::Look => {
                ToHub::Look { at: Some(Place { project: ProjectId::generate(), activity: None }), visible: false }
            }
            Self::Garbage => return Message::text(format!("{{\"type\":\"request\",\"id\":{id},\"call\":7}}")),
            Self::Binary => return Message::binary(vec![1, 2, 3]),
        };
        Message::text(serde_json::to_string(&frame).expect("JSON"))
    }
}

/// What must come back: how many answers, and the code if the hub closes. The written rule, in four lines.
fn rule(steps: &[Step]) -> (usize, Option<u16>) {
    if steps[0] != Step::Hello {
        return (0, Some(1002));
    }
    let second = steps[1..].iter().position(|step| matches!(step, Step::Hello | Step::ForeignHello));
    let served = &steps[1..second.map_or(steps.len(), |index| index + 1)];
    (served.iter().filter(|step| **step == Step::Request).count(), second.map(|_| 1002))
}

async fn check(hub: &TestHub, credential: &Credential, steps: &[Step]) {
    let mut socket = Socket::connect(hub.url(), credential).await.expect("let in");
    for (step, id) in steps.iter().zip(1..) {
        socket.raw(step.message(id)).await;
    }
    let (answers, code) = rule(steps);
    let frames = if code.is_some() {
        let (frames, got) = socket.until_closed().await;
        // A connection that is closed while frames are on their way may be reset instead.
        assert!(got == code || got.is_none(), "{steps:?}: {got:?}");
        frames
    } else {
        socket.raw(Step::Request.message(1000)).await;
        socket.until("the last answer", |frame| matches!(frame, FromHub::Answer { id: 1000, .. })).await
    };
    let answered = frames.iter().filter(|frame| matches!(frame, FromHub::Answer { id, .. } if *id < 1000)).count();
    // Requests run at the same time: when the last answer or the close comes, others may still be on their way.
    assert!(answered <= answers, "{steps:?}: {answered} answers to {answers} requests");
    if steps[0] != Step::Hello {
        let served = frames.iter().find(|frame| !matches!(frame, FromHub::Error { .. }));
        assert!(served.is_none(), "{steps:?} was served {served:?}");
    }
}

#[tokio::test]
async fn no_order_of_frames_is_served_before_hello() {
    let hub = TestHub::start().await;
    let person = ann(&hub);
    let input = protocol::ProjectCreate { content: "shown".into(), ..Default::default() };
    let project = view!(&hub, &person, Project, Call::ProjectCreate { input }).id;
    let everybody = [person.clone(), browser(&hub, &person).await, observe(&hub, &person, project).await.0];
    let mut rng = StdRng::seed_from_u64(4);
    for _ in 0..SEQUENCES {
        let mut steps: Vec<Step> =
            (0..rng.random_range(1..7)).map(|_| STEPS[rng.random_range(0..STEPS.len())]).collect();
        if rng.random_bool(0.5) {
            steps.insert(0, Step::Hello);
        }
        check(&hub, &everybody[rng.random_range(0..3)], &steps).await;
    }
}
