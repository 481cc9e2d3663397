//! What a runner needs of this machine: that it runs, room on the disk, and enough file watches.

use std::path::Path;

use protocol::{Call, Me, Runner};

use super::Check;
use crate::Context;
use crate::commands::runner::Noted;
use crate::commands::words;

/// Below this, workspaces soon have no room.
const ROOM: u64 = 5 << 30;
/// Enough for some dozens of busy workspaces.
const WATCHES: u64 = 65_536;
const INSTANCES: u64 = 128;

/// Looks at all of it.
pub(crate) async fn check(context: &Context) -> Vec<Check> {
    let dir = context.settings.data_dir.value.join("runner");
    let (watches, instances) = (limit("max_user_watches"), limit("max_user_instances"));
    let mut checks = check_troubles(context).await;
    // A runner that runs is not well if it cannot work.
    if !checks.iter().any(Check::is_broken) {
        checks.insert(0, check_running(&dir));
    }
    checks.push(check_room(&dir, room(&dir)));
    checks.extend(watches.zip(instances).map(|(watches, instances)| check_watches(watches, instances)));
    checks
}

/// The runners of the hub that say that they cannot work.
async fn check_troubles(context: &Context) -> Vec<Check> {
    let Ok(client) = context.client() else { return Vec::new() };
    // Whether the hub answers is another check's to say.
    let Ok(me) = client.ask::<Me>(Call::Me {}).await else { return Vec::new() };
    let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await.unwrap_or_default();
    let own = |runner: &Runner| me.user.as_ref().is_some_and(|me| me.id == runner.owner.id);
    runners.iter().filter(|runner| runner.connected).filter_map(|runner| trouble(runner, own(runner))).collect()
}

/// That a runner cannot work. Its owner's `doctor` fails with it; others only hear of it.
fn trouble(runner: &Runner, own: bool) -> Option<Check> {
    let why = runner.trouble.as_ref()?;
    let detail = format!("`{}` of {} cannot work: {why}", runner.name, runner.owner.name);
    let check = Check::missing("runner", detail, "make room on its disk; it recovers by itself");
    Some(if own { check.required() } else { check })
}

fn check_running(dir: &Path) -> Check {
    match Noted::of_running(dir) {
        Ok(Some(noted)) if noted.pid == 0 => Check::ok("runner", format!("one runs; {}", noted.process())),
        Ok(Some(noted)) => Check::ok("runner", format!("{} for {}", noted.process(), noted.hub)),
        Ok(None) => {
            let advice = "`shopfloor up` has one beside the hub; elsewhere, `shopfloor runner --hub URL` runs one";
            Check::warn("runner", "none runs on this machine for you", advice)
        }
        Err(failure) => Check::warn("runner", failure.render(false), "make its folder yours"),
    }
}

/// What is free where `dir` is or will be.
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
        None => Check::warn("disk", format!("could not find out what is free in {shown}"), "look yourself"),
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
    Check::warn("inotify", format!("{detail}: changes in many workspaces are seen late"), advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Status;

    #[test]
    fn what_is_too_little_is_said_with_what_to_do() {
        assert_eq!(check_room(Path::new("/x"), Some(ROOM)).status, Status::Ok);
        assert_eq!(check_room(Path::new("/x"), Some(ROOM - 1)).status, Status::Warn);
        assert_eq!(check_watches(WATCHES, INSTANCES).status, Status::Ok);
        assert!(check_watches(8_192, INSTANCES).advice.unwrap().contains("max_user_watches"));
    }
}
