//! A branch appears at its repository; nobody else's is touched, and neither is a checkout.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use worktree::{BranchName, Error, Location, Oid, Published};

use crate::support::{Bench, content, git, write};

fn name(text: &str) -> BranchName {
    text.parse().unwrap()
}

/// A hook in a repository of this machine.
pub(crate) fn hook(git_dir: &Path, which: &str, text: &str) {
    write(git_dir, &format!("hooks/{which}"), format!("#!/bin/sh\n{text}\n"));
    let file = git_dir.join("hooks").join(which);
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Two commits of a workspace, the second not after the first.
async fn two(bench: &Bench) -> (Oid, Oid) {
    let made = bench.workspace("work").await;
    let mut commits = Vec::new();
    for text in ["1", "2"] {
        write(&made.path, "work.txt", text);
        git(&made.path, &["add", "-A"]);
        git(&made.path, &["commit", "-q", "--amend", "-m", text]);
        commits.push(bench.trees.keep_work(made.facts.id, "work").await.unwrap().commit);
    }
    let second = commits.pop().unwrap();
    (commits.pop().unwrap(), second)
}

#[tokio::test]
async fn a_branch_appears_and_moves_only_from_what_was_published() {
    let bench = Bench::new().await;
    let (first, second) = two(&bench).await;
    let (origin, branch) = (bench.origin(), name("shopfloor/work"));
    let publish = |commit, expect| bench.trees.publish(&origin, &branch, commit, expect);
    assert_eq!(bench.trees.fetch_tip(&origin, &branch).await.unwrap(), None);
    assert_eq!(publish(&first, None).await.unwrap(), Published::Created);
    assert_eq!(publish(&first, None).await.unwrap(), Published::Already);
    assert_eq!(bench.trees.fetch_tip(&origin, &branch).await.unwrap(), Some(first.clone()));
    let error = publish(&second, None).await.unwrap_err();
    assert!(matches!(error, Error::Theirs { .. }), "{error}");
    assert_eq!(publish(&second, Some(&first)).await.unwrap(), Published::Moved);
    // Somebody moved it meanwhile.
    let main = bench.tip("main");
    git(&bench.path().join("origin.git"), &["update-ref", "refs/heads/shopfloor/work", main.as_str()]);
    let error = publish(&first, Some(&second)).await.unwrap_err();
    assert!(matches!(&error, Error::Theirs { tip, .. } if *tip == main.to_string()), "{error}");
    assert_eq!(bench.tip("shopfloor/work"), main);
    // Somebody deleted it: it is put there again.
    git(&bench.path().join("origin.git"), &["update-ref", "-d", "refs/heads/shopfloor/work"]);
    assert_eq!(publish(&first, Some(&second)).await.unwrap(), Published::Created);
    let error = bench.trees.publish(&origin, &name("shopfloor"), &first, None).await.unwrap_err();
    assert!(matches!(error, Error::BranchTaken { .. }), "{error}");
    let unknown = "1234567890123456789012345678901234567890".parse().unwrap();
    let error = publish(&unknown, Some(&first)).await.unwrap_err();
    assert!(matches!(error, Error::NoWork { .. }), "{error}");
}

#[tokio::test]
async fn a_folder_with_a_checkout_stays_as_it_is() {
    let bench = Bench::new().await;
    let seed = bench.seed();
    let folder: Location = seed.to_str().unwrap().parse().unwrap();
    write(&seed, "README.md", "changed\n");
    write(&seed, "untracked", "x\n");
    let plan = worktree::Plan { location: Some(folder.clone()), ..bench.plan("work") };
    let id = domain::WorkspaceId::generate();
    let made = bench.trees.create(id, &plan, &worktree::Progress::none()).await.unwrap();
    write(&made.path, "work.txt", "1\n");
    git(&made.path, &["add", "-A"]);
    git(&made.path, &["commit", "-qm", "work"]);
    let kept = bench.trees.keep_work(id, "work").await.unwrap();
    // Whatever the folder's own setting is.
    git(&seed, &["config", "receive.denyCurrentBranch", "ignore"]);
    let before = (content(&seed), git(&seed, &["status", "--porcelain"]));
    bench.trees.publish(&folder, &name("work"), &kept.commit, None).await.unwrap();
    assert_eq!(git(&seed, &["rev-parse", "work"]), kept.commit.to_string());
    let main: Oid = git(&seed, &["rev-parse", "main"]).parse().unwrap();
    let error = bench.trees.publish(&folder, &name("main"), &kept.commit, Some(&main)).await.unwrap_err();
    assert!(matches!(error, Error::InUse { .. }), "{error}");
    assert_eq!((content(&seed), git(&seed, &["status", "--porcelain"])), before);
    assert_eq!(git(&seed, &["rev-parse", "main"]), main.to_string());
}

#[tokio::test]
async fn a_repository_can_decline_with_its_own_words() {
    let bench = Bench::new().await;
    let (first, _) = two(&bench).await;
    let origin = bench.path().join("origin.git");
    hook(&origin, "pre-receive", "echo 'only on Tuesdays' >&2; exit 1");
    let error = bench.trees.publish(&bench.origin(), &name("work"), &first, None).await.unwrap_err();
    let Error::Declined { why, .. } = &error else { panic!("{error}") };
    assert_eq!(why, "only on Tuesdays; pre-receive hook declined");
    let nowhere: Location = bench.path().join("nowhere").to_str().unwrap().parse().unwrap();
    let error = bench.trees.fetch_tip(&nowhere, &name("main")).await.unwrap_err();
    assert!(matches!(error, Error::NoRepository { .. }), "{error}");
}
