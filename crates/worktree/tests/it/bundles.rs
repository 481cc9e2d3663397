//! Work moves from one runner to another, with its branch and what is not committed; nothing else gets in that way.

use std::path::Path;

use domain::WorkspaceId;
use worktree::{Plan, Progress, Start, Workspace, Worktrees};

use crate::support::{Bench, content, git, write};

const LIMIT: usize = 8 << 20;

async fn take(trees: &Worktrees, plan: Plan, file: &Path) -> worktree::Result<Workspace> {
    let plan = Plan { from: Some(Start::Bundle(file.to_owned())), ..plan };
    trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await
}

#[tokio::test]
async fn another_runner_goes_on_where_the_first_one_was() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    write(&made.path, "README.md", "committed\nworld\n");
    git(&made.path, &["commit", "-qam", "committed"]);
    write(&made.path, "src/lib.rs", "fn uncommitted() {}\n");
    write(&made.path, "untracked", "x\n");
    std::fs::remove_file(made.path.join(".gitignore")).unwrap();
    // The base goes on meanwhile.
    write(&bench.seed(), "later", "x\n");
    git(&bench.seed(), &["add", "-A"]);
    git(&bench.seed(), &["commit", "-qm", "later"]);
    git(&bench.seed(), &["push", "-q", "origin", "main"]);
    let packed = bench.trees.pack(made.facts.id, LIMIT).await.unwrap();
    assert_eq!(packed.base, made.facts.base_commit);
    assert_eq!(packed.head, Some(git(&made.path, &["rev-parse", "HEAD"])));
    let file = bench.path().join("one.bundle");
    std::fs::write(&file, &packed.bytes).unwrap();
    let trees = bench.elsewhere().await;
    let taken = take(&trees, bench.plan("work"), &file).await.unwrap();
    assert_eq!(content(&taken.path), content(&made.path));
    assert_eq!(taken.facts.base_commit, made.facts.base_commit);
    let status = |dir: &Path| git(dir, &["status", "--porcelain"]);
    assert_eq!(status(&taken.path), status(&made.path));
    assert_eq!(git(&taken.path, &["rev-parse", "HEAD", "work"]), git(&made.path, &["rev-parse", "HEAD", "work"]));
    let (one, other) =
        (bench.trees.examine(made.facts.id, 1000).await.unwrap(), trees.examine(taken.facts.id, 1000).await.unwrap());
    assert_eq!((one.files, one.patch, one.tree), (other.files, other.patch, other.tree));
    // Asked again, it says the same, and nothing is left behind.
    assert_eq!(bench.trees.pack(made.facts.id, LIMIT).await.unwrap().head, packed.head);
}

#[tokio::test]
async fn a_folder_without_a_repository_moves_too() {
    let bench = Bench::new().await;
    let id = WorkspaceId::generate();
    let made = bench.trees.create(id, &Plan::default(), &Progress::none()).await.unwrap();
    write(&made.path, "notes/a.md", "hello\n");
    let packed = bench.trees.pack(id, LIMIT).await.unwrap();
    let file = bench.path().join("one.bundle");
    std::fs::write(&file, &packed.bytes).unwrap();
    let taken = take(&bench.elsewhere().await, Plan::default(), &file).await.unwrap();
    assert_eq!(content(&taken.path), content(&made.path));
}

#[tokio::test]
async fn a_branch_of_the_repository_counts_as_work() {
    let bench = Bench::new().await;
    let seed = bench.seed();
    git(&seed, &["checkout", "-qb", "theirs"]);
    write(&seed, "new", "x\n");
    git(&seed, &["add", "-A"]);
    git(&seed, &["commit", "-qm", "new"]);
    git(&seed, &["push", "-q", "origin", "theirs"]);
    let start = |name: &str| Plan { from: Some(Start::Branch(name.parse().unwrap())), ..bench.plan("check") };
    let made = bench.trees.create(WorkspaceId::generate(), &start("theirs"), &Progress::none()).await.unwrap();
    let found = bench.trees.examine(made.facts.id, 1000).await.unwrap();
    assert_eq!((found.new_commits, found.files.len(), found.uncommitted.len()), (1, 1, 0));
    let error = bench.trees.create(WorkspaceId::generate(), &start("nowhere"), &Progress::none()).await.unwrap_err();
    assert!(error.to_string().contains("no branch `nowhere`"), "{error}");
}

#[tokio::test]
async fn a_foreign_or_broken_bundle_is_refused() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    write(&made.path, "x", "y");
    let good = bench.trees.pack(made.facts.id, LIMIT).await.unwrap().bytes;
    let secret = bench.path().join("secret.git");
    git(&bench.path(), &["clone", "-q", "--bare", bench.seed().to_str().unwrap(), "secret.git"]);
    let other = bench.path().join("other.bundle");
    git(&bench.seed(), &["bundle", "create", "-q", other.to_str().unwrap(), "main"]);
    let mut flipped = good.clone();
    let at = flipped.len() - 40;
    flipped[at] ^= 1;
    let cases: [(&str, Vec<u8>); 6] = [
        ("empty", vec![]),
        ("a file that names a folder", format!("gitdir: {}\n", secret.display()).into_bytes()),
        ("cut off", good[..good.len() / 2].to_vec()),
        ("changed by one bit", flipped),
        ("of another kind", std::fs::read(&other).unwrap()),
        ("only a head", b"# v2 git bundle\n".to_vec()),
    ];
    let trees = bench.elsewhere().await;
    for (what, bytes) in cases {
        let file = bench.path().join("bad.bundle");
        std::fs::write(&file, bytes).unwrap();
        let error = take(&trees, bench.plan("work"), &file).await.expect_err(what);
        assert!(error.to_string().contains("is not usable"), "{what}: {error}");
    }
    assert_eq!(trees.list().await.unwrap().len(), 0);
    let file = bench.path().join("good.bundle");
    std::fs::write(&file, good).unwrap();
    take(&trees, bench.plan("work"), &file).await.unwrap();
}

#[tokio::test]
async fn work_over_the_limit_is_not_packed() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    let noise: Vec<u8> = (0..300_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    write(&made.path, "large", noise);
    let error = bench.trees.pack(made.facts.id, 100_000).await.unwrap_err();
    assert!(error.to_string().contains("100000 bytes"), "{error}");
    bench.trees.pack(made.facts.id, LIMIT).await.unwrap();
}
