//! The verbs: HTTP and WebSocket both come through here.

mod criteria;
mod diff;
mod execution;
mod fresh;
mod tasks;
mod workers;

use domain::Actor;
use protocol::{Answer, Call, ProblemKind};
use store::{
    AnswerApproval, Caller, CreateActivity, CreateInvite, CreateLoginLink, CreateObserver, CreateProject, CreateRunner,
    CreateToken, Credential, DeleteMessage, DeleteProject, EditMessage, ReadChat, RemoveRunner, RenameMe,
    RevokeAllLogins, RevokeGrant, RevokeInvite, RevokeLogin, RevokeObserver, RevokeToken, SendMessage, SetDisabled,
    UpdateActivity, UpdateProject, UpdateRunner,
};

use crate::AppError;
use crate::hub::Hub;

/// Does what is asked, as the bearer of the credential. The same key makes a retry act once.
pub(crate) async fn run(
    hub: &Hub,
    credential: &Credential,
    caller: &Caller,
    key: Option<String>,
    call: Call,
) -> Result<Answer, AppError> {
    no_runner(credential)?;
    fresh::check(credential, hub.store.now(), &call)?;
    if call.changes() { write(hub, caller, key, call).await } else { read(hub, credential, caller, call).await }
}

/// Refuses a runner's token: all that a runner needs goes over its link.
pub(crate) fn no_runner(credential: &Credential) -> Result<(), AppError> {
    match credential.actor {
        Actor::Runner { .. } => Err(AppError::new(
            ProblemKind::Forbidden,
            "a runner's token opens only the runner's link: use a personal token (`shopfloor token create NAME`)",
        )),
        _ => Ok(()),
    }
}

async fn read(hub: &Hub, credential: &Credential, caller: &Caller, call: Call) -> Result<Answer, AppError> {
    let store = &hub.store;
    Ok(match call {
        Call::Me {} => Answer::Me(hub.me(credential, caller).await?),
        Call::UserList {} => {
            let mut users = store.users(caller).await?;
            users.iter_mut().for_each(|user| user.connected = hub.live.presence.is_connected(user.id));
            Answer::Users(users)
        }
        Call::UserShow { user } => {
            let mut user = store.user(caller, user).await?;
            user.connected = hub.live.presence.is_connected(user.id);
            Answer::User(user)
        }
        Call::ProjectList {} => Answer::Projects(store.projects(caller).await?),
        Call::ProjectShow { project } => Answer::Project(store.project(caller, project).await?),
        Call::ProjectVersions { project, page } => {
            Answer::Versions(store.project_versions(caller, project, page).await?)
        }
        Call::ProjectDiff { project, range } => {
            Answer::Diff(diff::between(&store.project_pair(caller, project, range).await?, range)?)
        }
        Call::ActivityList { project } => Answer::Activities(store.activities(caller, project).await?),
        Call::ActivityShow { activity } => Answer::Activity(store.activity(caller, activity).await?),
        Call::ActivityVersions { activity, page } => {
            Answer::Versions(store.activity_versions(caller, activity, page).await?)
        }
        Call::ActivityDiff { activity, range } => {
            Answer::Diff(diff::between(&store.activity_pair(caller, activity, range).await?, range)?)
        }
        Call::ChatHistory { project, page } => Answer::Messages(store.messages(caller, project, page).await?),
        Call::ChatUnread {} => Answer::Unreads(store.unreads(caller).await?),
        Call::TokenList {} => Answer::Tokens(store.tokens(caller).await?),
        Call::LoginList {} => Answer::Logins(store.logins(caller, Some(&credential.id)).await?),
        Call::InviteList {} => Answer::Invites(store.invites(caller).await?),
        Call::ObserverList { project } => Answer::Observers(store.observers(caller, project).await?),
        Call::RunnerList {} => {
            let mut runners = store.runners(caller).await?;
            let heard = hub.links.last_heard();
            for runner in &mut runners {
                hub.live.complete_runner(runner);
                // We know better than what is written down once a minute.
                let here = heard.iter().find(|heard| heard.runner == runner.id);
                let here = here.map(|heard| store.now().plus_millis(-i64::from(heard.ago_ms)));
                runner.last_seen_at = runner.last_seen_at.max(here);
            }
            Answer::Runners(runners)
        }
        Call::ApprovalList { filter } => Answer::Approvals(store.approvals(caller, filter).await?),
        Call::ApprovalShow { approval } => Answer::Approval(store.approval(caller, approval).await?),
        Call::GrantList {} => Answer::Grants(store.grants(caller).await?),
        Call::SessionList { .. }
        | Call::SessionShow { .. }
        | Call::SessionLog { .. }
        | Call::WorkspaceList { .. }
        | Call::WorkspaceShow { .. }
        | Call::WorkspaceDiff { .. }
        | Call::WorkspaceSaves { .. }
        | Call::RecordingList { .. }
        | Call::RecordingShow { .. }
        | Call::RecordingPart { .. }
        | Call::RecordingSearch { .. } => execution::read(hub, caller, call).await?,
        Call::TaskList { .. }
        | Call::TaskExport { .. }
        | Call::TaskShow { .. }
        | Call::EscalationList { .. }
        | Call::EscalationShow { .. } => tasks::read(hub, caller, call).await?,
        Call::WorkerList { .. }
        | Call::WorkerShow { .. }
        | Call::WorkLog { .. }
        | Call::WorkSettings { .. }
        | Call::WorkMetrics { .. }
        | Call::WorkDoing { .. } => workers::read(hub, caller, call).await?,
        Call::AuditList { page } => Answer::Audit(store.audit(caller, page).await?),
        Call::PresenceList {} => {
            caller.person()?;
            Answer::Presence(hub.live.presence.everybody(&hub.live, &credential.actor))
        }
        other => return Err(AppError::Internal(anyhow::anyhow!("{} is not a reading verb", other.verb()))),
    })
}

