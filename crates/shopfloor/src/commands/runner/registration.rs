//! A runner's stored registration, so that it registers only once.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use client::Client;
use domain::{HubId, RunnerId};
use protocol::{Call, Me, NewRunner, Runner, RunnerCreate};
use serde::{Deserialize, Serialize};

use crate::{Exit, Failure};

const FILE: &str = "registration.json";

/// A runner's id, name and token at one hub.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Registration {
    /// The hub's database.
    hub: HubId,
    /// The runner's id.
    pub(crate) runner: RunnerId,
    /// Its name.
    pub(crate) name: String,
    /// Its token.
    pub(crate) secret: String,
}

impl Registration {
    /// Reads the registration in `dir`.
    pub(crate) fn read(dir: &Path) -> Result<Option<Self>, Failure> {
        let path = dir.join(FILE);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                Failure::other(format!("could not read {}: {error}", path.display()))
                    .advise("delete it; the runner then registers again")
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::other(format!("could not read {}: {error}", path.display()))),
        }
    }

    /// The stored registration if it is still valid, or a new one under `name` for the client's user.
    pub(crate) async fn ensure(client: &Client, dir: &Path, name: &str) -> Result<Self, Failure> {
        let me: Me = client.ask(Call::Me {}).await?;
        let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
        if let Some(known) = Self::read(dir)?.filter(|known| known.hub == me.hub)
            && runners.iter().any(|runner| runner.id == known.runner)
        {
            return Ok(known);
        }
        let made = create(client, name).await?;
        let made = Self { hub: me.hub, runner: made.runner.id, name: made.runner.name, secret: made.secret };
        made.write(dir)?;
        Ok(made)
    }

    fn write(&self, dir: &Path) -> Result<(), Failure> {
        let write = || -> std::io::Result<()> {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
            let fresh = dir.join(format!("{FILE}.new"));
            // A file left from a crash may have another mode.
            let _ = std::fs::remove_file(&fresh);
            let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
            file.write_all(&serde_json::to_vec_pretty(self)?)?;
            file.sync_all()?;
            std::fs::rename(fresh, dir.join(FILE))
        };
        write().map_err(|error| Failure::other(format!("could not write into {}: {error}", dir.display())))
    }
}

/// Registers; appends a number if the name is taken, as by the same machine with another folder.
async fn create(client: &Client, name: &str) -> Result<NewRunner, Failure> {
    let mut tries = 2;
    let mut wanted = name.to_owned();
    loop {
        let input = RunnerCreate { name: wanted };
        match client.ask(Call::RunnerCreate { input }).await.map_err(Failure::from) {
            Err(failure) if failure.exit() == Exit::Conflict && tries < 100 => {
                wanted = format!("{name} {tries}");
                tries += 1;
            }
            made => return made,
        }
    }
}
