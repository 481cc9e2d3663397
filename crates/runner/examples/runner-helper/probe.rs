//! Tries from inside a sandbox what must not be possible there, and writes down what came of it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::unistd::Pid;
use rustix::net::{AddressFamily, SocketType};
use serde_json::Value;

/// The words after the program's name that stand for these processes.
pub(crate) const ALL: &str = "probe";
pub(crate) const ONE: &str = "probe-one";

const DIAL: Duration = Duration::from_secs(3);
const NOTHING: Option<&str> = None;

type Tried = Result<String, String>;

/// Tries each of a list, `[[name, what, arguments…]…]`, in a process of its own; `answers.json` has what came of it: a text
/// where it was possible, null where not.
pub(crate) fn all(asked: &str) -> i32 {
    let Ok(probes) = serde_json::from_str::<Vec<Vec<String>>>(asked) else { return 64 };
    let mut answers: BTreeMap<String, Value> = BTreeMap::new();
    let me = std::env::current_exe().unwrap_or_default();
    for probe in probes {
        let (name, what) = (probe[0].clone(), serde_json::to_string(&probe[1..]).unwrap_or_default());
        let ran = std::process::Command::new(&me).args([ONE, &what]).output();
        let answer = match ran {
            Ok(output) if output.status.success() => {
                Value::String(String::from_utf8_lossy(&output.stdout).into_owned())
            }
            Ok(output) if output.status.code() == Some(1) => Value::Null,
            other => Value::String(format!("THE PROBE BROKE: {other:?}")),
        };
        answers.insert(name, answer);
    }
    let written = File::create("answers.json").map(|file| serde_json::to_writer(file, &answers).is_ok());
    i32::from(!written.unwrap_or(false))
}

/// Tries one: 0 and what it got, or 1.
pub(crate) fn one(asked: &str) -> i32 {
    let Ok(words) = serde_json::from_str::<Vec<String>>(asked) else { return 64 };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match attempt(&words) {
        Some(Ok(got)) => i32::from(std::io::stdout().write_all(got.as_bytes()).is_err()),
        Some(Err(_)) => 1,
        None => 64,
    }
}

fn attempt(words: &[&str]) -> Option<Tried> {
    let said = |done: std::io::Result<()>| done.map(|()| "done".to_owned()).map_err(|error| error.to_string());
    let called = |done: nix::Result<()>| done.map(|()| "done".to_owned()).map_err(|error| error.to_string());
    Some(match words {
        ["read", path] => read(Path::new(path)),
        ["open", path] => said(OpenOptions::new().write(true).open(path).map(drop)),
        ["spoil", path] => spoil(Path::new(path)),
        ["link", path] => said(std::fs::hard_link(path, "linked").map(drop)),
        ["symlink", path] => {
            said(std::os::unix::fs::symlink(path, "leads-out")).and_then(|_| read("leads-out".as_ref()))
        }
        ["connect", path] => said(UnixStream::connect(path).map(drop)),
        ["abstract", name] => {
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name);
            said(address.and_then(|address| UnixStream::connect_addr(&address)).map(drop))
        }
        ["dial", address] => {
            let address: SocketAddr = address.parse().ok()?;
            said(TcpStream::connect_timeout(&address, DIAL).map(drop))
        }
        ["listen"] => listen(),
        ["mount"] => called(mount(NOTHING, "/mnt", Some("tmpfs"), MsFlags::empty(), NOTHING)),
        ["remount", path] => called(mount(NOTHING, *path, NOTHING, MsFlags::MS_REMOUNT | MsFlags::MS_BIND, NOTHING)),
        ["bind", path] => called(mount(Some("/"), *path, NOTHING, MsFlags::MS_BIND | MsFlags::MS_REC, NOTHING)),
        ["umount", path] => called(umount2(*path, MntFlags::MNT_DETACH)),
        ["pivot_root"] => called(nix::unistd::pivot_root(".", ".")),
        ["chroot"] => called(nix::unistd::chroot(".")),
        ["mknod", "block"] => called(mknod("disk", SFlag::S_IFBLK, Mode::S_IRUSR, makedev(259, 0))),
        ["mknod", "char"] => called(mknod("memory", SFlag::S_IFCHR, Mode::S_IRUSR, makedev(1, 1))),
        ["ptrace", pid] => called(nix::sys::ptrace::attach(Pid::from_raw(pid.parse().ok()?))),
        ["kill", pid] => called(nix::sys::signal::kill(Pid::from_raw(pid.parse().ok()?), None)),
        ["pidfd", pid] => {
            let pid = rustix::process::Pid::from_raw(pid.parse().ok()?)?;
            let opened = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty());
            opened.map(|_| "done".to_owned()).map_err(|error| error.to_string())
        }
        ["setns", path] => match File::open(path) {
            Ok(file) => called(setns(file, CloneFlags::empty())),
            Err(error) => Err(error.to_string()),
        },
        ["unshare", "mounts"] => called(unshare(CloneFlags::CLONE_NEWNS)),
        ["unshare", "network"] => called(unshare(CloneFlags::CLONE_NEWNET)),
        ["reveal", hidden, canary] => reveal(hidden, canary),
        ["hostname"] => called(nix::unistd::sethostname("probe")),
        ["setuid"] => called(nix::unistd::setuid(nix::unistd::Uid::from_raw(1))),
        ["chown", path] => said(std::os::unix::fs::chown(path, Some(1), Some(1))),
        ["raw"] => socket(AddressFamily::INET),
        ["packet"] => socket(AddressFamily::PACKET),
        ["privileges"] => privileges(),
        ["descriptors"] => descriptors(),
        ["mounts", allowed @ ..] => writable_mounts(allowed),
        ["kernel"] => writable_kernel(Path::new("/proc"), 0).ok_or(String::new()),
        _ => return None,
    })
}

