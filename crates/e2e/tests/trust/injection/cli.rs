//! Every name on the command line of the real program, and in what it reads.

use std::sync::Arc;

use serde_json::json;

use super::{Grounds, Tally, is_harmless, nothing};

/// Commands under way at once.
const AT_ONCE: usize = 4;

/// How many of the other places each name goes through.
const OTHERS: usize = 1;

/// A command line with a name in it; what it reads.
type Line = (Vec<String>, String);

fn line(words: &str, more: &[String]) -> Line {
    let words = words.split(' ').map(str::to_owned);
    (words.chain(more.iter().cloned()).collect(), String::new())
}

/// Where every name goes: it would reach git, a program or a file.
fn worst(on: &Grounds, name: &str, turn: usize) -> Vec<(&'static str, Line)> {
    // No runner has that label: what is well-formed is refused as well, and starts nothing.
    let spawn = format!("session spawn --label none --project {}", on.project);
    let program = ["--".to_owned(), "true".to_owned()];
    let with = |flag: &str| [&[format!("--{flag}={name}")], &program[..]].concat();
    // Both are checked by the same function: over HTTP every name goes through both.
    let branch = ["branch", "base"][turn / 4 % 2];
    vec![
        (branch, line(&spawn, &with(branch))),
        ("argv", line(&spawn, &["--".to_owned(), name.to_owned(), name.to_owned()])),
        ("repo", line("project create x", &[format!("--repo={name}")])),
    ]
}

/// Where some go.
fn others(on: &Grounds, name: &str) -> Vec<(&'static str, Line)> {
    let (project, session, workspace) = (&on.project, &on.session, &on.workspace);
    let spawn = format!("session spawn --label none --project {project}");
    let add = format!("task add --project {project}");
    let start = format!("worker start --project {project} --runner {}", nothing("run").as_str().unwrap());
    let program = ["--".to_owned(), "true".to_owned()];
    let last = [["--".to_owned(), name.to_owned()]].concat();
    let flag = |flag: &str| vec![format!("--{flag}={name}")];
    let flag_of = |name_of: &str| [flag(name_of), program.to_vec()].concat();
    let described = |kind: &str| vec![format!("--accept={kind}{name}"), "--".to_owned(), "Plain".to_owned()];
    let mut all = vec![
        ("repository", line(&spawn, &flag_of("repository"))),
        ("model", line(&spawn, &flag_of("model"))),
        ("prompt", line(&spawn, &flag_of("prompt"))),
        ("agent", line(&spawn, &flag_of("agent"))),
        ("label", line(&spawn, &flag_of("label"))),
        ("runner", line(&spawn, &flag_of("runner"))),
        ("in activity", line("session spawn --label none", &flag_of("activity"))),
        ("in workspace", line(&spawn, &flag_of("workspace"))),
        ("prompt file", line(&spawn, &flag_of("prompt-file"))),
        ("project", line("project create", &last)),
        ("project show", line("project show", &last)),
        ("setup file", line("project create", &flag("file"))),
        ("activity", line(&format!("activity create {project}"), &last)),
        ("link", line(&format!("activity create {project} x"), &[format!("--link=branch={name}")])),
        ("chat", line(&format!("chat send {project}"), &last)),
        ("token", line("token create", &last)),
        ("invite", line("invite create", &last)),
        ("observer", line(&format!("observer create {project}"), &last)),
        ("new runner", line("runner create", &last)),
        ("approve", line("approval allow", &last)),
        ("runner update", line("runner update --policy ask", &last)),
        ("task", line(&add, &last)),
        ("accept command", line(&add, &described("command: "))),
        ("accept file", line(&add, &described("file_exists: "))),
        ("accept touches", line(&add, &described("only_touches: "))),
        ("accept words", line(&add, &described(""))),
        ("task files", line(&format!("{add} Plain"), &flag("files"))),
        ("task dep", line(&format!("{add} Plain"), &flag("dep"))),
        ("task need", line(&format!("{add} Plain"), &flag("need"))),
        ("task file", line(&add, &flag("file"))),
        ("task show", line("task show", &last)),
        ("worker role", line(&start, &flag_of("role"))),
        ("worker argv", line(&start, &last)),
        ("take", line(&format!("task take --project {project}"), &flag("worker"))),
        ("send", line(&format!("session send {session}"), &last)),
        ("session show", line("session show", &last)),
        ("search", line(&format!("recording search {session}"), &last)),
        ("restore", line(&format!("workspace restore {workspace}"), &flag("save"))),
        ("workspace show", line("workspace show", &last)),
        ("word", line("", &last)),
        ("data dir", line("project list", &flag("data-dir"))),
        ("tasks as JSON", read(&add, &json!([{ "id": name, "description": name, "files": [name] }]).to_string())),
        ("tasks as a list", read(&add, &format!("- [ ] {name} {{#{name}}}\n  - accept: command: {name}\n"))),
    ];
    // A user may write anywhere with their own program; here only below its folder.
    if !name.starts_with('/') && !name.contains("..") {
        all.push(("export", line(&format!("recording export {session}"), &flag("output"))));
    }
    all
}

