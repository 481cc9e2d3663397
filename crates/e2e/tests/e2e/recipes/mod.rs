//! The recipes that come with Shopfloor, from `recipe new` to their end, with an agent that follows a script.

mod codex;
mod lost_runner;
mod push;

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use domain::{ExecutionId, ExecutionStatus};
use protocol::{
    Artifact, ArtifactsWanted, Call, Execution, ExecutionAnswer, ExecutionDetail, ExecutionStep, Message, Project,
    Recipe,
};
use serde_json::{Value, json};
use testkit::wait_until;

use crate::fixture::{Fixture, git};

/// Takes the place of Codex, which the templates name.
const ADAPTER: &str = r#"
name = "codex"
label = "Scripted"
command = ["AGENT"]

[headless]
args = []
prompt = "stdin"
lines = true

[[event]]
when = { kind = "said" }
show = "{text}"
said = "{text}"

[[event]]
when = { kind = "done" }
state = "finished"
cost = "dollars"
count = "run"
"#;

/// How many times a test looks for the end of an execution, each time for a minute at most.
const PATIENT: u32 = 4;

pub(crate) struct Shop {
    pub(crate) at: Fixture,
    pub(crate) project: Project,
    pub(crate) repository: PathBuf,
    _settings: tempfile::TempDir,
}

impl Shop {
    pub(crate) async fn open() -> Self {
        let settings = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let agents = settings.path().join("shopfloor/agents");
        std::fs::create_dir_all(&agents).unwrap();
        let agent = settings.path().join("agent.sh");
        std::fs::write(&agent, include_str!("agent.sh")).unwrap();
        std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(agents.join("codex.toml"), ADAPTER.replace("AGENT", agent.to_str().unwrap())).unwrap();
        let home = settings.path().display().to_string();
        let at = Fixture::open(&[("XDG_CONFIG_HOME", home)], async |port| port).await;
        let repository = at.repository();
        git(&repository, &["tag", "v1"]);
        std::fs::write(repository.join("CHANGELOG.md"), "# Changes\n").unwrap();
        git(&repository, &["add", "-A"]);
        git(&repository, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "A change log"]);
        git(&repository, &["config", "receive.denyCurrentBranch", "updateInstead"]);
        let project = at.project(&repository).await;
        // Without checks, a person would have to confirm each branch.
        let id = project.id.to_string();
        at.cli::<Value>(&["merge", "configure", "--project", &id, "--check", "test -s README.md"]).await;
        Self { at, project, repository, _settings: settings }
    }

    /// Writes a template, saves it and runs it, as a person does.
    async fn run(&self, name: &str, change: impl Fn(String) -> String, inputs: &[&str]) -> ExecutionId {
        let file = self.at.folder.path().join(format!("{name}.yaml")).display().to_string();
        self.at.cli::<Value>(&["recipe", "new", "--template", name, &file]).await;
        std::fs::write(&file, change(std::fs::read_to_string(&file).unwrap())).unwrap();
        let project = self.project.id.to_string();
        let recipe: Recipe = self.at.cli(&["recipe", "add", &file, "--project", &project]).await;
        assert_eq!(recipe.name, name);
        let inputs = inputs.iter().flat_map(|input| ["--input", input]);
        let args: Vec<&str> = ["recipe", "run", name].into_iter().chain(inputs).collect();
        self.at.cli::<Execution>(&args).await.id
    }

    async fn shown(&self, execution: ExecutionId) -> ExecutionDetail {
        self.at.ann.ask(Call::ExecutionShow { execution }).await.unwrap()
    }

    /// Waits until the execution is over, or a step asks.
    async fn settled(&self, execution: ExecutionId) -> ExecutionDetail {
        for _ in 1..PATIENT {
            let look = wait_until("it is over or asks", async || {
                let found = self.shown(execution).await;
                (found.execution.ended_at.is_some() || found.execution.needs_person).then_some(found)
            });
            tokio::select! {
                found = look => return found,
                () = tokio::time::sleep(std::time::Duration::from_secs(55)) => {}
            }
        }
        panic!("it does not end: {:#?}", self.shown(execution).await)
    }

    /// Approves what the execution asks.
    async fn approve(&self, execution: ExecutionId, data: impl Fn(&ExecutionDetail) -> Option<Value>) {
        let found = self.settled(execution).await;
        let asking = found.steps.iter().find(|step| step.question.is_some());
        let path = asking.unwrap_or_else(|| panic!("nothing asks: {found:#?}")).path.clone();
        let input = ExecutionAnswer { path, approve: true, data: data(&found), ..Default::default() };
        let _: Execution = self.at.ann.ask(Call::ExecutionAnswer { execution, input }).await.unwrap();
    }

    async fn completed(&self, execution: ExecutionId) -> ExecutionDetail {
        let found = self.settled(execution).await;
        assert_eq!(found.execution.status, ExecutionStatus::Completed, "{found:#?}");
        found
    }

    /// The work that was not chosen is an artifact, and git can fetch it.
    async fn other_is_kept(&self, execution: ExecutionId) {
        let found = wait_until("the other work is kept", async || {
            let filter = ArtifactsWanted { execution: Some(execution), limit: Some(100), ..Default::default() };
            let call = Call::ArtifactList { project: self.project.id, filter };
            let all: Vec<Artifact> = self.at.ann.ask(call).await.ok()?;
            all.into_iter()
                .find(|one| one.name.ends_with(".bundle") && one.path.as_deref() == Some("attempts[0]/attempt"))
        })
        .await;
        let file = self.at.folder.path().join("other.bundle");
        let id = found.id.to_string();
        self.at.cli::<Value>(&["artifact", "get", &id, "--output", file.to_str().unwrap()]).await;
        let refs = "refs/shopfloor/packed/*:refs/heads/attempts/*";
        git(&self.repository, &["fetch", "-q", file.to_str().unwrap(), refs]);
        let list = ["log", "--format=%s", "--glob=refs/heads/attempts/*", "--not", "main"];
        let shown = std::process::Command::new("git").args(list).current_dir(&self.repository).output().unwrap();
        assert!(String::from_utf8_lossy(&shown.stdout).contains("Change something"));
    }

    async fn chat(&self) -> String {
        let call = Call::ChatHistory { project: self.project.id, page: Default::default() };
        serde_json::to_string(&self.at.ann.ask::<Vec<Message>>(call).await.unwrap()).unwrap()
    }

    /// A file of the repository's main branch.
    pub(crate) fn landed(&self, file: &str) -> String {
        let file = format!("main:{file}");
        let shown = std::process::Command::new("git").args(["show", &file]).current_dir(&self.repository).output();
        String::from_utf8(shown.unwrap().stdout).unwrap()
    }
}

