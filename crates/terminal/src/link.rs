//! The runner's side of a session host: starting it, finding it again, talking to it.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

use crate::host::{alive, end_left, kill_host, short_path};
use crate::limit::Limit;
use crate::spec::{Exit, Files};
use crate::wire::{Event, Request, read_frame};

/// How long a host may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Why a host is unreachable.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The session ended before anybody was connected.
    #[error("the session has ended")]
    Ended(Exit),
    /// The host could not start; its last words.
    #[error("the session host did not start: {0}")]
    NotStarted(String),
    /// The connection is closed: the host has ended, or was killed.
    #[error("the session host is gone")]
    Closed,
    /// Something else.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The state of a session.
#[derive(Debug)]
pub enum Adopted {
    /// Its host lives.
    Running(HostLink, Events),
    /// It has ended.
    Ended(Exit),
    /// Its host was killed: how it ended is unknown.
    Gone,
}

/// A connection to a session host; clones share it.
#[derive(Debug, Clone)]
pub struct HostLink {
    requests: mpsc::UnboundedSender<Request>,
}

/// A session host's events, in order.
#[derive(Debug)]
pub struct Events {
    events: mpsc::Receiver<io::Result<Event>>,
}

impl Events {
    /// The next event; `None` when the connection is closed for any reason.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await.and_then(Result::ok)
    }
}

