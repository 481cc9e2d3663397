//! A host's state: screen, last output, connections. Everything here happens between two awaits of one thread, so that
//! a snapshot and the first live byte after it are consistent.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::meter::Meter;
use super::watcher::{Allowance, Observer, Stream, Turn, WINDOW, Watcher};
use crate::limit::Limit;
use crate::masks::Masks;
use crate::recording::Recorder;
use crate::ring::{Ring, whole_characters};
use crate::screen::Screen;
use crate::spec::{Exit, Spec};
use crate::wire::{Event, Observed, Request};

const RING: usize = 1 << 20;
/// Maximum frame of output.
const LONGEST_DATA: usize = 32 << 10;
/// More unread input is refused.
const MOST_INPUT: usize = 1 << 20;
/// Output that is a key's echo: this short, and this soon after it. It is not held back as a possible secret.
const LONGEST_ECHO: usize = 3;
const ECHO: Duration = Duration::from_millis(200);

/// The marker of a session that ended because its time was up.
const OVERDUE: &str = "stopped: its runner was silent, and another worker may have the task";

/// What the owner loop must do for a request.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) resize: Option<(u16, u16)>,
    pub(crate) stop: Option<Duration>,
}

pub(crate) struct Core {
    pub(crate) screen: Screen,
    ring: Ring,
    pub(super) masks: Masks,
    input_masks: Masks,
    /// Without a writable disk nothing is recorded; the session continues.
    pub(crate) recorder: Option<Recorder>,
    record_input: bool,
    watchers: BTreeMap<u64, Watcher>,
    next_watcher: u64,
    /// Input to type, before everything else in its own queue.
    pub(crate) input: VecDeque<u8>,
    /// New bytes in the queue, to be checked for signals.
    pub(crate) fresh_input: Vec<u8>,
    pub(crate) wishes: Wishes,
    /// Notified when there is input or a request.
    pub(crate) kick: Rc<Notify>,
    /// The position and number of the last resize: a stream cannot be resumed across it.
    resized_at: Option<u64>,
    /// Whether it was ever resized.
    sized: bool,
    /// Counts visible changes: output and resizes.
    change: u64,
    last_output: Instant,
    last_typed: Option<Instant>,
    grace: Duration,
    /// When it ends by itself.
    until: Option<Limit>,
    /// Whether it did.
    pub(crate) overdue: bool,
    meter: Option<Meter>,
    /// Which limit the session exceeded, for people.
    pub(crate) exceeded: Option<String>,
    pub(crate) exit: Option<Exit>,
    pub(crate) ever_connected: bool,
    masked: Vec<u8>,
}

impl Core {
    pub(crate) fn new(spec: &Spec) -> Core {
        Core {
            screen: Screen::new(spec.cols, spec.rows, spec.scrollback),
            ring: Ring::new(RING),
            masks: Masks::new(&spec.masks),
            input_masks: Masks::new(&spec.masks),
            recorder: None,
            record_input: spec.record_input,
            watchers: BTreeMap::new(),
            next_watcher: 0,
            input: VecDeque::new(),
            fresh_input: Vec::new(),
            wishes: Wishes::default(),
            kick: Rc::new(Notify::new()),
            resized_at: None,
            sized: false,
            change: 0,
            last_output: Instant::now(),
            last_typed: None,
            grace: Duration::from_millis(spec.stop_grace_ms),
            until: spec.until,
            overdue: false,
            meter: Meter::new(spec.limits),
            exceeded: None,
            exit: None,
            ever_connected: false,
            masked: Vec::new(),
        }
    }

    /// Processes output of the program. Wakes nobody.
    pub(crate) fn output(&mut self, bytes: &[u8]) {
        if self.masks.is_empty() {
            self.show(bytes);
            return;
        }
        let mut masked = std::mem::take(&mut self.masked);
        self.masks.push(bytes, &mut masked);
        let echo = bytes.len() <= LONGEST_ECHO && self.last_typed.is_some_and(|typed| typed.elapsed() < ECHO);
        if echo {
            self.masks.let_through(&mut masked);
        }
        self.show(&masked);
        masked.clear();
        self.masked = masked;
    }

