//! Sessions from their start to their end.

use crate::fixture::Fixture;

fn id(view: &serde_json::Value) -> &str {
    view["id"].as_str().unwrap()
}

#[test]
fn a_command_is_spawned_watched_and_read() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn("echo hello from $(basename $PWD); exit 3");
    assert_eq!((session["agent"].as_str(), session["mode"].as_str()), (Some("command"), Some("interactive")));
    let ended = fixture.wait_for(&session, "exited");
    assert_eq!(ended["state"]["code"], 3);
    let detail = fixture.json(&["session", "show", id(&session)]);
    assert_eq!(detail["argv"][0], "sh");
    assert!(detail["workspace"]["branch"].is_string(), "{detail}");
    assert!(fixture.text(&["session", "log", id(&session)]).contains("hello from"));
    assert!(fixture.json(&["session", "log", id(&session)])["text"].as_str().unwrap().contains("hello from"));
    let watched = fixture.run(&["session", "watch", id(&session), "--exit-code"]);
    assert_eq!(watched.code, 3, "{}", watched.stderr);
    assert!(
        watched.stdout.contains("hello from") && watched.stderr.contains("the session failed (exit 3)"),
        "{watched:?}"
    );
    assert_eq!(fixture.json(&["session", "list"]).as_array().unwrap().len(), 0, "it is over");
    let listed = fixture.text(&["session", "list", "--all"]);
    assert!(listed.contains("failed (exit 3)") && listed.contains(id(&session)), "{listed}");
    let shown = fixture.text(&["session", "show", "sh -c"]);
    assert!(shown.contains("Parser") && shown.contains("failed (exit 3)"), "by the beginning of its title: {shown}");
    let activity = fixture.json(&["activity", "show", session["activity"].as_str().unwrap()]);
    let links = activity["links"].to_string();
    assert!(links.contains(id(&session)), "there are no orphans: {links}");
}

#[test]
fn a_session_gets_a_message_and_is_stopped() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn("echo ready; read line; echo got $line; sleep 1000");
    fixture.wait_for_log(&session, "ready");
    fixture.text(&["session", "send", id(&session), "good morning"]);
    fixture.wait_for_log(&session, "got good morning");
    let stopped = fixture.json(&["session", "stop", id(&session)]);
    assert_eq!(stopped["stopping"], true);
    let ended = fixture.wait_for(&session, "exited");
    assert!(ended["state"]["signal"].is_number() || ended["state"]["code"].is_number(), "{ended}");
    for args in [&["session", "list", "--all"][..], &["session", "show", id(&session)]] {
        let shown = fixture.text(args);
        assert!(shown.contains("stopped") && !shown.contains("signal"), "{shown}");
    }
    let watched = fixture.run(&["session", "watch", id(&session)]);
    assert!(watched.stderr.contains("the session stopped"), "{watched:?}");
    assert!(fixture.fail(4, &["session", "resume", id(&session)]).contains("resume"), "a command has no conversation");
}

#[test]
fn unsupported_options_are_refused_at_once() {
    let fixture = Fixture::at_work();
    let shell = ["session", "spawn", "--project", "Parser", "--agent", "shell"];
    let said = fixture.fail(2, &[&shell[..], &["--prompt", "tidy up"]].concat());
    assert!(said.contains("`shell` takes no prompt"), "{said}");
    let said = fixture.fail(2, &[&shell[..], &["--headless"]].concat());
    assert!(said.contains("`shell` has no headless mode"), "{said}");
    let said = fixture.fail(2, &["project", "create", "Lexer", "--repo", "http://example.org/a.git"]);
    assert!(said.contains("https://"), "{said}");
    let folder = fixture.path("plain");
    std::fs::create_dir(&folder).unwrap();
    for (repository, why) in [
        (folder.to_str().unwrap(), "is not a git repository\n  make it one: git init"),
        ("./nope", "there is no folder `./nope` here"),
        ("/nowhere/at/all", "/nowhere/at/all does not exist on this machine"),
    ] {
        let said = fixture.fail(2, &["project", "create", "Lexer", "--repo", repository]);
        assert!(said.contains(why), "{said}");
        let said = fixture.fail(2, &["project", "update", "Parser", "--repo", repository]);
        assert!(said.contains(why), "{said}");
    }
    let names = fixture.json(&["project", "list"]);
    assert_eq!(names.as_array().unwrap().len(), 1, "nothing was created: {names}");
}

#[test]
fn a_refused_spawn_says_why() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    let said = fixture.fail(4, &["session", "spawn", "--project", "Parser", "--", "true"]);
    assert!(said.contains("runner"), "{said}");
    assert!(fixture.fail(3, &["session", "spawn", "--project", "nothing", "--", "true"]).contains("no project"));
    assert!(
        fixture.fail(2, &["session", "spawn", "--project", "Parser", "--attach", "--", "true"]).contains("terminal")
    );
    assert!(fixture.fail(2, &["attach", "ses_00000000000000000000000000000000"]).contains("session watch"));
    assert!(fixture.fail(3, &["session", "show", "nothing"]).contains("no session"));
}
