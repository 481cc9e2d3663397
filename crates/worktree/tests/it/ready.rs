//! Ready workspaces: copied files, setup, ports; what differs, what would be executed, what it takes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::WorkspaceId;
use worktree::{DiffLimits, Error, FileStatus, Plan, PortRange, Progress, Script};

use crate::support::{Bench, git, write};

#[tokio::test]
async fn ignored_files_are_copied_by_list_and_links_are_not_followed() {
    let bench = Bench::new().await;
    let from = bench.path().join("theirs");
    write(&from, ".env", "SECRET=1");
    write(&from, "config/a.local", "a");
    write(&from, "config/deep/b.local", "not matched");
    write(&from, "README.md", "must not replace");
    write(&from, "other.txt", "not listed");
    write(&from, "secrets/keys/one.pem", "in a folder that is named");
    std::os::unix::fs::symlink("/etc/passwd", from.join("config/c.local")).unwrap();
    std::os::unix::fs::symlink("/etc", from.join("config/d.local")).unwrap();
    let copy = [".env", "config/*.local", "README.md", "secrets/"].map(str::to_owned).to_vec();
    let plan = Plan { copy, copy_from: Some(from), ..bench.plan("work") };
    let space = bench.trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await.unwrap();
    assert_eq!(std::fs::read(space.path.join(".env")).unwrap(), b"SECRET=1");
    assert_eq!(std::fs::read(space.path.join("README.md")).unwrap(), b"hello\nworld\n");
    let names: Vec<_> = space.copied.files.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(names, [".env", "config/a.local", "secrets/keys/one.pem"]);
    assert_eq!(space.copied.left_out.len(), 3, "{:?}", space.copied);
    for bad in ["../x", "/etc/passwd", "a/../../b", "", "\0", "a\nb"] {
        let plan = Plan { copy: vec![bad.to_owned()], ..bench.plan("work") };
        let refused = bench.trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await;
        assert!(matches!(refused, Err(Error::Pattern { .. })), "{bad:?}");
    }
}

#[tokio::test]
async fn setup_runs_once_with_a_listed_environment() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    let line = "echo run >> setup.count; env > env.txt; echo $PORT-$SHOPFLOOR_PORT_LAST > port.txt; echo said";
    let script = Script {
        ports: Some(PortRange { first: 4000, last: 4009 }),
        env: vec![("SHOPFLOOR_X".into(), "1".into()), ("LD_PRELOAD".into(), "evil".into())],
        ..Script::new(line)
    };
    let ran = bench.trees.setup(id, &script).await.unwrap();
    assert_eq!(std::fs::read_to_string(&ran.log).unwrap(), "said\n");
    bench.reopened().await.setup(id, &script).await.unwrap();
    assert_eq!(std::fs::read_to_string(space.path.join("setup.count")).unwrap(), "run\n");
    assert_eq!(std::fs::read_to_string(space.path.join("port.txt")).unwrap(), "4000-4009\n");
    let env = std::fs::read_to_string(space.path.join("env.txt")).unwrap();
    assert!(env.contains("SHOPFLOOR_X=1") && !env.contains("LD_PRELOAD") && !env.contains("CARGO"), "{env}");
    let failed = bench.trees.setup(id, &Script::new("echo no >&2; exit 3")).await.unwrap_err();
    assert!(failed.to_string().contains("exit status: 3"), "{failed}");
    let slow = Script { timeout: Duration::from_millis(50), ..Script::new("sleep 600") };
    assert!(matches!(bench.trees.teardown(id, &slow).await, Err(Error::TimedOut { .. })));
}

#[tokio::test]
async fn the_diff_is_what_git_says_with_line_numbers() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    write(&space.path, "src/lib.rs", "fn one() {}\nfn two_and_a_half() {}\nfn three() {}\nfn four() {}\n");
    git(&space.path, &["commit", "-qam", "one"]);
    git(&space.path, &["mv", "README.md", "docs.md"]);
    write(&space.path, "new\n\"file\".txt", "x\n");
    write(&space.path, "image.bin", b"\0\x01");
    std::fs::remove_file(space.path.join(".gitignore")).unwrap();
    std::os::unix::fs::symlink("src", space.path.join(".gitignore")).unwrap();
    write(&space.path, "many.txt", "line\n".repeat(5000));
    let diff = bench.trees.diff(space.facts.id, None, &DiffLimits::default()).await.unwrap();
    let told: Vec<_> = diff
        .files
        .iter()
        .map(|f| (f.path.as_str(), f.status, f.binary, f.insertions, f.deletions, f.truncated))
        .collect();
    assert_eq!(
        told,
        [
            (".gitignore", FileStatus::TypeChanged, false, 1, 3, false),
            ("docs.md", FileStatus::Renamed, false, 0, 0, false),
            ("image.bin", FileStatus::Added, true, 0, 0, false),
            ("many.txt", FileStatus::Added, false, 5000, 0, true),
            ("new\n\"file\".txt", FileStatus::Added, false, 1, 0, false),
            ("src/lib.rs", FileStatus::Modified, false, 2, 1, false),
        ]
    );
    assert_eq!(diff.files[1].old_path.as_deref(), Some("README.md"));
    let lines: Vec<_> = diff.files[5].hunks[0].lines.iter().map(|l| (l.old, l.new, l.text.as_str())).collect();
    assert_eq!(
        lines,
        [
            (Some(1), Some(1), "fn one() {}"),
            (Some(2), None, "fn two() {}"),
            (None, Some(2), "fn two_and_a_half() {}"),
            (Some(3), Some(3), "fn three() {}"),
            (None, Some(4), "fn four() {}"),
        ]
    );
    let few = DiffLimits { files: 2, bytes: 10, ..DiffLimits::default() };
    let diff = bench.trees.diff(space.facts.id, None, &few).await.unwrap();
    assert!(diff.truncated && diff.files.len() == 2 && diff.files[0].truncated, "{diff:?}");
}

