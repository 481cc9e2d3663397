//! Workspaces that a shell line has worked in, and what comes of checking them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use acceptance::{Commands, Judge, Runs, Site, check};
use domain::WorkspaceId;
use protocol::{Criterion, CriterionResult};
use worktree::{Location, Options, Plan, Progress, Workspace, Worktrees};

/// What an output is made by, and what it must meet.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Runs in the workspace; `$SEED` is a checkout of the base, `$OUT` a folder elsewhere.
    pub(crate) script: &'static str,
    /// As JSON.
    pub(crate) criteria: &'static str,
    /// What a reason must say, when it is a bad output.
    pub(crate) says: &'static str,
}

pub(crate) const fn case(name: &'static str, script: &'static str, criteria: &'static str, says: &'static str) -> Case {
    Case { name, script, criteria, says }
}

/// What every workspace starts with.
const FIRST: &str = r#"
printf 'hello\nworld\n' > README.md
mkdir -p src tests docs
printf '#!/bin/sh\necho $(($1 + $2))\n' > src/add.sh
printf '#!/bin/sh\ntest "$(sh src/add.sh 2 3)" = 5\n' > tests/run.sh
printf 'one\ntwo\nthree\n' > docs/guide.md
printf '/target/\n*.log\n' > .gitignore
git add -A && git commit -qm first && git push -q origin main
"#;

/// A data directory, an origin and a checkout of it.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
    pub(crate) trees: Worktrees,
    pub(crate) made: Workspace,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let run = |at: &Path, line: &str| sh(at, &path, line);
        std::fs::create_dir(path.join("out")).unwrap();
        run(&path, "git init -q --bare -b main origin.git && git init -q -b main seed");
        run(&path.join("seed"), &format!("git remote add origin '{}/origin.git'\n{FIRST}", path.display()));
        let trees = Worktrees::open(&path.join("data"), Options::default()).await.unwrap();
        let location: Location = path.join("origin.git").to_str().unwrap().parse().unwrap();
        let plan = Plan { location: Some(location), branch: Some("work".parse().unwrap()), ..Plan::default() };
        let made = trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await.unwrap();
        Self { dir, trees, made }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn work(&self, script: &str) {
        sh(&self.made.path, &self.path(), script);
    }

    /// Checks what is there now.
    pub(crate) async fn check(&self, criteria: &[Criterion]) -> Vec<CriterionResult> {
        self.check_with(criteria, runs(&self.path())).await
    }

    pub(crate) async fn check_with(&self, criteria: &[Criterion], commands: Commands) -> Vec<CriterionResult> {
        check(criteria, &[], &self.site(commands).await).await
    }

    pub(crate) async fn site(&self, commands: Commands) -> Site<'_> {
        let location = self.made.facts.location.clone().unwrap();
        self.trees.refresh(&location, &Progress::none()).await.unwrap();
        let facts = Arc::new(self.trees.examine(self.made.facts.id, 1 << 16).await.unwrap());
        let judge = Judge::new(vec![env!("CARGO_BIN_EXE_check-file").to_owned()]);
        Site { tree: &self.made.path, repository: true, facts, judge, commands }
    }
}

/// Commands run as they are.
pub(crate) fn runs(home: &Path) -> Commands {
    let env = [("PATH", std::env::var("PATH").unwrap()), ("HOME", home.to_str().unwrap().to_owned())];
    Commands::Run(Runs {
        warden: vec![env!("CARGO_BIN_EXE_check-command").to_owned()],
        env: env.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        contain: Arc::new(Ok),
        mask: Arc::new(str::to_owned),
    })
}

pub(crate) fn criteria(json: &str) -> Vec<Criterion> {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error} in {json}"))
}

/// Runs a shell line with the git that people use.
pub(crate) fn sh(at: &Path, bench: &Path, line: &str) {
    let mut command = Command::new("sh");
    command.args(["-euc", line]).current_dir(at).env("SEED", bench.join("seed")).env("OUT", bench.join("out"));
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for (name, value) in [("NAME", "T"), ("EMAIL", "t@localhost")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    let done = command.output().unwrap();
    assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Makes and checks each of them, a few at once.
pub(crate) async fn each(cases: &'static [Case]) -> Vec<(&'static Case, Vec<CriterionResult>)> {
    let turns = Arc::new(tokio::sync::Semaphore::new(4));
    let all: Vec<_> = cases
        .iter()
        .map(|case| {
            let turns = turns.clone();
            tokio::spawn(async move {
                let _turn = turns.acquire_owned().await.unwrap();
                let bench = Bench::new().await;
                bench.work(case.script);
                (case, bench.check(&criteria(case.criteria)).await)
            })
        })
        .collect();
    let mut done = Vec::new();
    for one in all {
        done.push(one.await.unwrap());
    }
    done
}
