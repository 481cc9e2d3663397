//! What a runner needs from this machine: a running process, disk space, and enough file watches.

use std::path::Path;

use protocol::{Call, Me, Runner};

use super::Check;
use crate::Context;
use crate::commands::runner::Noted;
use crate::commands::words;

/// Below this, workspaces soon run out of space.
const ROOM: u64 = 5 << 30;
/// Enough for some dozens of busy workspaces.
const WATCHES: u64 = 65_536;
const INSTANCES: u64 = 128;

/// Runs these checks.
pub(crate) async fn check(context: &Context) -> Vec<Check> {
    let dir = context.settings.data_dir.value.join("runner");
    let (watches, instances) = (limit("max_user_watches"), limit("max_user_instances"));
    let mut checks = check_troubles(context).await;
    // A running runner that cannot work is a problem.
    if !checks.iter().any(Check::is_broken) {
        checks.insert(0, check_running(&dir));
    }
    checks.push(check_room(&dir, room(&dir)));
    checks.extend(watches.zip(instances).map(|(watches, instances)| check_watches(watches, instances)));
    checks
}

/// The hub's runners that report that they cannot work.
async fn check_troubles(context: &Context) -> Vec<Check> {
    let Ok(client) = context.client() else { return Vec::new() };
    // Another check reports whether the hub answers.
    let Ok(me) = client.ask::<Me>(Call::Me {}).await else { return Vec::new() };
    let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await.unwrap_or_default();
    let own = |runner: &Runner| me.user.as_ref().is_some_and(|me| me.id == runner.owner.id);
    runners.iter().filter(|runner| runner.connected).filter_map(|runner| trouble(runner, own(runner))).collect()
}

/// A runner that cannot work: an error in its owner's `doctor`, a warning in other people's.
fn trouble(runner: &Runner, own: bool) -> Option<Check> {
    let why = runner.trouble.as_ref()?;
    let detail = format!("{1}'s runner `{0}` cannot work: {why}", runner.name, runner.owner.name);
    let check = Check::missing("runner", detail, "free disk space on its machine; it then recovers by itself");
    Some(if own { check.required() } else { check })
}

fn check_running(dir: &Path) -> Check {
    match Noted::of_running(dir) {
        Ok(Some(noted)) if noted.pid == 0 => Check::ok("runner", format!("running; {}", noted.process())),
        Ok(Some(noted)) => Check::ok("runner", format!("{} for {}", noted.process(), noted.hub)),
        Ok(None) => {
            let advice = "`shopfloor up` starts one with the hub; on another machine, run `shopfloor runner --hub URL`";
            Check::warn("runner", "no runner of yours runs on this machine", advice)
        }
        Err(failure) => Check::warn("runner", failure.render(false), "make its folder readable for you"),
    }
}

/// The free space of the disk that has, or will have, `dir`.
fn room(dir: &Path) -> Option<u64> {
    let existing = dir.ancestors().find(|dir| dir.exists())?;
    let disk = rustix::fs::statvfs(existing).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn check_room(dir: &Path, free: Option<u64>) -> Check {
    let shown = dir.display();
    match free {
        Some(free) if free >= ROOM => {
            Check::ok("disk", format!("{} free for workspaces in {shown}", words::bytes(free)))
        }
        Some(free) => {
            let advice = "delete workspaces with `shopfloor workspace clean`, or move the data directory";
            Check::warn("disk", format!("only {} free for workspaces in {shown}", words::bytes(free)), advice)
        }
        None => Check::warn("disk", format!("could not read the free space of {shown}"), "check it with `df`"),
    }
}

fn limit(name: &str) -> Option<u64> {
    std::fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?.trim().parse().ok()
}

fn check_watches(watches: u64, instances: u64) -> Check {
    let detail = format!("{watches} watches, {instances} watchers");
    if watches >= WATCHES && instances >= INSTANCES {
        return Check::ok("inotify", detail);
    }
    let advice = "sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512";
    Check::warn("inotify", format!("{detail}: with many workspaces, changes are noticed late"), advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Status;

    #[test]
    fn low_limits_are_reported_with_a_fix() {
        assert_eq!(check_room(Path::new("/x"), Some(ROOM)).status, Status::Ok);
        assert_eq!(check_room(Path::new("/x"), Some(ROOM - 1)).status, Status::Warn);
        assert_eq!(check_watches(WATCHES, INSTANCES).status, Status::Ok);
        assert!(check_watches(8_192, INSTANCES).advice.unwrap().contains("max_user_watches"));
    }
}
