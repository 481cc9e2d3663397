//! The mounts of a sandbox, in bubblewrap's order.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::{SandboxError, text};
use crate::adapter::Adapter;
use crate::find::look_up;
use crate::log::expand;

/// Folders with other people's sockets, and what must be visible in them: host names, and programs on some systems.
const SOCKETS: &[&str] = &["/tmp", "/var/tmp", "/run"];
const IN_RUN: &[&str] =
    &["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/current-system"];

/// Kernel settings that root may write without any capability. bubblewrap covers some of them, and only if the folder
/// itself is writable.
const KERNEL: &[&str] = &["sys", "sysrq-trigger", "mtrr", "acpi", "asound", "bus", "driver", "fs", "irq", "scsi"];

/// Passwords, which root reads without any capability.
const PASSWORDS: &[&str] = &["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-"];

/// Folders of a home with sockets that a read-only mount does not block: container engines and keys.
const DOORS: &[&str] = &[".docker/run", ".docker/desktop", ".colima", ".lima", ".rd", ".orbstack", ".ssh/agent"];

pub(super) struct Mounts(Vec<String>);

impl Mounts {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn into_args(self) -> Vec<String> {
        self.0
    }

    pub(super) fn everything_read_only(&mut self) {
        self.add(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
        for folder in SOCKETS.iter().filter(|folder| Path::new(folder).is_dir()) {
            self.hide(Path::new(folder));
        }
        IN_RUN.iter().for_each(|path| self.read(Path::new(path)));
        KERNEL.iter().for_each(|name| self.read(&Path::new("/proc").join(name)));
        PASSWORDS.iter().for_each(|path| self.hide(Path::new(path)));
    }

    /// Hides a folder or a file.
    pub(super) fn hide(&mut self, path: &Path) {
        match path.canonicalize() {
            Ok(folder) if folder.is_dir() => self.add(&["--tmpfs", &text(&folder)]),
            Ok(file) => self.add(&["--ro-bind", "/dev/null", &text(&file)]),
            // Nothing is there, or we have no access to it.
            Err(_) => {}
        }
    }

    /// Hides the sockets of a readable home.
    pub(super) fn doors(&mut self, homes: &[PathBuf], keys: Option<&String>) {
        for home in homes {
            DOORS.iter().for_each(|folder| self.hide(&home.join(folder)));
        }
        keys.iter().for_each(|socket| self.hide(Path::new(socket)));
    }

    pub(super) fn read(&mut self, path: &Path) {
        self.bind("--ro-bind", path, path);
    }

    pub(super) fn write(&mut self, path: &Path) {
        self.bind("--bind", path, path);
    }

    /// The parts of a hidden home that contain the program itself.
    pub(super) fn programs(&mut self, home: &Path, program: Option<&String>, path: Option<&String>) {
        let Some(path) = path else { return };
        let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        let folders = folders.filter_map(|folder| folder.canonicalize().ok());
        let folders = folders.filter(|folder| folder.starts_with(home) && folder != home);
        let program = program.and_then(|program| look_up(program, path)).and_then(|file| file.canonicalize().ok());
        let own = program.filter(|file| file.starts_with(home)).map(|file| package(home, &file));
        folders.chain(own).for_each(|folder| self.read(&folder));
    }

    /// A private folder in place of each of the agent's own, with the person's settings and login.
    pub(super) fn state(
        &mut self,
        adapter: &Adapter,
        person: &BTreeMap<String, String>,
        state_dir: &Path,
        hidden_home: bool,
    ) -> Result<(), SandboxError> {
        for (index, folder) in adapter.state_folders(person).into_iter().enumerate() {
            // Only an existing path can be a mount point, unless its folder is ours.
            if !folder.is_dir() && !hidden_home {
                continue;
            }
            let private = private(state_dir, index);
            make(&private)?;
            self.bind("--bind", &private, &folder);
        }
        self.settings(adapter, person);
        Ok(())
    }

    /// The agent's own folders as they are, with the person's settings read-only.
    pub(super) fn own_state(&mut self, adapter: &Adapter, person: &BTreeMap<String, String>) {
        adapter.state_folders(person).iter().for_each(|folder| self.write(folder));
        self.settings(adapter, person);
    }

    fn settings(&mut self, adapter: &Adapter, person: &BTreeMap<String, String>) {
        let paths = |list: &[String]| list.iter().filter_map(|path| expand(path, person)).collect::<Vec<_>>();
        paths(&adapter.settings).iter().for_each(|path| self.read(path));
        paths(&adapter.login).iter().for_each(|path| self.write(path));
    }

    fn bind(&mut self, how: &str, from: &Path, to: &Path) {
        if let Ok(from) = from.canonicalize() {
            let to = to.canonicalize().unwrap_or_else(|_| to.to_owned());
            self.add(&[how, &text(&from), &text(&to)]);
        }
    }

    fn add(&mut self, args: &[&str]) {
        self.0.extend(args.iter().map(|arg| (*arg).to_owned()));
    }
}

/// The private folder in place of the `index`th of the agent's own.
pub(crate) fn private(state_dir: &Path, index: usize) -> PathBuf {
    state_dir.join(index.to_string())
}

fn make(folder: &Path) -> Result<(), SandboxError> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| SandboxError::Prepare { path: folder.to_owned(), source })
}

/// The folder that a program needs: its package, or its own folder; never the whole home.
fn package(home: &Path, program: &Path) -> PathBuf {
    let modules = program.ancestors().filter(|folder| folder.ends_with("node_modules")).last();
    let folder = modules.or(program.parent()).filter(|folder| !home.starts_with(folder));
    folder.unwrap_or(program).to_owned()
}
