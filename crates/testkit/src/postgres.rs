//! A real PostgreSQL for tests: the server that `SHOPFLOOR_TEST_POSTGRES` names, or one of our own.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result, ensure};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

/// Names the maintenance database of a server that tests may use.
const SERVER: &str = "SHOPFLOOR_TEST_POSTGRES";

/// The script that starts a server, and removes it when its command ends.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/with-postgres");

/// What the script runs: prints the server's address, then obeys until our end of the pipe closes, however we die.
const OBEY: &str = r#"echo "$SHOPFLOOR_TEST_POSTGRES"
while read -r words; do $SHOPFLOOR_TEST_POSTGRES_CTL $words >/dev/null 2>&1; echo "$?"; done"#;

/// Whether commits reach the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fsync {
    /// They do, as in production.
    On,
    /// They do not: for tests that are not about durability.
    Off,
}

/// A PostgreSQL server; one that we started is stopped and removed when the last handle is gone.
#[derive(Debug, Clone)]
pub struct Postgres {
    url: String,
    own: Option<Arc<Own>>,
}

impl Postgres {
    /// The server that all tests of this process share.
    pub fn shared() -> Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        let server = SHARED.get_or_init(|| match std::env::var(SERVER) {
            Ok(url) => Self { url, own: None },
            Err(_) => Self::start(Fsync::Off),
        });
        server.clone()
    }

    /// A server of the test's own, which it may restart and kill.
    pub fn start(fsync: Fsync) -> Self {
        let own = Own::start(fsync).expect("PostgreSQL for tests starts");
        Self { url: own.url.clone(), own: Some(Arc::new(own)) }
    }

    /// A fresh database, dropped when the handle is.
    pub async fn database(&self) -> Database {
        let name = format!("test_{}", uuid::Uuid::now_v7().simple());
        run(&self.url, format!("CREATE DATABASE {name}")).await.expect("a database for the test is created");
        Database { url: with_name(&self.url, &name), name, server: self.clone() }
    }

    /// Kills every process of the server at once and starts it again; it recovers as after a power cut.
    pub fn restart_immediately(&self) {
        let own = self.own.as_ref().expect("only a server of the test's own is restarted");
        own.obey("-m immediate restart").expect("the server restarts");
    }
}

/// A database on a test server.
#[derive(Debug)]
pub struct Database {
    url: String,
    name: String,
    server: Postgres,
}

impl Database {
    /// Where it is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its name on the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server that it is on.
    pub fn server(&self) -> &Postgres {
        &self.server
    }

    /// Runs statements as the server's superuser, from outside the database.
    pub async fn administer(&self, sql: &str) {
        run(&self.server.url, sql.to_owned()).await.expect("an administrator's statement runs");
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (url, sql) = (self.server.url.clone(), format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        // A test's runtime cannot block on itself.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(run(&url, sql))
        });
        let _ = dropped.join();
    }
}

/// The URL of another database on the same server.
fn with_name(url: &str, name: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
    let host = address.rsplit_once('/').map_or(address, |(host, _)| host);
    query.map_or_else(|| format!("{host}/{name}"), |query| format!("{host}/{name}?{query}"))
}

async fn run(url: &str, sql: String) -> Result<()> {
    let options: PgConnectOptions = url.parse()?;
    let mut connection = PgConnection::connect_with(&options).await.context("connecting to the test server")?;
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?;
    Ok(connection.close().await?)
}

/// A server that we started, through the script that also removes it.
#[derive(Debug)]
struct Own {
    url: String,
    script: Child,
    answers: Mutex<BufReader<ChildStdout>>,
}

impl Own {
    fn start(fsync: Fsync) -> Result<Self> {
        let mut command = Command::new(SCRIPT);
        if fsync == Fsync::Off {
            command.arg("--fast");
        }
        command.args(["bash", "-c", OBEY]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Its own group: killing ours lets the script live to clean up.
        let mut script = command.process_group(0).spawn().context("starting scripts/with-postgres")?;
        let mut answers = BufReader::new(script.stdout.take().context("the script's output is piped")?);
        let url = line(&mut answers).or_else(|error| {
            let mut reason = String::new();
            script.stderr.take().map(|mut stderr| stderr.read_to_string(&mut reason)).transpose()?;
            Err(error.context(reason))
        })?;
        Ok(Self { url, script, answers: Mutex::new(answers) })
    }

    fn obey(&self, words: &str) -> Result<()> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(self.script.stdin.as_ref().context("the script listens")?, "{words}")?;
        let status = line(&mut answers)?;
        ensure!(status == "0", "`pg_ctl {words}` ended with {status}");
        Ok(())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // The script ends by itself once our end of the pipe is closed.
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}

fn line(answers: &mut BufReader<ChildStdout>) -> Result<String> {
    let mut text = String::new();
    answers.read_line(&mut text)?;
    ensure!(!text.is_empty(), "scripts/with-postgres ended early");
    Ok(text.trim_end().to_owned())
}
