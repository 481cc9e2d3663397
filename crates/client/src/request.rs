//! The table of verbs: how each is asked over HTTP, and what its answer is read as.

use http::Method;
use protocol::{
    Answer, ApprovalFilter, AuditPage, Call, DiffRange, ExecutionFilter, MessagePage, TaskFilter, VersionPage,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

type Decode = Box<dyn Fn(&[u8]) -> Result<Answer, serde_json::Error> + Send + Sync>;

/// A verb as an HTTP request, with the way to read its response.
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// The path, from `/api/` on.
    pub path: String,
    /// The parameters after `?`.
    pub query: Vec<(&'static str, String)>,
    /// The JSON body.
    pub body: Option<Value>,
    decode: Decode,
}

/// How `call` is asked over HTTP.
pub fn request(call: &Call) -> HttpRequest {
    use Answer as A;
    match call {
        Call::Me {} => get("/api/me", A::Me),
        Call::MeRename { input } => patch("/api/me", input, A::User),
        Call::UserList {} => get("/api/users", A::Users),
        Call::UserShow { user } => get(format!("/api/users/{user}"), A::User),
        Call::UserDisable { user } => post(format!("/api/users/{user}/disable"), A::User),
        Call::UserEnable { user } => post(format!("/api/users/{user}/enable"), A::User),
        Call::ProjectList {} => get("/api/projects", A::Projects),
        Call::ProjectShow { project } => get(format!("/api/projects/{project}"), A::Project),
        Call::ProjectCreate { input } => post("/api/projects", A::Project).with(input),
        Call::ProjectUpdate { project, input } => patch(format!("/api/projects/{project}"), input, A::Project),
        Call::ProjectDelete { project } => delete(format!("/api/projects/{project}")),
        Call::ProjectVersions { project, page } => {
            get(format!("/api/projects/{project}/versions"), A::Versions).page(page)
        }
        Call::ProjectDiff { project, range } => get(format!("/api/projects/{project}/diff"), A::Diff).between(range),
        Call::ActivityList { project } => get("/api/activities", A::Activities).parameter("project", *project),
        Call::ActivityShow { activity } => get(format!("/api/activities/{activity}"), A::Activity),
        Call::ActivityCreate { project, input } => {
            post(format!("/api/projects/{project}/activities"), A::Activity).with(input)
        }
        Call::ActivityUpdate { activity, input } => patch(format!("/api/activities/{activity}"), input, A::Activity),
        Call::ActivityVersions { activity, page } => {
            get(format!("/api/activities/{activity}/versions"), A::Versions).page(page)
        }
        Call::ActivityDiff { activity, range } => {
            get(format!("/api/activities/{activity}/diff"), A::Diff).between(range)
        }
        Call::ChatHistory { project, page: MessagePage { before, limit } } => {
            let request = get(format!("/api/projects/{project}/messages"), A::Messages);
            request.parameter("before", *before).parameter("limit", *limit)
        }
        Call::ChatSend { project, input } => post(format!("/api/projects/{project}/messages"), A::Message).with(input),
        Call::ChatEdit { message, input } => patch(format!("/api/messages/{message}"), input, A::Message),
        Call::ChatDelete { message } => delete(format!("/api/messages/{message}")),
        Call::ChatRead { project, input } => post(format!("/api/projects/{project}/read"), A::Unread).with(input),
        Call::ChatUnread {} => get("/api/unread", A::Unreads),
        Call::TokenList {} => get("/api/tokens", A::Tokens),
        Call::TokenCreate { input } => post("/api/tokens", A::NewToken).with(input),
        Call::TokenRevoke { token } => delete(format!("/api/tokens/{token}")),
        Call::LoginList {} => get("/api/logins", A::Logins),
        Call::LoginLink {} => post("/api/login-links", A::LoginLink),
        Call::LoginRevoke { login } => delete(format!("/api/logins/{login}")),
        Call::LoginRevokeAll {} => delete("/api/logins"),
        Call::InviteList {} => get("/api/invites", A::Invites),
        Call::InviteCreate { input } => post("/api/invites", A::NewInvite).with(input),
        Call::InviteRevoke { invite } => delete(format!("/api/invites/{invite}")),
        Call::ObserverList { project } => get(format!("/api/projects/{project}/observers"), A::Observers),
        Call::ObserverCreate { project, input } => {
            post(format!("/api/projects/{project}/observers"), A::NewObserver).with(input)
        }
        Call::ObserverRevoke { observer } => delete(format!("/api/observers/{observer}")),
        Call::RunnerList {} => get("/api/runners", A::Runners),
        Call::RunnerCreate { input } => post("/api/runners", A::NewRunner).with(input),
        Call::RunnerUpdate { runner, input } => patch(format!("/api/runners/{runner}"), input, A::Runner),
        Call::ApprovalList { filter: ApprovalFilter { project, task, answered } } => {
            let request = get("/api/approvals", A::Approvals).parameter("project", *project);
            request.parameter("task", *task).parameter("answered", *answered)
        }
        Call::ApprovalShow { approval } => get(format!("/api/approvals/{approval}"), A::Approval),
        Call::ApprovalAnswer { approval, input } => {
            post(format!("/api/approvals/{approval}/answer"), A::Approval).with(input)
        }
        Call::GrantList {} => get("/api/grants", A::Grants),
        Call::GrantRevoke { grant } => delete(format!("/api/grants/{grant}")),
        Call::RunnerRemove { runner } => delete(format!("/api/runners/{runner}")),
        Call::SessionList { filter } => get("/api/sessions", A::Sessions).only(filter),
        Call::SessionShow { session } => get(format!("/api/sessions/{session}"), A::SessionDetail),
        Call::SessionSpawn { input } => post("/api/sessions", A::Session).with(input),
        Call::SessionStop { session, input } => post(format!("/api/sessions/{session}/stop"), A::Session).with(input),
        Call::SessionResume { session } => post(format!("/api/sessions/{session}/resume"), A::Session),
        Call::SessionSend { session, input } => done(format!("/api/sessions/{session}/send")).with(input),
        Call::SessionLog { session, page } => get(format!("/api/sessions/{session}/log"), A::SessionLog)
            .parameter("lines", page.lines)
            .parameter("setup", page.setup),
        Call::WorkspaceList { filter } => get("/api/workspaces", A::Workspaces).only(filter),
        Call::WorkspaceShow { workspace } => get(format!("/api/workspaces/{workspace}"), A::Workspace),
        Call::WorkspaceDiff { workspace } => get(format!("/api/workspaces/{workspace}/diff"), A::WorkspaceDiff),
        Call::WorkspaceSaves { workspace } => get(format!("/api/workspaces/{workspace}/saves"), A::Saves),
        Call::WorkspaceRestore { workspace, input } => done(format!("/api/workspaces/{workspace}/restore")).with(input),
        Call::WorkspaceClean { workspace } => done(format!("/api/workspaces/{workspace}/clean")),
        Call::RecordingList { filter } => get("/api/recordings", A::Sessions).only(filter),
        Call::RecordingShow { session } => get(format!("/api/recordings/{session}"), A::RecordingDetail),
        Call::RecordingPart { session, range } => {
            get(format!("/api/recordings/{session}/part"), A::RecordingPart).parameter("from_ms", range.from_ms)
        }
        Call::RecordingSearch { session, query } => {
            get(format!("/api/recordings/{session}/search"), A::RecordingHits).parameter("text", Some(&query.text))
        }
        Call::RecordingKeep { session, input } => patch(format!("/api/recordings/{session}"), input, A::Session),
        Call::TaskList { filter } => get("/api/tasks", A::TaskLines).of_tasks(filter),
        Call::TaskExport { filter } => get("/api/tasks/export", A::Tasks).of_tasks(filter),
        Call::TaskShow { task } => get(format!("/api/tasks/{task}"), A::TaskDetail),
        Call::TaskAdd { project, input } => post(format!("/api/projects/{project}/tasks"), A::AddedTasks).with(input),
        Call::TaskCancel { task, input } => post(format!("/api/tasks/{task}/cancel"), A::Task).with(input),
        Call::TaskRetry { task, input } => post(format!("/api/tasks/{task}/retry"), A::Task).with(input),
        Call::TaskTake { project, input } => post(format!("/api/projects/{project}/take"), A::Taken).with(input),
        Call::TaskHeartbeat { task, input } => post(format!("/api/tasks/{task}/heartbeat"), A::Lease).with(input),
        Call::TaskReport { task, input } => post(format!("/api/tasks/{task}/report"), A::Report).with(input),
        Call::TaskTurn { project, input } => post(format!("/api/projects/{project}/turn"), A::Turned).with(input),
        Call::TaskRelease { task, input } => post(format!("/api/tasks/{task}/release"), A::Task).with(input),
        Call::TaskAsk { task, input } => post(format!("/api/tasks/{task}/ask"), A::Escalation).with(input),
        Call::TaskTakeOver { task, input } => post(format!("/api/tasks/{task}/take-over"), A::Task).with(input),
        Call::EscalationList { filter } => {
            let request = get("/api/escalations", A::Escalations).parameter("project", filter.project);
            request.parameter("answered", filter.answered)
        }
        Call::EscalationShow { escalation } => get(format!("/api/escalations/{escalation}"), A::Escalation),
        Call::EscalationAnswer { escalation, input } => {
            post(format!("/api/escalations/{escalation}/answer"), A::Escalation).with(input)
        }
        Call::WorkerList { filter } => get("/api/workers", A::Workers).parameter("project", filter.project),
        Call::WorkerShow { worker } => get(format!("/api/workers/{worker}"), A::WorkerDetail),
        Call::WorkerStart { project, input } => {
            post(format!("/api/projects/{project}/workers"), A::Workers).with(input)
        }
        Call::WorkerUpdate { worker, input } => patch(format!("/api/workers/{worker}"), input, A::Worker),
        Call::WorkerStop { worker, input } => post(format!("/api/workers/{worker}/stop"), A::Worker).with(input),
        Call::WorkerRestart { worker } => post(format!("/api/workers/{worker}/restart"), A::Worker),
        Call::WorkerRemove { worker } => delete(format!("/api/workers/{worker}")),
        Call::WorkerStopAll { project, input } => {
            post(format!("/api/projects/{project}/workers/stop"), A::Workers).with(input)
        }
        Call::WorkLog { project, page } => {
            let request = get(format!("/api/projects/{project}/work-log"), A::WorkLog);
            let request = request.parameter("worker", page.worker).parameter("task", page.task);
            request.parameter("before", page.before).parameter("limit", page.limit)
        }
        Call::WorkSettings { project } => get(format!("/api/projects/{project}/work"), A::WorkSettings),
        Call::WorkConfigure { project, input } => {
            patch(format!("/api/projects/{project}/work"), input, A::WorkSettings)
        }
        Call::WorkMetrics { project, page } => {
            get(format!("/api/projects/{project}/metrics"), A::Metrics).parameter("hours", page.hours)
        }
        Call::WorkDoing { project } => get(format!("/api/projects/{project}/doing"), A::Doing),
        Call::FloorFreeze { input } => post("/api/freeze", A::Frozen).with(input),
        Call::FloorThaw { input } => post("/api/thaw", A::Frozen).with(input),
        Call::AuditList { page: AuditPage { project, before, limit } } => {
            let request = get("/api/audit", A::Audit).parameter("project", *project);
            request.parameter("before", *before).parameter("limit", *limit)
        }
        Call::PresenceList {} => get("/api/presence", A::Presence),
    }
}

impl HttpRequest {
    /// Reads the body of a successful response.
    pub fn decode(&self, body: &[u8]) -> Result<Answer, serde_json::Error> {
        (self.decode)(body)
    }

    /// A request whose body is not one of the protocol's views.
    pub(crate) fn plain(method: Method, path: impl Into<String>) -> Self {
        let decode = Box::new(|_: &[u8]| Ok(Answer::Done));
        Self { method, path: path.into(), query: Vec::new(), body: None, decode }
    }

    fn with(mut self, input: &impl Serialize) -> Self {
        self.body = Some(serde_json::to_value(input).expect("inputs have text keys and plain values"));
        self
    }

    fn parameter(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    fn of_tasks(self, filter: &TaskFilter) -> Self {
        let request = self.parameter("project", filter.project).parameter("status", filter.status);
        let request = request.parameter("activity", filter.activity).parameter("worker", filter.worker);
        request.parameter("after", filter.after).parameter("limit", filter.limit)
    }

    fn only(self, filter: &ExecutionFilter) -> Self {
        let request = self.parameter("project", filter.project).parameter("activity", filter.activity);
        request.parameter("ended", filter.ended)
    }

    fn page(self, page: &VersionPage) -> Self {
        self.parameter("before", page.before).parameter("limit", page.limit)
    }

    fn between(self, range: &DiffRange) -> Self {
        self.parameter("from", range.from).parameter("to", range.to)
    }
}

fn bare<T: DeserializeOwned + 'static>(
    method: Method,
    path: impl Into<String>,
    answer: fn(T) -> Answer,
) -> HttpRequest {
    let decode = move |body: &[u8]| serde_json::from_slice::<T>(body).map(answer);
    HttpRequest { method, path: path.into(), query: Vec::new(), body: None, decode: Box::new(decode) }
}

fn get<T: DeserializeOwned + 'static>(path: impl Into<String>, answer: fn(T) -> Answer) -> HttpRequest {
    bare(Method::GET, path, answer)
}

