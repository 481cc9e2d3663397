//! Resolves what a person types, an id or a name, to an id.

use std::fmt::Display;
use std::str::FromStr;

use client::{Client, View};
use domain::text::{counted, plural};
use domain::{
    ActivityId, ApprovalId, EscalationId, GrantId, InviteId, ProjectId, RunnerId, SessionId, TaskId, TokenId, UserId,
    WorkerId, WorkerStatus, WorkspaceId, WorkspaceStatus,
};
use protocol::{
    Activity, ActivityFilter, Approval, ApprovalFilter, Call, Escalation, EscalationFilter, ExecutionFilter, Grant,
    Invite, Project, Runner, Session, TaskFilter, TaskLine, Token, User, Worker, WorkerFilter, Workspace,
};

use crate::Failure;

/// How many candidates an error lists.
const SHOWN: usize = 5;
/// Minimum length of the beginning of an id: the prefix and a few digits.
const BEGINNING: usize = 8;
/// Minimum length of the end of an id; ids of the same hour begin alike, but end differently.
const END: usize = 6;
/// Everything, including finished things.
const ALL: ExecutionFilter = ExecutionFilter { project: None, activity: None, ended: Some(true) };

/// A thing with an id and a name.
pub(crate) trait Named {
    /// Its id.
    type Id: FromStr + Display + Copy;
    /// The noun for such a thing.
    const WHAT: &'static str;

    /// The verb that lists all of them.
    fn all() -> Call;
    /// Its id.
    fn id(&self) -> Self::Id;
    /// Its name.
    fn name(&self) -> &str;
    /// Its short name, such as `CALC-12`, if it has one.
    fn short(&self) -> Option<&str> {
        None
    }
    /// Whether it is preferred to others of the same name.
    fn current(&self) -> bool {
        true
    }
}

macro_rules! named {
    ($($view:ty, $id:ty, $what:literal, $all:expr;)*) => {$(
        impl Named for $view {
            type Id = $id;
            const WHAT: &'static str = $what;

            fn all() -> Call {
                $all
            }

            fn id(&self) -> $id {
                self.id
            }

            fn name(&self) -> &str {
                &self.name
            }
        }
    )*};
}

named! {
    Project, ProjectId, "project", Call::ProjectList {};
    Activity, ActivityId, "activity", Call::ActivityList { filter: ActivityFilter::default() };
    User, UserId, "user", Call::UserList {};
    Token, TokenId, "token", Call::TokenList {};
    Invite, InviteId, "invitation", Call::InviteList {};
    Runner, RunnerId, "runner", Call::RunnerList {};
}

impl Named for Session {
    type Id = SessionId;
    const WHAT: &'static str = "session";

    fn all() -> Call {
        Call::SessionList { filter: ALL }
    }

    fn id(&self) -> SessionId {
        self.id
    }

    fn name(&self) -> &str {
        &self.title
    }

    fn current(&self) -> bool {
        !self.state.ended()
    }
}

impl Named for Workspace {
    type Id = WorkspaceId;
    const WHAT: &'static str = "workspace";

    fn all() -> Call {
        Call::WorkspaceList { filter: ALL }
    }

    fn id(&self) -> WorkspaceId {
        self.id
    }

    fn name(&self) -> &str {
        self.branch.as_deref().unwrap_or_default()
    }

    fn current(&self) -> bool {
        self.status != WorkspaceStatus::Cleaned
    }
}

impl Named for TaskLine {
    type Id = TaskId;
    const WHAT: &'static str = "task";

    fn all() -> Call {
        Call::TaskList { filter: TaskFilter::default() }
    }

    fn id(&self) -> TaskId {
        self.id
    }

    fn name(&self) -> &str {
        &self.title
    }

    fn short(&self) -> Option<&str> {
        Some(&self.short)
    }

    fn current(&self) -> bool {
        !self.status.is_over()
    }
}

impl Named for Worker {
    type Id = WorkerId;
    const WHAT: &'static str = "worker";

    fn all() -> Call {
        Call::WorkerList { filter: WorkerFilter::default() }
    }

    fn id(&self) -> WorkerId {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn current(&self) -> bool {
        self.status != WorkerStatus::Stopped
    }
}

impl Named for Escalation {
    type Id = EscalationId;
    const WHAT: &'static str = "escalation";

    fn all() -> Call {
        Call::EscalationList { filter: EscalationFilter { project: None, answered: Some(true) } }
    }

    fn id(&self) -> EscalationId {
        self.id
    }

    fn name(&self) -> &str {
        &self.question
    }

    fn current(&self) -> bool {
        self.answered_at.is_none()
    }
}

impl Named for Approval {
    type Id = ApprovalId;
    const WHAT: &'static str = "approval";

    fn all() -> Call {
        Call::ApprovalList { filter: ApprovalFilter { answered: Some(true), ..Default::default() } }
    }

    fn id(&self) -> ApprovalId {
        self.id
    }

    fn name(&self) -> &str {
        &self.text
    }

