//! What a session in a sandbox reaches: paths and system calls, tried from inside, with every setting, as root and as
//! an ordinary user, with the real bubblewrap.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use domain::{ProjectId, SessionId, WorkspaceId};
use protocol::Sandbox;
use protocol::link::DesiredSession;
use tokio::process::{Child, Command};

use crate::hub::{FakeHub, TOKEN};
use crate::support::{exe, fixture, kill_host, repository, shell};

/// The ordinary user when the tests are run by root.
const NOBODY: u32 = 65_534;

/// The settings in which something can be read or done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Never,
    WithHome,
    WithNetwork,
    Always,
}

/// An attempt, and when it may succeed.
struct Probe {
    name: String,
    words: Vec<String>,
    when: When,
}

/// A machine with a person, a hub, a runner, other people's work, and everything that must stay hidden.
struct Machine {
    area: tempfile::TempDir,
    /// Where the hub's data directory is.
    data: PathBuf,
    user: Option<u32>,
    /// Files that the test made, each with its name in it.
    canaries: Vec<(PathBuf, When)>,
    other: (WorkspaceId, SessionId, ProjectId),
    _doors: Vec<UnixListener>,
    origin: tempfile::TempDir,
    runner: Option<Child>,
}

impl Machine {
    fn new(user: Option<u32>, inside_home: bool) -> Self {
        let area = area(user);
        let home = area.path().join("home");
        let data = if inside_home { home.join("floor") } else { area.path().join("srv") };
        let other = (WorkspaceId::generate(), SessionId::generate(), ProjectId::generate());
        let origin = fixture(&[("file.txt", "one\n")]);
        let mut machine =
            Self { area, data, user, canaries: Vec::new(), other, _doors: Vec::new(), origin, runner: None };
        machine.furnish(&home);
        machine.give();
        machine
    }

    fn furnish(&mut self, home: &Path) {
        let (hub, runner) = (self.data.clone(), self.data.join("runner"));
        let (workspace, session, project) = self.other;
        for name in ["token", "shopfloor.db", "shopfloor.db-wal", "hub.json", "backups/monday.db", "audit/old.json"] {
            self.plant(hub.join(name), When::Never);
        }
        for name in [
            "token",
            "registration.json",
            "runner.log",
            "runner.json",
            "restored/one/secret.txt",
            "bundles/one",
            "repositories/other.git/objects/pack/one.pack",
            "repositories/other.git/packed-refs",
            "repositories/none.git/objects/pack/saves.pack",
        ] {
            self.plant(runner.join(name), When::Never);
        }
        for name in ["tree/secret.txt", "tree/.git/config", "control.git/config", "workspace.json", "setup.log"] {
            self.plant(runner.join(format!("workspaces/{workspace}/{name}")), When::Never);
        }
        for name in ["spec.json", "agent/token", "recording/0.seg", "events.jsonl", "system.md"] {
            self.plant(runner.join(format!("sessions/{session}/{name}")), When::Never);
        }
        self.plant(runner.join(format!("contained/{project}/0/history.jsonl")), When::Never);
        self.plant(self.area.path().join("settings/config.toml"), When::Never);
        self.plant(self.area.path().join("keys/tls.pem"), When::Never);
        for name in
            [".config/shopfloor/config.toml", ".config/shopfloor/agents/one.toml", ".local/share/shopfloor/token"]
        {
            self.plant(home.join(name), When::Never);
        }
        for name in [
            ".ssh/id_ed25519",
            ".aws/credentials",
            ".netrc",
            ".git-credentials",
            ".gnupg/private-keys-v1.d/one.key",
            ".bash_history",
            ".config/gh/hosts.yml",
            ".docker/config.json",
            ".npmrc",
            "documents/diary.txt",
        ] {
            self.plant(home.join(name), When::WithHome);
        }
        // The sandbox has folders of its own in the place of these.
        for folder in ["/tmp", "/var/tmp", "/run"] {
            let path = Path::new(folder).join(format!("shopfloor-canary-{session}"));
            if std::fs::write(&path, "").is_ok() {
                self.plant(path, When::Never);
            }
        }
        for door in [home.join(".docker/run/docker.sock"), runner.join(format!("sessions/{session}/host.sock"))] {
            std::fs::create_dir_all(door.parent().unwrap()).unwrap();
            self._doors.push(UnixListener::bind(short(&door)).unwrap());
        }
    }

