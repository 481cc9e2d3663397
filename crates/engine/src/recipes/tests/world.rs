//! An execution under test, with short words for its events. Every event is sent twice, and nothing may be stuck.

use std::sync::Arc;

use domain::Timestamp;
use serde_json::{Map, Value as Json, json};

use crate::recipes::model::*;
use crate::recipes::*;

/// An execution and what it has decided.
pub(super) struct World {
    pub execution: Execution,
    /// All effects so far.
    pub effects: Vec<Effect>,
    pub history: Vec<(Timestamp, Event)>,
    pub now: Timestamp,
    new: Execution,
}

pub(super) fn path(text: &str) -> Path {
    text.parse().unwrap()
}

pub(super) fn expr(text: &str) -> Expr {
    Expr(text.to_owned())
}

pub(super) fn template(text: &str) -> Template {
    Template(text.to_owned())
}

pub(super) fn step_of(id: &str, action: Action) -> model::Step {
    model::Step {
        id: id.to_owned(),
        when: None,
        timeout: None,
        retry: Retry::default(),
        continue_on_error: false,
        output: None,
        needs: Vec::new(),
        idempotency: Idempotency::AtLeastOnce,
        action,
    }
}

/// A command that prints `text`.
pub(super) fn says(id: &str, text: &str) -> model::Step {
    let argv = vec![template("echo"), template(text)];
    step_of(id, Action::Run(Run { argv, ..Run::default() }))
}

pub(super) fn run(id: &str) -> model::Step {
    says(id, "hello")
}

pub(super) fn parallel(id: &str, join: Join, branches: Vec<(&str, Vec<model::Step>)>) -> model::Step {
    let branches = branches.into_iter().map(|(name, steps)| Branch { name: name.to_owned(), steps }).collect();
    step_of(id, Action::Parallel { branches, join })
}

pub(super) fn each(id: &str, items: &str, key: Option<&str>, at_once: u32, steps: Vec<model::Step>) -> model::Step {
    let (items, key) = (expr(items), key.map(expr));
    step_of(id, Action::ForEach(ForEach { items, name: "item".to_owned(), key, max_parallel: Some(at_once), steps }))
}

pub(super) fn recipe(steps: Vec<model::Step>) -> Recipe {
    let input = |name: &str, default: Json| Input {
        name: name.to_owned(),
        description: String::new(),
        schema: json!({}),
        default: Some(default),
    };
    Recipe {
        name: "test".to_owned(),
        description: String::new(),
        inputs: vec![input("a", json!(1)), input("b", json!(2)), input("list", json!(["x", "y", "z"]))],
        outputs: [].into(),
        timeout: None,
        lost_after: None,
        steps,
    }
}

pub(super) fn context() -> Context {
    let started_at = Timestamp::from_millis(0);
    Context { id: "e1".to_owned(), project: "p".to_owned(), person: "ann".to_owned(), started_at, trigger: None }
}

impl World {
    /// An execution of a recipe that has not started.
    pub(super) fn new(recipe: Recipe) -> Self {
        assert_eq!(fault(&recipe), None);
        let inputs = complete(&recipe, &Map::new()).unwrap();
        let execution = Execution::new(Arc::new(recipe), "v1".to_owned(), context(), inputs);
        let now = Timestamp::from_millis(1_000);
        Self { new: execution.clone(), execution, effects: Vec::new(), history: Vec::new(), now }
    }

    /// An execution of these steps that has started.
    pub(super) fn of(steps: Vec<model::Step>) -> Self {
        let mut world = Self::new(recipe(steps));
        world.send(Event::Started);
        world
    }

    /// Sends an event twice; returns the effects.
    pub(super) fn try_send(&mut self, event: Event) -> Result<Vec<Effect>, String> {
        self.now = self.now.plus_millis(1_000);
        let first = step(&self.execution, &event, self.now).map_err(|refused| refused.0)?;
        assert_eq!(stuck(&first.execution), None, "after {event:?}");
        assert!(is_settled(&first.execution), "after {event:?}");
        match step(&first.execution, &event, self.now.plus_millis(1)) {
            Ok(second) => {
                assert_eq!(second.execution, first.execution, "twice {event:?}");
                assert_eq!(second.effects, [], "twice {event:?}");
            }
            Err(_) => assert!(matches!(event, Event::Operated { .. } | Event::Answered { .. }), "{event:?}"),
        }
        self.execution = first.execution;
        self.effects.extend(first.effects.clone());
        self.history.push((self.now, event));
        let stored = serde_json::to_string(&Snapshot::from(&self.execution)).unwrap();
        let read: Snapshot = serde_json::from_str(&stored).unwrap();
        assert_eq!(read.into_execution(Arc::clone(&self.execution.recipe)), self.execution);
        Ok(first.effects)
    }

    pub(super) fn send(&mut self, event: Event) -> Vec<Effect> {
        self.try_send(event).unwrap()
    }

