//! Two people on two machines change the same lines: both learn of it before anything is committed, and that it is over.

use std::path::{Path, PathBuf};

use client::Client;
use domain::{OverlapKind, RunnerPolicy, WorkspaceId, WorkspaceStatus};
use protocol::{
    Call, NewRunner, OverlapFilter, Project, ProjectCreate, Runner, RunnerCreate, RunnerUpdate, Session, SessionSpawn,
    SessionStop, WorkOverlap, Workspace,
};
use serde_json::json;
use testkit::{HubProcess, RunnerProcess, shopfloor, wait_until};

use crate::fixture::git;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

struct Person {
    client: Client,
    token: String,
    runner: RunnerProcess,
    id: domain::RunnerId,
}

async fn person(url: &str, token: &str, folder: &Path, name: &str) -> Person {
    let client = Client::new(url, token).unwrap();
    let made: NewRunner = client.ask(Call::RunnerCreate { input: RunnerCreate { name: name.into() } }).await.unwrap();
    let home = folder.join(format!("home-{name}"));
    std::fs::create_dir_all(&home).unwrap();
    let home = [("HOME".to_owned(), home.display().to_string())];
    let runner = RunnerProcess::spawn_with(&folder.join(name), url, &made.secret, name, &home);
    wait_until("the runner is connected", async || {
        let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await.ok()?;
        runners.iter().any(|runner| runner.id == made.runner.id && runner.connected).then_some(())
    })
    .await;
    let input = RunnerUpdate { policy: Some(RunnerPolicy::Writers), sandbox_others: None };
    let _: Runner = client.ask(Call::RunnerUpdate { runner: made.runner.id, input }).await.unwrap();
    Person { client, token: token.to_owned(), runner, id: made.runner.id }
}

impl Person {
    /// A session in a new activity, with its workspace.
    async fn works(&self, project: &Project) -> (Session, WorkspaceId, PathBuf) {
        let argv = ["sleep", "1000"].map(str::to_owned).to_vec();
        let input = SessionSpawn {
            project: Some(project.id),
            agent: "command".into(),
            argv,
            runner: Some(self.id),
            ..Default::default()
        };
        let session: Session = self.client.ask(Call::SessionSpawn { input }).await.unwrap();
        let workspace = session.workspace;
        let path = wait_until("the workspace is ready", async || {
            let found: Workspace = self.client.ask(Call::WorkspaceShow { workspace }).await.ok()?;
            assert_ne!(found.status, WorkspaceStatus::Failed, "{found:?}\n{}", self.runner.log_text());
            found.path.filter(|_| found.status == WorkspaceStatus::Ready)
        })
        .await;
        (session, workspace, path.into())
    }

    async fn overlaps(&self) -> Vec<WorkOverlap> {
        self.client.ask(Call::OverlapList { filter: OverlapFilter::default() }).await.unwrap()
    }

    async fn sees(&self, what: &str, wanted: impl Fn(&[WorkOverlap]) -> bool) -> Vec<WorkOverlap> {
        wait_until(what, async || Some(self.overlaps().await).filter(|found| wanted(found))).await
    }

    async fn stop(&self, session: &Session) {
        let input = SessionStop { force: true };
        let _: Session = self.client.ask(Call::SessionStop { session: session.id, input }).await.unwrap();
        wait_until("the session ended", async || {
            let found: protocol::SessionDetail =
                self.client.ask(Call::SessionShow { session: session.id }).await.ok()?;
            found.session.state.ended().then_some(())
        })
        .await;
    }
}

const CODE: &str =
    "class Sum:\n    def add(self, n):\n        a = n\n        b = n\n        c = n\n        return a + b + c\n";

fn commit(place: &Path, text: &str) {
    std::fs::write(place.join("text"), text).unwrap();
    std::fs::write(place.join("sum.py"), CODE).unwrap();
    git(place, &["add", "-A"]);
    git(place, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "more"]);
}

