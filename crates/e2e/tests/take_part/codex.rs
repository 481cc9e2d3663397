//! The real Codex CLI takes a task and reports it by its own MCP client; the model is scripted.

use std::process::Stdio;

use domain::{ReportVerdict, TaskStatus};
use serde_json::{Value, json};
use testkit::model::{Model, Turn, cli_folder};
use tokio::process::Command;

use crate::hub::Hub;

/// A repository with one commit.
fn repository(hub: &Hub) -> String {
    let place = hub.path("repository");
    std::fs::write(place.join("README.md"), "# A repository\n").unwrap();
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "base"],
    ] {
        assert!(std::process::Command::new("git").args(args).current_dir(&place).status().unwrap().success());
    }
    place.display().to_string()
}

/// What docs/mcp.md tells people to write into Codex's configuration, for one way or the other.
fn server(hub: &Hub, over_http: bool) -> String {
    if over_http {
        format!("[mcp_servers.shopfloor]\nurl = \"{}/mcp\"\nbearer_token_env_var = \"SHOPFLOOR_TOKEN\"\n", hub.url)
    } else {
        format!(
            "[mcp_servers.shopfloor]\ncommand = \"{}\"\nargs = [\"mcp\"]\nenv_vars = [\"SHOPFLOOR_HUB\", \
             \"SHOPFLOOR_TOKEN\"]\n",
            testkit::binary().display()
        )
    }
}

async fn takes_and_reports(over_http: bool) {
    let hub = Hub::open().await;
    let lines = hub.add(json!([{ "description": "Greet the world" }])).await;
    let model = Model::start([
        Turn::call("mcp__shopfloor__take_task", json!({})),
        Turn::call("mcp__shopfloor__report", json!({ "summary": "Greeted the world.", "context_score": 5 })),
        Turn::say("The task is done."),
    ])
    .await;
    let home = hub.path("home");
    model.write_home(&home);
    let config = home.join(".codex/config.toml");
    std::fs::write(&config, model.codex_config() + "\n" + &server(&hub, over_http)).unwrap();
    let mut command = Command::new(cli_folder().join("codex"));
    command.args(["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]);
    command.arg("Work off a task").current_dir(hub.path("place")).env("HOME", &home).envs(Model::variables());
    command.env("SHOPFLOOR_HUB", &hub.url).env("SHOPFLOOR_TOKEN", &hub.token);
    // Connections out of the machine fail.
    command.env("HTTPS_PROXY", "http://127.0.0.1:9").env("HTTP_PROXY", "http://127.0.0.1:9");
    command.env("NO_PROXY", "127.0.0.1,localhost");
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let detail = hub.show(&lines[0]).await;
    assert_eq!(detail.task.status, TaskStatus::Done, "{said}\n{}", hub.log());
    assert_eq!(detail.reports[0].summary, "Greeted the world.");
    // The model's input: the brief first, then the verdict.
    let answers: Vec<Value> =
        model.asked().into_iter().filter(|asked| asked.scripted).map(|asked| asked.body).collect();
    let told = |index: usize| answers[index]["input"].as_array().unwrap().last().unwrap()["output"].to_string();
    assert!(told(1).contains("Greet the world"), "{}", told(1));
    assert!(told(2).contains("accepted"), "{}", told(2));
}

#[tokio::test]
async fn codex_takes_a_task_and_reports_it_over_standard_input_and_output() {
    takes_and_reports(false).await;
}

#[tokio::test]
async fn codex_takes_a_task_and_reports_it_over_http() {
    takes_and_reports(true).await;
}

/// Nothing is configured by hand: the session has the tools, and its token is the agent's own.
#[tokio::test]
async fn a_refused_managed_codex_fixes_its_work_in_the_same_session() {
    let hub = Hub::open().await;
    let shown: protocol::Project = {
        let args = ["project", "create", "With a repository", "--repo", &repository(&hub), "--json"];
        serde_json::from_str(&testkit::shopfloor(&hub.url, &hub.token, &args).await.unwrap()).unwrap()
    };
    let report = |summary: &str| Turn::call("mcp__shopfloor__report", json!({ "summary": summary }));
    let model = Model::start([
        Turn::call("mcp__shopfloor__list_tasks", json!({ "project": hub.project.id })),
        report("Wrote the greeting."),
        Turn::write("greeting.txt", "hello\nworld\n"),
        report("Wrote the greeting, really."),
        Turn::say("It is accepted."),
    ])
    .await;
    model.write_home(&hub.path("home"));
    let path = format!("{}:{}", cli_folder().display(), std::env::var("PATH").unwrap());
    let nobody = ["HTTP_PROXY", "HTTPS_PROXY"].map(|name| (name, "http://127.0.0.1:9".to_owned()));
    let mut env = vec![("PATH", path), ("NO_PROXY", "127.0.0.1,localhost".to_owned())];
    env.extend(nobody);
    env.extend(Model::variables().map(|(name, value)| (name, value.to_owned())));
    let runner = hub.runner(&env).await;
    hub.add(json!([{ "description": "Another project's secret" }])).await;
    let tasks = json!([{ "description": "Write a greeting", "acceptance": [{ "kind": "file_exists", "path": "greeting.txt" }] }]);
    let input = protocol::TasksAdd { tasks: serde_json::from_value(tasks).unwrap() };
    let added: protocol::AddedTasks = hub.ann.ask(protocol::Call::TaskAdd { project: shown.id, input }).await.unwrap();
    let start = ["worker", "start", "--project", &shown.id.to_string(), "--agent", "codex"];
    testkit::shopfloor(&hub.url, &hub.token, &start).await.unwrap();
    let waited = testkit::wait_until("the task is done", async || {
        let detail = hub.show(&added.tasks[0]).await;
        (detail.task.status == TaskStatus::Done && model.left() == 0).then_some(detail)
    });
    let detail = tokio::select! {
        detail = waited => detail,
        () = tokio::time::sleep(std::time::Duration::from_secs(58)) => {
            let last = model.asked().pop().map(|asked| asked.body["input"].to_string()).unwrap_or_default();
            panic!("{:?}\n{}\n{last}", hub.show(&added.tasks[0]).await, runner.log_text())
        }
    };
    let verdicts: Vec<_> = detail.reports.iter().map(|report| (report.verdict, report.collected)).collect();
    assert_eq!(verdicts, [(ReportVerdict::Refused, false), (ReportVerdict::Accepted, false)], "{detail:?}");
    assert_eq!((detail.attempts.len(), detail.attempts[0].sessions.len()), (1, 1), "one hold, one session: {detail:?}");
    let asked: Vec<Value> = model.asked().into_iter().filter(|asked| asked.scripted).map(|asked| asked.body).collect();
    let told = |index: usize| asked[index]["input"].as_array().unwrap().last().unwrap()["output"].to_string();
    assert!(!told(1).contains("secret"), "an agent sees its own project only: {}", told(1));
    assert!(told(2).contains("refused") && told(2).contains("greeting.txt"), "{}", told(2));
    assert!(told(4).contains("accepted"), "{}", told(4));
    runner.kill().await;
}