    /// Shows output that was held back long enough as a possible secret; returns when to call again.
    pub(crate) fn let_through(&mut self, now: Instant) -> Option<Instant> {
        let due = self.masks.due()?;
        if now < due {
            return Some(due);
        }
        let mut rest = Vec::new();
        self.masks.let_through(&mut rest);
        self.show(&rest);
        self.wake_all();
        None
    }

    fn show(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.screen.feed(bytes);
        self.ring.push(bytes);
        if let Some(recorder) = &mut self.recorder {
            recorder.output(bytes, &mut self.screen);
        }
        self.change += 1;
        self.last_output = Instant::now();
        let answers = self.screen.take_answers();
        self.type_in(&answers);
    }

    pub(crate) fn resized(&mut self, cols: u16, rows: u16) {
        self.screen.resize(cols, rows);
        if let Some(recorder) = &mut self.recorder {
            let (cols, rows) = self.screen.size();
            recorder.resize(cols, rows);
        }
        self.resized_at = Some(self.ring.end());
        self.change += 1;
        for watcher in self.watchers.values_mut() {
            if let Some(stream) = &mut watcher.stream {
                stream.snapshot = true;
            }
            watcher.bell.notify_one();
        }
    }

    /// The session has ended: nothing will be added.
    pub(crate) fn ended(&mut self, exit: impl FnOnce(u64) -> Exit) {
        let mut rest = Vec::new();
        self.masks.finish(&mut rest);
        self.show(&rest);
        let mut rest = Vec::new();
        self.input_masks.finish(&mut rest);
        if let Some(recorder) = self.recorder.as_mut().filter(|_| !rest.is_empty()) {
            recorder.input(&rest);
        }
        self.exit = Some(exit(self.ring.end()));
        self.wake_all();
    }

    pub(crate) fn wake_all(&mut self) {
        for watcher in self.watchers.values() {
            watcher.bell.notify_one();
        }
    }

    /// Whether all connections have received everything.
    pub(crate) fn drained(&self) -> bool {
        self.watchers.values().all(|watcher| watcher.drained)
    }

    /// Ends the session when its time is up; returns when to check again.
    pub(crate) fn limit(&mut self, now: Instant) -> Option<Instant> {
        let limit = self.until?;
        if let Some(left) = limit.left() {
            return now.checked_add(left);
        }
        self.until = None;
        self.overdue = true;
        if let Some(recorder) = &mut self.recorder {
            recorder.mark("state", OVERDUE);
        }
        self.wishes.stop = Some(limit.grace());
        self.kick.notify_one();
        None
    }

    /// Ends the session when it exceeds a limit; returns when to check again.
    pub(crate) fn meter(&mut self, now: Instant) -> Option<Instant> {
        let meter = self.meter.as_mut()?;
        let why = match meter.look(now) {
            Ok(next) => return Some(next),
            Err(why) => why,
        };
        self.meter = None;
        self.output(format!("\r\nshopfloor: {why}\r\n").as_bytes());
        self.wake_all();
        if let Some(recorder) = &mut self.recorder {
            recorder.mark("state", &why);
        }
        self.exceeded = Some(why);
        // Kill at once, so that it cannot use even more.
        self.wishes.stop = Some(Duration::ZERO);
        self.kick.notify_one();
        None
    }

    /// Lets the recording flush; returns when to call again.
    pub(crate) fn record(&mut self, now: Instant) -> Option<Instant> {
        let recorder = self.recorder.as_mut()?;
        recorder.tick(now, &mut self.screen);
        recorder.due()
    }