#[tokio::test]
async fn a_collision_between_two_machines_is_shown_and_goes() {
    let folder = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let data = folder.path().join("hub");
    let mut hub = HubProcess::spawn(&data, &format!("sqlite:{}", data.join("shopfloor.db").display()), port);
    let url = hub.ready().await;
    let token = std::fs::read_to_string(data.join("token")).unwrap().trim().to_owned();
    let bos = testkit::join(&url, &Client::new(&url, &token).unwrap(), "Bo").await.unwrap();
    let ann = person(&url, &token, folder.path(), "anns").await;
    let bo = person(&url, &bos, folder.path(), "bos").await;
    let place = folder.path().join("repository");
    std::fs::create_dir_all(&place).unwrap();
    git(&place, &["init", "-q", "-b", "main"]);
    commit(&place, TEXT);
    let input = json!({ "content": "Shared", "visibility": "read-write", "share_execution": true,
        "repositories": [{ "location": place }] });
    let input: ProjectCreate = serde_json::from_value(input).unwrap();
    let project: Project = ann.client.ask(Call::ProjectCreate { input }).await.unwrap();
    let (mine, one, anns) = ann.works(&project).await;
    // Bo's branch leaves a newer main, in which every line is elsewhere.
    commit(&place, &format!("{}{TEXT}", "new\n".repeat(20)));
    let (theirs, other, bos) = bo.works(&project).await;

    // Nothing is committed, and one file is enough.
    std::fs::write(anns.join("text"), TEXT.replace("three", "3")).unwrap();
    let before = std::fs::read_to_string(bos.join("text")).unwrap();
    std::fs::write(bos.join("text"), before.replace("seven", "7")).unwrap();
    for person in [&ann, &bo] {
        person
            .sees("both change the file", |found| matches!(found, [only] if only.kind == OverlapKind::SameFile))
            .await;
    }
    std::fs::write(bos.join("text"), before.replace("four", "4")).unwrap();
    for person in [&ann, &bo] {
        let found =
            person.sees("they conflict", |found| matches!(found, [only] if only.kind == OverlapKind::SameLines)).await;
        let places = [found[0].one.workspace, found[0].other.as_ref().unwrap().workspace];
        assert!(places.contains(&Some(one)) && places.contains(&Some(other)));
        assert_eq!((found[0].places[0].first, found[0].places[0].last), (Some(3), Some(4)), "{:?}", found[0].places);
    }
    let listed = shopfloor(&url, &bo.token, &["overlap", "list"]).await.unwrap();
    assert!(listed.contains("conflict") && listed.contains("text:3-4"), "{listed}");
    let id = bo.overlaps().await[0].id;
    let shown = shopfloor(&url, &ann.token, &["overlap", "show", &id.to_string()]).await.unwrap();
    assert!(shown.contains("both branches change these lines"), "{shown}");

    std::fs::write(bos.join("text"), &before).unwrap();
    // Different lines of one method: git merges them.
    std::fs::write(anns.join("sum.py"), CODE.replace("a = n", "a = -n")).unwrap();
    std::fs::write(bos.join("sum.py"), CODE.replace("c = n", "c = 2 * n")).unwrap();
    for person in [&ann, &bo] {
        let found = person
            .sees("both change the method", |found| matches!(found, [only] if only.kind == OverlapKind::SameSymbol))
            .await;
        assert_eq!(found[0].places[0].symbol.as_deref(), Some("Sum.add"), "{:?}", found[0].places);
    }
    let listed = shopfloor(&url, &bo.token, &["overlap", "list"]).await.unwrap();
    assert!(listed.contains("same symbol") && listed.contains("Sum.add in sum.py"), "{listed}");

    std::fs::write(bos.join("sum.py"), CODE).unwrap();
    for person in [&ann, &bo] {
        person.sees("it is over", |found| found.is_empty()).await;
    }
    ann.stop(&mine).await;
    bo.stop(&theirs).await;
    ann.runner.kill().await;
    bo.runner.kill().await;
    hub.kill().await;
}
