//! The command line itself.

use clap::Command;
use protocol::Call;

/// Verbs whose command has another name: `chat.send` is `chat send`, and `worker.stop_all` is `worker stop-all`.
const RENAMED: &[(&str, &str)] = &[
    ("handoff.begin", "handoff"),
    ("artifact.read", "artifact get"),
    ("search.find", "search"),
    ("search.terminals", "search"),
    ("me", "doctor"),
    ("me.rename", "user rename"),
    ("project.versions", "project history"),
    ("activity.versions", "activity history"),
    ("chat.history", "chat list"),
    ("login.link", "login"),
    ("approval.answer", "approval deny"),
    ("grant.list", "approval grants"),
    ("grant.revoke", "approval revoke"),
    ("session.keyboard_request", "session keyboard request"),
    ("session.keyboard_give", "session keyboard give"),
    ("session.keyboard_take", "session keyboard take"),
    ("session.keyboard_return", "session keyboard return"),
    ("recording.part", "recording play"),
    ("review.list", "review comments"),
    ("notify.configure", "notify settings"),
    ("workspace.review", "review comments"),
    ("workspace.comment", "review comment"),
    ("workspace.send_back", "review send-back"),
    ("work.log", "worker log"),
    ("work.metrics", "metrics"),
    ("floor.freeze", "stop-everything"),
    ("floor.thaw", "thaw"),
    ("presence.list", "presence"),
    ("landing.land", "land"),
];