    /// Wakes connections that are due; returns when the next one is.
    pub(crate) fn observers(&mut self, now: Instant) -> Option<Instant> {
        let (change, last_output) = (self.change, self.last_output);
        let mut next: Option<Instant> = None;
        for watcher in self.watchers.values_mut() {
            match watcher.waits {
                Some(due) if due <= now => {
                    watcher.waits = None;
                    watcher.bell.notify_one();
                }
                Some(due) => next = Some(next.map_or(due, |next| next.min(due))),
                None => (),
            }
            let Some(observer) = &watcher.observer else { continue };
            if watcher.observe_now {
                continue;
            }
            match observer.due(change, last_output) {
                Some(due) if due <= now => {
                    watcher.observe_now = true;
                    watcher.bell.notify_one();
                }
                Some(due) => next = Some(next.map_or(due, |next| next.min(due))),
                None => (),
            }
        }
        next
    }

    pub(crate) fn connected(&mut self) -> (u64, Rc<Notify>) {
        self.ever_connected = true;
        self.next_watcher += 1;
        let watcher = Watcher::new(self.exit.is_none());
        let bell = Rc::clone(&watcher.bell);
        self.watchers.insert(self.next_watcher, watcher);
        (self.next_watcher, bell)
    }

    pub(crate) fn disconnected(&mut self, id: u64) {
        if let Some(watcher) = self.watchers.remove(&id) {
            watcher.bell.notify_one();
        }
        self.kick.notify_one();
    }

    pub(crate) fn request(&mut self, id: u64, request: Request) {
        let (start, end, resized_at) = (self.ring.start(), self.ring.end(), self.resized_at);
        let Some(watcher) = self.watchers.get_mut(&id) else { return };
        watcher.asked = true;
        match request {
            Request::Watch { from } => {
                let resumed = from
                    .filter(|from| (start..=end).contains(from))
                    // A resize at this very position may or may not have been seen.
                    .filter(|from| resized_at.is_none_or(|resized_at| *from > resized_at));
                let cursor = resumed.unwrap_or(end);
                let (snapshot, allowance) = (resumed.is_none(), Allowance::new(Instant::now()));
                watcher.stream = Some(Stream { cursor, acknowledged: cursor, snapshot, allowance });
                (watcher.exit_sent, watcher.drained) = (false, false);
            }
            Request::Unwatch => watcher.stream = None,
            Request::Credit { offset } => {
                if let Some(stream) = &mut watcher.stream {
                    stream.acknowledged = stream.acknowledged.max(offset.min(end));
                }
            }
            Request::Snapshot => {
                if let Some(stream) = &mut watcher.stream {
                    stream.snapshot = true;
                }
            }
            Request::Observe { every_ms } => {
                watcher.observer = Some(Observer::new(every_ms));
                watcher.observe_now = true;
                // Flushed first: the recording contains what the snapshot shows.
                if let Some(recorder) = &mut self.recorder {
                    recorder.flush();
                }
                self.kick.notify_one();
            }
            Request::Input { bytes } => self.typed(&bytes),
            Request::Resize { cols, rows, if_fresh } => {
                if if_fresh && std::mem::replace(&mut self.sized, true) {
                    return;
                }
                self.sized = true;
                self.wishes.resize = Some((cols, rows));
                self.kick.notify_one();
            }
            Request::Stop { grace_ms } => {
                self.wishes.stop = Some(grace_ms.map_or(self.grace, Duration::from_millis));
                self.kick.notify_one();
            }
            Request::Mark { kind, text } => {
                if let Some(recorder) = &mut self.recorder {
                    recorder.mark(&kind, &self.masks.masked(&text));
                }
                self.kick.notify_one();
            }
            Request::Mask { value } => {
                self.masks.add(std::slice::from_ref(&value));
                self.input_masks.add(&[value]);
            }
            Request::Until { limit } => {
                self.until = limit;
                self.kick.notify_one();
            }
            Request::Keep => {
                if let Some(recorder) = &mut self.recorder {
                    recorder.keep();
                }
            }
        }
        if let Some(watcher) = self.watchers.get(&id) {
            watcher.bell.notify_one();
        }
    }

