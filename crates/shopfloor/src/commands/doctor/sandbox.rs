//! Whether the sandbox isolates: bubblewrap runs a probe that tries to write, read and connect.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use agents::{Home, Reach, SandboxError, SandboxSpec, Tries, sandbox_reach};

use super::{Check, programs};
use crate::commands::runner::hidden;
use crate::{Context, Failure};

const WRITES: &str = "sandbox writes";
const HOME: &str = "sandbox home";
const DATA: &str = "sandbox data";
const NETWORK: &str = "sandbox network";

const LEAKS: &str = "do not rely on --sandbox here: it does not isolate";

/// What the probe reached, for each kind of sandbox.
struct Found {
    /// Home hidden, no network.
    closed: Reach,
    /// Home read-only, no network.
    with_home: Reach,
    /// Home hidden, network on.
    with_network: Reach,
}

/// What the probe tried.
struct Place {
    homes: Vec<PathBuf>,
    data: Vec<PathBuf>,
    tries: Tries,
}

/// Checks bubblewrap, and what a sandbox isolates.
pub(crate) async fn check(context: &Context) -> Result<Vec<Check>, Failure> {
    let install = "`--sandbox` is refused until you install bubblewrap, for example with `apt install bubblewrap`";
    let version = match programs::version("bwrap", "--version").await {
        Ok(version) => version,
        Err(why) => return Ok(vec![Check::missing("bwrap", why, install)]),
    };
    let person = person();
    let place = Place::new(&person, hidden(context, &[])?);
    Ok(match place.look(&person).await {
        Ok(found) => {
            let mut checks = vec![Check::ok("bwrap", version)];
            checks.extend(judge(&place, &found));
            checks
        }
        Err(error) => {
            let advice = "`--sandbox` is refused until you allow user namespaces, for example with \
                          `sysctl kernel.unprivileged_userns_clone=1`";
            vec![Check::warn("bwrap", format!("{version} cannot create a sandbox: {error}"), advice)]
        }
    })
}

impl Place {
    fn new(person: &BTreeMap<String, String>, hidden: Vec<PathBuf>) -> Self {
        let homes = agents::homes(person);
        let data: Vec<PathBuf> = hidden.into_iter().filter(|path| path.exists()).collect();
        let folders = ["/etc", "/usr/local", "/var/lib", "/opt", "/srv"].into_iter().map(PathBuf::from);
        let folders = folders.chain(homes.iter().cloned()).chain(data.iter().cloned());
        let writable =
            |folder: &PathBuf| folder.is_dir() && rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok();
        let write = folders.filter(writable).collect();
        let look = homes.iter().chain(&data).cloned().collect();
        Self { homes, data, tries: Tries { write, look } }
    }

    async fn look(&self, person: &BTreeMap<String, String>) -> Result<Found, SandboxError> {
        let folder = Folder::make()?;
        let exe = std::env::current_exe().map_err(|source| prepare(Path::new("our own program"), source))?;
        let spec = |home, network| SandboxSpec {
            workspace: folder.0.join("workspace"),
            state_dir: folder.0.join("state"),
            exe: exe.clone(),
            home,
            network,
            files: Vec::new(),
            readable: Vec::new(),
            writable: Vec::new(),
            hidden: self.data.clone(),
            frozen: false,
            shares_state: false,
        };
        Ok(Found {
            closed: sandbox_reach(person, &spec(Home::Hidden, false), &self.tries).await?,
            with_home: sandbox_reach(person, &spec(Home::ReadOnly, false), &self.tries).await?,
            with_network: sandbox_reach(person, &spec(Home::Hidden, true), &self.tries).await?,
        })
    }
}

