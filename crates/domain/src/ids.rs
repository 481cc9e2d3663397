//! Ids: UUIDv7 behind distinct types, each with a prefix that a reader recognises in a log.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ts_rs::TS;
use utoipa::ToSchema;
use uuid::Uuid;

/// Why a text is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an id of this kind: expected `{prefix}_` and 32 hexadecimal digits")]
pub struct IdError {
    /// The prefix that this kind of id has.
    pub prefix: &'static str,
    /// What was given, shortened.
    pub text: String,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal, $pattern:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, TS, ToSchema)]
        #[ts(type = "string")]
        #[schema(value_type = String, pattern = $pattern)]
        pub struct $name(Uuid);

        impl $name {
            /// The visible prefix, without the underscore.
            pub const PREFIX: &'static str = $prefix;

            /// A fresh id, ordered by creation time.
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}_{}", $prefix, self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse($prefix, text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// A person.
    UserId = "usr", "^usr_[0-9a-f]{32}$";
    /// A program that runs sessions on one machine.
    RunnerId = "run", "^run_[0-9a-f]{32}$";
    /// A project.
    ProjectId = "prj", "^prj_[0-9a-f]{32}$";
    /// An activity.
    ActivityId = "act", "^act_[0-9a-f]{32}$";
    /// A git clone on a runner, on its own branch.
    WorkspaceId = "wsp", "^wsp_[0-9a-f]{32}$";
    /// One agent process in a terminal.
    SessionId = "ses", "^ses_[0-9a-f]{32}$";
    /// A place where the work of two activities meets.
    OverlapId = "ovl", "^ovl_[0-9a-f]{32}$";
    /// Files that an activity says it will change, until a time.
    ReservationId = "rsv", "^rsv_[0-9a-f]{32}$";
    /// A unit of work that can be handed out.
    TaskId = "tsk", "^tsk_[0-9a-f]{32}$";
    /// A slot on a runner that takes tasks.
    WorkerId = "wrk", "^wrk_[0-9a-f]{32}$";
    /// A worker's report.
    ReportId = "rep", "^rep_[0-9a-f]{32}$";
    /// A branch in a merge queue.
    CandidateId = "cnd", "^cnd_[0-9a-f]{32}$";
    /// One order of a merge queue to a runner: test a stack of branches, or land a tested one.
    MergeRunId = "mrn", "^mrn_[0-9a-f]{32}$";
    /// One piece of work on its way to the repository.
    LandingId = "lnd", "^lnd_[0-9a-f]{32}$";
    /// A handoff of one session's work to a fresh session.
    HandoffId = "hnd", "^hnd_[0-9a-f]{32}$";
    /// A question to the agent of an ended session.
    QuestionId = "qst", "^qst_[0-9a-f]{32}$";
    /// A recipe of a project, in all its versions.
    RecipeId = "rcp", "^rcp_[0-9a-f]{32}$";
    /// One run of a recipe.
    ExecutionId = "exe", "^exe_[0-9a-f]{32}$";
    /// What starts executions of a recipe.
    ScheduleId = "sch", "^sch_[0-9a-f]{32}$";
    /// An address where another service tells a project what happened.
    HookId = "hok", "^hok_[0-9a-f]{32}$";
    /// What an execution, task or agent left for others to read.
    ArtifactId = "art", "^art_[0-9a-f]{32}$";
    /// A question to a person.
    EscalationId = "esc", "^esc_[0-9a-f]{32}$";
    /// A thread of comments on changed lines.
    ThreadId = "thr", "^thr_[0-9a-f]{32}$";
    /// A request to allow something to run on a runner.
    ApprovalId = "apr", "^apr_[0-9a-f]{32}$";
    /// A lasting approval.
    GrantId = "gnt", "^gnt_[0-9a-f]{32}$";
    /// A runner's journal, so that a hub notices when it was lost.
    JournalId = "jnl", "^jnl_[0-9a-f]{32}$";
    /// A chat message.
    MessageId = "msg", "^msg_[0-9a-f]{32}$";
    /// A credential for CLI, runner or agent.
    TokenId = "tok", "^tok_[0-9a-f]{32}$";
    /// An invitation.
    InviteId = "inv", "^inv_[0-9a-f]{32}$";
    /// An observer link.
    ObserverId = "obs", "^obs_[0-9a-f]{32}$";
    /// A browser that is logged in.
    LoginId = "lgn", "^lgn_[0-9a-f]{32}$";
    /// A place that a person's notifications go to.
    ChannelId = "chn", "^chn_[0-9a-f]{32}$";
    /// A notification to one channel; every attempt to deliver it has the same.
    NotificationId = "ntf", "^ntf_[0-9a-f]{32}$";
    /// A hub's database, so that a client notices when it is another one.
    HubId = "hub", "^hub_[0-9a-f]{32}$";
}

fn parse(prefix: &'static str, text: &str) -> Result<Uuid, IdError> {
    let refuse = || IdError { prefix, text: text.chars().take(48).collect() };
    let hex = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')).ok_or_else(refuse)?;
    // Only one spelling: two texts for one id would be two keys in a client's map.
    let canonical = hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if !canonical {
        return Err(refuse());
    }
    Uuid::try_parse(hex).map_err(|_| refuse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_its_text() {
        let id = ProjectId::generate();
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn an_id_of_another_kind_is_refused() {
        let id = ProjectId::generate().to_string();
        assert!(id.parse::<ActivityId>().is_err());
    }

    #[test]
    fn only_one_spelling_is_accepted() {
        let id = ProjectId::generate().to_string();
        let upper = id.replace("prj_", "").to_uppercase();
        for bad in ["", "prj_", "prj", &format!("prj_{upper}x"), "prj_zz", &id[..id.len() - 1], &format!(" {id}")] {
            assert!(bad.parse::<ProjectId>().is_err(), "{bad}");
        }
        assert!("prj_ABCDEF00000000000000000000000000".parse::<ProjectId>().is_err());
    }
}
