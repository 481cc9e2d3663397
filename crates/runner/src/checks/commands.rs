//! Whether a check's commands may run here, and with what: only if the project is the owner's, or the owner allowed it.

use std::sync::Arc;

use acceptance::{Commands, Runs, warden};
use protocol::Criterion;
use protocol::link::DesiredCheck;

use crate::floor::Floor;
use crate::sessions::{contain, hash, printable};
use crate::workspaces::Place;

/// What commands may know of the person's environment: where things are, and no secret.
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

/// How the commands of a check run, or why they do not.
pub(super) async fn commands(
    floor: &Arc<Floor>,
    check: &DesiredCheck,
    place: &Place,
    runs: bool,
) -> Result<Commands, String> {
    if !runs {
        return Ok(Commands::Refused("there is none".to_owned()));
    }
    if let Some(why) = refused(floor, check).await? {
        return Ok(Commands::Refused(why));
    }
    let sandbox = floor.workspaces.contained(floor, check.workspace.workspace, check.sandbox.as_ref()).await?;
    // A workspace that was made for this check has everything that its commands need only then.
    let place = floor.workspaces.set_up(floor, check.workspace.workspace, place.clone()).await?;
    let mut env: Vec<(String, String)> =
        ALLOWED.iter().filter_map(|name| Some(((*name).to_owned(), floor.person.get(*name)?.clone()))).collect();
    env.push(("SHOPFLOOR_PROJECT".to_owned(), check.project.to_string()));
    env.push(("SHOPFLOOR_TASK".to_owned(), check.task.to_string()));
    env.push(("SHOPFLOOR_WORKSPACE".to_owned(), check.workspace.workspace.to_string()));
    env.extend(place.port_variables());
    let exe = floor.options.exe.to_string_lossy().into_owned();
    let adapter = floor.adapters.get("command").ok_or("this runner does not know how commands are run")?;
    let (shared, project) = (floor.clone(), check.project);
    Ok(Commands::Run(Runs {
        warden: vec![exe, warden::COMMAND.to_owned()],
        env,
        contain: Arc::new(move |argv| {
            contain(&shared, &adapter, (project, sandbox.as_ref()), &place, Vec::new(), argv)
        }),
    }))
}

/// Why the commands may not run; nothing when they may.
async fn refused(floor: &Arc<Floor>, check: &DesiredCheck) -> Result<Option<String>, String> {
    if check.trusted {
        return Ok(None);
    }
    let repository = check.workspace.repository.as_ref();
    let mut lines: Vec<Option<String>> =
        repository.iter().flat_map(|repository| [repository.setup.clone(), repository.teardown.clone()]).collect();
    let mut named = Vec::new();
    for criterion in &check.criteria {
        if let Criterion::Command { argv, .. } = criterion {
            lines.push(Some(serde_json::to_string(argv).unwrap_or_default()));
            named.push(format!("`{}`", printable(&argv.join(" "))));
        }
    }
    let trees = &floor.workspaces.worktrees;
    let found = trees.executable_config(check.workspace.workspace).await.map_err(|error| error.to_string())?;
    let mine = "the project is not this runner's owner's";
    if found.truncated {
        return Ok(Some(format!("{mine}, and what the workspace would run cannot be listed whole")));
    }
    let hash = hash(&found.sha256, &lines);
    if floor.journal.approved(&hash).await.map_err(|error| error.to_string())? {
        return Ok(None);
    }
    let files: Vec<String> = found.files.iter().take(10).map(|file| printable(&file.path)).collect();
    let with = if files.is_empty() { String::new() } else { format!(" with {}", files.join(", ")) };
    Ok(Some(format!(
        "{mine}: its owner can allow {}{with} by `shopfloor runner approve {hash}`; then let it be checked again",
        named.join(", ")
    )))
}
