//! The index of real recordings.

use std::collections::BTreeMap;

use domain::ProjectId;
use protocol::link::{DesiredSession, TerminalLines};
use terminal::Screen;
use terminal::recording::{Header, Recorder};

use super::*;
use crate::journal::tests::desired;
use crate::journal::{Change, Journal, Step};
use crate::machine::Machine;
use crate::sessions::Sessions;
use crate::{Options, Secret};

const SECRET: &str = "correct-horse-battery";

struct World {
    folder: tempfile::TempDir,
    journal: Arc<Journal>,
    project: ProjectId,
    follower: Follower,
}

impl World {
    async fn new(limit: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Arc::new(Journal::open(folder.path()).await.unwrap());
        let options = Options::new("http://127.0.0.1:1", Secret::new("runner-token"), folder.path(), "/bin/true");
        let person = BTreeMap::from([("API_KEY".to_owned(), SECRET.to_owned())]);
        let machine = Arc::new(Machine::new(Arc::new(options), person));
        let index = Index::new(&machine.folders, limit, Duration::from_secs(60));
        let follower = Follower { index, journal: journal.clone(), machine, sessions: Arc::<Sessions>::default() };
        Self { folder, journal, project: ProjectId::generate(), follower }
    }

    fn index(&self) -> &Index {
        &self.follower.index
    }

    /// A session of the journal.
    async fn session(&self, project: ProjectId, step: Step) -> SessionId {
        let session = SessionId::generate();
        let wanted = DesiredSession { project, ..desired(session) };
        self.journal.write(&[Change::Desired(Box::new(wanted), step)], &[]).await;
        std::fs::create_dir_all(self.follower.machine.folders.session(session)).unwrap();
        session
    }

    /// A recording of this session that began at this Unix time, in seconds.
    fn record(&self, session: SessionId, started_at: i64) -> (Recorder, Screen) {
        let mut screen = Screen::new(80, 24, 0);
        let header = Header { cols: 80, rows: 24, title: String::new(), started_at };
        let dir = self.index().recording(session);
        (Recorder::create(&dir, &header, 1 << 20, &mut screen).unwrap(), screen)
    }

    /// An ended session that has shown this.
    async fn ended(&self, project: ProjectId, started_at: i64, text: &str) -> SessionId {
        let session = self.session(project, Step::Ended).await;
        let (mut recorder, mut screen) = self.record(session, started_at);
        say(&mut recorder, &mut screen, text);
        recorder.finish(0).unwrap();
        session
    }

    /// The same, read into the index.
    async fn indexed(&self, started_at: i64, text: &str) -> SessionId {
        let session = self.ended(self.project, started_at, text).await;
        self.read(session).await;
        session
    }

    async fn read(&self, session: SessionId) {
        while !self.follower.read(session).await.unwrap() {}
    }

    async fn search(&self, text: &str) -> TerminalLines {
        self.index().search(text, &[self.project], 50).await.unwrap()
    }

    async fn found(&self, text: &str) -> Vec<String> {
        self.search(text).await.lines.into_iter().map(|found| found.line).collect()
    }

    /// Whether the index's file contains a text.
    async fn file_has(&self, text: &str) -> bool {
        self.index().reader.close().await;
        // The last connection that closes moves all changes into the file.
        self.index().writer.close().await;
        testkit::wait_until("the index is closed", async || {
            (!self.folder.path().join("terminals.db-wal").exists()).then_some(())
        })
        .await;
        let bytes = std::fs::read(self.folder.path().join("terminals.db")).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    }
}

fn say(recorder: &mut Recorder, screen: &mut Screen, text: &str) {
    screen.feed(text.as_bytes());
    recorder.output(text.as_bytes(), screen);
}

#[tokio::test]
async fn lines_are_found_by_the_beginnings_of_their_words_newest_first() {
    let world = World::new(1 << 20).await;
    let old = world.indexed(1000, "$ make\r\nerror: the Narwhal sinks\r\nerror: nothing else\r\n").await;
    let new = world.indexed(2000, "a narwhal swims in src/takeTask.rs\r\n").await;
    let TerminalLines { lines, truncated } = world.search("narw").await;
    let found: Vec<_> = lines.iter().map(|found| (found.session, found.line.as_str())).collect();
    assert_eq!(found, [(new, "a narwhal swims in src/takeTask.rs"), (old, "error: the Narwhal sinks")]);
    assert!(!truncated && lines[0].at.as_millis() == 2_000_000 + lines[0].at_ms.cast_signed(), "{lines:?}");
    for (text, count) in
        [("SINKS narwhal", 1), ("nárwhal", 2), ("task.rs", 1), ("arwhal", 0), ("narwhal x", 0), ("…", 0)]
    {
        assert_eq!(world.found(text).await.len(), count, "{text}");
    }
}