fn judge(place: &Place, found: &Found) -> Vec<Check> {
    let all = [&found.closed, &found.with_home, &found.with_network];
    let leak = |name, detail: String| Check::missing(name, detail, LEAKS).required();
    let wrote: Vec<&PathBuf> = all.iter().flat_map(|reach| &reach.wrote).collect();
    let writes = match (wrote.first(), all.iter().all(|reach| reach.workspace)) {
        (Some(folder), _) => leak(WRITES, format!("a sandboxed process wrote to {}", folder.display())),
        (None, false) => Check::warn(
            WRITES,
            "a sandboxed process cannot write in its workspace",
            "please report this, with the name of your system",
        ),
        (None, true) => {
            Check::ok(WRITES, format!("only in the workspace; {} other places are protected", place.tries.write.len()))
        }
    };
    let hidden = [&found.closed, &found.with_network];
    let saw = |paths: &[PathBuf], reaches: &[&Reach]| -> Option<PathBuf> {
        paths.iter().find(|path| reaches.iter().any(|reach| reach.saw.contains(path))).cloned()
    };
    let home = match (saw(&place.homes, &hidden), place.homes.first()) {
        (Some(home), _) => {
            leak(HOME, format!("a sandboxed process can read {}, which should be hidden", home.display()))
        }
        (None, Some(home)) => Check::ok(HOME, format!("{} is hidden; read-only with --home", home.display())),
        (None, None) => Check::warn(HOME, "your home folder is unknown", "set HOME"),
    };
    let data = match saw(&place.data, &all) {
        Some(path) => leak(DATA, format!("a sandboxed process can read {}", path.display())),
        None => {
            let shown: Vec<String> = place.data.iter().map(|path| path.display().to_string()).collect();
            let what = if shown.is_empty() { "there is no data yet".to_owned() } else { shown.join(", ") };
            Check::ok(DATA, format!("hidden, also with --home: {what}"))
        }
    };
    let network = match (found.closed.network || found.with_home.network, found.with_network.network) {
        (true, _) => leak(NETWORK, "a process with --no-network can reach this machine".to_owned()),
        (false, true) => Check::ok(NETWORK, "off with --no-network, on without"),
        (false, false) => Check::warn(
            NETWORK,
            "off, with and without --no-network",
            "agents in a sandbox cannot reach their model: check this machine's network",
        ),
    };
    vec![writes, home, data, network]
}

/// A folder for the probe, deleted at the end.
struct Folder(PathBuf);

impl Folder {
    fn make() -> Result<Self, SandboxError> {
        let path = std::env::temp_dir().join(format!("shopfloor-doctor-{}", std::process::id()));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|source| prepare(&path, source))?;
        let folder = Self(path);
        let workspace = folder.0.join("workspace");
        std::fs::create_dir(&workspace).map_err(|source| prepare(&workspace, source))?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It is below the folder for temporary files, and contains only the probe's files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn prepare(path: &Path, source: std::io::Error) -> SandboxError {
    SandboxError::Prepare { path: path.to_owned(), source }
}

fn person() -> BTreeMap<String, String> {
    let variables = std::env::vars_os();
    variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Status;

    fn statuses(change: impl FnOnce(&mut Found)) -> Vec<(String, Status, bool)> {
        let (home, data) = (PathBuf::from("/home/ann"), PathBuf::from("/data"));
        let reach = |network| Reach { wrote: Vec::new(), saw: Vec::new(), network, workspace: true };
        let mut found = Found { closed: reach(false), with_home: reach(false), with_network: reach(true) };
        found.with_home.saw = vec![home.clone()];
        change(&mut found);
        let tries = Tries { write: vec![home.clone()], look: vec![home.clone(), data.clone()] };
        let checks = judge(&Place { homes: vec![home], data: vec![data], tries }, &found);
        checks.into_iter().map(|check| (check.name.clone(), check.status, check.is_broken())).collect()
    }

    #[test]
    fn each_leak_is_reported_and_fails() {
        assert!(statuses(|_| {}).iter().all(|(_, status, _)| *status == Status::Ok));
        let leak = |name: &str, change: fn(&mut Found)| {
            let broken: Vec<String> =
                statuses(change).into_iter().filter(|(.., broken)| *broken).map(|(name, ..)| name).collect();
            assert_eq!(broken, [name]);
        };
        leak(WRITES, |found| found.with_home.wrote.push("/home/ann".into()));
        leak(HOME, |found| found.closed.saw.push("/home/ann".into()));
        leak(DATA, |found| found.with_home.saw.push("/data".into()));
        leak(NETWORK, |found| found.closed.network = true);
        let warned = statuses(|found| found.with_network.network = false);
        assert!(warned.contains(&(NETWORK.to_owned(), Status::Warn, false)), "{warned:?}");
        let warned = statuses(|found| found.closed.workspace = false);
        assert!(warned.contains(&(WRITES.to_owned(), Status::Warn, false)), "{warned:?}");
    }
}
