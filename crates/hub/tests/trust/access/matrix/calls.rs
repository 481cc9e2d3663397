//! The call of each row of the table, and what it is about.

use domain::{
    ActivityId, ApprovalId, ArtifactId, CandidateId, ChannelId, EscalationId, ExecutionId, GrantId, HandoffId, HookId,
    InviteId, LoginId, MessageId, ObserverId, OverlapId, ProjectId, RecipeId, ReservationId, RunnerId, ScheduleId,
    SessionId, TaskId, ThreadId, TokenId, UserId, WorkerId, WorkspaceId,
};
use protocol::{Call, Spec, TaskAsk, TaskReport, TaskTake, TasksAdd, WorkerStart};
use serde_json::{Value, json};

use super::table::verb_of;
use crate::support::calls::{merge, smallest};
use crate::support::fresh;

/// An address that the hub may contact and where nobody listens.
pub(super) const NOBODY: &str = "http://127.0.0.1:1/topic";

/// What the verbs are asked about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Targets {
    pub(super) victim: UserId,
    /// A disabled person who left nothing.
    pub(super) leaver: UserId,
    pub(super) project: ProjectId,
    pub(super) activity: ActivityId,
    pub(super) message: MessageId,
    pub(super) observer: ObserverId,
    pub(super) token: TokenId,
    pub(super) login: LoginId,
    pub(super) invite: InviteId,
    pub(super) runner: RunnerId,
    /// A request to the owner that is open, and what they allowed for good.
    pub(super) approval: ApprovalId,
    pub(super) grant: GrantId,
    pub(super) session: SessionId,
    pub(super) workspace: WorkspaceId,
    /// A handoff of the session, whose document a person edits.
    pub(super) handoff: HandoffId,
    pub(super) overlap: OverlapId,
    pub(super) reservation: ReservationId,
    /// Tasks that a worker of the owner's holds with fence 1, one that nobody has, and one that is done.
    pub(super) held: [TaskId; 2],
    pub(super) idle: TaskId,
    pub(super) done: TaskId,
    /// Tasks whose reports wait for a person, one with changes, and a comment on it.
    pub(super) reviewed: [TaskId; 2],
    pub(super) changed: TaskId,
    pub(super) thread: ThreadId,
    pub(super) escalation: EscalationId,
    pub(super) worker: WorkerId,
    pub(super) candidate: CandidateId,
    pub(super) channel: ChannelId,
    pub(super) recipe: RecipeId,
    /// Executions of it that wait for an answer, and one that failed.
    pub(super) execution: ExecutionId,
    pub(super) asking: ExecutionId,
    pub(super) failed: ExecutionId,
    pub(super) schedule: ScheduleId,
    pub(super) hook: HookId,
    /// An artifact that belongs to no execution.
    pub(super) artifact: ArtifactId,
}

impl Targets {
    /// Ids that nothing has.
    pub(super) fn nowhere() -> Self {
        Self {
            victim: UserId::generate(),
            leaver: UserId::generate(),
            project: ProjectId::generate(),
            activity: ActivityId::generate(),
            message: MessageId::generate(),
            observer: ObserverId::generate(),
            token: TokenId::generate(),
            login: LoginId::generate(),
            invite: InviteId::generate(),
            runner: RunnerId::generate(),
            approval: ApprovalId::generate(),
            grant: GrantId::generate(),
            session: SessionId::generate(),
            workspace: WorkspaceId::generate(),
            handoff: HandoffId::generate(),
            overlap: OverlapId::generate(),
            reservation: ReservationId::generate(),
            held: [TaskId::generate(), TaskId::generate()],
            idle: TaskId::generate(),
            done: TaskId::generate(),
            reviewed: [TaskId::generate(), TaskId::generate()],
            changed: TaskId::generate(),
            thread: ThreadId::generate(),
            escalation: EscalationId::generate(),
            worker: WorkerId::generate(),
            candidate: CandidateId::generate(),
            channel: ChannelId::generate(),
            recipe: RecipeId::generate(),
            execution: ExecutionId::generate(),
            asking: ExecutionId::generate(),
            failed: ExecutionId::generate(),
            schedule: ScheduleId::generate(),
            hook: HookId::generate(),
            artifact: ArtifactId::generate(),
        }
    }