/// Command lines as people type them.
const LINES: &[&str] = &[
    "user rename bo",
    "user show ann",
    "user disable ann",
    "user enable ann",
    "user remove bo --yes",
    "project show P",
    "project create text --visibility read-write --repo u#main --setup make --teardown x --copy .env --ports 1-2",
    "project update P - --expected-version 3 --retention-days never",
    "project delete P",
    "project delete --project P --yes",
    "project show --project P",
    "project history P",
    "project diff P --from 1 --to 2",
    "activity list --project P --status blocked",
    "activity show A",
    "activity create P --file F --link branch=x",
    "activity create --project P text",
    "activity update A --status completed --no-links",
    "activity history A",
    "activity diff A",
    "chat list P --before 9 --limit 3",
    "chat send P hello",
    "chat send hello --project P",
    "chat list --project P",
    "chat mark-read --project P",
    "chat edit msg_00000000000000000000000000000000 hello",
    "chat delete msg_00000000000000000000000000000000",
    "chat mark-read P --number 4",
    "token create ci --expires 30d",
    "token revoke ci",
    "login revoke lgn_00000000000000000000000000000000",
    "invite create bo --expires 2030-01-01T00:00:00Z",
    "invite revoke bo",
    "observer list P",
    "observer list --project P",
    "observer create --project P boss",
    "observer create P boss",
    "observer revoke obs_00000000000000000000000000000000",
    "runner create laptop",
    "runner update laptop --policy ask --sandbox-others",
    "runner look",
    "runner look ~/code/ --runner laptop",
    "runner remove laptop",
    "approval list --project P --all",
    "approval show A",
    "approval deny A",
    "approval revoke G",
    "session list --project P --activity A --all",
    "session show S",
    "session spawn --activity A --agent codex --prompt text --headless --sandbox --no-network --home",
    "session stop S --force",
    "session resume S",
    "session send S text --no-submit",
    "session log S --lines 5 --setup",
    "session screen S",
    "session keyboard request S",
    "session keyboard give S --to bo",
    "session keyboard take S",
    "session keyboard return S",
    "workspace list --all",
    "workspace show W",
    "workspace diff W --stat",
    "workspace saves W",
    "workspace restore W --save abc",
    "workspace clean W",
    "workspace push W --no-wait",
    "workspace merge W --no-wait",
    "workspace discard W V --yes",
    "land CALC-12 CALC-13 --push-only --no-wait",
    "land A --pull-request",
    "landing list --project P",
    "landing settings --project P",
    "landing configure --project P --mode automatic --target main --keep-days 7",
    "search parser bug --project P --kind task --limit 5",
    "search parser bug --kind terminal",
    "recording list --project P",
    "recording show S",
    "recording play S --speed 2 --idle-limit 1 --from 30",
    "recording search S text",
    "recording keep S --no",
    "task list --project P --activity A --worker W --status ready --status blocked",
    "task export --project P --open",
    "task show T",
    "task add --project P text --context c --accept committed --files a,b --dep T --priority 9 --need rust",
    "task edit T --description d --context c --accept committed --file a --after T --priority 9 --need rust",
    "task reopen T words",
    "task cancel T --reason why",
    "task cancel --status ready --activity A --yes",
    "task retry T --reason how",
    "task retry --all --project P --yes",
    "task take --project P --task T --worker w --ability a --wait 60",
    "task heartbeat T --fence 3 --progress half",
    "task report T --fence 3 summary --deliverable a --branch b --commit c --context-score 5 --input-tokens 1 --cost 0.05",
    "task turn --project P --file turn.json",
    "task release T --fence 3 --reason why",
    "task ask T --fence 3 question --option a --option b --context c --give-up",
    "task take-over T --runner r --agent codex",
    "escalation list --project P --all",
    "escalation show E",
    "escalation answer E words --act retry",
    "worker list --project P",
    "worker show W",
    "worker start --project P --agent codex --count 4 --role r --model m --budget 5.00 --ability a --runner r --sandbox",
    "worker update W --name n --budget 7 --ability a",
    "worker stop W --force",
    "worker restart W",
    "worker remove W",
    "worker stop-all --project P --force",
    "worker log --project P --worker W --task T --before 9 --limit 3",
    "work settings --project P",
    "work configure --project P --strategy stealing --lease 90 --breaker 3 --scale-most 8 --budget 20",
    "metrics --project P --hours 48",
    "work doing --project P",
    "stop-everything --project P",
    "audit list --project P --before 9 --limit 3",
    "session spawn --project P --json -- make test",
    "session spawn --project P --agent shell --attach --record-input --runner r --label a --label b",
    "session spawn --activity A --agent claude --prompt-file - --model m --base b --branch c --repository u",
    "session spawn --activity A --agent claude --workspace W",
    "session watch S --plain --exit-code",
    "attach S --detach-key ctrl-] --exit-code",
    "recording export S --output f.cast --asciicast 2",
    "runner --hub http://h --token t --name n --label a --label b --capacity 4 --data-dir D --disk-quota 50G",
    "runner --token-file F --recordings-limit 5G --stop-grace 3",
    "runner --session-nice 5 --session-memory 4G --session-processes 500 --session-cpu-seconds 3600",
    "runner show R",
    "approval allow abc --once",
    "approval allow abc --text",
    "approval allow abc --author",
    "up --no-open --no-runner",
    "task schema",
    "task check plan.md --format markdown",
    "task add --project P --file - --format jsonl",
    "task add --project P -",
    "task list --all",
    "task graph --project P --dot",
    "task graph T",
    "task watch --project P --until-done",
    "task report T --fence 3 --failed why",
    "worker start --project P -- ./work.sh --fast",
    "worker status --project P",
    "escalation answer E --option 1",
    "instructions worker --for claude",
    "instructions coordinator --for agents-md",
    "task diff TASK --stat",
    "review comments TASK",
    "review comments my-branch",
    "review comment TASK src/a.rs:3-5 text --before",
    "review reply TASK 1 text",
    "review resolve TASK 1 --reopen",
    "review approve TASK --tree T",
    "review send-back TASK text",
    "stop-everything",
    "recipe check recipe.yaml --format yaml",
    "recipe schema",
    "recipe new --template fix-issue FILE",
    "recipe new --list",
    "recipe add - --project P",
    "recipe list --project P",
    "recipe show R --version 2 --text",
    "recipe diff R",
    "recipe diff R 1 2 --project P",
    "recipe disable R",
    "recipe enable rcp_00000000000000000000000000000000",
    "recipe run R --project P --input issue=42 --input a=@f --input-file F --version 1 --watch",
    "execution start R --project P --input issue=42",
    "execution list --project P --recipe R --open --limit 5",
    "execution show E step",
    "execution watch E",
    "execution log E --after 5 --limit 5",
    "execution pause E --now --reason why",
    "execution resume E",
    "execution cancel E --reason why",
    "execution answer E step --approve --data {} --comment c",
    "execution answer E --reject",
    "execution approve E --data {} --comment c",
    "execution reject E step --reason why",
    "execution retry E step --reason why",
    "execution skip E --output 1",
    "execution correct E step --output @F",
    "execution inputs E --input a=b --input-file F --reason why",
    "execution swap E --version 2 --diff",
    "execution rewind E fan[left]/build",
    "execution replay E",
    "schedule add N --recipe R --project P --cron @daily --time-zone UTC --input a=b --overlap queue_all --queue-max 3",
    "schedule add --recipe R --project P --every 1h --catch-up all=5 --catch-up-within 1h --jitter 5m --from 1d --until 2d",
    "schedule add --recipe R --project P --at 2h --pause-after-failures 3",
    "schedule add --recipe R --project P --event task_done --matching x",
    "schedule list --project P",
    "schedule pause S --note why",
    "schedule run-now S --project P",
    "schedule backfill S --from 2d --until 1d",
    "schedule ticks S --before 1d --limit 5",
    "schedule remove S --yes",
    "profile list --project P",
    "profile set N --project P --agent codex --model m --description d --prompt p --budget 5 --label a --sandbox --home",
    "profile set N --project P --agent codex --prompt-file F",
    "profile remove N --project P --yes",
    "handoff S --to R --goal g --edit --push --agent codex --wait 60 --no-wait",
    "handoff list --project P",
    "session ask S why --no-wait",
    "session questions S",
    "handoff show H",
    "handoff compare H I",
    "handoff settings --project P",
    "handoff configure --project P --keep-files yes --templates F",
    "handoff write H --done d --section Risks=none",
    "handoff retry H",
    "overlap list --project P",
    "overlap show O",
    "overlap reserve src/** docs --activity A --for 30m --reason why",
    "overlap release rsv_0",
    "overlap release --activity A",
    "overlap reservations --project P --activity A",
    "artifact put F --project P",
    "artifact list --project P",
    "artifact get A --project P",
    "hook add N --project P --kind github",
    "hook list --project P",
    "hook rotate N --project P",
    "notify add ntfy https://ntfy.sh/t --name n --token-file F --kinds failed,done",
    "notify update C --kinds mention --disable",
    "notify settings --quiet 22:00-07:00 --zone UTC --gather 5 --at-most 60",
    "notify settings --no-quiet",
    "notify test C",
    "notify key",
];