fn read(words: &str, input: &str) -> Line {
    (line(words, &["--file=-".to_owned(), "--again".to_owned()]).0, input.to_owned())
}

async fn run(on: &Grounds, tally: &mut Tally, place: &str, (args, input): Line) {
    if args.iter().any(|arg| arg.contains('\0')) {
        // No program can be given that.
        return;
    }
    let args: Vec<&str> = args.iter().map(String::as_str).filter(|arg| !arg.is_empty() || place != "word").collect();
    let ended = on.fixture.cli(&args, &input).await;
    let said = ended.said();
    let code = ended.code.unwrap_or_else(|| panic!("{args:?} was killed: {said}"));
    assert!((0..=5).contains(&code), "{args:?} ended with {code}: {said}");
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    if code != 0 {
        assert!(!said.trim().is_empty(), "{args:?} ended with {code} and said nothing");
    }
    let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
    // A recording is for a player.
    if place != "export" {
        assert!(is_harmless(&said) && is_harmless(&shown), "{args:?}: {said:?} {shown:?}");
    }
    tally.count(place, code == 0);
}

#[tokio::test]
async fn the_command_line_takes_hostile_names_as_texts_or_refuses_them() {
    let on = Arc::new(Grounds::open_share(0).await);
    let mut tally = Tally::default();
    for (place, line) in [worst(&on, "plain", 0), others(&on, "plain")].concat() {
        run(&on, &mut tally, place, line).await;
    }
    for place in ["project", "activity", "chat", "task", "accept command", "send", "search", "tasks as JSON", "export"]
    {
        assert_eq!(tally.taken(place), 1, "{place} works: {tally:?}");
    }
    let mut lanes = tokio::task::JoinSet::new();
    for lane in 0..AT_ONCE {
        let on = on.clone();
        lanes.spawn(async move {
            let mut tally = Tally::default();
            for (index, name) in on.names.iter().enumerate().skip(lane).step_by(AT_ONCE) {
                for (place, line) in worst(&on, name, index) {
                    run(&on, &mut tally, place, line).await;
                }
                let others = others(&on, name);
                for turn in 0..OTHERS {
                    let (place, line) = others[(index * OTHERS + turn) % others.len()].clone();
                    run(&on, &mut tally, place, line).await;
                }
                // What no command line can carry comes in a file.
                if name.contains('\0') {
                    let (place, line) = others.iter().find(|(place, _)| *place == "tasks as JSON").unwrap().clone();
                    run(&on, &mut tally, place, line).await;
                }
            }
            tally
        });
    }
    while let Some(lane) = lanes.join_next().await {
        tally.merge(lane.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())));
    }
    assert!(tally.sum() > Grounds::expected(1_200), "{tally:?}");
    eprintln!("{tally:?}");
    Arc::into_inner(on).unwrap().close().await;
}