    fn plant(&mut self, path: PathBuf, when: When) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, canary(&path)).unwrap();
        self.canaries.push((path, when));
    }

    /// Gives everything to the user.
    fn give(&self) {
        let Some(user) = self.user else { return };
        let planted = self.canaries.iter().map(|(path, _)| path.as_path());
        for top in [self.area.path(), self.origin.path()].into_iter().chain(planted) {
            give(top, user);
        }
    }

    fn runner_dir(&self) -> PathBuf {
        self.data.join("runner")
    }

    fn start(&mut self, hub: &FakeHub) {
        let program = self.area.path().join("runner-helper");
        let log = std::fs::File::options().create(true).append(true).open(self.area.path().join("log")).unwrap();
        let mut command = match self.user {
            None => Command::new(&program),
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()]);
                command.arg(&program);
                command
            }
        };
        command.arg("runner").arg(&hub.url).arg(TOKEN).arg(self.runner_dir());
        let home = self.area.path().join("home");
        let hide = self.area.path().join("keys/tls.pem");
        command.env("HOME", home).env("TEST_CONFIG_DIR", self.area.path().join("settings")).env("TEST_HIDE", hide);
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME").env_remove("TMPDIR");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        self.runner = Some(command.spawn().unwrap());
    }

    /// The attempts of a session in `workspace`.
    fn probes(&self, session: &DesiredSession, outside: &Outside) -> Vec<Probe> {
        use When::{Always, Never, WithHome, WithNetwork};
        let runner = self.runner_dir();
        let own = runner.join("workspaces").join(session.workspace.workspace.to_string());
        let tree = own.join("tree");
        let here = runner.join("sessions").join(session.session.to_string());
        let store = store(&runner);
        let pid = self.runner.as_ref().and_then(Child::id).unwrap();
        let me = std::process::id();
        assert!(pid > 100 && me > 100, "a process inside could have this number");
        let token = self.data.join("token");
        let shown = |path: &Path| path.display().to_string();
        let mut table: Vec<(Vec<String>, When)> = Vec::new();
        let mut add = |words: &[&str], when| table.push((words.iter().map(|word| (*word).to_owned()).collect(), when));

        for (path, when) in &self.canaries {
            add(&["read", &shown(path)], *when);
        }
        for (path, when) in [
            // What is really there, of the runner and of this session.
            (runner.join("journal.db"), Never),
            (runner.join("journal.lock"), Never),
            (own.join("workspace.json"), Never),
            (own.join("control.git/config"), Never),
            (here.join("spec.json"), Never),
            (here.join("host.pid"), Never),
            (here.join("recording"), Never),
            (store.join("config"), Never),
            (store.join("refs"), Never),
            (store.join("info/attributes"), Never),
            (store.join("objects/pack"), Always),
            (tree.join("file.txt"), Always),
            (here.join("agent/token"), Always),
            // Other ways to the same.
            (tree.join("../../../../token"), Never),
            (PathBuf::from(format!("/proc/self/root{}", shown(&token))), Never),
            (PathBuf::from(format!("/proc/1/root{}", shown(&token))), Never),
            (PathBuf::from(format!("/proc/{pid}/root{}", shown(&token))), Never),
            (PathBuf::from(format!("/proc/{pid}/environ")), Never),
            (PathBuf::from(format!("/proc/{me}/environ")), Never),
            (PathBuf::from(format!("/proc/{me}/cwd")), Never),
            (PathBuf::from(format!("/proc/{me}/fd")), Never),
            // The system's own.
            ("/etc/hosts".into(), Always),
            ("/etc/shadow".into(), Never),
            ("/etc/gshadow".into(), Never),
            ("/proc/kcore".into(), Never),
            ("/proc/kmsg".into(), Never),
            ("/dev/kmsg".into(), Never),
            ("/dev/mem".into(), Never),
            ("/dev/vda".into(), Never),
            ("/dev/sda".into(), Never),
            (self.area.path().join("home/documents"), WithHome),
        ] {
            add(&["read", &shown(&path)], when);
        }
        for path in [
            // Only opened: what could be opened here must not be changed.
            "/etc/hosts",
            "/etc/passwd",
            "/etc/shadow",
            "/usr/bin/env",
            "/bin/sh",
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/hostname",
            "/proc/sys/vm/drop_caches",
            "/proc/sysrq-trigger",
            "/proc/mtrr",
            "/sys/fs/cgroup/cgroup.procs",
            "/sys/kernel/uevent_helper",
            "/sys/power/state",
            "/dev/kmsg",
            "/dev/mem",
        ] {
            add(&["open", path], Never);
        }
        add(&["open", &format!("/proc/{pid}/mem")], Never);
        add(&["open", &shown(&runner.join("journal.db"))], Never);
        add(&["open", &shown(&tree.join("file.txt"))], Always);
        add(&["open", &shown(&here.join("agent/token"))], Never);
        add(&["symlink", &shown(&token)], Never);
        add(&["link", &shown(&token)], Never);
        add(&["link", "/etc/passwd"], Never);
        for (path, _) in &self.canaries {
            add(&["spoil", &shown(path)], Never);
        }

        let hidden = shown(&self.data);
        let calls: &[(&[&str], When)] = &[
            (&["mount"], Never),
            (&["remount", "/"], Never),
            (&["remount", "/proc/sys"], Never),
            (&["bind", &shown(&tree)], Never),
            (&["umount", &hidden], Never),
            (&["umount", "/proc/sys"], Never),
            (&["umount", "/tmp"], Never),
            (&["pivot_root"], Never),
            (&["chroot"], Never),
            (&["mknod", "block"], Never),
            (&["mknod", "char"], Never),
            (&["ptrace", &pid.to_string()], Never),
            (&["ptrace", &me.to_string()], Never),
            (&["kill", &pid.to_string()], Never),
            (&["kill", &me.to_string()], Never),
            (&["pidfd", &pid.to_string()], Never),
            (&["setns", &format!("/proc/{pid}/ns/mnt")], Never),
            (&["setns", &format!("/proc/{pid}/ns/net")], Never),
            (&["unshare", "mounts"], Never),
            (&["unshare", "network"], Never),
            (&["reveal", &hidden, &shown(&token)], Never),
            (&["hostname"], Never),
            (&["setuid"], Never),
            (&["chown", &shown(&tree)], Never),
            (&["raw"], Never),
            (&["packet"], Never),
            (&["privileges"], Never),
            (&["descriptors"], Never),
            (&["mounts", &shown(&tree)], Never),
            (&["kernel"], Never),
            (&["connect", &shown(&here.join("host.sock"))], Never),
            (&["connect", &shown(&runner.join(format!("sessions/{}/host.sock", self.other.1)))], Never),
            (&["connect", &shown(&self.area.path().join("home/.docker/run/docker.sock"))], Never),
            (&["abstract", &outside.name], WithNetwork),
            (&["dial", &outside.address], WithNetwork),
            (&["listen"], WithNetwork),
        ];
        calls.iter().for_each(|(words, when)| add(words, *when));
        let named = |(words, when): (Vec<String>, When)| Probe { name: words.join(" "), words, when };
        table.into_iter().map(named).collect()
    }

    /// The state of the person's files.
    fn spoilt(&self) -> Vec<String> {
        let intact = |path: &Path| std::fs::read_to_string(path).is_ok_and(|text| text == canary(path));
        let beside =
            |path: &Path| path.with_file_name(format!("{}.probe", path.file_name().unwrap().to_string_lossy()));
        let spoilt = self.canaries.iter().filter(|(path, _)| !intact(path) || beside(path).exists());
        spoilt.map(|(path, _)| format!("spoilt: {}", path.display())).collect()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!(
                "the runner's log:\n{}",
                std::fs::read_to_string(self.area.path().join("log")).unwrap_or_default()
            );
        }
        for session in std::fs::read_dir(self.runner_dir().join("sessions")).into_iter().flatten().flatten() {
            kill_host(&session.path());
        }
        for (path, _) in self.canaries.iter().filter(|(path, _)| !path.starts_with(self.area.path())) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// What listens outside.
