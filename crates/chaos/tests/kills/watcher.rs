//! A client that watches across kills, and is then asked whether it saw everything, once and in order.

use client::watch::Event as Seen;
use domain::{HubId, Seq};
use protocol::{Change, Delta, FromHub};
use store::{Event, EventBody};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::people::Viewer;

/// What a watcher knows.
#[derive(Debug, Default)]
struct Known {
    /// The position of the full state that it began with.
    began: Option<Seq>,
    hub: Option<HubId>,
    /// What came after it.
    deltas: Vec<Delta>,
}

/// A watcher at work.
pub(crate) struct Watcher {
    viewer: Viewer,
    known: watch::Receiver<Known>,
    task: JoinHandle<()>,
}

/// Starts to watch.
pub(crate) fn start(viewer: Viewer) -> Watcher {
    let (known, seen) = watch::channel(Known::default());
    let (client, name, exact) = (viewer.client.clone(), viewer.name, viewer.exact);
    let task = tokio::spawn(async move {
        let mut stream = client.watch();
        loop {
            match stream.next().await.expect("nothing ends a watch for good") {
                Seen::Frame(frame) => known.send_modify(|known| known.take(name, frame)),
                Seen::Lost { .. } if exact => {
                    if let Some((hub, position)) = known.borrow().position() {
                        stream = client.watch().resume(hub, position);
                    }
                }
                Seen::Lost { .. } => {}
            }
        }
    });
    Watcher { viewer, known: seen, task }
}

impl Known {
    /// The newest change that it has.
    fn position(&self) -> Option<(HubId, Seq)> {
        Some((self.hub?, self.deltas.last().map_or(self.began?, |delta| delta.seq)))
    }

    fn take(&mut self, name: &str, frame: FromHub) {
        match frame {
            FromHub::Welcome { resumed, hub, .. } => {
                self.hub = Some(hub);
                assert_eq!(resumed, self.began.is_some(), "{name} resumes, and starts over only the first time");
            }
            FromHub::Sync { seq, last: true, .. } => self.began = Some(seq),
            FromHub::Delta(delta) => self.deltas.push(delta),
            _ => {}
        }
    }
}

impl Watcher {
    /// Waits for the full state.
    pub(crate) async fn began(&self) {
        self.known.clone().wait_for(|known| known.began.is_some()).await.unwrap();
    }

    /// Waits for the last of `events` and holds what was seen against all of them.
    pub(crate) async fn finish(mut self, events: &[Event]) {
        let began = self.known.borrow().began.unwrap();
        let expected: Vec<(Seq, &Change)> =
            events.iter().filter(|event| event.seq > began).filter_map(|event| shown(&self.viewer, event)).collect();
        let last = expected.last().map_or(began, |(seq, _)| *seq);
        let caught_up = |known: &Known| known.deltas.last().is_some_and(|delta| delta.seq >= last);
        let waited = tokio::time::timeout(std::time::Duration::from_secs(60), self.known.wait_for(caught_up)).await;
        assert!(waited.is_ok(), "{} timed out waiting for {last}", self.viewer.name);
        drop(waited);
        self.task.abort();
        let known = self.known.borrow();
        let seen: Vec<(Seq, &Change)> = known.deltas.iter().map(|delta| (delta.seq, &delta.change)).collect();
        let first = seen.iter().zip(&expected).position(|(seen, expected)| !agree(*seen, *expected));
        if let Some(index) = first {
            panic!("{}: saw {:?} instead of {:?}", self.viewer.name, seen[index], expected[index]);
        }
        assert_eq!(seen.len(), expected.len(), "{} saw each change once", self.viewer.name);
    }
}

/// Whether a delta is what the event log says. A message that was edited or deleted later stands there as it is now, and
/// may have been seen as it was.
fn agree(seen: (Seq, &Change), expected: (Seq, &Change)) -> bool {
    match (seen.1, expected.1) {
        (Change::Message { message: seen_message, .. }, Change::Message { message: now, .. }) => {
            let same = (seen.0, seen_message.id, seen_message.number) == (expected.0, now.id, now.number);
            let changed_later = seen_message.edited_at < now.edited_at || seen_message.deleted_at < now.deleted_at;
            same && (seen_message == now || changed_later)
        }
        _ => seen == expected,
    }
}

/// What the viewer receives for an event; access does not change in this lane.
fn shown<'e>(viewer: &Viewer, event: &'e Event) -> Option<(Seq, &'e Change)> {
    let EventBody::Change { change } = &event.body else { return None };
    let sees = event.project.is_none_or(|project| viewer.sees.contains(&project));
    let meant = event.audience.is_none_or(|user| user == viewer.user);
    (sees && meant).then_some((event.seq, change))
}
