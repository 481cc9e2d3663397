//! Schedules and agent profiles on the command line.

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::process::wait_until;

const HELLO: &str = "\
name: hello
inputs:
  who: {type: string, default: you}
  times: {type: integer, default: 1}
steps:
  - id: say
    notify: {to: chat, text: \"Hello {{ inputs.who }} {{ inputs.times + 1 }}\"}
";

fn with_recipe() -> Fixture {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Calc"]);
    let path = fixture.path("hello.yaml");
    std::fs::write(&path, HELLO).unwrap();
    fixture.text(&["recipe", "add", path.to_str().unwrap(), "--project", "Calc"]);
    fixture
}

fn add(fixture: &Fixture, args: &[&str]) -> Value {
    fixture.json(&[&["schedule", "add", "--recipe", "hello", "--project", "Calc"], args].concat())
}

#[test]
fn a_schedule_is_added_looked_at_run_paused_and_removed() {
    let fixture = with_recipe();
    let rest = ["--input", "times=4", "--overlap", "queue_all", "--queue-max", "5", "--catch-up", "all=3"];
    let more = ["--catch-up-within", "1d", "--jitter", "5m", "--pause-after-failures", "2"];
    let added = add(&fixture, &[&["hourly", "--every", "1h"], &rest[..], &more].concat());
    assert_eq!((&added["trigger"], &added["when"]), (&json!({"on": "every", "seconds": 3600}), &json!("every hour")));
    assert_eq!((added["jitter_seconds"].as_u64(), added["catch_up_seconds"].as_u64()), (Some(300), Some(86_400)));
    let berlin = add(&fixture, &["--cron", "30 9 * * 1-5", "--time-zone", "Europe/Berlin", "--until", "30d"]);
    assert_eq!(berlin["name"], "hello", "named after its recipe");
    let listed = fixture.text(&["schedule", "list", "--project", "Calc"]);
    assert!(listed.contains("hourly") && listed.contains("every hour") && listed.contains("active"), "{listed}");
    let shown = fixture.text(&["schedule", "show", "hourly"]);
    for part in ["queue_all (at most 5)", "all: missed ticks of the last 1d run, at most 3", "up to 5m", "Next\n  20"] {
        assert!(shown.contains(part), "`{part}` is not in:\n{shown}");
    }
    let shown = fixture.text(&["schedule", "show", "hello"]);
    assert!(shown.contains(" 09:30 CE"), "in its time zone, too: {shown}");
    assert_eq!(fixture.text(&["schedule", "ticks", "hourly"]), "no ticks yet\n");
    let tick = fixture.json(&["schedule", "run-now", "hourly"]);
    assert_eq!((tick["outcome"].as_str(), tick["by_hand"].as_bool()), (Some("started"), Some(true)));
    let execution = tick["execution"].as_str().unwrap().to_owned();
    wait_until("it is completed", || {
        fixture.json(&["execution", "show", &execution])["execution"]["status"] == "completed"
    });
    assert!(fixture.text(&["chat", "list", "--project", "Calc"]).contains("Hello you 5"), "4 became a number");
    let ticks = fixture.text(&["schedule", "ticks", "hourly"]);
    assert!(ticks.contains("started") && ticks.contains(&execution), "{ticks}");
    let paused = fixture.text(&["schedule", "pause", "hourly", "--note", "holidays"]);
    assert!(paused.contains("paused: holidays"), "{paused}");
    assert!(fixture.text(&["schedule", "resume", "hourly"]).contains("active"));
    let refused = fixture.fail(2, &["schedule", "remove", "hourly"]);
    assert!(refused.contains("schedule `hourly` of recipe `hello`") && refused.contains("--yes"), "{refused}");
    assert!(fixture.fail(3, &["schedule", "remove", "hour", "--yes"]).contains("exactly"));
    fixture.text(&["schedule", "remove", "hourly", "--yes"]);
    let left = fixture.json(&["schedule", "list"]);
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
    assert_eq!(status(&fixture, &execution), "completed", "its executions stay");
}

fn status(fixture: &Fixture, execution: &str) -> String {
    fixture.json(&["execution", "show", execution])["execution"]["status"].as_str().unwrap().to_owned()
}

#[test]
fn the_past_is_made_up_for_once() {
    let fixture = with_recipe();
    add(&fixture, &["minutes", "--cron", "0 * * * *", "--overlap", "allow"]);
    let made = fixture.json(&["schedule", "backfill", "minutes", "--from", "3h"]);
    let made = made.as_array().unwrap();
    assert!((3..=4).contains(&made.len()) && made.iter().all(|tick| tick["outcome"] == "started"), "{made:?}");
    let again = fixture.fail(4, &["schedule", "backfill", "minutes", "--from", "2h"]);
    assert!(again.contains("has its tick already"), "{again}");
    assert_eq!(fixture.json(&["schedule", "ticks", "minutes"]).as_array().unwrap().len(), made.len());
}

#[test]
fn what_a_schedule_cannot_be_is_said() {
    let fixture = with_recipe();
    let add = |args: &[&str]| {
        fixture.fail(2, &[&["schedule", "add", "--recipe", "hello", "--project", "Calc"], args].concat())
    };
    assert!(add(&[]).contains("--cron"));
    assert!(add(&["--every", "1h", "--at", "2h"]).contains("cannot be used with"));
    assert!(add(&["--every", "hourly"]).contains("30m, 12h"));
    assert!(add(&["--cron", "61 * * * *"]).contains("61"));
    assert!(add(&["--cron", "0 9 * * *", "--time-zone", "Europe/Berlyn"]).contains("Europe/Berlyn"));
    assert!(add(&["--event", "task_don"]).contains("task_done"));
    assert!(add(&["--every", "1h", "--input", "whom=ann"]).contains("whom"));
    assert!(add(&["--every", "1h", "--recipe", "hallo"]).contains("cannot be used multiple times"));
    let unknown = fixture.fail(2, &["schedule", "add", "--recipe", "hallo", "--project", "Calc", "--every", "1h"]);
    assert!(unknown.contains("there is no recipe `hallo`"), "{unknown}");
}

#[test]
fn agent_profiles_are_set_listed_and_removed() {
    let fixture = with_recipe();
    let set = |args: &[&str]| {
        fixture.json(&[&["profile", "set", "reviewer", "--project", "Calc", "--agent", "claude"], args].concat())
    };
    std::fs::write(fixture.path("prompt.md"), "You review.\n").unwrap();
    let prompt = fixture.path("prompt.md").display().to_string();
    let first = set(&["--prompt-file", &prompt, "--budget", "2.50", "--sandbox", "--no-network", "--label", "big"]);
    assert_eq!((&first["prompt"], &first["budget_micros"]), (&json!("You review."), &json!(2_500_000)));
    assert_eq!(first["sandbox"], json!({"network": false, "home": false}));
    assert_eq!(set(&["--model", "sonnet"])["number"], 2);
    let listed = fixture.text(&["profile", "list", "--project", "Calc"]);
    assert!(listed.contains("reviewer") && listed.contains("sonnet"), "{listed}");
    assert!(fixture.fail(2, &["profile", "remove", "reviewer", "--project", "Calc"]).contains("--yes"));
    fixture.text(&["profile", "remove", "reviewer", "--project", "Calc", "--yes"]);
    assert_eq!(fixture.json(&["profile", "list", "--project", "Calc"]), json!([]));
    fixture.fail(3, &["profile", "remove", "reviewer", "--project", "Calc", "--yes"]);
}

#[test]
fn a_webhook_is_added_rotated_and_removed() {
    let fixture = with_recipe();
    let added = fixture.json(&["hook", "add", "github", "--project", "Calc"]);
    let secret = added["secret"].as_str().unwrap();
    assert!(
        secret.starts_with("sfh_") && added["hook"]["url"].as_str().unwrap().contains("/api/hooks/hok_"),
        "{added}"
    );
    let listed = fixture.text(&["hook", "list"]);
    assert!(listed.contains("github") && listed.contains("never") && !listed.contains(secret), "{listed}");
    let taken = fixture.fail(4, &["hook", "add", "github", "--project", "Calc", "--kind", "standard"]);
    assert!(taken.contains("there is a webhook `github`"), "{taken}");
    assert_eq!(fixture.text(&["hook", "deliveries", "github"]), "nothing received in 7 days\n");
    let rotated = fixture.json(&["hook", "rotate", "github", "--keep-hours", "1"]);
    assert!(rotated["secret"] != added["secret"] && rotated["hook"]["old_secret_until"].is_string(), "{rotated}");
    assert!(fixture.fail(2, &["hook", "rotate", "github", "--keep-hours", "999"]).contains("at most 168"));
    let event = ["--event", "webhook", "--matching", "event.hook == 'github'"];
    assert_eq!(add(&fixture, &event)["trigger"]["event"], "webhook");
    assert!(fixture.fail(2, &["hook", "remove", "github"]).contains("--yes"));
    fixture.text(&["hook", "remove", "github", "--yes"]);
    assert_eq!(fixture.json(&["hook", "list"]), json!([]));
}

#[test]
fn a_profile_has_versions_that_can_be_shown() {
    let fixture = with_recipe();
    for model in ["small", "large"] {
        fixture.text(&["profile", "set", "fixer", "--project", "Calc", "--agent", "codex", "--model", model]);
    }
    let versions = fixture.json(&["profile", "versions", "fixer", "--project", "Calc"]);
    assert_eq!((versions[0]["number"].as_u64(), versions[1]["model"].as_str()), (Some(2), Some("small")));
    let first = fixture.text(&["profile", "show", "fixer", "--project", "Calc", "--version", "1"]);
    assert!(first.contains("small") && !first.contains("large"), "{first}");
    assert!(fixture.fail(3, &["profile", "show", "nobody", "--project", "Calc"]).contains("no agent profile"));
}