    /// What a field with this name is about.
    fn id(&self, field: &str) -> Option<Value> {
        Some(match field {
            "user" => json!(self.victim),
            "project" => json!(self.project),
            "activity" => json!(self.activity),
            "message" => json!(self.message),
            "observer" => json!(self.observer),
            "token" => json!(self.token),
            "login" => json!(self.login),
            "invite" => json!(self.invite),
            "runner" => json!(self.runner),
            "approval" => json!(self.approval),
            "grant" => json!(self.grant),
            "session" => json!(self.session),
            "workspace" => json!(self.workspace),
            "handoff" => json!(self.handoff),
            "overlap" => json!(self.overlap),
            "reservation" => json!(self.reservation),
            "task" => json!(self.held[0]),
            "thread" => json!(self.thread),
            "escalation" => json!(self.escalation),
            "worker" => json!(self.worker),
            "candidate" => json!(self.candidate),
            "channel" => json!(self.channel),
            "recipe" => json!(self.recipe),
            "execution" => json!(self.execution),
            "schedule" => json!(self.schedule),
            "hook" => json!(self.hook),
            "artifact" => json!(self.artifact),
            _ => return None,
        })
    }
}

/// What a row adds to the smallest call of its verb. A row `…/project` needs none: it is asked about the project.
pub(super) fn exceptions(on: &Targets) -> Vec<(&'static str, Value)> {
    let [_, spare] = on.held;
    let update = |field: &str, value: Value| json!({ "input": { field: value } });
    let at = |execution: ExecutionId| json!({ "execution": execution, "input": { "path": "ask" } });
    vec![
        ("project.update/visibility", update("visibility", json!("read-write"))),
        ("project.update/execution", update("share_execution", json!(true))),
        ("project.update/archive", update("archive_recordings", json!(true))),
        ("project.update/retention", update("retention_days", json!(3))),
        (
            "project.update/code",
            update("repositories", json!([{ "location": "https://example.org/moved", "base_branch": null }])),
        ),
        ("project.update/sandbox", update("sandbox_others", json!(true))),
        ("project.update/key", update("key", json!(fresh("KEY").replace(' ', "")))),
        ("user.remove", json!({ "user": on.leaver })),
        ("runner.update", update("sandbox_others", json!(true))),
        ("worker.update", update("name", json!(fresh("worker")))),
        ("work.configure", update("missed", json!(5))),
        ("artifact.put", update("text", json!("words"))),
        ("artifact.configure", update("days", json!(7))),
        ("landing.land", json!({ "input": { "workspaces": [on.workspace] } })),
        ("landing.configure", update("keep_days", json!(7))),
        ("handoff.configure", update("keep_files", json!(true))),
        ("merge.configure", update("at_once", json!(3))),
        ("merge.add", update("branch", json!("another-branch"))),
        ("session.spawn", json!({ "input": { "project": on.project, "agent": "codex", "prompt": "more work" } })),
        ("task.turn", json!({ "input": { "takes": [{ "worker": "one more worker" }] } })),
        ("task.release", json!({ "task": spare })),
        ("task.cancel", json!({ "task": on.idle })),
        ("task.retry", json!({ "task": on.idle })),
        ("task.edit", update("priority", json!(7))),
        ("task.reopen", json!({ "task": on.done })),
        ("task.take_over", json!({ "task": on.idle, "input": { "agent": "codex" } })),
        ("task.diff", json!({ "task": on.changed })),
        ("review.send_back", json!({ "task": on.reviewed[0], "input": { "text": "more tests" } })),
        ("review.approve", json!({ "task": on.reviewed[1] })),
        ("handoff.write", json!({ "input": { "done": "a secret part" } })),
        ("notify.add", json!({ "input": { "kind": "ntfy", "url": NOBODY } })),
        ("escalation.answer", json!({ "input": { "text": "yes" } })),
        ("worker.start", json!({ "input": { "agent": "codex" } })),
        ("recipe.add", update("text", json!(recipe("a newer plan")))),
        ("profile.set", json!({ "input": { "name": "a-profile", "agent": "codex" } })),
        ("profile.remove", update("name", json!("a-profile"))),
        ("execution.answer", at(on.asking)),
        ("execution.retry", at(on.failed)),
        ("execution.skip", at(on.failed)),
        ("execution.correct", at(on.asking)),
        ("execution.inputs", json!({ "execution": on.asking, "input": { "inputs": { "word": "another" } } })),
        ("execution.swap", json!({ "execution": on.asking })),
        ("execution.rewind", at(on.asking)),
        ("schedule.add", json!({ "input": { "recipe": on.recipe, "trigger": { "cron": "0 9 * * *" } } })),
        ("schedule.backfill", json!({ "input": { "from": "2026-01-01T00:00:00Z", "until": "2026-01-03T00:00:00Z" } })),
    ]
}

