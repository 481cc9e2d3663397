//! Merges of hostile trees: odd paths arrive unchanged, and nothing in a tree runs, or hides a conflict.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use testkit::Canary;
use worktree::{BranchName, Candidate, Landed, Method, Oid, Stacked};

use crate::publishing::hook;
use crate::support::{Bench, content, git, write};
use crate::traps;

const METHODS: [Method; 3] = [Method::Merge, Method::Squash, Method::Rebase];

fn candidates(heads: &[&Oid], method: Method) -> Vec<Candidate> {
    let named = heads.iter().map(|head| Candidate {
        name: head.to_string(),
        head: (*head).clone(),
        title: "--title\n\nwith: lines \u{1b}[31m".into(),
        method,
    });
    named.collect()
}

#[tokio::test]
async fn odd_paths_arrive_unchanged() {
    let bench = Bench::new().await;
    let base = bench.tip("main");
    let names: [&[u8]; 8] = [
        b"new\nline",
        b"-rf",
        b"--output=x",
        b"bad-\xff\xfe",
        b"Twin",
        b"twin",
        b"\"quoted\"\ttab",
        b"$(touch canary)",
    ];
    let seed = bench.seed();
    let mut heads = Vec::new();
    for (n, name) in names.iter().enumerate() {
        let branch = format!("b{n}");
        git(&seed, &["checkout", "-q", "-B", &branch, base.as_str()]);
        std::fs::write(seed.join(OsStr::from_bytes(name)), format!("{n}\n")).unwrap();
        heads.push(bench.push(&branch));
    }
    bench.fetched().await;
    for method in METHODS {
        let all = candidates(&heads.iter().collect::<Vec<_>>(), method);
        let levels = bench.trees.stack(&bench.origin(), &base, &all).await.unwrap();
        for (level, name) in levels.iter().zip(names) {
            let Stacked::Built { contribution, .. } = &level.built else { panic!("{level:?}") };
            assert_eq!(contribution.paths, [String::from_utf8_lossy(name)]);
            assert_eq!(contribution.differs, Vec::<String>::new());
        }
        let Stacked::Built { commit, .. } = &levels[7].built else { panic!() };
        let made = bench.trees.checkout_clean(&bench.origin(), commit, &[]).await.unwrap();
        let found = content(made.path());
        for (n, name) in names.iter().enumerate() {
            assert_eq!(found[std::path::Path::new(OsStr::from_bytes(name))].1, format!("{n}\n").into_bytes());
        }
    }
    // In conflict, they are named.
    git(&seed, &["checkout", "-q", "-B", "other", base.as_str()]);
    for name in names {
        std::fs::write(seed.join(OsStr::from_bytes(name)), "other\n").unwrap();
    }
    let other = bench.push("other");
    bench.fetched().await;
    let levels = bench.trees.stack(&bench.origin(), &base, &candidates(&[&other, &heads[0]], Method::Merge)).await;
    let expected = Stacked::Conflict { paths: vec!["new\nline".into()], with_base: false };
    assert_eq!(levels.unwrap()[1].built, expected);
}

#[tokio::test]
async fn attributes_in_a_tree_hide_no_conflict_and_run_nothing() {
    let bench = Bench::new().await;
    let canary = Canary::new(&bench.path());
    let base = bench.branch("main", "main", ".gitattributes", "* merge=union\n*.rs merge=evil filter=evil\n");
    let seed = bench.seed();
    let driver = canary.command("driver");
    for key in ["merge.evil.driver", "filter.evil.smudge", "filter.evil.clean"] {
        // What the tree names is configured where it could be found: in the location, and in the agent's clone.
        git(&bench.path().join("origin.git"), &["config", key, &driver]);
    }
    let one = bench.branch("one", base.as_str(), "README.md", "one\n");
    let two = bench.branch("two", base.as_str(), "README.md", "two\n");
    let three = bench.branch("three", base.as_str(), "src/lib.rs", "three\n");
    let four = bench.branch("four", base.as_str(), "src/lib.rs", "four\n");
    write(&seed, ".gitattributes", "* merge=binary -diff\n");
    let five = bench.push("five");
    bench.fetched().await;
    // Even where git looks for them: in the folder that it runs in.
    let store = std::fs::read_dir(bench.data().join("repositories")).unwrap().next().unwrap().unwrap().path();
    write(&store, ".gitattributes", "* merge=union\n");
    for method in METHODS {
        let all = candidates(&[&one, &two, &three, &four, &five], method);
        let levels = bench.trees.stack(&bench.origin(), &base, &all).await.unwrap();
        let conflict = |n: usize| matches!(levels[n].built, Stacked::Conflict { .. });
        assert!(!conflict(0) && conflict(1) && !conflict(2) && conflict(3), "{levels:?}");
    }
    assert_eq!(canary.sung(), Vec::<String>::new());
}

#[tokio::test]
async fn a_repository_full_of_traps_merges_and_lands_without_springing_one() {
    let bench = Bench::new().await;
    let canary = Canary::new(&bench.path());
    traps::in_the_tree(&bench.seed(), &canary);
    let base = bench.tip("main");
    let one = bench.branch("one", base.as_str(), "f.txt", "one\ntwo\nthree\nfour\n");
    let two = bench.branch(
        "two",
        base.as_str(),
        ".githooks/pre-push",
        format!("#!/bin/sh\n{}\n", canary.command("pre-push")),
    );
    bench.fetched().await;
    let made = bench.workspace("agents").await;
    traps::in_dot_git(&made.path.join(".git"), &canary);
    write(&made.path, "mine", "x\n");
    // The agent's own git would spring its own traps.
    let kept = bench.trees.commit(made.facts.id, "mine").await.unwrap().unwrap();
    assert_eq!(bench.trees.keep_work(made.facts.id, "mine").await.unwrap().commit.to_string(), kept);
    let mut top = base.clone();
    for method in METHODS {
        let all = candidates(&[&one, &two, &kept.parse().unwrap()], method);
        for level in bench.trees.stack(&bench.origin(), &base, &all).await.unwrap() {
            let Stacked::Built { commit, contribution, .. } = level.built else { panic!("{level:?}") };
            assert_eq!(contribution.differs, Vec::<String>::new());
            top = commit;
        }
    }
    let target: BranchName = "main".parse().unwrap();
    assert_eq!(bench.trees.land(&bench.origin(), &target, &base, &top).await.unwrap(), Landed::Landed);
    bench.trees.checkout_clean(&bench.origin(), &top, &[]).await.unwrap();
    assert_eq!(canary.sung(), Vec::<String>::new());
    // The location's own hooks are its rules, and do run.
    hook(&bench.path().join("origin.git"), "post-receive", &canary.command("rule"));
    bench.trees.publish(&bench.origin(), &"more".parse().unwrap(), &top, None).await.unwrap();
    assert_eq!(canary.sung(), ["rule"]);
}