struct Outside {
    address: String,
    name: String,
    _tcp: std::net::TcpListener,
    _abstract: UnixListener,
}

impl Outside {
    fn new() -> Self {
        use std::os::linux::net::SocketAddrExt;
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let name = format!("shopfloor-test-{}", SessionId::generate());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        Self { address: tcp.local_addr().unwrap().to_string(), name, _tcp: tcp, _abstract: listener }
    }
}

/// A folder that the user can reach, outside what every sandbox hides; with our program in it.
fn area(user: Option<u32>) -> tempfile::TempDir {
    let places = [env!("CARGO_TARGET_TMPDIR"), "/srv", "/opt", "/var/lib"];
    for place in places {
        let Ok(area) = tempfile::tempdir_in(place) else { continue };
        std::fs::set_permissions(area.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let reached = user.is_none_or(|user| {
            let mut command = std::process::Command::new("setpriv");
            command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()]);
            command.arg("test").arg("-x").arg(area.path()).status().is_ok_and(|status| status.success())
        });
        if reached {
            let program = area.path().join("runner-helper");
            std::fs::hard_link(exe(), &program).or_else(|_| std::fs::copy(exe(), &program).map(drop)).unwrap();
            return area;
        }
    }
    panic!("user {user:?} reaches none of {places:?}");
}

