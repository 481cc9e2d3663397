//! `up --background`, `down`, `status`, and a second `up`.

use serde_json::Value;

use crate::fixture::Fixture;
use crate::process::wait_until;

/// A hub in the background, ended with its fixture.
struct Background(Fixture);

impl Background {
    fn start(args: &[&str]) -> Self {
        let fixture = Fixture::empty();
        fixture.text(&[&["up", "--background", "--no-open", "--listen", "127.0.0.1:0"], args].concat());
        Self(fixture)
    }

    fn status(&self) -> (i32, Value) {
        let ended = self.0.run(&["status", "--json"]);
        (ended.code, serde_json::from_str(&ended.stdout).unwrap())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // The test may have ended it.
        self.0.run(&["down"]);
    }
}

#[test]
fn a_hub_in_the_background_answers_until_down() {
    let fixture = Fixture::empty();
    let said = fixture.run(&["up", "--background", "--no-open", "--listen", "127.0.0.1:0", "--json"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let hub = Background(fixture);
    let up: Value = serde_json::from_str(&said.stdout).unwrap();
    let url = up["url"].as_str().unwrap();
    assert!(up["login_link"].as_str().unwrap().starts_with(&format!("{url}/login#")), "{up}");
    let log = std::fs::read_to_string(up["log"].as_str().unwrap()).unwrap();
    assert!(log.contains("shopfloor is up: ") && !log.contains("/login#"), "no secret in the log: {log}");

    let (code, status) = hub.status();
    assert_eq!((code, &status["state"], &status["url"]), (0, &"running".into(), &up["url"]), "{status}");
    assert_eq!((&status["pid"], &status["sessions"]), (&up["pid"], &0.into()));
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["runner"]["connected"], true, "{status}");
    assert!(status["since"].is_string() && status["data_dir"].is_string(), "{status}");
    let text = hub.0.text(&["status"]);
    assert!(text.contains("running") && text.contains(url) && text.contains("connected"), "{text}");

    let down = hub.0.json(&["down"]);
    assert_eq!((&down["hub"], &down["runner"]), (&up["pid"], &status["runner"]["pid"]));
    let (code, status) = hub.status();
    assert_eq!((code, &status["state"], &status["runner"]), (5, &"stopped".into(), &Value::Null));
    assert!(hub.0.run(&["down"]).stderr.contains("nothing to end"), "down may come twice");
}

#[test]
fn down_leaves_sessions_running_and_says_so() {
    let hub = Background::start(&[]);
    let repository = hub.0.path("repository");
    std::fs::create_dir(&repository).unwrap();
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=ann", "-c", "user.email=ann@example.org"]).args(args).current_dir(&repository);
        assert!(git.status().unwrap().success(), "{args:?}");
    };
    git(&["init", "--quiet", "--initial-branch", "main"]);
    git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    hub.0.text(&["project", "create", "Parser", "--repo", repository.to_str().unwrap()]);
    let session = hub.0.spawn("echo begun; read line; echo heard $line");
    hub.0.wait_for_log(&session, "begun");
    let said = hub.0.run(&["down"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("1 running session goes on"), "{}", said.stderr);
    let again = hub.0.run(&["up", "--background", "--no-open", "--listen", "127.0.0.1:0"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    hub.0.wait_until_connected();
    hub.0.text(&["session", "send", session["id"].as_str().unwrap(), "the same one"]);
    hub.0.wait_for_log(&session, "heard the same one");
    hub.0.wait_for(&session, "exited");
}

#[test]
fn a_second_up_shows_the_first() {
    let fixture = Fixture::up();
    for args in [&["up", "--no-open"][..], &["up", "--background", "--no-open", "--listen", "127.0.0.1:0"]] {
        let said = fixture.run(args);
        assert_eq!(said.code, 0, "{}", said.stderr);
        let lines: Vec<&str> = said.stdout.lines().collect();
        assert!(lines[0].starts_with(&format!("log in once: {}/login#", fixture.url)), "{lines:?}");
        let already = format!("shopfloor is already up: {} (process {}, started ", fixture.url, fixture.pid());
        assert!(lines[1].starts_with(&already), "{lines:?}");
        assert_eq!(said.stderr.contains("have no effect"), args.len() > 2, "{}", said.stderr);
    }
    let said = fixture.fail(1, &["serve", "--listen", "127.0.0.1:0"]);
    assert!(said.contains("Shopfloor is already running at http://"), "a service does not share: {said}");
    assert!(fixture.json(&["project", "list"]).as_array().unwrap().is_empty(), "the first one goes on");
}

#[test]
fn what_keeps_a_hub_from_starting_is_said_at_once() {
    let fixture = Fixture::up();
    let other = Fixture::empty();
    let taken = fixture.url.strip_prefix("http://").unwrap();
    let said = other.fail(1, &["up", "--background", "--no-open", "--listen", taken]);
    assert!(said.contains(&format!("cannot listen on {taken}")) && said.contains("hub.log"), "{said}");
    let said = other.fail(2, &["up", "--background", "--tls-cert", "x"]);
    assert!(said.contains("--tls-key"), "{said}");
}

#[test]
fn a_hub_that_was_killed_is_not_taken_for_one_that_runs() {
    let mut fixture = Fixture::up();
    let status = |fixture: &Fixture| {
        let ended = fixture.run(&["status", "--json"]);
        (ended.code, serde_json::from_str::<Value>(&ended.stdout).unwrap()["state"].clone())
    };
    assert_eq!(status(&fixture), (0, "running".into()));
    fixture.hub().kill();
    assert_eq!(status(&fixture), (5, "stopped".into()), "hub.json is still there");
    assert!(fixture.run(&["down"]).stderr.contains("nothing to end"));
}

#[test]
fn down_ends_the_runner_that_a_killed_hub_left() {
    let mut fixture = Fixture::at_work();
    let runner = fixture.runner_pid();
    fixture.hub().kill();
    let down = fixture.json(&["down"]);
    assert_eq!((&down["hub"], &down["runner"]), (&Value::Null, &runner.into()));
    wait_until("the runner has ended", || !std::path::Path::new(&format!("/proc/{runner}/cmdline")).exists());
}

#[test]
fn down_is_for_this_machine() {
    let fixture = Fixture::empty();
    let said = fixture.fail(2, &["down", "--hub", "http://127.0.0.1:9"]);
    assert!(said.contains("--data-dir"), "{said}");
}

#[test]
fn the_owner_is_named_after_the_account() {
    let name = |user: Option<&str>, git: Option<&str>, args: &[&str]| {
        let fixture = Fixture::empty();
        if let Some(git) = git {
            std::fs::write(fixture.path(".gitconfig"), format!("[user]\n\tname = {git}\n")).unwrap();
        }
        let mut command = fixture.command();
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("SHOPFLOOR_OWNER_NAME")
            .envs(user.map(|user| ("USER", user)));
        command.args(["up", "--background", "--no-open", "--no-runner", "--listen", "127.0.0.1:0"]).args(args);
        let ended = command.output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        let hub = Background(fixture);
        hub.0.json(&["user", "list"])[0]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(name(Some("ann"), Some("Ann Smith"), &[]), "Ann Smith");
    assert_eq!(name(Some("ann"), None, &[]), "ann");
    assert_eq!(name(Some("ann"), Some("Ann Smith"), &["--owner-name", "Bo"]), "Bo");
    let fixture = Fixture::empty();
    let said = fixture.fail(2, &["up", "--owner-name", " "]);
    assert!(said.contains("cannot be a person's name"), "{said}");
}

#[test]
fn upgrade_compares_what_runs_with_what_was_released() {
    let fixture = Fixture::up();
    let check = |args: &[&str]| {
        let ended = fixture.run(&[&["upgrade", "--check", "--json"], args].concat());
        (ended.code, serde_json::from_str::<Value>(&ended.stdout).unwrap())
    };
    let (code, found) = check(&[]);
    assert_eq!((code, &found["newest"], &found["how"]), (0, &Value::Null, &"source".into()), "{found}");
    assert_eq!((&found["running"], &found["installed"]), (&found["installed"], &env!("CARGO_PKG_VERSION").into()));
    let text = fixture.text(&["upgrade", "--check"]);
    assert!(text.contains("no index of releases is configured") && text.contains("that is known here"), "{text}");

    let index = fixture.path("index.json");
    std::fs::write(&index, r#"{"releases": [{"version": "99.0.0"}]}"#).unwrap();
    let (code, found) = check(&["--index", index.to_str().unwrap()]);
    assert_eq!((code, &found["newest"]), (1, &"99.0.0".into()));
    assert_eq!(found["to_do"].as_array().unwrap().len(), 2, "install it, restart the hub: {found}");

    std::fs::write(&index, "[]").unwrap();
    let said = fixture.fail(2, &["upgrade", "--check", "--index", index.to_str().unwrap()]);
    assert!(said.contains("is not an index of releases"), "{said}");
    let said = fixture.fail(5, &["upgrade", "--check", "--index", "http://127.0.0.1:9/index.json"]);
    assert!(said.contains("could not fetch"), "{said}");
    assert!(fixture.fail(2, &["upgrade"]).contains("--check"), "it does not replace itself");
}