fn post<T: DeserializeOwned + 'static>(path: impl Into<String>, answer: fn(T) -> Answer) -> HttpRequest {
    bare(Method::POST, path, answer)
}

fn patch<T: DeserializeOwned + 'static>(
    path: impl Into<String>,
    input: &impl Serialize,
    answer: fn(T) -> Answer,
) -> HttpRequest {
    bare(Method::PATCH, path, answer).with(input)
}

/// A change that answers nothing.
fn done(path: impl Into<String>) -> HttpRequest {
    HttpRequest::plain(Method::POST, path)
}

fn delete(path: impl Into<String>) -> HttpRequest {
    HttpRequest::plain(Method::DELETE, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ProjectId;
    use protocol::{MessageText, ProjectUpdate};

    fn check(call: &Call, line: &str, body: Option<Value>) {
        let request = request(call);
        let query: Vec<String> = request.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(format!("{} {}?{}", request.method, request.path, query.join("&")), line);
        assert_eq!(request.body, body);
    }

    #[test]
    fn verbs_become_requests() {
        let project = ProjectId::generate();
        check(&Call::ProjectList {}, "GET /api/projects?", None);
        check(&Call::ActivityList { project: Some(project) }, &format!("GET /api/activities?project={project}"), None);
        let page = MessagePage { before: Some(7), limit: None };
        check(&Call::ChatHistory { project, page }, &format!("GET /api/projects/{project}/messages?before=7"), None);
        let input = MessageText { content: "hi".into() };
        let body = serde_json::json!({"content": "hi"});
        check(&Call::ChatSend { project, input }, &format!("POST /api/projects/{project}/messages?"), Some(body));
        let input = ProjectUpdate { retention_days: Some(None), ..Default::default() };
        let body = serde_json::json!({"retention_days": null});
        check(&Call::ProjectUpdate { project, input }, &format!("PATCH /api/projects/{project}?"), Some(body));
        check(&Call::ProjectDelete { project }, &format!("DELETE /api/projects/{project}?"), None);
    }

    #[test]
    fn responses_become_answers() {
        assert_eq!(request(&Call::ProjectList {}).decode(b"[]").unwrap(), Answer::Projects(Vec::new()));
        assert_eq!(request(&Call::LoginRevokeAll {}).decode(b"").unwrap(), Answer::Done);
        assert!(request(&Call::Me {}).decode(b"{}").is_err());
    }
}