    fn typed(&mut self, bytes: &[u8]) {
        if self.record_input
            && let Some(recorder) = &mut self.recorder
        {
            let mut shown = Vec::new();
            self.input_masks.push(bytes, &mut shown);
            recorder.input(&shown);
        }
        self.last_typed = Some(Instant::now());
        self.fresh_input.extend_from_slice(bytes);
        self.type_in(bytes);
    }

    fn type_in(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() && self.input.len() + bytes.len() <= MOST_INPUT {
            self.input.extend(bytes);
            self.kick.notify_one();
        }
    }

    /// The beginning of the input to type.
    pub(crate) fn next_input(&self) -> Vec<u8> {
        let (first, _) = self.input.as_slices();
        first[..first.len().min(4096)].to_vec()
    }

    /// This much was typed; `None`: nobody will read it.
    pub(crate) fn typed_in(&mut self, written: std::io::Result<usize>) {
        match written {
            Ok(count) => drop(self.input.drain(..count)),
            Err(_) => self.input.clear(),
        }
    }

    /// The next event for a connection; `None`: nothing for now.
    pub(crate) fn next_event(&mut self, id: u64) -> Option<Event> {
        let now = Instant::now();
        let (start, end) = (self.ring.start(), self.ring.end());
        let watcher = self.watchers.get_mut(&id)?;
        if watcher.observe_now {
            watcher.observe_now = false;
            let observer = watcher.observer.as_mut()?;
            observer.told(self.change, now, self.last_output);
            return Some(Event::Observed(self.observed(now)));
        }
        if let Some(stream) = &mut watcher.stream {
            let left = (stream.acknowledged + WINDOW).saturating_sub(stream.cursor);
            let behind = end - stream.cursor;
            let asked = stream.snapshot || behind == 0 || left == 0;
            let turn = if asked { Turn::Bytes } else { stream.allowance.turn(now, behind) };
            if let Turn::Wait(due) = turn
                && self.exit.is_none()
            {
                if watcher.waits.replace(due) != Some(due) {
                    self.kick.notify_one();
                }
                return None;
            }
            if stream.snapshot || (stream.cursor < start && left > 0) || turn != Turn::Bytes {
                stream.snapshot = false;
                stream.cursor = end;
                stream.acknowledged = stream.acknowledged.max(end);
                return Some(Event::Snapshot(self.screen.snapshot()));
            }
            if stream.cursor >= start && stream.cursor < end && left > 0 {
                let mut bytes = self.ring.read(stream.cursor, LONGEST_DATA.min(left as usize));
                let whole = whole_characters(&bytes);
                let more = stream.cursor + (bytes.len() as u64) < end || self.exit.is_none();
                if more && whole > 0 {
                    bytes.truncate(whole);
                }
                if whole > 0 || !more || bytes.len() > 3 {
                    let offset = stream.cursor;
                    stream.cursor += bytes.len() as u64;
                    stream.allowance.sent(bytes.len(), end - stream.cursor);
                    return Some(Event::Data { offset, bytes });
                }
            }
        }
        let exit = self.exit.as_ref()?;
        let told = watcher.stream.as_ref().is_none_or(|stream| stream.cursor >= end);
        if !watcher.asked {
            return None;
        }
        if told && !watcher.exit_sent {
            watcher.exit_sent = true;
            return Some(Event::Exit { offset: exit.offset, code: exit.code, signal: exit.signal });
        }
        if watcher.exit_sent {
            watcher.drained = true;
            self.kick.notify_one();
        }
        None
    }

    fn observed(&self, now: Instant) -> Observed {
        Observed {
            offset: self.ring.end(),
            text: self.screen.text(),
            title: self.screen.title().to_owned(),
            bell: self.screen.bells(),
            notifications: self.screen.notifications(),
            cursor_visible: self.screen.cursor_visible(),
            quiet_ms: now.saturating_duration_since(self.last_output).as_millis() as u64,
        }
    }
}
