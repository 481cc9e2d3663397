//! Stored histories: what was decided once is decided for ever. A file that no longer replays is a bug of the change,
//! not of the file. `cargo test -p engine write_golden -- --ignored` adds files for new scenarios and changes none.

use std::path::PathBuf;
use std::sync::Arc;

use domain::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::check::Checker;
use super::generate::{Chance, random_event, random_recipe};
use super::world::*;
use crate::recipes::model::*;
use crate::recipes::*;

#[derive(Serialize, Deserialize)]
struct Golden {
    recipe: Recipe,
    /// Before the first event.
    new: Snapshot,
    history: Vec<Entry>,
    /// After the last event.
    end: Snapshot,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    at: Timestamp,
    event: Event,
    effects: Vec<Effect>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/recipes/tests/golden")
}

#[test]
fn stored_histories_are_decided_as_they_were() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 8, "the stored histories are there");
    for file in files {
        let golden: Golden = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let mut execution = golden.new.into_execution(Arc::new(golden.recipe));
        for (nth, entry) in golden.history.iter().enumerate() {
            let decided = step(&execution, &entry.event, entry.at).unwrap();
            assert_eq!(decided.effects, entry.effects, "{}, event {nth}", file.display());
            execution = decided.execution;
        }
        let end = golden.end.into_execution(Arc::clone(&execution.recipe));
        assert_eq!(differences(&end, &execution), Vec::<String>::new(), "{}", file.display());
        assert_eq!(end, execution, "{}", file.display());
    }
}

fn store(name: &str, new: Execution, history: &[(Timestamp, Event)]) {
    let file = folder().join(format!("{name}.json"));
    if file.exists() {
        return;
    }
    let (recipe, mut execution, mut entries) = (Recipe::clone(&new.recipe), new.clone(), Vec::new());
    for (at, event) in history {
        let decided = step(&execution, event, *at).unwrap();
        execution = decided.execution;
        entries.push(Entry { at: *at, event: event.clone(), effects: decided.effects });
    }
    let golden = Golden { recipe, new: Snapshot::from(&new), history: entries, end: Snapshot::from(&execution) };
    std::fs::create_dir_all(folder()).unwrap();
    std::fs::write(file, serde_json::to_string(&golden).unwrap() + "\n").unwrap();
}

#[test]
#[ignore = "adds files to the repository"]
fn write_golden() {
    let world = fix_and_merge();
    store("fix-and-merge", world.fresh(), &world.history);
    let world = pause_retry_swap();
    store("pause-retry-swap", world.fresh(), &world.history);
    let world = runner_lost();
    store("runner-lost", world.fresh(), &world.history);
    let long = (0..400).filter_map(random).filter(|world| world.history.len() > 30).take(8);
    for (nth, world) in long.enumerate() {
        store(&format!("random-{nth}"), world.fresh(), &world.history);
    }
}

fn random(seed: u64) -> Option<World> {
    let mut chance = Chance::Seed(seed);
    let mut world = World::new(random_recipe(&mut chance));
    let mut checker = Checker::default();
    for _ in 0..70 {
        let past: Vec<Event> = world.history.iter().map(|(_, event)| event.clone()).collect();
        let event = random_event(&mut chance, &world.execution, &checker, &past);
        world.now = world.now.plus_millis(7_000);
        let Some(decided) = checker.step(&world.execution, &event, world.now).ok()? else { continue };
        if decided.execution != world.execution {
            world.history.push((world.now, event));
        }
        world.execution = decided.execution;
    }
    Some(world)
}

fn fix_and_merge() -> World {
    let mut agent = step_of(
        "fix",
        Action::Agent(Agent {
            prompt: Some(template("Fix {{ inputs.a }}")),
            workspace: Place::New,
            ..Agent::default()
        }),
    );
    agent.idempotency = Idempotency::AtMostOnce;
    let mut check = says("check", "{{ steps.fix.output.branch }}");
    check.retry = Retry { attempts: 3, jitter: 50, ..Retry::default() };
    let ask = Approve {
        question: template("Merge {{ steps.fix.output.branch }}?"),
        who: Vec::new(),
        count: 1,
        not_starter: true,
        form: Some(json!({ "type": "object" })),
        deadline: Some(3_600_000),
        then: AtDeadline::Reject,
    };
    let merge = Action::Merge { branch: template("{{ steps.fix.output.branch }}") };
    let mut plan = recipe(vec![agent, check, step_of("ask", Action::Approve(ask)), step_of("land", merge)]);
    plan.outputs = [("by".to_owned(), expr("steps.ask.output.by"))].into();
    let mut world = World::new(plan);
    world.send(Event::Started);
    world.interrupted("fix");
    world.operate(Operation::Retry { path: path("fix") }).unwrap();
    world.ok("fix", json!({ "branch": "fix-1" }));
    world.fail("check", ErrorKind::Lost);
    world.due("check", TimerKind::Retry);
    world.ok("check", json!({ "exit": 0 }));
    world.answer("ask", "bob", true, json!({})).unwrap();
    world.ok("land", json!(null));
    world
}

fn runner_lost() -> World {
    let mut once = run("once");
    once.idempotency = Idempotency::AtMostOnce;
    let mut again = run("again");
    again.retry = Retry { attempts: 2, jitter: 50, ..Retry::default() };
    again.timeout = Some(7_200_000);
    let mut plan = recipe(vec![again, once]);
    plan.lost_after = Some(600_000);
    let mut world = World::new(plan);
    world.send(Event::Started);
    world.away("again");
    world.back("again");
    world.away("again");
    world.due("again", TimerKind::Away);
    world.due("again", TimerKind::Retry);
    world.ok("again", json!(1));
    world.away("once");
    world.due("once", TimerKind::Away);
    world.operate(Operation::Retry { path: path("once") }).unwrap();
    world.ok("once", json!(2));
    world
}

fn pause_retry_swap() -> World {
    let lanes = vec![("l", vec![run("a"), run("b")]), ("r", vec![run("c")])];
    let steps =
        || vec![parallel("p", Join::All, lanes.clone()), each("e", "inputs.list", Some("item"), 2, vec![run("d")])];
    let mut world = World::of(steps());
    world.operate(Operation::Pause { now: true }).unwrap();
    world.operate(Operation::Resume).unwrap();
    world.ok("p[l]/a", json!(1));
    world.fail("p[l]/b", ErrorKind::Failed);
    world.operate(Operation::Retry { path: path("p[l]/b") }).unwrap();
    let mut more = recipe(steps());
    more.steps.push(run("new"));
    world.operate(Operation::Swap { version: "v2".to_owned(), recipe: Box::new(more) }).unwrap();
    world.ok("p[l]/b", json!(1));
    world.ok("p[r]/c", json!(1));
    for item in ["x", "y", "z"] {
        world.ok(&format!("e[{item}]/d"), json!(item));
    }
    world.operate(Operation::Skip { path: path("new"), output: json!("no need") }).unwrap();
    world
}