    fn current(&self) -> bool {
        self.answer.is_none()
    }
}

impl Named for Grant {
    type Id = GrantId;
    const WHAT: &'static str = "grant";

    fn all() -> Call {
        Call::GrantList {}
    }

    fn id(&self) -> GrantId {
        self.id
    }

    fn name(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.author.name)
    }
}

/// The id of the thing that `text` means; asks the hub only if `text` is not an id.
pub(crate) async fn pick<T: Named>(client: &Client, text: &str) -> Result<T::Id, Failure>
where
    Vec<T>: View,
{
    match text.parse() {
        Ok(id) => Ok(id),
        Err(_) => choose(&client.ask::<Vec<T>>(T::all()).await?, text),
    }
}

/// The same for an optional argument.
pub(crate) async fn pick_if<T: Named>(client: &Client, text: Option<&str>) -> Result<Option<T::Id>, Failure>
where
    Vec<T>: View,
{
    match text {
        Some(text) => pick::<T>(client, text).await.map(Some),
        None => Ok(None),
    }
}

/// The one of `all` that `text` means.
pub(crate) fn choose<T: Named>(all: &[T], text: &str) -> Result<T::Id, Failure> {
    let wanted = text.trim().to_lowercase();
    let hexadecimal = wanted.len() >= END && wanted.bytes().all(|byte| byte.is_ascii_hexdigit());
    let by_id = |one: &&T| {
        let id = one.id().to_string();
        wanted.len() >= BEGINNING && id.starts_with(&wanted) || hexadecimal && id.ends_with(&wanted)
    };
    let by_short = |one: &&T| one.short().is_some_and(|short| short.to_lowercase() == wanted);
    let begins = |one: &&T| !wanted.is_empty() && one.name().to_lowercase().starts_with(&wanted);
    let mut found: Vec<&T> =
        all.iter().filter(|one| one.name().to_lowercase() == wanted || by_id(one) || by_short(one)).collect();
    if found.is_empty() {
        found = all.iter().filter(begins).collect();
    }
    if found.iter().filter(|one| one.current()).count() == 1 {
        found.retain(|one| one.current());
    }
    match found.as_slice() {
        [] => Err(Failure::not_found(format!("no {} `{text}` found", T::WHAT)).advise(format!(
            "pass its id, its name, or the beginning of either; you can see {}",
            counted(all.len(), T::WHAT, &plural(T::WHAT))
        ))),
        [one] => Ok(one.id()),
        several => {
            let names: Vec<String> =
                several.iter().take(SHOWN).map(|one| format!("{} ({})", one.id(), one.name())).collect();
            let more = if several.len() > SHOWN { ", …" } else { "" };
            let matches = counted(several.len(), T::WHAT, &plural(T::WHAT));
            let detail = format!("`{text}` matches {matches}: {}{more}", names.join(", "));
            Err(Failure::usage(detail).advise("pass the id"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exit;

    struct Thing(ProjectId, &'static str, bool);

    impl Named for Thing {
        type Id = ProjectId;
        const WHAT: &'static str = "thing";

        fn all() -> Call {
            Call::ProjectList {}
        }

        fn id(&self) -> ProjectId {
            self.0
        }

        fn name(&self) -> &str {
            self.1
        }

        fn current(&self) -> bool {
            self.2
        }
    }

    #[test]
    fn a_part_of_an_id_is_enough_and_current_things_come_first() {
        let ids = ["prj_01900000000000000000000000000001", "prj_01900000100000000000000000000002"];
        let id = |index: usize| ids[index].parse().unwrap();
        let all = [Thing(id(0), "Run", false), Thing(id(1), "Run", true)];
        assert_eq!(choose(&all, "prj_01900000000").unwrap(), id(0));
        assert_eq!(choose(&all, "prj_019000001").unwrap(), id(1));
        assert_eq!(choose(&all, "000001").unwrap(), id(0), "the end of an id");
        assert_eq!(choose(&all, "run").unwrap(), id(1));
        assert_eq!(choose(&all[..1], "run").unwrap(), id(0));
        assert_eq!(choose(&all, "prj_").unwrap_err().exit(), Exit::NotFound, "too short to mean anything");
    }

    #[test]
    fn a_unique_name_or_its_beginning_is_enough() {
        let all: Vec<Thing> = ["Parser", "Parser tests", "Docs"]
            .into_iter()
            .map(|name| Thing(ProjectId::generate(), name, true))
            .collect();
        assert_eq!(choose(&all, "parser").unwrap(), all[0].0, "an equal name beats a longer one");
        assert_eq!(choose(&all, "do").unwrap(), all[2].0);
        let ambiguous = choose(&all, "pars").unwrap_err();
        assert_eq!(ambiguous.exit(), Exit::Usage);
        assert!(ambiguous.render(false).contains(&all[1].0.to_string()), "{ambiguous:?}");
        assert_eq!(choose(&all, "web").unwrap_err().exit(), Exit::NotFound);
        assert_eq!(choose(&all, "").unwrap_err().exit(), Exit::NotFound);
    }
}
