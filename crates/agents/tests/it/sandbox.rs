//! Isolation with the real bubblewrap: what an agent in it can and cannot reach.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agents::{
    Autonomy, Home, Mode, Recogniser, SandboxError, SandboxSpec, State, Tries, find_log_in_sandbox, homes, sandbox,
    sandbox_reach, sandbox_works,
};
use testkit::model::Turn;

use crate::place::{Place, adapter};
use crate::tty::Tty;

fn spec(place: &Place, home: Home, network: bool) -> SandboxSpec {
    SandboxSpec {
        workspace: place.workspace(),
        state_dir: place.session().join("state"),
        exe: env!("CARGO_BIN_EXE_session-lines").into(),
        home,
        network,
        files: Vec::new(),
        readable: Vec::new(),
        writable: Vec::new(),
        hidden: vec![place.session()],
        frozen: false,
        shares_state: false,
    }
}

/// Whether this machine's kernel lets bubblewrap work; says so where it does not.
async fn possible(place: &Place) -> bool {
    match sandbox_works(&place.person()).await {
        Ok(()) => true,
        Err(error @ SandboxError::Forbidden(_)) => {
            let mut told = std::io::stdout();
            std::io::Write::write_all(&mut told, format!("nothing is tested: {error}\n").as_bytes())
                .unwrap_or_default();
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// What a shell in the sandbox prints.
fn sh(place: &Place, spec: &SandboxSpec, script: &str) -> String {
    let argv = ["/bin/sh", "-c", script].map(str::to_owned);
    let argv = sandbox(&adapter("codex"), &argv, &place.person(), spec).expect("there is bubblewrap");
    let mut command = std::process::Command::new(&argv[0]);
    let output = command.args(&argv[1..]).env_clear().envs(place.person()).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[tokio::test]
async fn a_sandbox_writes_only_in_its_workspace() {
    let place = Place::new([]).await;
    if !possible(&place).await {
        return;
    }
    let inside = spec(&place, Home::ReadOnly, true);
    let home = place.home();
    let tries = format!(
        "echo in > here; for f in {home}/f {home}/.ssh/f /etc/f /usr/f {target}/f /var/f; do \
         if echo x > $f; then echo WROTE $f; fi; done 2>/dev/null; echo private > /tmp/of-the-sandbox; cat /tmp/of-the-sandbox; \
         mount -o remount,rw / 2>/dev/null && echo REMOUNTED; touch {home}/f 2>/dev/null && echo TOUCHED; cat here",
        home = home.display(),
        target = env!("CARGO_TARGET_TMPDIR"),
    );
    assert_eq!(sh(&place, &inside, &tries), "private\nin\n");
    assert_eq!(std::fs::read_to_string(place.workspace().join("here")).unwrap(), "in\n");
    assert!(!Path::new("/tmp/of-the-sandbox").exists());
    assert_eq!(
        std::fs::read_dir(place.home()).unwrap().filter(|entry| entry.as_ref().unwrap().file_name() == "f").count(),
        0
    );
}

#[tokio::test]
async fn the_home_is_seen_or_hidden_and_the_runners_folders_never() {
    let place = Place::new([]).await;
    if !possible(&place).await {
        return;
    }
    std::fs::write(place.home().join("diary"), "secret").unwrap();
    std::fs::write(place.session().join("host.sock"), "a socket").unwrap();
    std::fs::write(place.session().join("system.md"), "what it should know").unwrap();
    let look = format!("cat {0}/diary; ls {1}; cat {1}/system.md", place.home().display(), place.session().display());
    let mut seen = spec(&place, Home::ReadOnly, true);
    seen.files = vec![place.session().join("system.md")];
    assert_eq!(sh(&place, &seen, &look), "secretsystem.md\nwhat it should know");
    let hidden = SandboxSpec { home: Home::Hidden, ..seen };
    let shown = sh(&place, &hidden, &look);
    assert!(!shown.contains("secret") && shown.contains("what it should know"), "{shown}");
    let sockets = sh(&place, &hidden, "find /run /tmp -type s 2>/dev/null | wc -l");
    assert_eq!(sockets.trim(), "0");
}

#[tokio::test]
async fn a_program_in_the_home_does_not_show_the_home() {
    let place = Place::new([]).await;
    if !possible(&place).await {
        return;
    }
    std::fs::write(place.home().join("diary"), "secret").unwrap();
    let program = place.home().join("run");
    std::fs::write(&program, format!("#!/bin/sh\ncat {}/diary; echo ran\n", place.home().display())).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let argv = [program.to_string_lossy().into_owned()];
    let inside = spec(&place, Home::Hidden, true);
    let argv = sandbox(&adapter("command"), &argv, &place.person(), &inside).unwrap();
    let output = std::process::Command::new(&argv[0]).args(&argv[1..]).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(shown, "ran\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn a_probe_finds_what_is_open_and_nothing_else() {
    let place = Place::new([]).await;
    if !possible(&place).await {
        return;
    }
    // The account's own home is hidden, too, when another one is named.
    let homes = homes(&place.person());
    assert_eq!(homes[0], place.home().canonicalize().unwrap());
    let look = homes.iter().cloned().chain([place.session(), "/etc".into()]).collect();
    let tries = Tries { write: vec![place.home(), place.session(), "/etc".into()], look };
    for (home, network) in
        [(Home::Hidden, false), (Home::Hidden, true), (Home::ReadOnly, false), (Home::ReadOnly, true)]
    {
        let reach = sandbox_reach(&place.person(), &spec(&place, home, network), &tries).await.unwrap();
        let seen: Vec<PathBuf> = match home {
            Home::Hidden => vec!["/etc".into()],
            Home::ReadOnly => homes.iter().cloned().chain(["/etc".into()]).collect(),
        };
        assert_eq!((reach.saw, reach.wrote, reach.network, reach.workspace), (seen, vec![], network, true), "{home:?}");
    }
    // What is not kept away is found.
    let open = SandboxSpec { hidden: vec![], writable: vec![place.home()], ..spec(&place, Home::ReadOnly, true) };
    let reach = sandbox_reach(&place.person(), &open, &tries).await.unwrap();
    assert!(reach.wrote == [place.home()] && reach.saw.contains(&place.session()), "{reach:?}");
}

#[tokio::test]
async fn a_home_that_is_everything_cannot_be_hidden() {
    let place = Place::new([]).await;
    let mut person = place.person();
    person.insert("HOME".to_owned(), "/".to_owned());
    let try_it = |home| sandbox(&adapter("shell"), &["sh".to_owned()], &person, &spec(&place, home, true));
    assert!(matches!(try_it(Home::Hidden), Err(SandboxError::Home)));
    assert!(try_it(Home::ReadOnly).is_ok());
}

#[tokio::test]
async fn the_network_is_on_or_off() {
    let place = Place::new([]).await;
    if !possible(&place).await {
        return;
    }
    let address = place.model.url().replace("http://127.0.0.1:", "").replace("/v1", "");
    let knock = format!(
        "if timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/{address}' 2>/dev/null; then echo open; else echo shut; fi"
    );
    assert_eq!(sh(&place, &spec(&place, Home::Hidden, true), &knock), "open\n");
    assert_eq!(sh(&place, &spec(&place, Home::Hidden, false), &knock), "shut\n");
}

#[tokio::test]
async fn others_processes_are_out_of_reach() {
    let place = Place::new([]).await;
    if !possible(&place).await {
        return;
    }
    let me = std::process::id();
    let shown = sh(
        &place,
        &spec(&place, Home::Hidden, true),
        &format!("kill -0 {me} 2>/dev/null && echo REACHED; ls /proc | grep -c '^[0-9]'"),
    );
    assert!(!shown.contains("REACHED"));
    assert!(shown.trim().parse::<usize>().is_ok_and(|processes| processes < 6), "{shown}");
}

#[tokio::test]
async fn a_sandbox_keeps_its_terminal() {
    let place = Place::new([]).await;
    if !possible(&place).await {
        return;
    }
    let script = "trap 'echo interrupted; exit 0' INT; if [ -t 0 ] && : > /dev/tty; then echo ready; fi; while :; do sleep 0.1; done";
    let argv = ["/bin/sh", "-c", script].map(str::to_owned);
    let argv = sandbox(&adapter("shell"), &argv, &place.person(), &spec(&place, Home::Hidden, true)).unwrap();
    let env: Vec<_> = place.person().into_iter().collect();
    let mut tty = Tty::start(&argv, &env, &place.workspace());
    tty.until("it has its terminal", |seen| seen.text.contains("ready").then_some(())).await;
    tty.send(b"\x03").await;
    tty.until("Ctrl-C reaches it", |seen| seen.text.contains("interrupted").then_some(())).await;
    tty.kill().await;
}

#[tokio::test]
async fn the_real_codex_works_in_it_with_state_of_its_own() {
    let place = Place::new([Turn::write("new.txt", "hello\n").tokens(100, 0, 9), Turn::say("Done.")]).await;
    if !possible(&place).await {
        return;
    }
    let codex = adapter("codex");
    let mut request = place.request(Mode::Headless, "Make a file");
    request.autonomy = Autonomy::Full;
    let (launch, env) = place.prepare(&codex, &request);
    let before = tree(&place.home());
    let since = SystemTime::now();
    for home in [Home::Hidden, Home::ReadOnly] {
        let spec = spec(&place, home, true);
        let argv = sandbox(&codex, &launch.argv, &place.person(), &spec).unwrap();
        assert_eq!(argv[1], "session-lines", "the wrapper stays outside");
        let mut command = tokio::process::Command::new(&argv[0]);
        command.args(&argv[1..]).env_clear().envs(env.clone()).kill_on_drop(true);
        let output = command.output().await.unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && shown.contains("Done."), "{home:?}: {shown}");
        assert_eq!(std::fs::read_to_string(place.workspace().join("new.txt")).unwrap(), "hello\n");
        std::fs::remove_file(place.workspace().join("new.txt")).unwrap();
        place.model.then([Turn::write("new.txt", "hello\n").tokens(100, 0, 9), Turn::say("Done.")]);
        assert_eq!(tree(&place.home()), before, "{home:?}: nothing of the home has changed");
        assert!(find_log_in_sandbox(&codex, &place.person(), &spec.state_dir, &place.workspace(), since).is_some());
    }
    let events = std::fs::read_to_string(place.session().join("events.jsonl")).unwrap();
    let mut recogniser = Recogniser::new(codex, Mode::Headless);
    let seen = events.lines().map(|line| recogniser.line(line)).last().unwrap();
    assert_eq!((seen.state, seen.usage.output), (Some(State::Finished), 19));
}

/// What a question may do: it continues the conversation, and a model that wants to write does not.
#[tokio::test]
async fn the_real_codex_is_asked_and_writes_nothing() {
    let place = Place::new([Turn::say("Made it so because of the tests.").tokens(100, 0, 9)]).await;
    if !possible(&place).await {
        return;
    }
    let codex = adapter("codex");
    assert!(codex.can_be_asked() && !adapter("shell").can_be_asked());
    let run = async |launch: &agents::Launch, env: &[(String, String)], spec: &SandboxSpec| {
        let argv = sandbox(&codex, &launch.argv, &place.person(), spec).unwrap();
        let mut command = tokio::process::Command::new(&argv[0]);
        command.args(&argv[1..]).env_clear().envs(env.to_vec()).kill_on_drop(true);
        let output = command.output().await.unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let (launch, env) = place.prepare(&codex, &place.request(Mode::Headless, "Work"));
    let open = SandboxSpec { shares_state: true, ..spec(&place, Home::ReadOnly, true) };
    let shown = run(&launch, &env, &open).await;
    assert!(shown.contains("Made it so"), "{shown}");
    let events = std::fs::read_to_string(place.session().join("events.jsonl")).unwrap();
    let mut recogniser = Recogniser::new(codex.clone(), Mode::Headless);
    let conversation = events.lines().map(|line| recogniser.line(line)).last().unwrap().conversation;
    assert!(conversation.is_some());
    place.model.then([Turn::write("new.txt", "hello\n").tokens(100, 0, 9), Turn::say("Because of the tests.")]);
    let mut request = place.request(Mode::Headless, "Why?");
    (request.autonomy, request.conversation) = (Autonomy::Read, conversation);
    let (launch, env) = place.prepare(&codex, &request);
    let shown = run(&launch, &env, &SandboxSpec { frozen: true, ..open }).await;
    assert!(shown.contains("Because of the tests."), "{shown}");
    assert!(!place.workspace().join("new.txt").exists());
}

#[tokio::test]
async fn without_bubblewrap_it_says_how_to_get_it() {
    let place = Place::new([]).await;
    let person = BTreeMap::from([("PATH".to_owned(), place.home().to_string_lossy().into_owned())]);
    let error = sandbox(&adapter("shell"), &["sh".to_owned()], &person, &spec(&place, Home::Hidden, true)).unwrap_err();
    assert!(error.to_string().contains("apt install bubblewrap"), "{error}");
}

fn tree(folder: &Path) -> Vec<(PathBuf, Option<String>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(tree(&path));
        } else {
            all.push((path.clone(), std::fs::read_to_string(&path).ok()));
        }
    }
    all.sort();
    all
}