#[tokio::test]
async fn only_the_named_projects_are_searched() {
    let world = World::new(1 << 20).await;
    let own = world.indexed(1000, "my narwhal\r\n").await;
    let other = ProjectId::generate();
    let hidden = world.ended(other, 2000, "a secret narwhal\r\n").await;
    world.read(hidden).await;
    let search = async |projects: &[ProjectId]| {
        let found = world.index().search("narwhal", projects, 50).await.unwrap();
        found.lines.into_iter().map(|found| found.session).collect::<Vec<_>>()
    };
    assert_eq!(search(&[world.project]).await, [own]);
    assert_eq!(search(&[other, world.project]).await, [hidden, own]);
    let many: Vec<ProjectId> = (0..900).map(|_| ProjectId::generate()).collect();
    assert_eq!(search(&many).await, []);
    assert_eq!(search(&[many, vec![other]].concat()).await, [hidden]);
    assert_eq!(search(&[]).await, []);
}

#[tokio::test]
async fn a_chatty_session_does_not_hide_others() {
    let world = World::new(1 << 20).await;
    let quiet = world.indexed(1000, "the narwhal of another session\r\n").await;
    let text: String = (0..1000).map(|line| format!("narwhal {line}\r\n")).collect();
    let chatty = world.indexed(2000, &text).await;
    let TerminalLines { lines, truncated } = world.search("narwhal").await;
    let of: Vec<_> = lines.iter().map(|found| found.session).collect();
    assert_eq!((of, truncated), (vec![chatty, chatty, chatty, quiet], true));
}

#[tokio::test]
async fn a_growing_recording_is_read_on_and_each_line_once() {
    let world = World::new(1 << 20).await;
    let session = world.session(world.project, Step::Running).await;
    let (mut recorder, mut screen) = world.record(session, 1000);
    say(&mut recorder, &mut screen, "the first narwhal\r\n");
    recorder.flush();
    world.read(session).await;
    assert_eq!(world.found("narwhal").await, ["the first narwhal"]);
    say(&mut recorder, &mut screen, "the first narwhal\r\nthe second narwhal\r\n");
    recorder.finish(0).unwrap();
    world.journal.write(&[Change::Step(session, Step::Ended)], &[]).await;
    world.read(session).await;
    assert_eq!(world.found("narwhal").await, ["the second narwhal", "the first narwhal"]);
    assert_eq!(world.follower.left_over().await, [], "nothing is left to read");
}

#[tokio::test]
async fn a_secret_that_was_drawn_in_pieces_is_masked() {
    let world = World::new(1 << 20).await;
    let (left, right) = SECRET.split_at(9);
    // The host's filter sees no secret in this stream; on the screen there is one.
    let text = format!("\x1b[1;20H{right}\x1b[1;11H{left}\x1b[1;1Hthe key: \x1b[3;1Hdone\r\n");
    world.indexed(1000, &text).await;
    assert_eq!(world.found("key").await, [format!("the key:  {}", "•".repeat(SECRET.len()))]);
    assert_eq!(world.found("horse").await.len(), 0);
    assert!(!world.file_has("horse").await);
}

#[tokio::test]
async fn lines_go_with_their_recording() {
    let world = World::new(1 << 20).await;
    let session = world.indexed(1000, "the narwhal\r\n").await;
    let kept = world.indexed(2000, "the walrus\r\n").await;
    std::fs::remove_dir_all(world.index().recording(session)).unwrap();
    world.index().forget(session).await;
    assert_eq!((world.found("narwhal").await.len(), world.found("walrus").await.len()), (0, 1));
    world.read(session).await;
    assert_eq!(world.found("narwhal").await.len(), 0, "what was read meanwhile does not come back");
    assert!(!world.file_has("narwhal").await, "not even in a free page");
    assert!(world.file_has("walrus").await);
    // One that disappeared while no runner was there.
    std::fs::remove_dir_all(world.index().recording(kept)).unwrap();
    world.follower.left_over().await;
    assert_eq!(world.found("walrus").await.len(), 0);
}

#[tokio::test]
async fn over_the_limit_the_oldest_lines_go_first() {
    let limit = 20_000;
    let world = World::new(limit).await;
    let text = |name: &str| (0..400).map(|line| format!("{name} {line:06} and more\r\n")).collect::<String>();
    world.indexed(1000, "the first narwhal\r\n").await;
    for number in 1..=16 {
        world.indexed(2000 + number, &text(&format!("s{number:02}"))).await;
        let bytes = world.index().text_bytes().await.unwrap();
        assert!(bytes <= limit, "{bytes}");
    }
    assert_eq!(world.found("s01 000399").await.len(), 0);
    assert_eq!(world.found("narwhal").await.len(), 0);
    assert_eq!(world.found("s16 000399").await.len(), 1);
    assert_eq!(world.found("s16 000001").await.len(), 0, "one session has only a share");
    // What was dropped is not read again.
    assert_eq!(world.follower.left_over().await, []);
}

#[tokio::test]
async fn a_damaged_index_is_rebuilt_from_the_recordings() {
    let world = World::new(1 << 20).await;
    let session = world.indexed(1000, "the narwhal\r\n").await;
    assert!(world.file_has("narwhal").await);
    for (damage, what) in [(b"this is no database, and never was one".to_vec(), "rubbish"), (Vec::new(), "nothing")] {
        std::fs::write(world.folder.path().join("terminals.db"), damage).unwrap();
        assert_eq!(world.follower.left_over().await, [session], "{what}");
        world.read(session).await;
        assert_eq!(world.found("narwhal").await.len(), 1, "{what}");
        assert!(world.file_has("narwhal").await);
    }
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(world.folder.path().join("terminals.db")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}