impl HostLink {
    /// Starts a host for the session in `dir`, which contains `spec.json`, as `exe session-host dir`. It outlives us.
    pub async fn start(dir: &Path, exe: &Path) -> Result<(HostLink, Events), LinkError> {
        let log = std::fs::File::options().create(true).append(true).open(Files::new(dir).log())?;
        let mut child = tokio::process::Command::new(exe)
            .arg("session-host")
            .arg(dir)
            .current_dir("/")
            // A runner that was started in a session does not make its hosts part of it.
            .env_remove("SHOPFLOOR_SESSION")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let patience = tokio::time::Instant::now() + PATIENCE;
        loop {
            match HostLink::connect(dir).await {
                Ok(link) => return Ok(link),
                Err(error) if tokio::time::Instant::now() > patience => return Err(error),
                Err(_) => (),
            }
            if child.try_wait()?.is_some() {
                if let Some(exit) = Exit::read(dir)? {
                    return Err(LinkError::Ended(exit));
                }
                let log = std::fs::read_to_string(Files::new(dir).log()).unwrap_or_default();
                return Err(LinkError::NotStarted(log.lines().last().unwrap_or("it printed nothing").to_owned()));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Finds out what became of the session in `dir`, and connects to its host if it lives.
    pub async fn adopt(dir: &Path) -> Result<Adopted, LinkError> {
        let patience = tokio::time::Instant::now() + PATIENCE;
        loop {
            match HostLink::connect(dir).await {
                Ok((link, events)) => return Ok(Adopted::Running(link, events)),
                // It may have just started, or be about to end.
                Err(error) if alive(dir)? => {
                    if tokio::time::Instant::now() > patience {
                        return Err(error);
                    }
                }
                Err(_) => return Ok(Exit::read(dir)?.map_or(Adopted::Gone, Adopted::Ended)),
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Connects to the living host of the session in `dir`; any number of connections is fine.
    pub async fn connect(dir: &Path) -> Result<(HostLink, Events), LinkError> {
        let (path, _directory) = short_path(&Files::new(dir).socket())?;
        let (read, write) = UnixStream::connect(path).await?.into_split();
        let (requests, outgoing) = mpsc::unbounded_channel();
        // Few, so that the host notices a slow consumer and sends less.
        let (incoming, events) = mpsc::channel(16);
        tokio::spawn(send(write, outgoing));
        tokio::spawn(receive(read, incoming));
        Ok((HostLink { requests }, Events { events }))
    }

    /// Starts or resumes the stream.
    pub fn watch(&self, from: Option<u64>) -> Result<(), LinkError> {
        self.request(Request::Watch { from })
    }

    /// Stops the stream.
    pub fn unwatch(&self) -> Result<(), LinkError> {
        self.request(Request::Unwatch)
    }

    /// Acknowledges everything before this position.
    pub fn credit(&self, offset: u64) -> Result<(), LinkError> {
        self.request(Request::Credit { offset })
    }

    /// Requests a snapshot, as part of the stream.
    pub fn snapshot(&self) -> Result<(), LinkError> {
        self.request(Request::Snapshot)
    }

    /// Types something.
    pub fn input(&self, bytes: impl Into<Vec<u8>>) -> Result<(), LinkError> {
        self.request(Request::Input { bytes: bytes.into() })
    }

    /// Changes the size of the screen; every watcher gets a snapshot.
    pub fn resize(&self, cols: u16, rows: u16) -> Result<(), LinkError> {
        self.request(Request::Resize { cols, rows, if_fresh: false })
    }

    /// Changes the size of the screen unless it was changed before.
    pub fn resize_if_fresh(&self, cols: u16, rows: u16) -> Result<(), LinkError> {
        self.request(Request::Resize { cols, rows, if_fresh: true })
    }

    /// Puts a marker into the recording.
    pub fn mark(&self, kind: impl Into<String>, text: impl Into<String>) -> Result<(), LinkError> {
        self.request(Request::Mark { kind: kind.into(), text: text.into() })
    }

    /// Subscribes to observations: at rest, and at most this often otherwise.
    pub fn observe(&self, every: Duration) -> Result<(), LinkError> {
        self.request(Request::Observe { every_ms: u32::try_from(every.as_millis()).unwrap_or(u32::MAX) })
    }

    /// Ends the session with all its processes; `None`: with the grace period of its specification.
    pub fn stop(&self, grace: Option<Duration>) -> Result<(), LinkError> {
        self.request(Request::Stop { grace_ms: grace.map(|grace| grace.as_millis() as u64) })
    }

    /// Never drop anything of this recording.
    pub fn keep(&self) -> Result<(), LinkError> {
        self.request(Request::Keep)
    }

    /// Sets when the session in `dir` ends by itself, unless its host gets another time before. On its own connection:
    /// an older host may not know this request, and would close it.
    pub async fn until(dir: &Path, limit: Option<Limit>) -> Result<(), LinkError> {
        let (path, _directory) = short_path(&Files::new(dir).socket())?;
        let mut stream = UnixStream::connect(path).await?;
        Ok(stream.write_all(&Request::Until { limit }.encode()).await?)
    }

    /// Masks this value from now on; returns when the host of the session in `dir` does so.
    pub async fn mask(dir: &Path, value: &str) -> Result<(), LinkError> {
        let (host, mut events) = HostLink::connect(dir).await?;
        host.request(Request::Mask { value: value.to_owned() })?;
        // Requests are handled in order: an answer to this one confirms the other.
        host.watch(None)?;
        let heard = tokio::time::timeout(PATIENCE, events.next()).await;
        heard.ok().flatten().map(|_| ()).ok_or(LinkError::Closed)
    }

    /// Whether the host of the session in `dir` answers within this time.
    pub async fn answers(dir: &Path, patience: Duration) -> bool {
        let asked = async {
            let (host, mut events) = HostLink::connect(dir).await.ok()?;
            // Every host answers this, also an older one.
            host.watch(None).ok()?;
            events.next().await
        };
        tokio::time::timeout(patience, asked).await.ok().flatten().is_some()
    }

    /// Kills a host that does not answer, and all processes of its session.
    pub async fn kill(dir: &Path) -> Result<(), LinkError> {
        let number = std::fs::read_to_string(Files::new(dir).pid())?;
        let Ok(host) = number.trim().parse() else { return Ok(()) };
        // The process that locks the file wrote its id into it.
        Ok(kill_host(host, || alive(dir)).await?)
    }

    /// Ends the leftovers of a host that is gone; `variable` is one that only this session's processes have.
    pub async fn end_left(dir: &Path, variable: &str, grace: Duration) -> Result<(), LinkError> {
        if !alive(dir)? {
            end_left(variable, grace).await;
        }
        Ok(())
    }

    fn request(&self, request: Request) -> Result<(), LinkError> {
        self.requests.send(request).map_err(|_| LinkError::Closed)
    }
}

async fn send(mut write: OwnedWriteHalf, mut requests: mpsc::UnboundedReceiver<Request>) {
    while let Some(request) = requests.recv().await {
        if write.write_all(&request.encode()).await.is_err() {
            return;
        }
    }
}

async fn receive(read: OwnedReadHalf, events: mpsc::Sender<io::Result<Event>>) {
    let mut read = BufReader::with_capacity(64 << 10, read);
    loop {
        let event = match read_frame(&mut read).await {
            Ok(Some(frame)) => Event::decode(&frame),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        let failed = event.is_err();
        if events.send(event).await.is_err() || failed {
            return;
        }
    }
}