#[tokio::test]
async fn an_earlier_tree_is_compared_until_it_is_gone() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    let limits = DiffLimits::default();
    write(&space.path, "notes.txt", "one\n");
    let reported = bench.trees.diff(id, None, &limits).await.unwrap();
    write(&space.path, "notes.txt", "one\ntwo\n");
    write(&space.path, "cache.bin", b"\0");
    let now = bench.trees.diff(id, None, &limits).await.unwrap();
    assert_eq!((reported.files.len(), now.files.len()), (1, 2));
    assert_eq!(bench.trees.diff(id, Some(&reported.tree), &limits).await.unwrap(), reported);
    for unknown in ["0".repeat(40), "not a tree".to_owned(), "--help".to_owned()] {
        assert_eq!(bench.trees.diff(id, Some(&unknown), &limits).await.unwrap(), now, "{unknown}");
    }
}

#[tokio::test]
async fn executable_configuration_is_listed_with_a_hash_that_changes() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    let none = bench.trees.executable_config(id).await.unwrap();
    assert!(none.files.is_empty());
    for name in [".claude/settings.json", ".mcp.json", ".codex/config.toml", "opencode.jsonc", ".opencode/plugin/a.ts"]
    {
        write(&space.path, name, "{}");
    }
    for name in [".gemini/settings.json", ".vscode/tasks.json", ".cursor/mcp.json", ".envrc", ".husky/pre-commit"] {
        write(&space.path, name, "{}");
    }
    write(&space.path, "Makefile", "all:");
    let some = bench.trees.executable_config(id).await.unwrap();
    assert_eq!(some.files.len(), 10, "{some:?}");
    assert_eq!(bench.trees.executable_config(id).await.unwrap(), some);
    write(&space.path, ".opencode/plugin/a.ts", "{ }");
    let other = bench.trees.executable_config(id).await.unwrap();
    assert_ne!(other.sha256, some.sha256);
    // A link instead of the folder must not make it disappear.
    std::fs::rename(space.path.join(".claude"), space.path.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", space.path.join(".claude")).unwrap();
    let linked = bench.trees.executable_config(id).await.unwrap();
    assert!(linked.truncated && linked.files.iter().any(|file| file.path == ".claude"), "{linked:?}");
}

#[tokio::test]
async fn a_second_workspace_costs_no_second_download() {
    let bench = Bench::new().await;
    let big: Vec<u8> = (0..3_000_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    write(&bench.seed(), "big.bin", &big);
    git(&bench.seed(), &["add", "-A"]);
    git(&bench.seed(), &["commit", "-qm", "big"]);
    git(&bench.seed(), &["push", "-q", "origin", "main"]);
    bench.workspace("one").await;
    let store = bench.trees.store_usage(&bench.origin()).await.unwrap();
    assert!(store > 11_000_000);
    let steps = Arc::new(Mutex::new(Vec::new()));
    let told = steps.clone();
    let progress = Progress::new(move |step| told.lock().unwrap().push(step.what));
    let plan = bench.plan("two");
    let space = bench.trees.create(WorkspaceId::generate(), &plan, &progress).await.unwrap();
    assert_eq!(*steps.lock().unwrap(), ["Checking out"], "nothing was received");
    let again = bench.trees.store_usage(&bench.origin()).await.unwrap();
    assert!(again < store + 200_000, "{store} {again}");
    let files = bench.trees.disk_usage(space.facts.id).await.unwrap();
    assert!(files < 12_500_000, "the files once, no objects: {files}");
    let own = git(&space.path, &["count-objects", "-v"]);
    assert!(own.contains("count: 0\n") && own.contains("in-pack: 0\n"), "{own}");
}

/// The priority of a process, as `/proc` has it.
const PRIORITY: &str = "cut -d' ' -f19 /proc/self/stat";

#[tokio::test]
async fn a_setup_has_a_lower_priority_than_its_runner() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let own = std::process::Command::new("sh").args(["-c", PRIORITY]).output().unwrap();
    let read = |text: &str| text.trim().parse::<i32>().unwrap();
    let lower = (read(&String::from_utf8(own.stdout).unwrap()) + worktree::NICE).min(19);
    // The priority is lowered just after the program has started.
    let script = format!("until [ \"$({PRIORITY})\" = {lower} ]; do sleep 0.01; done; {PRIORITY}");
    let ran = bench.trees.setup(space.facts.id, &Script::new(&script)).await.unwrap();
    assert_eq!(read(&std::fs::read_to_string(&ran.log).unwrap()), lower);
}
