//! A real terminal with a real screen, for agents that draw.

use std::path::Path;
use std::time::{Duration, Instant};

use agents::{Keys, Observation, Typist};
use terminal::Screen;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PATIENCE: Duration = Duration::from_secs(90);
const COLS: u16 = 120;
const ROWS: u16 = 32;

pub(crate) struct Tty {
    pty: pty_process::Pty,
    screen: Screen,
    last: Instant,
    child: tokio::process::Child,
}

impl Tty {
    pub(crate) fn start(argv: &[String], env: &[(String, String)], cwd: &Path) -> Self {
        let (pty, inside) = pty_process::open().expect("there are terminals");
        pty.resize(pty_process::Size::new(ROWS, COLS)).expect("a terminal has a size");
        let command = pty_process::Command::new(&argv[0]).args(&argv[1..]).current_dir(cwd).env_clear();
        let command = command.envs(env.iter().cloned()).kill_on_drop(true);
        let child = command.spawn(inside).expect("the agent can be started");
        Self { pty, screen: Screen::new(COLS, ROWS, 0), last: Instant::now(), child }
    }

    /// What there is to see, after what came in has been drawn.
    pub(crate) async fn observe(&mut self) -> Observation {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(Ok(count)) = tokio::time::timeout(Duration::from_millis(20), self.pty.read(&mut buffer)).await {
            if count == 0 {
                break;
            }
            self.screen.feed(&buffer[..count]);
            self.last = Instant::now();
            let answers = self.screen.take_answers();
            self.send(&answers).await;
        }
        Observation {
            text: self.screen.text(),
            title: self.screen.title().to_owned(),
            bells: self.screen.bells(),
            quiet_ms: self.last.elapsed().as_millis() as u64,
        }
    }

    pub(crate) async fn send(&mut self, keys: &[u8]) {
        self.pty.write_all(keys).await.expect("the terminal takes keys");
    }

    /// Looks until what is seen is what is waited for.
    pub(crate) async fn until<T>(&mut self, reason: &str, mut ask: impl FnMut(&Observation) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            let seen = self.observe().await;
            if let Some(answer) = ask(&seen) {
                return answer;
            }
            assert!(start.elapsed() < PATIENCE, "timed out waiting until {reason}; the screen is:\n{}", seen.text);
        }
    }

    /// Lets the typist do its work; how many times it typed.
    pub(crate) async fn prompt(&mut self, typist: &mut Typist) -> usize {
        let start = Instant::now();
        let mut typed = 0;
        loop {
            let seen = self.observe().await;
            match typist.observe(&seen) {
                Keys::Done => return typed,
                Keys::Wait => {}
                Keys::Type(keys) => {
                    typed += 1;
                    self.send(&keys).await;
                    self.last = Instant::now();
                }
            }
            assert!(start.elapsed() < PATIENCE, "the prompt was never typed; the screen is:\n{}", seen.text);
        }
    }

    /// Ends it, with everything that it started in this terminal.
    pub(crate) async fn kill(mut self) {
        let group = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        let _ = group.map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
        let _ = self.child.wait().await;
    }
}