/// The beginning of a file, or the names in a folder.
fn read(path: &Path) -> Tried {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|error| error.to_string())?;
        let names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        return if names.is_empty() { Err("empty".to_owned()) } else { Ok(names.join("\n")) };
    }
    let mut bytes = Vec::new();
    let file = OpenOptions::new().read(true).custom_flags_nonblock().open(path);
    let done = file.and_then(|file| file.take(4096).read_to_end(&mut bytes));
    match done {
        Ok(0) => Err("empty".to_owned()),
        Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Opens without waiting, as kernel logs would.
trait Nonblocking {
    fn custom_flags_nonblock(&mut self) -> &mut Self;
}

impl Nonblocking for OpenOptions {
    fn custom_flags_nonblock(&mut self) -> &mut Self {
        use std::os::unix::fs::OpenOptionsExt;
        self.custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits())
    }
}

/// Everything that would harm a file. It may succeed on what is only the sandbox's own: the test looks outside.
fn spoil(path: &Path) -> Tried {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".probe");
    let _ = std::fs::create_dir_all(path.parent().unwrap_or(path));
    let _ = File::create(&beside);
    let _ = OpenOptions::new().append(true).open(path).and_then(|mut file| file.write_all(b"spoilt"));
    let _ = std::fs::write(path, "spoilt");
    let _ = std::fs::rename(path, &beside);
    let _ = std::fs::remove_file(path);
    Err("the test looks outside".to_owned())
}

