//! Pushes by others are seen by a runner.

use domain::TickOutcome;
use protocol::{Call, Execution, Recipe, RecipeText, Schedule, ScheduleText, Tick, TickPage, Trigger};
use testkit::wait_until;

use super::{Shop, same};
use crate::fixture::git;

const TELL: &str = "\
name: tell
steps:
  - id: say
    notify: {to: chat, text: \"{{ trigger.branch }} is at {{ trigger.commit }}\"}
";

const WAIT: &str = "\
name: patient
steps:
  - id: wait
    wait: {event: push, matching: \"event.branch == 'main' and event.base\"}
";

fn commit(shop: &Shop, branch: &str) {
    std::fs::write(shop.repository.join("README.md"), format!("# {branch}\n")).unwrap();
    git(&shop.repository, &["checkout", "-q", "-B", branch]);
    git(&shop.repository, &["-c", "user.name=b", "-c", "user.email=b@c", "commit", "-qam", "by somebody else"]);
}

#[tokio::test]
async fn somebody_elses_push_starts_a_schedule_and_ends_a_wait_once() {
    let shop = Shop::open().await;
    let (project, ann) = (shop.project.id, &shop.at.ann);
    for text in [TELL, WAIT] {
        let input = RecipeText { text: same(text.into()), format: None };
        let _: Recipe = ann.ask(Call::RecipeAdd { project, input }).await.unwrap();
    }
    let trigger = Trigger::Event { event: "push".into(), matching: None };
    let input = ScheduleText { recipe: "tell".into(), trigger, ..Default::default() };
    let schedule: Schedule = ann.ask(Call::ScheduleAdd { project, input }).await.unwrap();
    let waiting = shop.at.cli::<Execution>(&["recipe", "run", "patient"]).await.id;
    shop.at.hub_said("looked at the branches of a repository").await;
    commit(&shop, "feature");
    let ticks = async |count: usize| {
        wait_until("the push was seen", async || {
            let call = Call::ScheduleTicks { schedule: schedule.id, page: TickPage::default() };
            let ticks: Vec<Tick> = ann.ask(call).await.ok()?;
            assert!(ticks.len() <= count, "{ticks:#?}");
            (ticks.len() == count).then_some(ticks)
        })
        .await
    };
    assert_eq!(ticks(1).await[0].outcome, TickOutcome::Started);
    assert!(shop.shown(waiting).await.execution.ended_at.is_none(), "another branch");
    git(&shop.repository, &["checkout", "-q", "main"]);
    commit(&shop, "main");
    ticks(2).await;
    let found = shop.completed(waiting).await;
    let output = super::step(&found, "wait").output.clone().unwrap();
    assert_eq!((output["branch"].as_str(), output["base"].as_bool()), (Some("main"), Some(true)));
    assert!(shop.chat().await.contains("feature is at"));
    shop.at.close().await;
}