fn give(path: &Path, user: u32) {
    // Our own program is a link to what the build made.
    if path.ends_with("runner-helper") {
        return;
    }
    std::os::unix::fs::lchown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        std::fs::read_dir(path).unwrap().flatten().for_each(|entry| give(&entry.path(), user));
    }
}

/// What is in a file that the test made.
fn canary(path: &Path) -> String {
    format!("canary of {}", path.display())
}

/// A socket's address has room for about a hundred bytes: a path through the open folder has fewer.
fn short(path: &Path) -> PathBuf {
    let folder = std::fs::File::open(path.parent().unwrap()).unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&folder);
    // The folder stays open as long as the test runs.
    std::mem::forget(folder);
    Path::new(&format!("/proc/self/fd/{fd}")).join(path.file_name().unwrap())
}

/// The store that the workspace borrows from: the only one that a runner made itself.
fn store(runner: &Path) -> PathBuf {
    let stores = std::fs::read_dir(runner.join("repositories")).unwrap().flatten().map(|entry| entry.path());
    let planted = ["other.git", "none.git"];
    let mut own = stores.filter(|path| !planted.iter().any(|name| path.ends_with(name)));
    own.next().unwrap()
}

/// Runs a session in this sandbox that tries everything; returns what it could do but must not, or cannot but must.
async fn wrong(
    hub: &FakeHub,
    machine: &Machine,
    sandbox: Sandbox,
    all: &mut Vec<DesiredSession>,
) -> (usize, Vec<String>) {
    let outside = Outside::new();
    let mut session = shell("");
    session.workspace.repository = Some(repository(machine.origin.path()));
    session.workspace.branch = format!("work-{}", session.workspace.workspace);
    session.sandbox = Some(sandbox.clone());
    // The first session creates the store, whose name is unknown before.
    let mut first = shell("true");
    first.workspace = session.workspace.clone();
    first.project = session.project;
    first.sandbox = session.sandbox.clone();
    all.push(first.clone());
    hub.desire(all.clone());
    let end = hub.over(first.session).await;
    assert_eq!(end.code, Some(0), "{end:?}");
    let probes = machine.probes(&session, &outside);
    let asked: Vec<Vec<&String>> =
        probes.iter().map(|probe| std::iter::once(&probe.name).chain(&probe.words).collect()).collect();
    let program = machine.area.path().join("runner-helper").display().to_string();
    session.argv = vec![program, "probe".to_owned(), serde_json::to_string(&asked).unwrap()];
    all.push(session.clone());
    hub.desire(all.clone());
    let tree = PathBuf::from(hub.workspace(&session).await);
    knock(&tree, hub, &session).await;
    let end = hub.over(session.session).await;
    assert_eq!(end.code, Some(0), "{end:?}");
    let answers: BTreeMap<String, Option<String>> =
        serde_json::from_slice(&std::fs::read(tree.join("answers.json")).unwrap()).unwrap();
    let mut wrong = machine.spoilt();
    for probe in &probes {
        let may = match probe.when {
            When::Never => false,
            When::WithHome => sandbox.home,
            When::WithNetwork => sandbox.network,
            When::Always => true,
        };
        let got = answers[&probe.name].as_deref();
        let broke = got.is_some_and(|got| got.contains("THE PROBE BROKE"));
        if got.is_some() != may || broke {
            wrong.push(format!("{}: {}", probe.name, got.unwrap_or("is not possible any more")));
        }
    }
    (probes.len(), wrong)
}

