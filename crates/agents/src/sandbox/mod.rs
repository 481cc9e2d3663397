//! Optional isolation with bubblewrap: the agent writes in its workspace and nowhere else.
//!
//! What it is built on, and why:
//! - Everything is mounted read-only first, then hidden, then opened again where it must be.
//! - A read-only mount stops no socket: `/run`, `/tmp` and the runner's own folders are hidden, so that neither a
//!   container engine nor another session's terminal can be reached through one.
//! - A readable home still contains our own data: the hidden paths are mounted after it.
//! - Root without capabilities still owns the files of `/proc`: `/proc/sys` is mounted read-only, because what is written
//!   into `core_pattern` runs outside.
//! - The agent's own state is a private folder: what it writes into its settings would be run outside, later. The
//!   person's settings lie in it read-only; its login is shared, because a renewed one replaces the old.
//! - No new terminal session (`--new-session`): it would take Ctrl-C away. Keys that the agent pushes into its terminal
//!   reach nobody but itself, since the terminal is the session's own.
//! - The agent has the terminal's foreground for itself: Ctrl-C would otherwise end bubblewrap outside, and by that kill
//!   the agent before it can act on the key.
//! - The wrapper of structured lines stays outside: the session's folder has the socket that types into the terminal.

mod mounts;
pub(crate) mod probe;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::adapter::Adapter;
use crate::find::look_up;
use crate::lines::{COMMAND, FOREGROUND, PROBE};
use mounts::Mounts;
pub(crate) use mounts::private;
pub use probe::{Reach, Tries, sandbox_reach};

/// What an agent in a sandbox sees of the person's home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// All of it, read-only.
    ReadOnly,
    /// Nothing but its own program and settings.
    Hidden,
}

/// How a session is isolated.
#[derive(Debug, Clone)]
pub struct SandboxSpec {
    /// The writable folder.
    pub workspace: PathBuf,
    /// Where its own state is kept instead of the person's home; sessions that share it can resume each other's
    /// conversations.
    pub state_dir: PathBuf,
    /// Our own program, which gives the agent the terminal's foreground.
    pub exe: PathBuf,
    /// What it sees of the home.
    pub home: Home,
    /// Whether it has network access; a coding agent without it cannot reach its model.
    pub network: bool,
    /// Files of the session that it reads, such as those of [`crate::Launch::files`].
    pub files: Vec<PathBuf>,
    /// Further readable paths, even if they would be hidden: a shared object store, our own program.
    pub readable: Vec<PathBuf>,
    /// Further writable paths, such as build caches.
    pub writable: Vec<PathBuf>,
    /// Paths that are hidden in any case, such as our own data directories.
    pub hidden: Vec<PathBuf>,
    /// Whether the workspace is read-only, too.
    pub frozen: bool,
    /// Whether the agent uses the person's own state instead of `state_dir`: a conversation from outside is there.
    pub shares_state: bool,
}

