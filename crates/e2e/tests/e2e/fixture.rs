//! A hub, a runner with a person's home, and a project with a repository on that machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use client::Client;
use domain::SessionId;
use protocol::{Call, NewRunner, Project, Runner, RunnerCreate, Session, SessionDetail};
use testkit::model::cli_folder;
use testkit::{HubProcess, RunnerProcess, shopfloor, wait_until};

pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) ann: Client,
    hub: HubProcess,
    runner: RunnerProcess,
    /// What the runner was started with: the hub's address, its secret, its environment.
    way: (String, String, Vec<(String, String)>),
}

impl Fixture {
    /// Opens a hub whose runner reaches the hub by `way`, which is given the hub's port and says the port to take.
    pub(crate) async fn open(env: &[(&str, String)], way: impl AsyncFnOnce(u16) -> u16) -> Self {
        // Not below /tmp, where Codex refuses to put its helpers.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let taken = way(port).await;
        let data = folder.path().join("hub");
        let database = format!("sqlite:{}", data.join("shopfloor.db").display());
        let allowed = ["--allow-host".to_owned(), format!("127.0.0.1:{taken}")];
        let mut hub = HubProcess::spawn_with(&data, &database, port, &allowed);
        let url = hub.ready().await;
        let token = std::fs::read_to_string(data.join("token")).unwrap().trim().to_owned();
        let ann = Client::new(&url, &token).unwrap();
        let made: NewRunner =
            ann.ask(Call::RunnerCreate { input: RunnerCreate { name: "here".into() } }).await.unwrap();
        let home = folder.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        let mut own = vec![("HOME".to_owned(), home.display().to_string()), ("PATH".to_owned(), path())];
        own.extend(env.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let way = format!("http://127.0.0.1:{taken}");
        let runner = RunnerProcess::spawn_with(&folder.path().join("runner"), &way, &made.secret, "here", &own);
        let fixture = Self { folder, url, token, ann, hub, runner, way: (way, made.secret, own) };
        wait_until("the runner is connected", async || {
            let runners: Vec<Runner> = fixture.ann.ask(Call::RunnerList {}).await.ok()?;
            runners[0].connected.then_some(())
        })
        .await;
        fixture
    }

    /// The home of the runner's owner.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A repository with one commit.
    pub(crate) fn repository(&self) -> PathBuf {
        let place = self.folder.path().join("repository");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("README.md"), "# A repository\n").unwrap();
        git(&place, &["init", "-q", "-b", "main"]);
        git(&place, &["add", "-A"]);
        git(&place, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "base"]);
        place
    }

    /// Runs a command of the CLI and reads the JSON that it prints.
    pub(crate) async fn cli<T: serde::de::DeserializeOwned>(&self, args: &[&str]) -> T {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let text = shopfloor(&self.url, &self.token, &args).await.unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    pub(crate) async fn project(&self, repository: &Path) -> Project {
        self.cli(&["project", "create", "A project", "--repo", repository.to_str().unwrap()]).await
    }

    pub(crate) async fn until(&self, session: SessionId, reason: &str, is: impl Fn(&Session) -> bool) -> SessionDetail {
        let last = std::cell::RefCell::new(None);
        let waited = wait_until(reason, async || {
            let found: SessionDetail = self.ann.ask(Call::SessionShow { session }).await.ok()?;
            let is = is(&found.session);
            let ended = found.session.state.ended() && !is;
            assert!(!ended, "it ended: {:?}\n{}", found, self.runner.log_text());
            *last.borrow_mut() = Some(found.session.state.clone());
            is.then_some(found)
        });
        tokio::select! {
            found = waited => found,
            () = tokio::time::sleep(std::time::Duration::from_secs(58)) => {
                panic!("{reason}: {last:?}\nrunner:\n{}\nhub:\n{}", self.runner.log_text(), self.hub.log_text())
            }
        }
    }

    /// Waits until the hub's log has a text.
    pub(crate) async fn hub_said(&self, text: &str) {
        wait_until(text, async || self.hub.log_text().contains(text).then_some(())).await;
    }

    /// What the runner has logged so far.
    pub(crate) fn runner_log(&self) -> String {
        self.runner.log_text()
    }

    /// Kills the runner, and starts another one with this name in its place.
    pub(crate) async fn replace_runner(&mut self, name: &str) {
        let input = RunnerCreate { name: name.into() };
        let made: NewRunner = self.ann.ask(Call::RunnerCreate { input }).await.unwrap();
        let (way, _, own) = &self.way;
        let other = RunnerProcess::spawn_with(&self.folder.path().join(name), way, &made.secret, name, own);
        std::mem::replace(&mut self.runner, other).kill().await;
    }

    /// Starts the first runner again, which was killed.
    pub(crate) fn first_runner_again(&self) -> RunnerProcess {
        let (way, secret, own) = &self.way;
        RunnerProcess::spawn_with(&self.folder.path().join("runner"), way, secret, "here", own)
    }

    pub(crate) async fn close(self) {
        self.runner.kill().await;
        self.hub.kill().await;
    }
}

pub(crate) fn git(place: &Path, args: &[&str]) {
    let done = Command::new("git").args(args).current_dir(place).status().unwrap();
    assert!(done.success(), "git {args:?}");
}

/// Where `scripts/tools` has put the agents' CLIs, then everything else.
fn path() -> String {
    format!("{}:{}", cli_folder().display(), std::env::var("PATH").unwrap())
}