async fn write(hub: &Hub, caller: &Caller, key: Option<String>, call: Call) -> Result<Answer, AppError> {
    let store = &hub.store;
    macro_rules! commit {
        ($command:expr) => {
            store.write(caller, key, $command).await?.value
        };
    }
    macro_rules! done {
        ($command:expr) => {{
            store.write(caller, key, $command).await?;
            Answer::Done
        }};
    }
    Ok(match call {
        Call::MeRename { input } => Answer::User(commit!(RenameMe { input })),
        Call::UserDisable { user } => Answer::User(commit!(SetDisabled { user, disabled: true })),
        Call::UserEnable { user } => Answer::User(commit!(SetDisabled { user, disabled: false })),
        Call::ProjectCreate { input } => Answer::Project(commit!(CreateProject { input })),
        Call::ProjectUpdate { project, input } => Answer::Project(commit!(UpdateProject { project, input })),
        Call::ProjectDelete { project } => done!(DeleteProject { project }),
        Call::ActivityCreate { project, input } => Answer::Activity(commit!(CreateActivity { project, input })),
        Call::ActivityUpdate { activity, input } => Answer::Activity(commit!(UpdateActivity { activity, input })),
        Call::ChatSend { project, input } => Answer::Message(commit!(SendMessage { project, input })),
        Call::ChatEdit { message, input } => Answer::Message(commit!(EditMessage { message, input })),
        Call::ChatDelete { message } => done!(DeleteMessage { message }),
        Call::ChatRead { project, input } => Answer::Unread(commit!(ReadChat { project, input })),
        Call::TokenCreate { input } => Answer::NewToken(commit!(CreateToken { input })),
        Call::TokenRevoke { token } => done!(RevokeToken { token }),
        Call::LoginLink {} => {
            let mut link = commit!(CreateLoginLink { user: None });
            link.link = hub.doors.link("login", &link.link);
            Answer::LoginLink(link)
        }
        Call::LoginRevoke { login } => done!(RevokeLogin { login }),
        Call::LoginRevokeAll {} => done!(RevokeAllLogins {}),
        Call::InviteCreate { input } => {
            let mut made = commit!(CreateInvite { input });
            made.link = hub.doors.link("join", &made.link);
            Answer::NewInvite(made)
        }
        Call::InviteRevoke { invite } => done!(RevokeInvite { invite }),
        Call::ObserverCreate { project, input } => {
            let mut made = commit!(CreateObserver { project, input });
            made.link = hub.doors.link("observe", &made.link);
            Answer::NewObserver(made)
        }
        Call::ObserverRevoke { observer } => done!(RevokeObserver { observer }),
        Call::RunnerCreate { input } => Answer::NewRunner(commit!(CreateRunner { input })),
        Call::RunnerUpdate { runner, input } => Answer::Runner(commit!(UpdateRunner { runner, input })),
        Call::RunnerRemove { runner } => done!(RemoveRunner { runner }),
        Call::ApprovalAnswer { approval, input } => Answer::Approval(commit!(AnswerApproval { approval, input })),
        Call::GrantRevoke { grant } => done!(RevokeGrant { grant }),
        Call::SessionSpawn { .. }
        | Call::SessionStop { .. }
        | Call::SessionResume { .. }
        | Call::SessionSend { .. }
        | Call::WorkspaceRestore { .. }
        | Call::WorkspaceClean { .. }
        | Call::RecordingKeep { .. } => execution::write(hub, caller, key, call).await?,
        Call::WorkerStart { .. }
        | Call::WorkerUpdate { .. }
        | Call::WorkerStop { .. }
        | Call::WorkerRestart { .. }
        | Call::WorkerRemove { .. }
        | Call::WorkerStopAll { .. }
        | Call::WorkConfigure { .. }
        | Call::FloorFreeze { .. }
        | Call::FloorThaw { .. }
        | Call::TaskTakeOver { .. } => workers::write(hub, caller, key, call).await?,
        Call::TaskAdd { .. }
        | Call::TaskCancel { .. }
        | Call::TaskRetry { .. }
        | Call::TaskTake { .. }
        | Call::TaskHeartbeat { .. }
        | Call::TaskReport { .. }
        | Call::TaskTurn { .. }
        | Call::TaskRelease { .. }
        | Call::TaskAsk { .. }
        | Call::EscalationAnswer { .. } => tasks::write(hub, caller, key, call).await?,
        other => return Err(AppError::Internal(anyhow::anyhow!("{} is not a changing verb", other.verb()))),
    })
}
