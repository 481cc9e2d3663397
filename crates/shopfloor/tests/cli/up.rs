//! `up` and `serve`.

use std::os::unix::fs::PermissionsExt;

use crate::fixture::Fixture;
use crate::process::Running;

#[test]
fn a_hub_prints_its_address_and_writes_its_files() {
    let mut fixture = Fixture::up();
    assert!(fixture.url.starts_with("http://127.0.0.1:"), "{}", fixture.url);
    assert!(fixture.login.starts_with(&format!("{}/login#", fixture.url)), "{}", fixture.login);
    let mode = |name: &str| std::fs::metadata(fixture.data_dir().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(""), mode("hub.json"), mode("token")), (0o700, 0o600, 0o600));
    let note: serde_json::Value =
        serde_json::from_slice(&std::fs::read(fixture.data_dir().join("hub.json")).unwrap()).unwrap();
    assert_eq!((&note["url"], &note["pid"]), (&fixture.url.as_str().into(), &fixture.pid().into()));
    assert!(note["since"].is_string() && note["version"].is_string(), "{note}");
    let (code, rest) = fixture.hub().terminate();
    assert_eq!((code, rest), (Some(0), Vec::new()), "it stops when asked, and said everything once");
}

#[test]
fn a_hub_that_others_could_reach_needs_tls() {
    let fixture = Fixture::empty();
    for command in ["up", "serve"] {
        let said = fixture.fail(2, &[command, "--listen", "0.0.0.0:0"]);
        assert!(said.contains("--tls-cert") && said.contains("--behind-proxy"), "{said}");
    }
}

#[test]
fn wrong_settings_are_explained() {
    let fixture = Fixture::empty();
    for (args, part) in [
        (["up", "--listen", "4720"], "127.0.0.1:4720"),
        (["up", "--tls-cert", "x"], "--tls-key"),
        (["up", "--github-client-id", "x"], "--github-client-secret-file"),
        (["up", "--github-allow", "ann"], "user:NAME"),
    ] {
        let said = fixture.fail(2, &args);
        assert!(said.contains(part), "{args:?}: {said}");
    }
}

#[test]
fn a_team_hub_lets_its_owner_in() {
    let fixture = Fixture::empty();
    let hub = Running::spawn(fixture.command().args(["serve", "--listen", "127.0.0.1:0", "--log", "json"]));
    assert!(hub.line().starts_with("log in once: http://127.0.0.1:"));
    assert!(hub.line().starts_with("shopfloor is up: http://127.0.0.1:"));
    assert_eq!(fixture.json(&["user", "list"])[0]["hub_owner"], true);
}

#[test]
fn doctor_checks_the_installation() {
    let mut fixture = Fixture::up();
    let status = |fixture: &Fixture, name: &str| {
        let checks: serde_json::Value = serde_json::from_str(&fixture.run(&["doctor", "--json"]).stdout).unwrap();
        let found = checks.as_array().unwrap().iter().find(|check| check["name"] == name).cloned();
        found.unwrap_or_else(|| panic!("doctor does not look at {name}"))["status"].clone()
    };
    for name in ["git", "data directory", "database", "hub"] {
        assert_eq!(status(&fixture, name), "ok", "{name}");
    }
    std::fs::set_permissions(fixture.data_dir(), std::fs::Permissions::from_mode(0o755)).unwrap();
    fixture.hub().kill();
    assert_eq!(status(&fixture, "data directory"), "warn");
    assert_eq!(status(&fixture, "hub"), "warn");
    let database = fixture.data_dir().join("shopfloor.db");
    std::fs::remove_file(&database).unwrap();
    std::fs::create_dir(&database).unwrap();
    assert_eq!(status(&fixture, "database"), "missing");
    let ended = fixture.run(&["doctor"]);
    assert_eq!(ended.code, 1, "the database is required");
    assert!(ended.stdout.contains("fix: chmod 700"), "{}", ended.stdout);
}

#[test]
fn config_show_says_where_values_come_from() {
    let fixture = Fixture::empty();
    std::fs::create_dir_all(fixture.path(".config/shopfloor")).unwrap();
    let settings = "listen = \"127.0.0.1:7\"\ntoken = \"sf_x\"\ncapacity = 3\ndisk_quota = \"50G\"\n";
    std::fs::write(fixture.path(".config/shopfloor/config.toml"), settings).unwrap();
    let shown = fixture.json(&["config", "show", "--hub", "http://h"]);
    let find = |key: &str| shown.as_array().unwrap().iter().find(|one| one["key"] == key).unwrap().clone();
    assert_eq!((find("hub")["value"].clone(), find("hub")["from"].clone()), ("http://h".into(), "command line".into()));
    assert_eq!(find("data_dir")["from"], "environment SHOPFLOOR_DATA_DIR");
    assert!(find("listen")["from"].as_str().unwrap().ends_with("config.toml"));
    assert_eq!(find("token")["value"], "(hidden)");
    assert_eq!((find("capacity")["value"].clone(), find("disk_quota")["value"].clone()), ("3".into(), "50G".into()));
    assert_eq!(find("log")["from"], "default");
}
