//! `shopfloor up` as somebody starts it whose shell is full of secrets.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{binary, wait_until};
use tokio::process::{Child, Command};

use super::shapes::Planted;

/// The agent that tells everything.
const AGENT: &str = include_str!("agent.py");

/// What a person has besides, and no agent is to have.
pub(crate) const PRIVATE: [(&str, &str); 3] = [
    ("AWS_SECRET_ACCESS_KEY", "ZqAwsxW+private/0123456789"),
    ("DATABASE_URL", "postgres://ann:ZqDbUrlxWprivate@db.example.org/floor"),
    ("NPM_TOKEN", "npm_ZqNpmxWprivate0123456789"),
];
/// The proxy that everybody is to use, with its password.
pub(crate) const PROXY: &str = "http://ann:ZqProxyxWpassword@127.0.0.1:9/";

/// A hub with its runner; the login link that was printed at the start.
pub(crate) struct Up {
    pub(crate) login: String,
    pub(crate) url: String,
    pub(crate) token: String,
    database: Option<String>,
    child: Option<Child>,
    // Declared last: processes end before their folder goes.
    folder: tempfile::TempDir,
}

impl Up {
    pub(crate) async fn start(planted: &[Planted], database: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["home/.config/shopfloor/agents", "home/said", "scratch", "data"] {
            std::fs::create_dir_all(path(name)).unwrap();
        }
        std::fs::write(path("home/agent.py"), AGENT).unwrap();
        std::fs::write(path("home/.config/shopfloor/agents/canary.toml"), adapter(folder.path())).unwrap();
        let mut command = Command::new(binary());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", path("home"));
        command.envs(planted.iter().map(|one| (&one.variable, &one.value))).envs(PRIVATE).env("HTTPS_PROXY", PROXY);
        command.env("SHOPFLOOR_DATA_DIR", path("data"));
        // Not an argument: those can be read by everybody.
        command.envs(database.map(|url| ("SHOPFLOOR_DATABASE", url)));
        command.args(["up", "--no-open", "--listen", "127.0.0.1:0"]).current_dir(path("scratch"));
        let (out, log) =
            (std::fs::File::create(path("up.out")).unwrap(), std::fs::File::create(path("up.log")).unwrap());
        let child = command.stdin(Stdio::null()).stdout(out).stderr(log).kill_on_drop(true).spawn().unwrap();
        let said = wait_until("it is up", async || {
            let said = std::fs::read_to_string(path("up.out")).unwrap();
            said.contains("shopfloor is up: ").then_some(said)
        })
        .await;
        let after = |words: &str| said.lines().find_map(|line| line.strip_prefix(words)).unwrap().to_owned();
        let token = std::fs::read_to_string(path("data/token")).unwrap().trim().to_owned();
        let (login, url) = (after("log in once: "), after("shopfloor is up: "));
        let database = database.map(str::to_owned);
        let up = Self { login, url, token, database, child: Some(child), folder };
        wait_until("the runner is connected with its agent", async || {
            let runners: Value = serde_json::from_str(&up.cli(&["runner", "list", "--json"]).await).ok()?;
            let found = runners[0]["about"]["agents"].as_array()?.iter().any(|agent| agent["name"] == "canary");
            (runners[0]["connected"] == true && found).then_some(())
        })
        .await;
        up
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the CLI as the hub's owner; whatever it said, whether it worked or not.
    pub(crate) async fn cli(&self, args: &[&str]) -> String {
        self.cli_with(args, &[]).await
    }

    pub(crate) async fn cli_with(&self, args: &[&str], env: &[(&str, &str)]) -> String {
        let mut command = Command::new(binary());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.path("home"));
        command.envs(self.database.iter().map(|url| ("SHOPFLOOR_DATABASE", url)));
        command.env("SHOPFLOOR_DATA_DIR", self.path("data")).envs(env.iter().copied()).args(args);
        command.current_dir(self.path("scratch")).kill_on_drop(true).stdin(Stdio::null());
        let output = command.output().await.unwrap();
        let mut said = output.stdout;
        if !output.status.success() {
            said.extend(output.stderr);
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Runs a command that prints JSON.
    pub(crate) async fn json(&self, args: &[&str]) -> Value {
        let said = self.cli(&[&["--json"], args].concat()).await;
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{args:?}: {error} in {said}"))
    }

    pub(crate) async fn session(&self, id: &Value) -> Value {
        self.json(&["session", "show", id.as_str().unwrap()]).await
    }

    /// Waits until a session's terminal has shown something.
    pub(crate) async fn shown(&self, session: &Value, text: &str) {
        let id = session["id"].as_str().unwrap();
        let reason = format!("`{text}` is shown");
        wait_until(&reason, async || self.cli(&["session", "log", id]).await.contains(text).then_some(())).await;
    }

    pub(crate) async fn ended(&self, session: &Value) -> Value {
        wait_until("the session is over", async || {
            let found = self.session(&session["id"]).await;
            matches!(found["session"]["state"]["status"].as_str(), Some("exited" | "lost")).then_some(found)
        })
        .await
    }

    /// Every process that has our folder in its arguments or its environment: by id, arguments, environment.
    pub(crate) fn processes(&self) -> Vec<(u32, Vec<u8>, Vec<u8>)> {
        let folder = self.folder.path().display().to_string().into_bytes();
        let ours = |bytes: &[u8]| bytes.windows(folder.len()).any(|part| part == folder);
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.map(|pid| {
            let read = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            (pid, read("cmdline"), read("environ"))
        })
        .filter(|(_, line, environment)| ours(line) || ours(environment))
        .collect()
    }

    /// Stops the hub as Ctrl-C does, then its runner, and waits until both are gone.
    pub(crate) async fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        kill(child.id().unwrap());
        child.wait().await.unwrap();
        wait_until("every process has ended", async || {
            let left = self.processes();
            left.iter().for_each(|(pid, ..)| kill(*pid));
            left.is_empty().then_some(())
        })
        .await;
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // Sessions and their runner live on by design; here nothing may outlive its test.
        if let Some(child) = &mut self.child {
            let _ = child.start_kill();
        }
        self.processes().iter().for_each(|(pid, ..)| kill(*pid));
    }
}

fn kill(pid: u32) {
    // It may have ended meanwhile.
    let _ = std::process::Command::new("kill").arg(pid.to_string()).stderr(Stdio::null()).status();
}

fn adapter(folder: &std::path::Path) -> String {
    let text = |name: &str| json!(folder.join(name)).to_string();
    let (program, token, said) = (text("home/agent.py"), text("data/runner/token"), text("home/said"));
    format!(
        r#"name = "canary"
label = "Canary"
command = ["python3", {program}]
version = ["--version"]
credentials = ["CANARY_*"]

[interactive]
args = ["screen", {token}, {said}]
prompt = "none"

[headless]
args = ["lines", {token}, {said}]
prompt = "stdin"
lines = true

[log]
folders = [{said}]
suffix = ".jsonl"
when = {{ kind = "meta" }}
workspace = "cwd"

[[screen]]
state = "waiting"
for = "question"
match = '(?P<what>waits for .*)\?'
rows = 30

[[event]]
when = {{ kind = "begun" }}
conversation = "text"
state = "working"

[[event]]
when = {{ kind = "model" }}
model = "text"

[[event]]
when = {{ kind = "waiting" }}
state = "waiting"
for = "question"
show = "{{text}}"

[[event]]
when = {{ kind = "said" }}
show = "{{text}}"
said = "{{text}}"

[[event]]
when = {{ kind = "fault" }}
show = "{{text}}"
fault = "{{text}}"
"#
    )
}
