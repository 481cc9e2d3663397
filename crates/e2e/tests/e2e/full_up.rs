//! `shopfloor up` on a full disk: it starts, shows what it has, says what is wrong, and goes on when there is room.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use client::Client;
use protocol::{Call, Project, ProjectCreate, Runner};
use testkit::disk::{Filler, mount_tiny, run_with_own_mounts};
use testkit::{binary, wait_until};
use tokio::process::{Child, Command};

/// `shopfloor up` with its data on a disk of its own.
struct Up {
    child: Child,
    data: PathBuf,
    url: String,
}

impl Up {
    fn start(home: &Path, data: &Path, port: u16) -> Self {
        let mut command = Command::new(binary());
        command.args(["up", "--no-open", "--listen", &format!("127.0.0.1:{port}")]);
        command.env("SHOPFLOOR_DATA_DIR", data).env("HOME", home).env("XDG_CONFIG_HOME", home.join(".config"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let child = command.spawn().unwrap();
        Self { child, data: data.to_owned(), url: format!("http://127.0.0.1:{port}") }
    }

    /// The person's way in, once the hub answers and its runner is there.
    async fn ready(&self) -> Client {
        wait_until("the hub answers and has its runner", async || {
            let token = std::fs::read_to_string(self.data.join("token")).ok()?;
            let client = Client::new(&self.url, token.trim()).ok()?;
            let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await.ok()?;
            runners.iter().any(|runner| runner.connected).then_some(client)
        })
        .await
    }

    /// The process that says that it is the runner here.
    fn runner(&self) -> Option<u64> {
        let noted = std::fs::read(self.data.join("runner/runner.json")).ok()?;
        serde_json::from_slice::<serde_json::Value>(&noted).ok()?["pid"].as_u64()
    }

    async fn stop(mut self) {
        let pid = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().await.unwrap().success());
        self.child.wait().await.unwrap();
    }
}

fn project(name: &str) -> Call {
    Call::ProjectCreate { input: ProjectCreate { content: name.into(), ..Default::default() } }
}

#[test]
fn up_starts_on_a_full_disk_and_shows_what_it_has() {
    run_with_own_mounts("full_up::started_when_full");
}

#[tokio::test]
#[ignore = "run in a mount namespace by the test above"]
async fn started_when_full() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = folder.path().join("tiny");
    std::fs::create_dir(&tiny).unwrap();
    mount_tiny(&tiny, 24 << 20);
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (home, data) = (folder.path(), tiny.join("data"));
    let up = Up::start(home, &data, port);
    let _: Project = up.ready().await.ask(project("Kept")).await.unwrap();
    let before = up.runner().unwrap();
    up.stop().await;

    let filler = Filler::fill(&tiny);
    let up = Up::start(home, &data, port);
    let client = up.ready().await;
    let shown: Vec<Project> = client.ask(Call::ProjectList {}).await.unwrap();
    assert_eq!(shown.iter().map(|project| project.name.as_str()).collect::<Vec<_>>(), ["Kept"]);
    let refused = client.ask::<Project>(project(&"x".repeat(60_000))).await.unwrap_err();
    assert!(refused.to_string().contains("reads still work"), "{refused}");
    let health = client.health().await.unwrap();
    assert_eq!(health.status, "read_only", "{health:?}");
    let runner = up.runner().expect("it says which process it is");
    assert!(runner != before && Path::new(&format!("/proc/{runner}")).exists(), "{runner}");

    drop(filler);
    wait_until("it goes on", async || {
        let _: Project = client.ask(project("Made")).await.ok()?;
        (client.health().await.ok()?.status == "ok").then_some(())
    })
    .await;
    up.stop().await;
}
