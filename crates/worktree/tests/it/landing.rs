//! A tested commit lands on its branch, fast-forward from its base, or nothing changes.

use std::path::{Path, PathBuf};

use worktree::{BranchName, Candidate, Landed, Location, Method, Oid, Stacked};

use crate::publishing::hook;
use crate::support::{Bench, content, git, write};

fn main() -> BranchName {
    "main".parse().unwrap()
}

/// The commit that merges a new branch into main.
async fn built(bench: &Bench, location: &Location, name: &str, base: &Oid, head: Oid) -> Oid {
    bench.trees.refresh(location, &worktree::Progress::none()).await.unwrap();
    let one = Candidate { name: name.into(), head, title: name.into(), method: Method::Merge };
    let mut levels = bench.trees.stack(location, base, &[one]).await.unwrap();
    match levels.pop().unwrap().built {
        Stacked::Built { commit, .. } => commit,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_commit_lands_once_and_only_on_its_base() {
    let bench = Bench::new().await;
    let origin = bench.origin();
    let base = bench.tip("main");
    let one = built(&bench, &origin, "one", &base, bench.branch("one", "main", "one.txt", "1\n")).await;
    let two = built(&bench, &origin, "two", &base, bench.branch("two", base.as_str(), "two.txt", "2\n")).await;
    let target = main();
    let land = |commit, base| bench.trees.land(&origin, &target, base, commit);
    assert_eq!(land(&one, &base).await.unwrap(), Landed::Landed);
    assert_eq!(bench.tip("main"), one);
    assert_eq!(land(&one, &base).await.unwrap(), Landed::Already);
    assert_eq!(land(&two, &base).await.unwrap(), Landed::Moved { tip: Some(one.clone()) });
    // Not even with the right lease: it would take `one` away.
    assert!(land(&two, &one).await.is_err());
    // It is there, below something newer that this runner has not seen.
    git(&bench.seed(), &["fetch", "-q", "origin", "main"]);
    let newer = bench.branch("main", "FETCH_HEAD", "newer", "x\n");
    assert_eq!(land(&one, &base).await.unwrap(), Landed::Already);
    assert_eq!(land(&two, &base).await.unwrap(), Landed::Moved { tip: Some(newer.clone()) });
    assert_eq!(bench.tip("main"), newer);
    git(&bench.path().join("origin.git"), &["update-ref", "-d", "refs/heads/main"]);
    assert_eq!(land(&two, &base).await.unwrap(), Landed::Moved { tip: None });
}

#[tokio::test]
async fn a_protected_branch_says_why() {
    let bench = Bench::new().await;
    let base = bench.tip("main");
    let one = built(&bench, &bench.origin(), "one", &base, bench.branch("one", "main", "one.txt", "1\n")).await;
    hook(&bench.path().join("origin.git"), "update", "echo \"$1 is protected\" >&2; exit 1");
    let landed = bench.trees.land(&bench.origin(), &main(), &base, &one).await.unwrap();
    assert_eq!(
        landed,
        Landed::Declined {
            why: "refs/heads/main is protected; error: hook declined to update refs/heads/main; hook declined".into()
        }
    );
    assert_eq!(bench.tip("main"), base);
}

/// A folder of a person, with main checked out, and a merge of a branch that changes and adds a file.
async fn folder(bench: &Bench) -> (PathBuf, Location, Oid, Oid) {
    let seed = bench.seed();
    let location: Location = seed.to_str().unwrap().parse().unwrap();
    let base: Oid = git(&seed, &["rev-parse", "main"]).parse().unwrap();
    git(&seed, &["checkout", "-qb", "one"]);
    write(&seed, "README.md", "hello\nlanded\n");
    write(&seed, "new.txt", "new\n");
    git(&seed, &["add", "-A"]);
    git(&seed, &["commit", "-qm", "one"]);
    let head = git(&seed, &["rev-parse", "HEAD"]).parse().unwrap();
    git(&seed, &["checkout", "-q", "main"]);
    let commit = built(bench, &location, "one", &base, head).await;
    (seed, location, base, commit)
}

#[tokio::test]
async fn a_clean_checkout_follows_with_files_and_index() {
    let bench = Bench::new().await;
    let (seed, location, base, commit) = folder(&bench).await;
    write(&seed, "untracked", "mine\n");
    write(&seed, ".env", "mine\n");
    assert_eq!(bench.trees.land(&location, &main(), &base, &commit).await.unwrap(), Landed::Landed);
    assert_eq!(git(&seed, &["rev-parse", "HEAD"]), commit.to_string());
    assert_eq!(git(&seed, &["status", "--porcelain"]), "?? untracked");
    assert_eq!(std::fs::read_to_string(seed.join("README.md")).unwrap(), "hello\nlanded\n");
    assert_eq!(bench.trees.land(&location, &main(), &base, &commit).await.unwrap(), Landed::Already);
}

#[tokio::test]
async fn a_folder_with_another_branch_checked_out_is_not_touched() {
    let bench = Bench::new().await;
    let (seed, location, base, commit) = folder(&bench).await;
    git(&seed, &["checkout", "-q", "-b", "mine"]);
    write(&seed, "README.md", "in the middle\n");
    let before = content(&seed);
    assert_eq!(bench.trees.land(&location, &main(), &base, &commit).await.unwrap(), Landed::Landed);
    assert_eq!(content(&seed), before);
    assert_eq!(git(&seed, &["rev-parse", "main"]), commit.to_string());
}

async fn stays(bench: &Bench, seed: &Path, location: &Location, (base, commit): (&Oid, &Oid), paths: &[&str]) {
    let before = (content(seed), git(seed, &["status", "--porcelain"]));
    let landed = bench.trees.land(location, &main(), base, commit).await.unwrap();
    assert_eq!(landed, Landed::CheckedOut { paths: paths.iter().map(|path| (*path).to_owned()).collect() });
    assert_eq!((content(seed), git(seed, &["status", "--porcelain"])), before);
    assert_eq!(git(seed, &["rev-parse", "main"]), base.to_string());
}

#[tokio::test]
async fn uncommitted_work_in_a_checkout_is_never_touched() {
    let bench = Bench::new().await;
    let (seed, location, base, commit) = folder(&bench).await;
    let both = (&base, &commit);
    write(&seed, "src/lib.rs", "mine\n");
    stays(&bench, &seed, &location, both, &["src/lib.rs"]).await;
    git(&seed, &["add", "-A"]);
    stays(&bench, &seed, &location, both, &["src/lib.rs"]).await;
    git(&seed, &["reset", "-q", "--hard"]);
    write(&seed, "new.txt", "mine, in no commit\n");
    stays(&bench, &seed, &location, both, &["new.txt"]).await;
    write(&seed, ".git/info/exclude", "new.txt\n");
    stays(&bench, &seed, &location, both, &["new.txt"]).await;
    std::fs::remove_file(seed.join("new.txt")).unwrap();
    assert_eq!(bench.trees.land(&location, &main(), &base, &commit).await.unwrap(), Landed::Landed);
}

#[tokio::test]
async fn another_worktree_of_the_folder_counts_too() {
    let bench = Bench::new().await;
    let (seed, location, base, commit) = folder(&bench).await;
    git(&seed, &["checkout", "-q", "--detach"]);
    git(&seed, &["worktree", "add", "-q", "../beside", "main"]);
    let beside = bench.path().join("beside");
    write(&beside, "README.md", "mine\n");
    let landed = bench.trees.land(&location, &main(), &base, &commit).await.unwrap();
    assert_eq!(landed, Landed::CheckedOut { paths: vec!["README.md".into()] });
    git(&beside, &["checkout", "-q", "README.md"]);
    assert_eq!(bench.trees.land(&location, &main(), &base, &commit).await.unwrap(), Landed::Landed);
    assert_eq!(git(&beside, &["status", "--porcelain"]), "");
    assert!(beside.join("new.txt").exists());
}

#[tokio::test]
async fn a_landing_that_was_killed_halfway_is_finished() {
    let bench = Bench::new().await;
    let (seed, location, base, commit) = folder(&bench).await;
    // The files are there, the branch is not.
    let store = std::fs::read_dir(bench.data().join("repositories")).unwrap().next().unwrap().unwrap().path();
    git(&seed, &["fetch", "-q", store.to_str().unwrap(), commit.as_str()]);
    git(&seed, &["read-tree", "-u", "-m", "HEAD", commit.as_str()]);
    assert_ne!(git(&seed, &["status", "--porcelain"]), "");
    assert_eq!(bench.trees.land(&location, &main(), &base, &commit).await.unwrap(), Landed::Landed);
    assert_eq!(git(&seed, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_checkout_follows_by_its_owners_line_ends() {
    let bench = Bench::new().await;
    let seed = bench.seed();
    write(&seed, ".gitattributes", "*.txt text eol=crlf\n");
    git(&seed, &["add", "-A"]);
    git(&seed, &["commit", "-qm", "line ends"]);
    let (seed, location, base, commit) = folder(&bench).await;
    assert_eq!(bench.trees.land(&location, &main(), &base, &commit).await.unwrap(), Landed::Landed);
    assert_eq!(std::fs::read_to_string(seed.join("new.txt")).unwrap(), "new\r\n");
    assert_eq!(git(&seed, &["status", "--porcelain"]), "");
}