/// Connects to the socket that the probe opens inside, and reports when done.
async fn knock(tree: &Path, hub: &FakeHub, session: &DesiredSession) {
    let port = testkit::wait_until("the probe listens", || async {
        let over = hub.facts().iter().any(|fact| match &fact.body {
            protocol::link::FactBody::SessionState { session: of, state } => *of == session.session && state.ended(),
            _ => false,
        });
        let port = std::fs::read_to_string(tree.join("port")).ok().and_then(|text| text.parse::<u16>().ok());
        port.map(Some).or_else(|| over.then_some(None))
    });
    if let Some(port) = port.await {
        let _ = std::net::TcpStream::connect(("127.0.0.1", port));
    }
    std::fs::write(tree.join("tried"), "").unwrap();
}

/// Everything, as this user, with the hub's data inside the home or elsewhere.
async fn nothing_leaks(user: Option<u32>, inside_home: bool) {
    let hub = FakeHub::start().await;
    let mut machine = Machine::new(user, inside_home);
    machine.start(&hub);
    hub.connected(1).await;
    let mut all = Vec::new();
    let mut leaks = Vec::new();
    for (home, network) in [(false, false), (false, true), (true, false), (true, true)] {
        let (tried, wrong) = wrong(&hub, &machine, Sandbox { network, home }, &mut all).await;
        println!("user {user:?}, data in home {inside_home}, home {home}, network {network}: {tried} tries");
        assert!(tried >= 150, "{tried}");
        leaks.extend(wrong.into_iter().map(|leak| format!("home {home}, network {network}: {leak}")));
    }
    assert!(leaks.is_empty(), "user {user:?}, data in home {inside_home}:\n{}", leaks.join("\n"));
}

/// Root tries both; an ordinary user can only be itself, and says so.
fn users() -> Vec<Option<u32>> {
    if rustix::process::getuid().is_root() {
        return vec![None, Some(NOBODY)];
    }
    println!("these tests are not run by root: what root could do in a sandbox is NOT tested here");
    vec![None]
}

#[tokio::test]
async fn nothing_of_ours_leaks_into_a_sandbox_when_the_data_is_in_the_home() {
    for user in users() {
        nothing_leaks(user, true).await;
    }
}

#[tokio::test]
async fn nothing_of_ours_leaks_into_a_sandbox_when_the_data_is_elsewhere() {
    for user in users() {
        nothing_leaks(user, false).await;
    }
}
