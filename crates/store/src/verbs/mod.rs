//! The verbs, one file per subject: commands that write, and reads as methods of the store.

mod activities;
pub(crate) mod approvals;
mod audit;
mod chat;
mod credentials;
mod events;
mod fitting;
mod invites;
pub(crate) mod landing;
pub(crate) mod merge;
mod observers;
pub(crate) mod projects;
pub(crate) mod reviews;
mod room;
mod runners;
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
pub use credentials::{Bearer, CreateLoginLink, Credential, EndLogin, FreshLogin, UseLoginLink};
pub use events::Extent;
pub use invites::AcceptInvite;
pub use landing::{MAX_LANDINGS, PublishEnded, PublishResult, Publishing, PullRequestText};
pub use merge::TendMerges;
pub use observers::UseObserverLink;
pub use reviews::{ChangesFrom, ChangesOf, SentBack};
pub use runners::{DescribeRunner, NameRunner, SeeRunner, TroubleRunner};
pub use sessions::{AGENT_TOKEN_SECONDS, Desired, MintAgentToken, NoteAsked, SeenFacts, TakeFacts};
pub use upkeep::{Compact, Touch};
pub use users::{EnterByGithub, EnterHubOwner};
pub use work::{
    Awaiting, Dispatch, Dispatched, EndMove, EndWait, ExpireLeases, GiveUpChecks, GraceLeases, HurryMove, LastHeard,
    MAX_WORKERS, Moving, PublishWorkFor, RenewLeases, Reported, Say, ShowEvidence, SweptCheck, Unseen, Wanted,
    WorkArrived, WorkDue,
};
