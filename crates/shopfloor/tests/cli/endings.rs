//! How commands end: exit codes, errors, closed pipes.

use std::net::TcpListener;
use std::process::Stdio;

use crate::fixture::Fixture;

const NOBODY: &str = "prj_00000000000000000000000000000000";

#[test]
fn exit_codes_mean_something() {
    let mut fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    fixture.text(&["project", "create", "Parser tests"]);
    assert!(fixture.fail(2, &["project", "create", " "]).contains("`content` is empty"));
    assert!(fixture.fail(2, &["project", "show", "pars"]).contains("matches 2 projects"));
    assert!(fixture.fail(2, &["project", "update", "Parser"]).contains("nothing to change"));
    let spawn = fixture.fail(2, &["session", "spawn"]);
    assert!(spawn.contains("give --project or --activity, and --agent or `-- COMMAND`"), "{spawn}");
    assert!(fixture.fail(2, &["worker", "start", "--project", "P"]).contains("give --agent or `-- COMMAND`"));
    assert!(fixture.fail(2, &["project", "create"]).contains("missing text"));
    assert!(fixture.fail(2, &["chat", "send", "hello"]).contains("name it with --project PROJECT"));
    let taken = fixture.fail(4, &["project", "create", "  parser \ngoals"]);
    assert!(
        taken.contains("you already have a project `Parser` (prj_") && taken.contains("choose another name"),
        "{taken}"
    );
    assert!(fixture.fail(4, &["project", "update", "Parser tests", "PARSER"]).contains("already have a project"));
    assert!(fixture.fail(2, &["project", "create", "x", "--visibility", "open"]).contains("read-only"));
    assert!(fixture.fail(3, &["project", "show", "nothing"]).contains("no project `nothing` found"));
    assert!(fixture.fail(3, &["project", "show", NOBODY]).contains("not found"));
    assert!(fixture.fail(3, &["--token", "sf_wrong", "project", "list"]).contains("--token-file FILE"));
    let no_address = fixture.fail(2, &["--hub", "notaurl", "project", "list"]);
    assert!(no_address.contains("`notaurl` is not a hub's address: it must start with http://"), "{no_address}");
    assert!(fixture.fail(4, &["project", "update", "Parser", "x", "--expected-version", "7"]).contains("version 1"));
    fixture.hub().kill();
    assert!(fixture.fail(5, &["project", "list"]).contains("shopfloor up"));
    assert!(Fixture::empty().fail(5, &["project", "list"]).contains("no hub found"));
}

#[test]
fn errors_are_problems_for_programs() {
    let fixture = Fixture::up();
    for (code, kind, args) in [
        (2, "invalid", ["project", "create", "", "--json"]),
        (2, "invalid", ["project", "make", "", "--json"]),
        (3, "not_found", ["project", "show", NOBODY, "--json"]),
        (3, "not_found", ["project", "show", "nothing", "--json"]),
    ] {
        let problem: protocol::Problem = serde_json::from_str(&fixture.fail(code, &args)).unwrap();
        assert_eq!(serde_json::to_value(problem.kind).unwrap(), kind);
    }
}

#[test]
fn another_server_is_not_mistaken_for_a_hub() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let fixture = Fixture::up();
    let said = fixture.fail(3, &["--hub", &url, "project", "list"]);
    assert!(said.contains("you have no token for the hub"), "the local token stays here: {said}");
    silent.set_nonblocking(true).unwrap();
    assert!(silent.accept().is_err(), "nothing was asked at all");
    let said = fixture.fail(2, &["--hub", "nonsense", "--token", "t", "project", "list"]);
    assert!(said.contains("`nonsense` is not a hub's address"), "{said}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    let mut child = fixture.command().args(["project", "list"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn loopback_does_not_go_through_a_proxy() {
    let fixture = Fixture::up();
    let proxy = "http://127.0.0.1:9";
    let mut command = fixture.command();
    command.env("HTTP_PROXY", proxy).env("http_proxy", proxy).env("ALL_PROXY", proxy).args(["project", "list"]);
    assert!(command.status().unwrap().success());
}
