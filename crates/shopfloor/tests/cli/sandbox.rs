//! What a sandbox keeps away on a floor of the real binary, and what `doctor` says of it.

use crate::floor::Floor;

#[test]
fn what_a_hub_keeps_is_hidden_from_sandboxes_of_its_runner() {
    let floor = Floor::at_work_elsewhere(|folder| {
        std::fs::create_dir(folder.join("hidden too")).unwrap();
        std::fs::write(folder.join("hidden too/file"), "canary").unwrap();
        let database = folder.join("db/shop.db");
        std::fs::create_dir(database.parent().unwrap()).unwrap();
        format!("database = 'sqlite:{}'\nhide = ['{}']\n", database.display(), folder.join("hidden too").display())
    });
    let data = floor.data_dir();
    let secrets = [
        data.join("token"),
        data.join("hub.json"),
        data.join("runner/token"),
        data.join("runner/journal.db"),
        floor.path("db/shop.db"),
        floor.path("hidden too/file"),
        floor.path(".config/shopfloor/config.toml"),
    ];
    for secret in &secrets {
        assert!(secret.exists(), "{}", secret.display());
    }
    let tries: Vec<String> = secrets.iter().map(|path| format!("cat '{}' && echo LEAKED;", path.display())).collect();
    let readme = floor.path("repository/README");
    let script = format!("{} cat '{}'; echo finished", tries.join(" "), readme.display());
    for more in [&["--home"][..], &["--home", "--no-network"], &[]] {
        let mut args = vec!["session", "spawn", "--project", "Parser", "--json", "--sandbox"];
        args.extend(more);
        args.extend(["--", "sh", "-c", &script]);
        let session = floor.json(&args);
        assert_eq!(session["sandbox"], true);
        floor.wait_for_log(&session, "finished");
        let log = floor.text(&["session", "log", session["id"].as_str().unwrap()]);
        assert!(!log.contains("LEAKED"), "{more:?}: {log}");
        assert_eq!(log.contains("hello"), more.contains(&"--home"), "{more:?}: the home is seen or not: {log}");
    }
}

#[test]
fn doctor_says_what_a_sandbox_keeps_away() {
    let floor = Floor::at_work_elsewhere(|_| String::new());
    let checks = |floor: &Floor, path: Option<&str>| -> Vec<(String, String, String)> {
        let mut command = floor.command();
        command.args(["doctor", "--json"]);
        path.map(|path| command.env("PATH", path));
        let output = command.output().unwrap();
        let checks: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |check: &serde_json::Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
        let all = checks.as_array().unwrap().iter();
        all.map(|check| (text(check, "name"), text(check, "status"), text(check, "detail"))).collect()
    };
    let found = checks(&floor, None);
    let detail = |name: &str| {
        let found = found.iter().find(|(of, ..)| of == name).unwrap_or_else(|| panic!("no {name}: {found:?}"));
        assert_eq!(found.1, "ok", "{found:?}");
        found.2.clone()
    };
    assert!(detail("bwrap").contains("bubblewrap"));
    assert!(detail("sandbox writes").contains("its workspace, and none of"));
    assert!(detail("sandbox home").contains("is hidden"));
    assert!(detail("sandbox data").contains(&floor.data_dir().display().to_string()));
    assert!(detail("sandbox network").contains("off with --no-network"));
    let shown = floor.text(&["doctor"]);
    assert!(shown.contains("sandbox data"), "{shown}");
    // Without bubblewrap nothing is claimed of a sandbox.
    let empty = floor.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let without = checks(&floor, empty.to_str());
    let of = |name: &str| without.iter().find(|(of, ..)| of == name).map(|(_, status, _)| status.as_str());
    assert_eq!((of("bwrap"), of("sandbox writes")), (Some("missing"), None));
}