/// The call of a row of the table.
pub(super) fn ask(case: &str, on: &Targets) -> Call {
    let exceptions = exceptions(on);
    let added = exceptions.iter().find(|(known, _)| *known == case);
    made(case, on, added.map(|(_, added)| added))
}

/// The same without what its exception adds.
pub(super) fn plain(case: &str, on: &Targets) -> Call {
    made(case, on, None)
}

fn made(case: &str, on: &Targets, added: Option<&Value>) -> Call {
    let spec = Call::SPECS.iter().find(|spec| spec.name == verb_of(case));
    let spec = spec.unwrap_or_else(|| panic!("the table has a row of no verb: {case}"));
    let words = |schema: &Value| {
        schema["type"] == "string" && ["enum", "pattern", "format"].iter().all(|kind| schema[*kind].is_null())
    };
    let mut call = smallest(spec, &mut |field, schema, required| {
        if !required {
            return None;
        }
        if words(schema) { Some(json!(fresh(field))) } else { on.id(field) }
    });
    if case.ends_with("/project") {
        merge(&mut call, &json!({ holder(spec): { "project": on.project } }));
    }
    added.iter().for_each(|added| merge(&mut call, added));
    serde_json::from_value(call).unwrap_or_else(|error| panic!("{case}: {error}"))
}

/// The field that a verb takes besides ids.
fn holder(spec: &Spec) -> &'static str {
    spec.fields.last().map_or("input", |field| field.name)
}

pub(super) fn tasks(descriptions: &[&str]) -> TasksAdd {
    let task = |description: &&str| serde_json::from_value(json!({ "description": description }));
    TasksAdd { tasks: descriptions.iter().map(task).collect::<Result<_, _>>().expect("tasks") }
}

pub(super) fn take(worker: &str) -> TaskTake {
    TaskTake { task: None, worker: Some(worker.into()), abilities: Vec::new(), wait_seconds: None }
}

pub(super) fn done_with(fence: u64) -> TaskReport {
    let (deliverables, context_score, usage, failed) = (None, None, None, None);
    TaskReport { fence, summary: "done".into(), deliverables, context_score, usage, failed }
}

pub(super) fn question(fence: u64) -> TaskAsk {
    let (question, context) = ("A secret?".into(), String::new());
    TaskAsk { fence, question, options: Vec::new(), context, give_up: false }
}

/// One worker.
pub(super) fn workers() -> WorkerStart {
    WorkerStart { agent: "codex".into(), ..Default::default() }
}

/// A recipe that asks twice, and then says something.
pub(super) fn recipe(description: &str) -> String {
    json!({
        "name": "a-secret-recipe",
        "description": description,
        "inputs": { "word": { "type": "string", "default": "a secret" } },
        "steps": [
            { "id": "ask", "approve": { "question": "A secret?" } },
            { "id": "more", "approve": { "question": "And another one?" } },
            { "id": "tell", "notify": { "to": "chat", "text": "{{ inputs.word }}" } },
        ],
    })
    .to_string()
}
