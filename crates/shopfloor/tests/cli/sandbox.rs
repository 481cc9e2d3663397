//! What a sandbox hides with the real binary, and what `doctor` reports.

use std::process::Command;

use serde_json::Value;

use crate::fixture::Fixture;
use crate::process::{Ended, Running, shopfloor, wait_until};

#[test]
fn a_hubs_data_is_hidden_from_sandboxes_of_its_runner() {
    let fixture = Fixture::at_work_elsewhere(|folder| {
        std::fs::create_dir(folder.join("hidden too")).unwrap();
        std::fs::write(folder.join("hidden too/file"), "canary").unwrap();
        let database = folder.join("db/shop.db");
        std::fs::create_dir(database.parent().unwrap()).unwrap();
        format!("database = 'sqlite:{}'\nhide = ['{}']\n", database.display(), folder.join("hidden too").display())
    });
    let data = fixture.data_dir();
    let secrets = [
        data.join("token"),
        data.join("hub.json"),
        data.join("runner/token"),
        data.join("runner/journal.db"),
        fixture.path("db/shop.db"),
        fixture.path("hidden too/file"),
        fixture.path(".config/shopfloor/config.toml"),
    ];
    for secret in &secrets {
        assert!(secret.exists(), "{}", secret.display());
    }
    let tries: Vec<String> = secrets.iter().map(|path| format!("cat '{}' && echo LEAKED;", path.display())).collect();
    let readme = fixture.path("repository/README");
    let script = format!("{} cat '{}'; echo finished", tries.join(" "), readme.display());
    for more in [&["--home"][..], &["--home", "--no-network"], &[]] {
        let mut args = vec!["session", "spawn", "--project", "Parser", "--json", "--sandbox"];
        args.extend(more);
        args.extend(["--", "sh", "-c", &script]);
        let session = fixture.json(&args);
        assert_eq!(session["sandbox"], true);
        fixture.wait_for_log(&session, "finished");
        let log = fixture.text(&["session", "log", session["id"].as_str().unwrap()]);
        assert!(!log.contains("LEAKED"), "{more:?}: {log}");
        assert_eq!(log.contains("hello"), more.contains(&"--home"), "{more:?}: the home is seen or not: {log}");
    }
}

#[test]
fn doctor_reports_what_a_sandbox_hides() {
    let fixture = Fixture::at_work_elsewhere(|_| String::new());
    let checks = |fixture: &Fixture, path: Option<&str>| -> Vec<(String, String, String)> {
        let mut command = fixture.command();
        command.args(["doctor", "--json"]);
        path.map(|path| command.env("PATH", path));
        let output = command.output().unwrap();
        let checks: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |check: &serde_json::Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
        let all = checks.as_array().unwrap().iter();
        all.map(|check| (text(check, "name"), text(check, "status"), text(check, "detail"))).collect()
    };
    let found = checks(&fixture, None);
    let detail = |name: &str| {
        let found = found.iter().find(|(of, ..)| of == name).unwrap_or_else(|| panic!("no {name}: {found:?}"));
        assert_eq!(found.1, "ok", "{found:?}");
        found.2.clone()
    };
    assert!(detail("bwrap").contains("bubblewrap"));
    assert!(detail("sandbox writes").contains("only in the workspace"));
    assert!(detail("sandbox home").contains("is hidden"));
    assert!(detail("sandbox data").contains(&fixture.data_dir().display().to_string()));
    assert!(detail("sandbox network").contains("off with --no-network"));
    let shown = fixture.text(&["doctor"]);
    assert!(shown.contains("sandbox data"), "{shown}");
    // Without bubblewrap nothing is claimed of a sandbox.
    let empty = fixture.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let without = checks(&fixture, empty.to_str());
    let of = |name: &str| without.iter().find(|(of, ..)| of == name).map(|(_, status, _)| status.as_str());
    assert_eq!((of("bwrap"), of("sandbox writes")), (Some("missing"), None));
}