    /// The execution before its first event.
    pub(super) fn fresh(&self) -> Execution {
        self.new.clone()
    }

    fn attempt(&self, at: &str) -> u32 {
        self.execution.steps.get(&path(at)).map_or(0, |run| run.attempt)
    }

    fn verdict(&mut self, at: &str, verdict: Verdict) -> Vec<Effect> {
        let attempt = self.attempt(at);
        self.send(Event::Ended { path: path(at), attempt, verdict })
    }

    /// The work of a step succeeds; returns what begins.
    pub(super) fn ok(&mut self, at: &str, output: Json) -> Vec<String> {
        begun(&self.verdict(at, Verdict::Succeeded { output }))
    }

    /// The work of a step fails; returns what begins.
    pub(super) fn fail(&mut self, at: &str, kind: ErrorKind) -> Vec<Effect> {
        self.verdict(at, Verdict::Failed { kind, message: "no".to_owned() })
    }

    pub(super) fn interrupted(&mut self, at: &str) -> Vec<Effect> {
        self.verdict(at, Verdict::Interrupted { why: "the hub was killed".to_owned() })
    }

    pub(super) fn due(&mut self, at: &str, timer: TimerKind) -> Vec<Effect> {
        let attempt = self.attempt(at);
        self.send(Event::Due { path: Some(path(at)), attempt, timer })
    }

    /// The runner of a step is away.
    pub(super) fn away(&mut self, at: &str) -> Vec<Effect> {
        let attempt = self.attempt(at);
        self.send(Event::RunnerAway { path: path(at), attempt, runner: "r1".to_owned() })
    }

    /// The runner of a step is back.
    pub(super) fn back(&mut self, at: &str) -> Vec<Effect> {
        let attempt = self.attempt(at);
        self.send(Event::RunnerBack { path: path(at), attempt })
    }

    pub(super) fn operate(&mut self, operation: Operation) -> Result<Vec<Effect>, String> {
        self.try_send(Event::Operated { operation, reason: "because".to_owned() })
    }

    pub(super) fn answer(&mut self, at: &str, name: &str, approve: bool, data: Json) -> Result<Vec<Effect>, String> {
        let starter = name == "ann";
        let (by, name) = (format!("id-{name}"), name.to_owned());
        let answer = Answer { by, name, starter, approve, data, comment: String::new() };
        self.try_send(Event::Answered { path: path(at), answer })
    }

    /// What the execution decided from its history is what it decides again.
    pub(super) fn replayed(&self) {
        let again = replay(self.new.clone(), &self.history).unwrap();
        assert_eq!(differences(&self.execution, &again), Vec::<String>::new());
        assert_eq!(again, self.execution);
    }

    pub(super) fn state(&self, at: &str) -> &'static str {
        self.execution.steps.get(&path(at)).map_or("absent", |run| run.state.word())
    }

    /// The states of all steps: `a:succeeded b:running`.
    pub(super) fn states(&self) -> String {
        let one = |(path, run): (&Path, &StepRun)| format!("{path}:{}", run.state.word());
        self.execution.steps.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn output(&self, at: &str) -> Json {
        match &self.execution.steps[&path(at)].state {
            StepState::Succeeded { output } | StepState::Skipped { output, .. } => output.clone(),
            state => panic!("`{at}` is {}", state.word()),
        }
    }

    pub(super) fn error(&self) -> (ErrorKind, String, String) {
        match &self.execution.status {
            Status::Failed { error } => (error.kind, error.path.to_string(), error.message.clone()),
            status => panic!("the status is {status:?}"),
        }
    }

    /// The kind of failure of a recipe of one step.
    pub(super) fn is_completed(&self) -> bool {
        matches!(self.execution.status, Status::Completed { .. })
    }
}

/// The steps that begin, with their attempts: `a/1`.
pub(super) fn begun(effects: &[Effect]) -> Vec<String> {
    let one = |effect: &Effect| match effect {
        Effect::Begin { path, attempt, .. } => Some(format!("{path}/{attempt}")),
        _ => None,
    };
    effects.iter().filter_map(one).collect()
}

/// The steps that stop, with their attempts.
pub(super) fn stopped(effects: &[Effect]) -> Vec<String> {
    let one = |effect: &Effect| match effect {
        Effect::Stop { path, attempt } => Some(format!("{path}/{attempt}")),
        _ => None,
    };
    effects.iter().filter_map(one).collect()
}

/// The timers that are set, in seconds after `now`.
pub(super) fn timers(effects: &[Effect], now: Timestamp) -> Vec<(TimerKind, i64)> {
    let one = |effect: &Effect| match effect {
        Effect::SetTimer { timer, at, path: Some(_), .. } => Some((*timer, (at.as_millis() - now.as_millis()) / 1_000)),
        _ => None,
    };
    effects.iter().filter_map(one).collect()
}
