//! The command line itself.

use clap::Command;
use protocol::Call;

/// The command for each verb.
const VERBS: &[(&str, &str)] = &[
    ("me", "doctor"),
    ("me.rename", "user rename bo"),
    ("user.list", "user list"),
    ("user.show", "user show ann"),
    ("user.disable", "user disable ann"),
    ("user.enable", "user enable ann"),
    ("project.list", "project list"),
    ("project.show", "project show P"),
    (
        "project.create",
        "project create text --visibility read-write --repo u#main --setup make --teardown x --copy .env --ports 1-2",
    ),
    ("project.update", "project update P - --expected-version 3 --retention-days never"),
    ("project.delete", "project delete P"),
    ("project.versions", "project history P"),
    ("project.diff", "project diff P --from 1 --to 2"),
    ("activity.list", "activity list --project P --status blocked"),
    ("activity.show", "activity show A"),
    ("activity.create", "activity create P --file F --link branch=x"),
    ("activity.update", "activity update A --status completed --no-links"),
    ("activity.versions", "activity history A"),
    ("activity.diff", "activity diff A"),
    ("chat.history", "chat list P --before 9 --limit 3"),
    ("chat.send", "chat send P hello"),
    ("chat.edit", "chat edit msg_00000000000000000000000000000000 hello"),
    ("chat.delete", "chat delete msg_00000000000000000000000000000000"),
    ("chat.read", "chat mark-read P --number 4"),
    ("chat.unread", "chat unread"),
    ("token.list", "token list"),
    ("token.create", "token create ci --expires 30d"),
    ("token.revoke", "token revoke ci"),
    ("login.list", "login list"),
    ("login.link", "login"),
    ("login.revoke", "login revoke lgn_00000000000000000000000000000000"),
    ("login.revoke_all", "login revoke-all"),
    ("invite.list", "invite list"),
    ("invite.create", "invite create bo --expires 2030-01-01T00:00:00Z"),
    ("invite.revoke", "invite revoke bo"),
    ("observer.list", "observer list P"),
    ("observer.create", "observer create P boss"),
    ("observer.revoke", "observer revoke obs_00000000000000000000000000000000"),
    ("runner.list", "runner list"),
    ("runner.create", "runner create laptop"),
    ("runner.update", "runner update laptop --policy ask --sandbox-others"),
    ("runner.remove", "runner remove laptop"),
    ("approval.list", "approval list --project P --all"),
    ("approval.show", "approval show A"),
    ("approval.answer", "approval deny A"),
    ("grant.list", "approval grants"),
    ("grant.revoke", "approval revoke G"),
    ("session.list", "session list --project P --activity A --all"),
    ("session.show", "session show S"),
    (
        "session.spawn",
        "session spawn --activity A --agent codex --prompt text --headless --sandbox --no-network --home",
    ),
    ("session.stop", "session stop S --force"),
    ("session.resume", "session resume S"),
    ("session.send", "session send S text --no-submit"),
    ("session.log", "session log S --lines 5 --setup"),
    ("workspace.list", "workspace list --all"),
    ("workspace.show", "workspace show W"),
    ("workspace.diff", "workspace diff W --stat"),
    ("workspace.saves", "workspace saves W"),
    ("workspace.restore", "workspace restore W --save abc"),
    ("workspace.clean", "workspace clean W"),
    ("recording.list", "recording list --project P"),
    ("recording.show", "recording show S"),
    ("recording.part", "recording play S --speed 2 --idle-limit 1 --from 30"),
    ("recording.search", "recording search S text"),
    ("recording.keep", "recording keep S --no"),
    ("task.list", "task list --project P --activity A --worker W --status ready --status blocked"),
    ("task.export", "task export --project P --open"),
    ("task.show", "task show T"),
    (
        "task.add",
        "task add --project P text --context c --accept committed --files a,b --dep T --priority 9 --need rust",
    ),
    ("task.cancel", "task cancel T --reason why"),
    ("task.retry", "task retry T --reason how"),
    ("task.take", "task take --project P --task T --worker w --ability a --wait 60"),
    ("task.heartbeat", "task heartbeat T --fence 3 --progress half"),
    (
        "task.report",
        "task report T --fence 3 summary --deliverable a --branch b --commit c --context-score 5 --input-tokens 1 --cost 0.05",
    ),
    ("task.turn", "task turn --project P --file turn.json"),
    ("task.release", "task release T --fence 3 --reason why"),
    ("task.ask", "task ask T --fence 3 question --option a --option b --context c --give-up"),
    ("task.take_over", "task take-over T --runner r --agent codex"),
    ("escalation.list", "escalation list --project P --all"),
    ("escalation.show", "escalation show E"),
    ("escalation.answer", "escalation answer E words --act retry"),
    ("worker.list", "worker list --project P"),
    ("worker.show", "worker show W"),
    (
        "worker.start",
        "worker start --project P --agent codex --count 4 --role r --model m --budget 5.00 --ability a --runner r --sandbox",
    ),
    ("worker.update", "worker update W --name n --budget 7 --ability a"),
    ("worker.stop", "worker stop W --force"),
    ("worker.restart", "worker restart W"),
    ("worker.remove", "worker remove W"),
    ("worker.stop_all", "worker stop-all --project P --force"),
    ("work.log", "worker log --project P --worker W --task T --before 9 --limit 3"),
    ("work.settings", "work settings --project P"),
    (
        "work.configure",
        "work configure --project P --strategy stealing --lease 90 --breaker 3 --scale-most 8 --budget 20",
    ),
    ("work.metrics", "metrics --project P --hours 48"),
    ("work.doing", "work doing --project P"),
    ("floor.freeze", "stop-everything --project P"),
    ("floor.thaw", "thaw"),
    ("audit.list", "audit list --project P --before 9 --limit 3"),
    ("presence.list", "presence"),
];

/// Commands that use several verbs, or none.
const OTHERS: &[&str] = &[
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
    "stop-everything",
];

#[test]
fn every_other_command_is_parsed() {
    for line in OTHERS {
        parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

fn parse(line: &str) -> Result<clap::ArgMatches, clap::Error> {
    shopfloor::command().try_get_matches_from(std::iter::once("shopfloor").chain(line.split(' ')))
}

#[test]
fn every_verb_has_a_command() {
    for verb in Call::VERBS {
        let (_, line) =
            VERBS.iter().find(|(known, _)| known == verb).unwrap_or_else(|| panic!("no command for {verb}"));
        // Global options may stand anywhere.
        for line in [format!("{line} --json --hub http://h --token t"), format!("--data-dir D --color never {line}")] {
            parse(&line).unwrap_or_else(|error| panic!("{verb}: {error}"));
        }
    }
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