/// Waits until somebody from outside has come, or has given up and says so by a file.
fn listen() -> Tried {
    let text = |error: std::io::Error| error.to_string();
    let listener = TcpListener::bind(("0.0.0.0", 0)).map_err(text)?;
    listener.set_nonblocking(true).map_err(text)?;
    let port = listener.local_addr().map_err(text)?.port();
    std::fs::write("port.new", port.to_string()).and_then(|()| std::fs::rename("port.new", "port")).map_err(text)?;
    while !Path::new("tried").exists() {
        if listener.accept().is_ok() {
            return Ok("somebody came".to_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    listener.accept().map(|_| "somebody came".to_owned()).map_err(text)
}

/// With namespaces of its own it is root there: what is hidden must stay so.
fn reveal(hidden: &str, canary: &str) -> Tried {
    let (uid, gid) = (nix::unistd::getuid(), nix::unistd::getgid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS).map_err(|error| error.to_string())?;
    let _ = std::fs::write("/proc/self/setgroups", "deny");
    let _ = std::fs::write("/proc/self/uid_map", format!("0 {uid} 1"));
    let _ = std::fs::write("/proc/self/gid_map", format!("0 {gid} 1"));
    for _ in 0..3 {
        let _ = umount2(hidden, MntFlags::MNT_DETACH);
        let _ = umount2("/proc/sys", MntFlags::MNT_DETACH);
        let _ = mount(NOTHING, "/proc/sys", NOTHING, MsFlags::MS_REMOUNT | MsFlags::MS_BIND, NOTHING);
        let _ = mount(NOTHING, "/", NOTHING, MsFlags::MS_REMOUNT | MsFlags::MS_BIND, NOTHING);
    }
    let _ = std::fs::create_dir("proc");
    let fresh = mount(Some("proc"), "proc", Some("proc"), MsFlags::empty(), NOTHING).is_ok();
    let opens = |path: &str| OpenOptions::new().write(true).open(path).is_ok();
    if fresh && opens("proc/sys/kernel/core_pattern") || opens("/proc/sys/kernel/core_pattern") {
        return Ok("the kernel's settings".to_owned());
    }
    if File::create_new("/usr/probe").is_ok() {
        let _ = std::fs::remove_file("/usr/probe");
        return Ok("the system's files".to_owned());
    }
    read(Path::new(canary))
}

fn socket(family: AddressFamily) -> Tried {
    let made = rustix::net::socket(family, SocketType::RAW, None);
    made.map(|_| "done".to_owned()).map_err(|error| error.to_string())
}

/// Privileges that it has, or could get.
fn privileges() -> Tried {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("?").trim().to_owned();
    let any =
        ["CapEff:", "CapPrm:", "CapBnd:", "CapAmb:"].into_iter().find(|name| !value(name).trim_matches('0').is_empty());
    match any {
        Some(name) => Ok(format!("{name} {}", value(name))),
        None if value("NoNewPrivs:") != "1" => Ok("NoNewPrivs is off".to_owned()),
        None => Err("none".to_owned()),
    }
}

/// Open files that came from outside: with a folder among them, nothing is hidden.
fn descriptors() -> Tried {
    let entries = std::fs::read_dir("/proc/self/fd").map_err(|error| error.to_string())?;
    let far = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().parse().is_ok_and(|fd: u32| fd > 2));
    let far = far.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let far: Vec<_> = far.filter(|target| !target.starts_with("/proc") && target.is_absolute()).collect();
    if far.is_empty() { Err("none".to_owned()) } else { Ok(format!("{far:?}")) }
}

/// Mounts of real file systems that can be written, other than these.
fn writable_mounts(allowed: &[&str]) -> Tried {
    let text = std::fs::read_to_string("/proc/self/mountinfo").map_err(|error| error.to_string())?;
    let own = ["tmpfs", "proc", "devpts", "mqueue"];
    let found = text.lines().filter_map(|line| {
        let (front, back) = line.split_once(" - ")?;
        let (point, options) = (front.split(' ').nth(4)?, front.split(' ').nth(5)?);
        let rest = options.split(',').any(|option| option == "rw") && !own.contains(&back.split(' ').next()?);
        // Devices are files of the outer `/dev`, each on a mount of its own.
        (rest && !allowed.contains(&point) && !point.starts_with("/dev/")).then_some(point)
    });
    let found: Vec<&str> = found.collect();
    if found.is_empty() { Err("none".to_owned()) } else { Ok(found.join(" ")) }
}

/// A kernel file that is writable, except those that affect only the writer.
fn writable_kernel(folder: &Path, depth: usize) -> Option<String> {
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let kind = entry.file_type().ok()?;
        let own = depth == 0 && (name.parse::<u32>().is_ok() || ["pressure", "self", "thread-self"].contains(&&*name));
        if kind.is_symlink() || own {
            continue;
        }
        let opened = match kind.is_dir() {
            true if depth < 8 => writable_kernel(&path, depth + 1),
            true => None,
            false => OpenOptions::new().write(true).open(&path).ok().map(|_| path.display().to_string()),
        };
        if opened.is_some() {
            return opened;
        }
    }
    None
}
