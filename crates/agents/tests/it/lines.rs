//! The wrapper of structured lines, with children that misbehave.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use agents::{Adapter, Mode, Request, launch};

const ADAPTER: &str = r#"
name = "mine"
label = "Mine"
command = ["/bin/sh", "-c", "{argv}"]

[headless]
prompt = "stdin"
lines = true

[[event]]
when = { type = "said" }
show = "{text}"
rows = 2

[[event]]
when = { type = "part" }
show = "{text}"
joined = true
"#;

fn command(folder: &Path, script: &str) -> Command {
    let adapter = Adapter::parse(Path::new("mine.toml"), ADAPTER).expect("it is without fault");
    let mut request = Request::new(Mode::Headless, folder, folder, Path::new(env!("CARGO_BIN_EXE_session-lines")));
    request.argv = vec![script.to_owned()];
    request.prompt = Some("the prompt".to_owned());
    let launch = launch(&adapter, &request).expect("it can be started");
    for file in &launch.files {
        std::fs::write(folder.join(&file.name), &file.text).expect("a file can be written");
    }
    let mut command = Command::new(&launch.argv[0]);
    command.args(&launch.argv[1..]).stdin(Stdio::null());
    command
}

fn run(script: &str) -> (Output, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let output = command(folder.path(), script).output().expect("the wrapper runs");
    (output, std::fs::read_to_string(folder.path().join("events.jsonl")).unwrap_or_default())
}

fn shown(script: &str) -> String {
    String::from_utf8(run(script).0.stdout).expect("it is text")
}

#[test]
fn prompt_output_errors_and_exit_code_pass_through() {
    let (output, events) =
        run("read line; echo \"{\\\"type\\\":\\\"said\\\",\\\"text\\\":\\\"$line\\\"}\"; echo oops >&2; exit 7");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"the prompt\n"[..], &b"oops\n"[..]));
    // Two pipes have no order.
    let mut kept: Vec<&str> = events.lines().collect();
    kept.sort_unstable();
    assert_eq!(kept, ["{\"stderr\":\"oops\"}", "{\"type\":\"said\",\"text\":\"the prompt\"}"]);
}

#[test]
fn secrets_of_the_agent_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "sf_token").unwrap();
    let script = "echo \"{\\\"type\\\":\\\"said\\\",\\\"text\\\":\\\"$API_KEY $(cat $SHOPFLOOR_TOKEN_FILE)\\\"}\"";
    let mut command = command(folder.path(), script);
    let output = command.env("API_KEY", "sk-12345").env("SHOPFLOOR_TOKEN_FILE", &token).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "•••••••• ••••••••\n");
    let kept = std::fs::read_to_string(folder.path().join("events.jsonl")).unwrap();
    assert_eq!(kept, "{\"type\":\"said\",\"text\":\"•••••••• ••••••••\"}\n");
}

#[test]
fn what_an_agent_says_cannot_steer_the_terminal() {
    let text = shown(
        r#"printf '%s\n' '{"type":"said","text":"a\u001b]52;c;AAAA\u0007\u001b[2Jb\u009bc"}' 'plain '"$(printf '\033[31m')"' line'"#,
    );
    assert_eq!(text, "a]52;c;AAAA[2Jbc\nplain [31m line\n");
}

#[test]
fn long_texts_are_shortened_and_parts_joined() {
    let text = shown(
        r#"printf '%s\n' '{"type":"said","text":"1\n2\n3\n4"}' '{"type":"part","text":"one "}' '{"type":"part","text":"two"}' '{"type":"said","text":"end"}' '{"type":"unknown"}'"#,
    );
    assert_eq!(text, "1\n2\n\u{1b}[2m… 2 more lines\u{1b}[0m\none two\nend\n");
}

#[test]
fn a_missing_program_exits_with_127() {
    let (output, _) = run("exec /nonexistent/agent");
    assert_eq!(output.status.code(), Some(127));
}

#[test]
fn a_signal_reaches_the_agent_and_its_answer_counts() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap 'echo \"{\\\"type\\\":\\\"said\\\",\\\"text\\\":\\\"bye\\\"}\"; exit 9' TERM; touch ready; while :; do sleep 0.05; done";
    let mut child = command(folder.path(), script).current_dir(folder.path()).stdout(Stdio::piped()).spawn().unwrap();
    while !folder.path().join("ready").exists() {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(9));
    assert!(std::fs::read_to_string(folder.path().join("events.jsonl")).unwrap().contains("bye"));
}

#[test]
fn an_agent_ends_although_it_leaves_a_process_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), "sleep 1000 & echo \"$!\" > left; kill -9 $$");
    let status = command.current_dir(folder.path()).stdout(Stdio::null()).status().unwrap();
    let left = std::fs::read_to_string(folder.path().join("left")).unwrap();
    let left = rustix::process::Pid::from_raw(left.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
    assert_eq!(status.code(), Some(128 + 9));
}
