//! Commands end, with everything that they started; they run only where they may, with what they may know.

use std::path::Path;
use std::sync::Arc;

use acceptance::{Commands, Runs};
use protocol::Criterion;

use crate::support::{Bench, runs};

fn command(line: &str, seconds: u32) -> [Criterion; 1] {
    let argv = ["sh", "-c", line].map(str::to_owned).to_vec();
    [Criterion::Command { argv, exit_code: None, timeout_seconds: Some(seconds) }]
}

/// Whether a process with this number is alive.
fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with('Z'))
}

fn pids(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    files.map(|file| std::fs::read_to_string(file.path()).unwrap()).filter(|pid| !pid.trim().is_empty()).collect()
}

const TREE: &str = "for way in '' setsid 'setsid setsid'; do \
    $way sh -c 'trap \"\" TERM HUP INT; echo $$ > \"$0/$$\"; while :; do sleep 1000; done' \"$OUT\" & done; \
    (setsid sh -c 'sh -c \"echo \\$\\$ > $OUT/\\$\\$; exec sleep 1000\" & exit') ; \
    while [ $(ls \"$OUT\" | wc -l) -lt 4 ]; do sleep 0.02; done; ";

fn with_out(bench: &Bench) -> Commands {
    let Commands::Run(mut runs) = runs(&bench.path()) else { panic!("they run") };
    runs.env.push(("OUT".into(), bench.path().join("out").to_str().unwrap().to_owned()));
    Commands::Run(runs)
}

#[tokio::test]
async fn a_late_command_ends_with_its_whole_tree() {
    let bench = Bench::new().await;
    let criteria = command(&format!("{TREE} echo all started; sleep 1000"), 5);
    let results = bench.check_with(&criteria, with_out(&bench)).await;
    assert!(results[0].reason.contains("longer than 5 s"), "{}", results[0].reason);
    let pids = pids(&bench.path().join("out"));
    assert_eq!(pids.len(), 4);
    assert!(!pids.iter().any(|pid| alive(pid)), "{pids:?}");
    assert!(results[0].reason.contains("all started"), "{}", results[0].reason);
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let bench = Bench::new().await;
    let results = bench.check_with(&command(TREE, 60), with_out(&bench)).await;
    assert_eq!(results[0].passed, Some(true), "{}", results[0].reason);
    let pids = pids(&bench.path().join("out"));
    assert!(pids.len() == 4 && !pids.iter().any(|pid| alive(pid)), "{pids:?}");
}

#[tokio::test]
async fn a_check_that_is_given_up_leaves_nothing() {
    let bench = Bench::new().await;
    let out = bench.path().join("out");
    let criteria = command(&format!("{TREE} sleep 1000"), 600);
    tokio::select! {
        _ = bench.check_with(&criteria, with_out(&bench)) => panic!("it cannot end"),
        () = testkit::wait_until("all are there", || async { (pids(&out).len() == 4).then_some(()) }) => {}
    }
    let pids = pids(&out);
    testkit::wait_until("all are gone", || async { (!pids.iter().any(|pid| alive(pid))).then_some(()) }).await;
}

#[tokio::test]
async fn a_command_knows_only_what_it_is_given_and_reads_nothing() {
    let bench = Bench::new().await;
    let results = bench.check(&command("env; cat; pwd; exit 9", 60)).await;
    let reason = &results[0].reason;
    assert!(reason.contains("PATH=") && reason.contains("exited with 9"), "{reason}");
    assert!(!reason.contains("CARGO") && !reason.contains("USER="), "{reason}");
    assert!(reason.contains(bench.made.path.to_str().unwrap()), "{reason}");
}

#[tokio::test]
async fn the_end_of_the_output_is_told_without_control_characters() {
    let bench = Bench::new().await;
    let line = r"yes first | head -n 100000; printf '\033[31mthe last line\n'; exit 1";
    let reason = bench.check(&command(line, 60)).await.remove(0).reason;
    assert!(reason.ends_with("[31mthe last line"), "{reason}");
    assert!(reason.len() < 3000 && !reason.contains('\u{1b}'));
}

#[tokio::test]
async fn secrets_are_taken_out_of_the_output_before_it_is_cut() {
    let bench = Bench::new().await;
    let Commands::Run(free) = runs(&bench.path()) else { panic!("they run") };
    let mask = Arc::new(|printed: &str| printed.replace("hunter2", "•"));
    // The reported output begins in the middle of a secret.
    let line = "yes hunter2 | tr -d '\\n' | head -c 7000; exit 1";
    let results = bench.check_with(&command(line, 60), Commands::Run(Runs { mask, ..free })).await;
    let printed = results[0].reason.rsplit('\n').next().unwrap();
    assert!(!printed.is_empty() && printed.chars().all(|c| c == '•'), "{printed}");
}

#[tokio::test]
async fn unapproved_commands_need_a_person() {
    let bench = Bench::new().await;
    let refused = Commands::Refused("allow it with `shopfloor approval allow 1234`".to_owned());
    let mark = bench.path().join("out/mark");
    let criteria = command(&format!("touch '{}'", mark.display()), 60);
    let results = bench.check_with(&criteria, refused).await;
    assert_eq!(results[0].passed, None);
    assert!(results[0].reason.contains("approval allow 1234"), "{}", results[0].reason);
    let Commands::Run(free) = runs(&bench.path()) else { panic!("they run") };
    let contain = Arc::new(|_| Err("there is no bubblewrap here".to_owned()));
    let results = bench.check_with(&criteria, Commands::Run(Runs { contain, ..free })).await;
    assert_eq!(results[0].passed, None);
    assert!(results[0].reason.contains("bubblewrap"), "{}", results[0].reason);
    assert!(!mark.exists());
}

#[tokio::test]
async fn a_command_is_given_as_long_as_a_task_may_ask_for() {
    let schema = protocol::task_schema();
    let kinds = schema["$defs"]["Criterion"]["oneOf"].as_array().unwrap();
    let longest = kinds.iter().find_map(|kind| kind["properties"]["timeout_seconds"]["maximum"].as_u64()).unwrap();
    let bench = Bench::new().await;
    let Commands::Run(mut told) = runs(&bench.path()) else { panic!("they run") };
    let line = r#"printf '{"code":9,"signal":null,"late":false,"fault":null,"tail":"%s"}' "$2""#;
    told.warden = ["sh", "-c", line, "warden"].map(str::to_owned).to_vec();
    let results = bench.check_with(&command("true", u32::try_from(longest).unwrap()), Commands::Run(told)).await;
    assert!(results[0].reason.ends_with(&longest.to_string()), "{}", results[0].reason);
}

#[tokio::test]
async fn commands_run_at_lower_priority_than_the_runner() {
    let bench = Bench::new().await;
    let own = std::fs::read_to_string("/proc/self/stat").unwrap();
    let own: i32 = own.rsplit(')').next().unwrap().split_whitespace().nth(16).unwrap().parse().unwrap();
    let line = format!("test $(cut -d' ' -f19 /proc/self/stat) -eq {}", (own + worktree::NICE).min(19));
    let results = bench.check_with(&command(&line, 60), with_out(&bench)).await;
    assert_eq!(results[0].passed, Some(true), "{}", results[0].reason);
}