/// Why a session cannot be isolated.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// `bwrap` is not installed.
    #[error(
        "a sandbox needs bubblewrap, which is not installed: \
         `sudo apt install bubblewrap` (Debian, Ubuntu), `sudo dnf install bubblewrap` (Fedora), `sudo pacman -S bubblewrap` (Arch)"
    )]
    Missing,
    /// It is installed, but the system does not let it work.
    #[error(
        "bubblewrap cannot create a sandbox here: {0}; unprivileged user namespaces may be turned off (sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
    )]
    Forbidden(String),
    /// The home is the whole file system.
    #[error("the home folder is `/`, which cannot be hidden: set HOME to a folder, or make it readable (--home)")]
    Home,
    /// A folder of ours could not be created.
    #[error("cannot prepare {}: {source}", path.display())]
    Prepare {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

const PATIENCE: Duration = Duration::from_secs(10);

/// The arguments that run `argv` isolated. Creates the private folders that this needs; `person` is the environment
/// with the home, the agent's state and `bwrap`.
pub fn sandbox(
    adapter: &Adapter,
    argv: &[String],
    person: &BTreeMap<String, String>,
    spec: &SandboxSpec,
) -> Result<Vec<String>, SandboxError> {
    let bwrap = find(person)?;
    let (outside, inside) = argv.split_at(wrapper_ends(argv));
    let mut mounts = Mounts::new();
    mounts.everything_read_only();
    let homes = homes(person);
    match spec.home {
        Home::Hidden if homes.iter().any(|home| home == Path::new("/")) => return Err(SandboxError::Home),
        Home::Hidden => {
            homes.iter().for_each(|home| mounts.hide(home));
            homes.iter().for_each(|home| mounts.programs(home, inside.first(), person.get("PATH")));
        }
        Home::ReadOnly => mounts.doors(&homes, person.get("SSH_AUTH_SOCK")),
    }
    spec.hidden.iter().for_each(|path| mounts.hide(path));
    mounts.read(&spec.exe);
    spec.readable.iter().for_each(|path| mounts.read(path));
    match spec.shares_state {
        true => mounts.own_state(adapter, person),
        false => mounts.state(adapter, person, &spec.state_dir, spec.home == Home::Hidden)?,
    }
    spec.writable.iter().for_each(|path| mounts.write(path));
    match spec.frozen {
        true => mounts.read(&spec.workspace),
        false => mounts.write(&spec.workspace),
    }
    spec.files.iter().for_each(|path| mounts.read(path));
    let mut all = outside.to_vec();
    all.push(text(&bwrap));
    all.extend(["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-cgroup-try"].map(str::to_owned));
    all.extend((!spec.network).then(|| "--unshare-net".to_owned()));
    all.extend(["--die-with-parent", "--cap-drop", "ALL"].map(str::to_owned));
    all.extend(mounts.into_args());
    all.extend(["--chdir".to_owned(), text(&spec.workspace), "--".to_owned()]);
    all.extend([text(&spec.exe), COMMAND.to_owned(), FOREGROUND.to_owned(), "--".to_owned()]);
    all.extend(inside.iter().cloned());
    Ok(all)
}

/// Whether this machine can create a sandbox.
pub async fn sandbox_works(person: &BTreeMap<String, String>) -> Result<(), SandboxError> {
    let mut command = tokio::process::Command::new(find(person)?);
    command.args([
        "--unshare-user-try",
        "--unshare-pid",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "true",
    ]);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await;
    let output = output.map_err(|_| SandboxError::Forbidden("it does not answer".to_owned()))?;
    let output = output.map_err(|error| SandboxError::Forbidden(error.to_string()))?;
    let said = crate::text::line(&String::from_utf8_lossy(&output.stderr), 200);
    if output.status.success() { Ok(()) } else { Err(SandboxError::Forbidden(said)) }
}

fn find(person: &BTreeMap<String, String>) -> Result<PathBuf, SandboxError> {
    person.get("PATH").and_then(|path| look_up("bwrap", path)).ok_or(SandboxError::Missing)
}

/// The person's homes: the one in the environment, and the account's own, which may differ.
pub fn homes(person: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let named = person.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let account = account_home().filter(|home| named.is_none() || home != Path::new("/"));
    let mut homes: Vec<PathBuf> =
        named.into_iter().chain(account).filter_map(|home| home.canonicalize().ok()).collect();
    homes.dedup();
    homes
}

/// The account's home, by the system's list of users.
pub fn account_home() -> Option<PathBuf> {
    let uid = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let home = fields.into_iter().find(|fields| fields.get(2) == Some(&uid.as_str()))?.get(5).map(PathBuf::from)?;
    home.is_absolute().then_some(home)
}

/// How many of the arguments belong to our own wrapper.
fn wrapper_ends(argv: &[String]) -> usize {
    let wrapped = argv.get(1).is_some_and(|word| word == COMMAND) && argv.get(2).is_none_or(|word| word != PROBE);
    let end = argv.iter().position(|word| word == "--").filter(|_| wrapped);
    end.map_or(0, |end| end + 1)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