/// Separately started processes, each with a folder that only its own flag names.
struct Apart {
    hub: Running,
    url: String,
    place: tempfile::TempDir,
}

impl Apart {
    fn serve() -> Self {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::create_dir(place.path().join("home")).unwrap();
        let data = place.path().join("srv/hub").display().to_string();
        let args = ["serve", "--listen", "127.0.0.1:0", "--data-dir", &data];
        let hub = Running::spawn(shopfloor(&place.path().join("home")).args(args));
        assert!(hub.line().starts_with("log in once: "));
        let url = hub.line().strip_prefix("shopfloor is up: ").expect("it is up").to_owned();
        Self { hub, url, place }
    }

    fn path(&self, name: &str) -> String {
        self.place.path().join(name).display().to_string()
    }

    fn command(&self) -> Command {
        shopfloor(&self.place.path().join("home"))
    }

    fn run(&self, args: &[&str]) -> Ended {
        let token = self.path("srv/hub/token");
        self.command().args(["--hub", &self.url, "--token-file", &token]).args(args).output().unwrap().into()
    }

    fn json(&self, args: &[&str]) -> Value {
        let ended = self.run(&[&["--json"], args].concat());
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap()
    }

    /// A runner whose folder is `srv/NAME`, and whose token is in `srv/NAME.token`.
    fn runner(&self, name: &str) -> Running {
        let made = self.json(&["runner", "create", name]);
        let (token, data) = (self.path(&format!("srv/{name}.token")), self.path(&format!("srv/{name}")));
        std::fs::write(&token, made["secret"].as_str().unwrap()).unwrap();
        let args = ["runner", "--hub", &self.url, "--token-file", &token, "--data-dir", &data];
        let runner = Running::spawn(self.command().args(args));
        wait_until("it is connected", || self.json(&["runner", "show", name])["connected"] == true);
        runner
    }
}

#[test]
fn data_of_other_hubs_and_runners_is_hidden_however_they_were_started() {
    let fixture = Apart::serve();
    let _one = fixture.runner("one");
    // Started after the runner whose sandboxes must not see it.
    let _two = fixture.runner("two");
    fixture.json(&["project", "create", "Parser"]);
    let secrets = ["hub/token", "hub/shopfloor.db", "hub/hub.json", "two/journal.db", "two.token", "one/journal.db"];
    let secrets: Vec<String> = secrets.iter().map(|name| fixture.path(&format!("srv/{name}"))).collect();
    for secret in &secrets {
        assert!(std::path::Path::new(secret).exists(), "{secret}");
    }
    let tries: Vec<String> = secrets.iter().map(|path| format!("cat '{path}' && echo LEAKED;")).collect();
    let script = format!("{} echo finished", tries.join(" "));
    for more in [&["--home"][..], &[]] {
        let spawn = ["session", "spawn", "--project", "Parser", "--runner", "one", "--sandbox"];
        let session = fixture.json(&[&spawn, more, &["--", "sh", "-c", &script]].concat());
        let id = session["id"].as_str().unwrap();
        let log = || fixture.run(&["session", "log", id]).stdout;
        wait_until("the session has looked", || log().contains("finished"));
        assert!(!log().contains("LEAKED"), "{more:?}: {}", log());
    }
    let checks = fixture.command().args(["doctor", "--json"]).output().unwrap();
    let checks: Value = serde_json::from_slice(&checks.stdout).unwrap();
    let data = checks.as_array().unwrap().iter().find(|check| check["name"] == "sandbox data").unwrap();
    assert_eq!(data["status"], "ok", "{data}");
    for folder in ["srv/hub", "srv/one", "srv/two"] {
        assert!(data["detail"].as_str().unwrap().contains(&fixture.path(folder)), "{folder} is not tried: {data}");
    }
    fixture.hub.terminate();
}
