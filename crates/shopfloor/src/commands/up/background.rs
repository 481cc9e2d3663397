//! `shopfloor up --background`: starts a hub as a process of its own and returns when it answers.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use client::Client;
use protocol::{Call, LoginLink, Runner};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use super::{browser, log};
use crate::commands::runner::Registration;
use crate::failure::chain;
use crate::here::Here;
use crate::{Context, Failure, places};

/// How long a hub may take to answer, such as one that migrates a large database.
const START: Duration = Duration::from_secs(120);
/// How long its runner may take to connect; the hub does not need it.
const RUNNER: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);
/// The end of the log that is shown if the hub does not start.
const TAIL: usize = 8;

/// Starts the hub; `open`: its page too; `runner`: waits for the runner beside it.
pub(crate) async fn run(data_dir: &Path, open: bool, runner: bool, context: &Context) -> Result<(), Failure> {
    let out = &context.out;
    let path = log::of_hub(data_dir);
    let failed = |error: std::io::Error| Failure::other(format!("could not write {}: {error}", path.display()));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(data_dir).map_err(failed)?;
    let file = log::append_to(&path).map_err(failed)?;
    let before = file.metadata().map_err(failed)?.len();
    let mut child = spawn(&file).map_err(|error| Failure::other(format!("could not start a hub: {error}")))?;
    let here = match answer(&mut child, data_dir).await? {
        Started::Answers(here) => here,
        Started::Ended(status) => return Err(refused(status, &tail(&path, before), &path)),
    };
    let client = here.client(data_dir)?;
    let link = client.ask::<LoginLink>(Call::LoginLink {}).await.map(|link| link.link);
    let url = &here.file.url;
    if out.json {
        let link = link.as_ref().ok();
        let view = serde_json::json!({
            "url": url, "login_link": link, "pid": here.file.pid, "log": path, "started": true,
        });
        out.show(&view, |_| String::new())?;
    } else {
        match &link {
            Ok(link) => out.line(&format!("log in once: {link}"))?,
            Err(error) => out.note(&format!("could not create a login link: {}", chain(error))),
        }
        out.line(&format!("shopfloor is up: {url}"))?;
        out.note(&format!("process {}; log: {}", here.file.pid, path.display()));
        out.note(&format!("end it with `{}`", down(data_dir)));
    }
    if let Ok(link) = link
        && open
    {
        browser::open(&link, out);
    }
    if runner && !connects(&client, data_dir).await {
        let log = data_dir.join("runner").join("runner.log");
        out.note(&format!("the runner of this machine is not connected yet; its log: {}", log.display()));
    }
    Ok(())
}

/// The command that ends the hub of this folder, and no other.
fn down(data_dir: &Path) -> String {
    if places::data_dir(&|name| std::env::var(name).ok()).is_some_and(|usual| usual == data_dir) {
        return "shopfloor down".to_owned();
    }
    let folder = data_dir.to_string_lossy();
    let quoted = shlex::try_quote(&folder).unwrap_or_else(|_| folder.clone());
    format!("shopfloor down --data-dir {quoted}")
}

fn spawn(log: &File) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments(std::env::args_os().skip(1)));
    // The hub does not belong to the session that `up` may run in.
    command.env_remove("SHOPFLOOR_SESSION");
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?).spawn()
}

/// The same command line, for a process that stays.
fn arguments(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let kept = given.filter(|word| !["--background", "--json", "--service"].iter().any(|dropped| word == dropped));
    kept.chain([OsString::from("--service")]).collect()
}

enum Started {
    Answers(Here),
    Ended(ExitStatus),
}

async fn answer(child: &mut Child, data_dir: &Path) -> Result<Started, Failure> {
    let asked = Instant::now();
    loop {
        let here = Here::look(data_dir).await.ok().flatten();
        // An earlier hub that was killed left its address.
        if let Some(here) = here.filter(|here| here.health.is_some() && Some(here.file.pid) == child.id()) {
            return Ok(Started::Answers(here));
        }
        let ended = child.try_wait().map_err(|error| Failure::other(format!("lost the hub: {error}")))?;
        if let Some(status) = ended {
            return Ok(Started::Ended(status));
        }
        if asked.elapsed() > START {
            return Err(Failure::unreachable("the hub was started, but does not answer yet")
                .advise(format!("its log is {}", log::of_hub(data_dir).display())));
        }
        sleep(LOOK).await;
    }
}

async fn connects(client: &Client, data_dir: &Path) -> bool {
    let asked = Instant::now();
    while asked.elapsed() < RUNNER {
        let known = Registration::read(&data_dir.join("runner")).ok().flatten();
        if let Some(known) = known
            && let Ok(runners) = client.ask::<Vec<Runner>>(Call::RunnerList {}).await
            && runners.iter().any(|runner| runner.id == known.runner && runner.connected)
        {
            return true;
        }
        sleep(LOOK).await;
    }
    false
}

/// What was written into the log since then.
fn tail(path: &Path, before: u64) -> String {
    let mut text = Vec::new();
    if let Ok(mut file) = File::open(path)
        && file.seek(SeekFrom::Start(before)).is_ok()
    {
        // Without its log, the failure still says where to look.
        let _ = file.read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn refused(status: ExitStatus, said: &str, path: &Path) -> Failure {
    // A failure begins like this; what was logged before it explains less.
    let why = said.rsplit_once("error: ").map_or_else(
        || {
            let lines: Vec<&str> = said.lines().collect();
            lines[lines.len().saturating_sub(TAIL)..].join("\n  ")
        },
        |(_, failure)| failure.trim_end().to_owned(),
    );
    let failure = match status.code() {
        Some(2) => Failure::usage(why),
        Some(_) if !why.is_empty() => Failure::other(why),
        _ => Failure::other(format!("the hub ended: {status}")),
    };
    failure.advise(format!("its log is {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_that_stays_gets_the_same_options() {
        let given = ["up", "--background", "--json", "--listen", "127.0.0.1:0"].into_iter().map(OsString::from);
        assert_eq!(arguments(given), ["up", "--listen", "127.0.0.1:0", "--service"]);
    }
}
