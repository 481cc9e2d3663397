//! The verbs, one file per subject: commands that write, and reads as methods of the store.

mod activities;
pub(crate) mod approvals;
mod audit;
mod chat;
mod credentials;
mod events;
mod fitting;
mod invites;
mod observers;
pub(crate) mod projects;
mod room;
mod runners;
pub(crate) mod sessions;
pub(crate) mod sight;
mod state;
pub(crate) mod tasks;
mod unread;
mod upkeep;
mod users;
mod versions;
pub(crate) mod workers;
mod workspaces;

pub use activities::{CreateActivity, UpdateActivity};
pub use approvals::{AnswerApproval, RevokeGrant, SweepApprovals};
pub use chat::{DeleteMessage, EditMessage, SendMessage};
pub use credentials::{
    Bearer, CreateLoginLink, CreateToken, Credential, EndLogin, FreshLogin, RevokeAllLogins, RevokeLogin, RevokeToken,
    UseLoginLink,
};
pub use events::Extent;
pub use invites::{AcceptInvite, CreateInvite, RevokeInvite};
pub use observers::{CreateObserver, RevokeObserver, UseObserverLink};
pub use projects::{CreateProject, DeleteProject, UpdateProject};
pub use runners::{CreateRunner, NameRunner, RemoveRunner, SeeRunner, TroubleRunner, UpdateRunner};
pub use sessions::{
    AGENT_TOKEN_SECONDS, Desired, KeepRecording, MintAgentToken, NoteAsked, ResumeSession, SeenFacts, SpawnSession,
    StopSession, TakeFacts,
};
pub use tasks::{
    AddTasks, AnswerEscalation, AskPerson, CancelTask, ExpireLeases, HeartbeatTask, ReleaseTask, ReportTask, Reported,
    RetryTask, TakeTask, TurnTasks, Wanted,
};
pub use tasks::{ShowEvidence, Unseen};
pub use unread::ReadChat;
pub use upkeep::{Compact, Touch};
pub use users::{EnterByGithub, EnterHubOwner, RenameMe, SetDisabled};
pub use workers::{
    ConfigureWork, Dispatch, Dispatched, EndMove, FreezeFloor, GiveUpChecks, GraceLeases, HurryMove, LastHeard, Moving,
    RemoveWorker, RenewLeases, RestartWorker, Say, StartWorkers, StopAllWorkers, StopWorker, SweptCheck, TakeOver,
    ThawFloor, UpdateWorker, WorkDue,
};
