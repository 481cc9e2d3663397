//! A real hub inside the test's own process, on a free port and a folder of its own.

use anyhow::Context;
use client::Client;
use hub::{Options, Running};
use protocol::{Call, InviteAccept, InviteCreate, NewInvite, NewToken, TokenCreate};

use crate::{Database, Postgres};

/// A hub that is stopped when it is dropped.
pub struct TestHub {
    running: Option<Running>,
    folder: tempfile::TempDir,
    // Declared last: a hub's connections end before its database does.
    _database: Option<Database>,
}

impl TestHub {
    /// A hub on a SQLite file.
    pub async fn start() -> Self {
        Self::with(|_| ()).await
    }

    /// A hub on a SQLite file, with options of the test's choice.
    pub async fn with(adjust: impl FnOnce(&mut Options)) -> Self {
        Self::launch(None, adjust).await
    }

    /// A hub on a fresh PostgreSQL database.
    pub async fn on_postgres(adjust: impl FnOnce(&mut Options)) -> Self {
        Self::launch(Some(Postgres::shared().database().await), adjust).await
    }

    async fn launch(database: Option<Database>, adjust: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut options = Options::new(folder.path().join("data"));
        options.listen.set_port(0);
        options.owner_name = "ann".to_owned();
        // Tests come in often, from one address.
        options.limits.entries_per_minute = 100_000;
        if let Some(database) = &database {
            options.database = database.url().to_owned();
        }
        adjust(&mut options);
        let running = hub::start(options).await.expect("the hub starts");
        Self { running: Some(running), folder, _database: database }
    }

    /// The running hub.
    pub fn running(&self) -> &Running {
        self.running.as_ref().expect("the hub runs until it is stopped")
    }

    /// The hub's address.
    pub fn url(&self) -> &str {
        self.running().url()
    }

    /// The hub's data directory.
    pub fn data_dir(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    /// The token of the hub's owner, `ann`.
    pub fn token(&self) -> String {
        std::fs::read_to_string(self.data_dir().join("token")).expect("the hub wrote its token").trim().to_owned()
    }

    /// The hub's owner, `ann`.
    pub fn owner(&self) -> Client {
        Client::new(self.url(), &self.token()).expect("the hub's address is a URL")
    }

    /// A second person, who joined by an invitation, with their own token.
    pub async fn join(&self, name: &str) -> Client {
        let token = join(self.url(), &self.owner(), name).await.expect("an invited person gets in");
        Client::new(self.url(), &token).expect("the hub's address is a URL")
    }

    /// Accepts an invitation as a browser would and returns the login cookie.
    pub async fn accept(&self, link: &str, name: &str) -> String {
        let secret = link.split('#').nth(1).expect("a link has a secret").to_owned();
        self.enter("/api/invites/accept", &InviteAccept { secret, name: name.into() }).await
    }

    /// Comes in at `path` as a browser would and returns the login cookie as `name=value`.
    pub async fn enter(&self, path: &str, body: &impl serde::Serialize) -> String {
        let request = reqwest::Client::new().post(format!("{}{path}", self.url())).header("origin", self.url());
        let answer = request.json(body).send().await.expect("the hub answers");
        assert_eq!(answer.status(), 200, "{path} lets in");
        let cookie = answer.headers().get("set-cookie").expect("a cookie is set").to_str().expect("cookies are text");
        cookie.split(';').next().expect("a cookie has a value").to_owned()
    }

    /// Stops the hub in good order; dropping it only ends it.
    pub async fn stop(mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }
}

/// Invites somebody as `host`, accepts as a browser would, and returns a token of the new person.
pub async fn join(url: &str, host: &Client, name: &str) -> anyhow::Result<String> {
    let input = InviteCreate { name: name.into(), expires_at: None };
    let invite: NewInvite = host.ask(Call::InviteCreate { input }).await?;
    let secret = invite.link.split('#').nth(1).unwrap_or_default().to_owned();
    let browser = reqwest::Client::new();
    let accept = InviteAccept { secret, name: name.into() };
    let request = browser.post(format!("{url}/api/invites/accept")).header("origin", url);
    let answer = request.json(&accept).send().await?.error_for_status()?;
    let cookie = answer.headers().get("set-cookie").context("a cookie is set")?.to_str()?;
    let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
    let token = TokenCreate { name: "test".into(), expires_at: None };
    let request = browser.post(format!("{url}/api/tokens")).header("cookie", cookie).header("origin", url);
    let made: NewToken = request.json(&token).send().await?.error_for_status()?.json().await?;
    Ok(made.secret)
}
