//! The verbs, one file per subject: commands that write, and reads as methods of the store.

mod activities;
pub(crate) mod approvals;
mod artifacts;
mod audit;
mod awaited;
mod chat;
mod credentials;
mod events;
mod executions;
mod fitting;
pub(crate) mod handoff;
mod hooks;
mod invites;
pub(crate) mod landing;
pub(crate) mod merge;
mod notify;
mod observers;
mod overlaps;
mod project_names;
pub(crate) mod projects;
mod recipes;
pub(crate) mod reviews;
mod room;
mod runners;
mod schedules;
mod search;
mod search_terminals;
pub(crate) mod sessions;
pub(crate) mod sight;
mod state;
mod unread;
mod upkeep;
mod users;
mod versions;
pub(crate) mod work;
mod workspaces;

pub use approvals::SweepApprovals;
pub use artifacts::{
    ARTIFACT_CHUNK, AppendContent, ArtifactRoom, ArtifactStream, BeginContent, DropContent, EndContent,
    TidiedArtifacts, TidyArtifacts,
};
pub use awaited::{ForgetTips, SeeTips, TakeEvents, Watched};
pub use credentials::{Bearer, CreateLoginLink, Credential, EndLogin, FreshLogin, UseLoginLink};
pub use events::Extent;
pub use executions::{AtWork, DueExecutions, KeepLaneWork, LaneWork, MAX_KEPT_BUNDLE, TendExecution};
pub use handoff::{HandoffResult, HandoffTold, HandoffWork, TendHandoff};
pub use hooks::{AddHook, HookSecrets, ReceiveHook, Received, RotateHook};
pub use invites::AcceptInvite;
pub use landing::{MAX_LANDINGS, PublishEnded, PublishResult, Publishing, PullRequestText};
pub use merge::TendMerges;
pub use notify::{
    AddChannel, ChannelNow, ClaimDeliveries, Delivery, EndDelivery, FreeDeliveries, Letter, PlanDeliveries,
    TakeNotices, TestedChannel,
};
pub use observers::UseObserverLink;
pub use overlaps::{DeclaredIn, TendDeclared};
pub use recipes::SaveRecipe;
pub use reviews::{ChangesFrom, ChangesOf, SentBack, SentToSession};
pub use runners::{DescribeRunner, NameRunner, SeeRunner, TroubleRunner};
pub use schedules::{DueSchedules, TendSchedule};
pub use search_terminals::{FoundLine, TerminalPlace};
pub use sessions::{
    AGENT_TOKEN_SECONDS, Desired, LeaveKeyboard, MintAgentToken, NoteAsked, OpenQuestion, QuestionEnded, SeenFacts,
    TakeFacts,
};
pub use upkeep::{Compact, Touch};
pub use users::{EnterByGithub, EnterHubOwner};
pub use work::{
    Awaiting, Dispatch, Dispatched, EndMove, EndWait, ExpireLeases, GiveUpChecks, GraceLeases, HurryMove, LastHeard,
    MAX_WORKERS, Moving, PublishWorkFor, RenewLeases, Reported, Say, ShowEvidence, SweptCheck, Unseen, Wanted,
    WorkArrived, WorkDue,
};
