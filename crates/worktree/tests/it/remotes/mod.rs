//! Branches are published and land at remotes, over https with a password and over ssh.
//!
//! What git finds comes from the environment of its runner, so each case runs in a process of its own. The key is for
//! these tests only: it belongs to a certificate for 127.0.0.1 that nobody else trusts.

mod https;
mod ssh;

use std::ffi::OsString;
use std::process::Command;

use worktree::{
    BranchName, Candidate, Error, Landed, Location, Method, Oid, Options, Plan, Progress, Published, Stacked,
};
use worktree::{CredentialHelper, Worktrees};

use crate::publishing::hook;
use crate::support::{Bench, git, write};

/// Runs the ignored case of this name with further environment, and wants it to pass.
fn rerun(case: &str, env: &[(&str, OsString)]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", case, "--ignored", "--nocapture"]).envs(env.iter().cloned());
    let output = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// A bench whose workspaces are of a remote on this machine.
async fn bench(ssh: bool, helpers: Vec<CredentialHelper>) -> Bench {
    let mut bench = Bench::new().await;
    let options = Options { ssh, helpers, private_hosts: true, ..Options::default() };
    bench.trees = Worktrees::open(&bench.path().join("remote"), options).await.unwrap();
    bench
}

/// A workspace's commit that is too large for one request.
async fn work(bench: &Bench, location: &Location) -> Oid {
    let plan = Plan { location: Some(location.clone()), branch: Some("work".parse().unwrap()), ..Plan::default() };
    let id = domain::WorkspaceId::generate();
    let made = bench.trees.create(id, &plan, &Progress::none()).await.unwrap();
    let mut seed = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        seed.to_be_bytes()[0]
    })
    .take(3 << 20)
    .collect();
    write(&made.path, "work.bin", noise);
    git(&made.path, &["add", "-A"]);
    git(&made.path, &["commit", "-qm", "work"]);
    bench.trees.keep_work(id, "work").await.unwrap().commit
}

/// The commit that merges work into a tip.
async fn merged(bench: &Bench, location: &Location, tip: &Oid, head: &Oid) -> Oid {
    bench.trees.refresh(location, &Progress::none()).await.unwrap();
    let one = Candidate { name: "work".into(), head: head.clone(), title: "work".into(), method: Method::Merge };
    let mut levels = bench.trees.stack(location, tip, &[one]).await.unwrap();
    match levels.pop().unwrap().built {
        Stacked::Built { commit, .. } => commit,
        other => panic!("{other:?}"),
    }
}

/// A branch appears at the remote, and its merge lands there, only from the tip on which it was built.
async fn publishes_and_lands(bench: &Bench, location: &Location) {
    let origin = bench.path().join("origin.git");
    let (branch, main): (BranchName, BranchName) = ("shopfloor/work".parse().unwrap(), "main".parse().unwrap());
    let base = bench.tip("main");
    let head = work(bench, location).await;
    let publish = || bench.trees.publish(location, &branch, &head, None);
    assert_eq!(publish().await.unwrap(), Published::Created);
    assert_eq!(publish().await.unwrap(), Published::Already);
    assert_eq!(bench.tip("shopfloor/work"), head);
    // Somebody pushes meanwhile.
    let commit = merged(bench, location, &base, &head).await;
    let newer = bench.branch("main", base.as_str(), "newer.txt", "newer\n");
    let land = |base, commit| bench.trees.land(location, &main, base, commit);
    assert_eq!(land(&base, &commit).await.unwrap(), Landed::Moved { tip: Some(newer.clone()) });
    let commit = merged(bench, location, &newer, &head).await;
    hook(&origin, "update", "echo \"$1 is protected\" >&2; exit 1");
    let Landed::Declined { why } = land(&newer, &commit).await.unwrap() else { panic!("it is protected") };
    assert!(why.starts_with("refs/heads/main is protected; "), "{why}");
    let error = bench.trees.publish(location, &"other".parse().unwrap(), &head, None).await.unwrap_err();
    assert!(matches!(&error, Error::Declined { why, .. } if why.contains("is protected")), "{error}");
    std::fs::remove_file(origin.join("hooks/update")).unwrap();
    assert_eq!(land(&newer, &commit).await.unwrap(), Landed::Landed);
    assert_eq!(bench.tip("main"), commit);
    assert_eq!(land(&newer, &commit).await.unwrap(), Landed::Already);
}