#[test]
fn every_command_is_parsed() {
    for line in LINES {
        parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        // Global options may stand anywhere.
        let all = ["--json", "--hub http://h", "--token t", "--data-dir D", "--color never"];
        let more = all.into_iter().filter(|one| !line.contains(one.split(' ').next().unwrap_or(one)));
        let more = more.collect::<Vec<_>>().join(" ");
        let after = if line.contains(" -- ") { (*line).to_owned() } else { format!("{line} {more}") };
        for line in [format!("{more} {line}"), after] {
            parse(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
}

fn parse(line: &str) -> Result<clap::ArgMatches, clap::Error> {
    shopfloor::command().try_get_matches_from(std::iter::once("shopfloor").chain(line.split(' ')))
}

/// The command at this path, such as `chat send`.
fn find<'a>(all: &'a Command, path: &str) -> Option<&'a Command> {
    path.split(' ').try_fold(all, |command, word| command.find_subcommand(word))
}

#[test]
fn every_verb_has_a_command() {
    let mut all = shopfloor::command();
    all.build();
    for verb in Call::VERBS {
        let own = verb.replace('.', " ").replace('_', "-");
        let renamed = RENAMED.iter().find(|(known, _)| known == verb);
        let path = renamed.map_or(own.as_str(), |(_, path)| path);
        let command = find(&all, path).unwrap_or_else(|| panic!("{verb} has no command `{path}`"));
        assert!(command.get_arguments().any(|arg| arg.get_long() == Some("json")), "{path} has no `--json`");
        assert!(renamed.is_none() || find(&all, &own).is_none(), "{verb} has the command `{own}`: it is not renamed");
    }
    let unknown: Vec<_> = RENAMED.iter().filter(|(verb, _)| !Call::VERBS.contains(verb)).collect();
    assert!(unknown.is_empty(), "no verbs: {unknown:?}");
}

#[test]
fn invalid_command_lines_are_refused_with_a_hint() {
    for (line, part) in [
        ("project create x --visibility open", "read-only"),
        ("activity create P x --link tree=y", "workspace"),
        ("token create x --expires soon", "7d"),
        ("chat delete nonsense", "msg_"),
        ("project lis", "list"),
        ("session spawn --activity A --project P --agent codex", "cannot be used"),
        ("session spawn --project P --agent codex --home", "--sandbox"),
        ("project create x --repo u --ports 5", "4000-4099"),
        ("runner --disk-quota much", "50G"),
        ("task add --project P", "DESCRIPTION"),
        ("task add --project P x --file F", "cannot be used"),
        ("task add --project P x --priority 10", "0..=9"),
        ("task add --project P x --accept comand:x", "did you mean"),
        ("task add --project P x --accept cmd:", "did you mean `command`?"),
        ("chat list", "--project"),
        ("chat list P --project P", "cannot be used"),
        ("task add x", "--project"),
        ("task list --status redy", "ready"),
        ("task report T x --fence 1 --context-score 6", "1..=5"),
        ("task report T x", "--fence"),
        ("worker start --project P --agent codex --budget much", "5.00"),
        ("worker start --project P --agent codex --count 33", "1..=32"),
        ("worker start --project P --agent codex --no-network", "--sandbox"),
        ("work configure --project P --strategy fair", "round_robin"),
        ("escalation answer E x --act maybe", "retry"),
        ("escalation answer E --option a --act retry", "cannot be used"),
        ("instructions worker --for vim", "agents-md"),
        ("recording export S --asciicast 4", "2..=3"),
        ("project create x --file y", "cannot be used"),
        ("recipe run R --input issue", "NAME=VALUE"),
        ("execution answer E", "--approve"),
        ("execution answer E --approve --reject", "cannot be used"),
        ("schedule add --recipe R --project P", "--cron"),
        ("schedule add --recipe R --project P --every soon", "30m"),
        ("schedule add --recipe R --project P --every 1h --catch-up some", "all=N"),
    ] {
        let error = parse(line).unwrap_err().to_string();
        assert!(error.contains(part), "{line}: {error}");
    }
}

#[test]
fn every_help_text_lists_the_exit_codes() {
    fn walk(command: &Command, seen: &mut usize) {
        if command.get_name() == "help" {
            return;
        }
        let help = command.clone().render_long_help().to_string();
        assert!(help.contains("5  the hub does not answer"), "{}: {help}", command.get_name());
        assert!(command.get_about().is_some(), "{} says what it does", command.get_name());
        *seen += 1;
        command.get_subcommands().for_each(|inner| walk(inner, seen));
    }
    let (mut command, mut seen) = (shopfloor::command(), 0);
    command.build();
    walk(&command, &mut seen);
    assert!(seen > 50, "{seen}");
    command.debug_assert();
}