fn same(text: String) -> String {
    text
}

fn step<'a>(found: &'a ExecutionDetail, path: &str) -> &'a ExecutionStep {
    found.steps.iter().find(|step| step.path == path).unwrap_or_else(|| panic!("no {path} in {found:#?}"))
}

const CHECK: &str = "check=test,-s,README.md";

#[tokio::test]
async fn an_issue_is_fixed_and_lands() {
    let shop = Shop::open().await;
    let id = shop.run("fix-issue", same, &["issue=The total is wrong", CHECK]).await;
    shop.approve(id, |_| None).await;
    let found = shop.completed(id).await;
    assert!(shop.landed("CHANGELOG.md").contains("a change of"), "it has landed");
    assert!(shop.chat().await.contains("Landed: The total is wrong"));
    assert!(found.execution.cost_micros.is_some_and(|cost| cost > 0), "{:?}", found.execution);
    shop.at.close().await;
}

#[tokio::test]
async fn a_branch_is_reviewed_from_two_sides() {
    let shop = Shop::open().await;
    let id = shop.run("review-pr", same, &["branch=main", "sides=tests,security"]).await;
    let found = shop.completed(id).await;
    let said = "I have read everything, and it is good.";
    assert_eq!(found.outputs.as_ref().unwrap()["summary"], said);
    assert!(shop.chat().await.contains(said));
    shop.at.close().await;
}

#[tokio::test]
async fn nightly_checks_are_repaired() {
    let shop = Shop::open().await;
    let soon = |text: String| text.replace("first: 1m", "first: 1s");
    let id = shop.run("nightly-checks", soon, &["check=test,-s,fixed.txt"]).await;
    let found = shop.settled(id).await;
    assert_eq!(found.execution.status, ExecutionStatus::Failed, "{found:#?}");
    assert_eq!(found.execution.reason.as_deref().map(|why| why.contains("The checks failed tonight")), Some(true));
    assert!(shop.chat().await.contains("repairs them. Please review."));
    let id = shop.at.cli::<Execution>(&["recipe", "run", "nightly-checks", "--input", CHECK]).await.id;
    assert_eq!(shop.completed(id).await.outputs.unwrap()["healthy"], true);
    shop.at.close().await;
}

#[tokio::test]
async fn dependencies_are_updated_one_after_the_other() {
    let shop = Shop::open().await;
    let id = shop.run("dependency-update", same, &["packages=serde,tokio", CHECK]).await;
    shop.approve(id, |_| None).await;
    shop.approve(id, |found| {
        assert!(shop.landed("CHANGELOG.md").lines().count() == 2, "the first has landed: {found:#?}");
        None
    })
    .await;
    shop.completed(id).await;
    assert_eq!(shop.landed("CHANGELOG.md").lines().count(), 3, "both have landed");
    shop.at.close().await;
}

#[tokio::test]
async fn the_best_of_two_lands() {
    let shop = Shop::open().await;
    let id = shop.run("best-of-n", same, &["task=Make it faster", "agents=codex,codex", CHECK]).await;
    let second = |found: &ExecutionDetail| {
        let output = step(found, "attempts").output.clone().unwrap_or_default();
        Some(json!({ "branch": output[1]["branch"] }))
    };
    shop.approve(id, second).await;
    let found = shop.completed(id).await;
    let output = step(&found, "attempts").output.clone().unwrap();
    assert_ne!(output[0]["branch"], output[1]["branch"]);
    assert_eq!(found.outputs.as_ref().unwrap()["branch"], output[1]["branch"]);
    assert_eq!(shop.landed("CHANGELOG.md").lines().count(), 2, "one of them has landed");
    shop.other_is_kept(id).await;
    shop.at.close().await;
}

#[tokio::test]
async fn release_notes_are_corrected_and_land() {
    let shop = Shop::open().await;
    let id = shop.run("release-notes", same, &["version=1.1.0", "since=v1"]).await;
    shop.approve(id, |_| Some(json!({ "changes": "Say more about the total." }))).await;
    shop.completed(id).await;
    assert_eq!(shop.landed("CHANGELOG.md").lines().count(), 3, "draft and correction have landed");
    assert!(shop.chat().await.contains("The release notes of 1.1.0 have landed"));
    shop.at.close().await;
}
