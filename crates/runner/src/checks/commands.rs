//! How a check's commands run, once its runner's owner has approved them.

use std::sync::Arc;

use acceptance::{Commands, Runs, warden};
use parking_lot::Mutex;
use protocol::link::DesiredCheck;

use super::Checker;
use crate::machine::Machine;
use crate::sessions::contain;
use crate::workspaces::Place;

/// Variables of the person's environment that commands get: paths, and no secrets.
const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VOLTA_HOME",
    "DENO_DIR",
];

/// The part of the person's environment that commands get.
pub(crate) fn environment(machine: &Machine) -> Vec<(String, String)> {
    ALLOWED.iter().filter_map(|name| Some(((*name).to_owned(), machine.person.get(*name)?.clone()))).collect()
}

/// How the commands of a check run, or why they do not.
pub(super) async fn commands(
    checker: &Checker,
    check: &DesiredCheck,
    place: &Place,
    runs: bool,
    refused: Option<String>,
) -> Result<Commands, String> {
    if !runs {
        return Ok(Commands::Refused("there is no command".to_owned()));
    }
    if let Some(why) = refused {
        return Ok(Commands::Refused(why));
    }
    let Checker { machine, workspaces, .. } = checker;
    let sandbox = workspaces.contained(check.workspace.workspace, check.sandbox.as_ref()).await?;
    // A workspace that was created for this check needs its setup before commands can run.
    let place = workspaces.set_up(check.workspace.workspace, place.clone()).await?;
    let mut env = environment(machine);
    env.push(("SHOPFLOOR_PROJECT".to_owned(), check.project.to_string()));
    env.push(("SHOPFLOOR_TASK".to_owned(), check.task.to_string()));
    env.push(("SHOPFLOOR_WORKSPACE".to_owned(), check.workspace.workspace.to_string()));
    env.extend(place.port_variables());
    let exe = machine.options.exe.to_string_lossy().into_owned();
    let adapter = machine.adapters.get("command").ok_or("this runner has no adapter for commands")?;
    let (machine, project, secrets) = (machine.clone(), check.project, Mutex::new(machine.secrets()));
    Ok(Commands::Run(Runs {
        warden: vec![exe, warden::COMMAND.to_owned()],
        env,
        contain: Arc::new(move |argv| {
            contain(&machine, &adapter, (project, sandbox.as_ref()), &place, Vec::new(), argv)
        }),
        mask: Arc::new(move |printed| secrets.lock().masked_text(printed)),
    }))
}
