//! TRUST T5: more than 300 hostile names through HTTP, the CLI and MCP into everything that takes a text, with a real
//! runner and a real git behind it. Each would leave a file of its own if it were executed; none does.

mod cli;
mod control;
mod http;
mod real;
mod tools;

use serde_json::{Value, json};
use testkit::{Canary, wait_until};

use crate::fixture::Fixture;

/// The slow tests split the names among them; `make test-long` tries every name in each test.
const SHARES: usize = 5;

/// A hub with a project, a session that reads what is typed, and the hostile names.
pub(crate) struct Grounds {
    pub(crate) fixture: Fixture,
    pub(crate) canary: Canary,
    pub(crate) names: Vec<String>,
    pub(crate) project: String,
    /// A session that goes on.
    pub(crate) session: String,
    pub(crate) workspace: String,
    /// What is in the folder of everything before anything is tried.
    before: Vec<String>,
}

/// An agent that writes down, exactly, which arguments it was given and what it read.
fn mirror() -> String {
    let script = r#"printf '%s\0' "$@" > arguments; cat > prompt"#;
    let command = json!(["sh", "-c", script, "mirror"]);
    format!(
        "name = \"mirror\"\nlabel = \"Mirror\"\ncommand = {command}\nversion = [\"-c\", \"echo 1\"]\n\n\
         [headless]\nargs = [\"{{model}}\", \"{{system}}\"]\nprompt = \"stdin\"\n"
    )
}

impl Grounds {
    /// With one share of the names, which no other test has, or with all of them in the long lane.
    pub(crate) async fn open_share(share: usize) -> Self {
        let mut grounds = Self::open().await;
        if !testkit::long_lane() {
            let names = grounds.names.into_iter().enumerate();
            grounds.names = names.filter(|(index, _)| index % SHARES == share).map(|(_, name)| name).collect();
        }
        grounds
    }

    /// What is to be expected of a share, where `all` is expected of all names.
    pub(crate) fn expected(all: u32) -> u32 {
        if testkit::long_lane() { all } else { all / SHARES as u32 }
    }

    pub(crate) async fn open() -> Self {
        let fixture = Fixture::open(None, &[], &[("mirror", mirror())]).await;
        let canary = Canary::new(&fixture.path(""));
        let names = canary.names();
        assert!(names.len() >= 300, "{}", names.len());
        let project = fixture.project("Parser").await["id"].as_str().unwrap().to_owned();
        let argv = ["sh", "-c", "echo ready; exec cat > typed"];
        let body = json!({ "project": project, "agent": "command", "prompt": "Wait", "argv": argv });
        let session = fixture.post("/api/sessions", body).await;
        let text = |name: &str| session[name].as_str().unwrap().to_owned();
        let path = format!("/api/sessions/{}/log", text("id"));
        wait_until("the session has begun", async || {
            fixture.get(&path).await.to_string().contains("ready").then_some(())
        })
        .await;
        let (session, workspace) = (text("id"), text("workspace"));
        let mut grounds = Self { fixture, canary, names, project, session, workspace, before: Vec::new() };
        grounds.before = grounds.files();
        grounds
    }

    /// Adds what is to be there.
    pub(crate) fn expect(&mut self, name: &str) {
        self.before.push(name.to_owned());
        self.before.sort();
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.fixture.path("")).unwrap().map(Result::unwrap);
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Nothing was executed, nothing became a file where none should be, and nothing panicked.
    pub(crate) async fn close(mut self) {
        let logs = self.fixture.logs();
        self.fixture.close().await;
        let sung = self.canary.sung();
        let by: Vec<&String> =
            self.names.iter().filter(|name| sung.iter().any(|file| name.contains(&self.canary.file(file)))).collect();
        assert!(sung.is_empty(), "executed: {sung:?}, by {by:?}");
        assert_eq!(self.files(), self.before, "a file came to be");
        assert!(!logs.contains("panicked"), "{logs}");
    }
}

/// What is said for people has no character that a terminal obeys.
pub(crate) fn is_harmless(text: &str) -> bool {
    !text.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\0'])
}

/// How many names each place accepted and refused, to show that something was tested.
#[derive(Debug, Default)]
pub(crate) struct Tally(std::collections::BTreeMap<String, (u32, u32)>);

impl Tally {
    pub(crate) fn count(&mut self, place: &str, taken: bool) {
        let (yes, no) = self.0.entry(place.to_owned()).or_default();
        *if taken { yes } else { no } += 1;
    }

    /// What was taken by a place.
    pub(crate) fn taken(&self, place: &str) -> u32 {
        self.0.get(place).unwrap_or_else(|| panic!("{place} was not tried")).0
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (place, (yes, no)) in other.0 {
            let entry = self.0.entry(place).or_default();
            *entry = (entry.0 + yes, entry.1 + no);
        }
    }

    pub(crate) fn sum(&self) -> u32 {
        self.0.values().map(|(yes, no)| yes + no).sum()
    }
}

/// The id of something that is not there.
pub(crate) fn nothing(prefix: &str) -> Value {
    json!(format!("{prefix}_01a1e119f7ce75098aed4a97f220a95d"))
}
