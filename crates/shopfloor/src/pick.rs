//! Resolves what a person types, an id or a name, to an id.

use std::fmt::Display;
use std::str::FromStr;

use client::{Client, View};
use domain::text::{counted, plural};
use domain::{
    ActivityId, ApprovalId, ArtifactId, ChannelId, EscalationId, ExecutionId, GrantId, HandoffId, HookId, InviteId,
    OverlapId, ProjectId, RecipeId, ReservationId, RunnerId, ScheduleId, SessionId, TaskId, TokenId, UserId, WorkerId,
    WorkerStatus, WorkspaceId, WorkspaceStatus,
};
use protocol::{
    Activity, ActivityFilter, Approval, ApprovalFilter, Artifact, ArtifactsWanted, Call, Escalation, EscalationFilter,
    Execution, ExecutionFilter, ExecutionsWanted, Grant, Handoff, HandoffFilter, Hook, Invite, NotifyChannel,
    OverlapFilter, Project, Recipe, Reservation, ReservationFilter, Runner, Schedule, Session, TaskFilter, TaskLine,
    Token, User, WorkOverlap, Worker, WorkerFilter, Workspace,
};

use crate::Failure;

/// How many candidates an error lists.
const SHOWN: usize = 5;
/// Minimum length of an abbreviation: the beginning of a name, the digits after an id's prefix, or its last digits.
/// Ids of the same hour begin alike, but end differently.
const SHORTEST: usize = 4;
/// How many of a project's newest executions an abbreviation is looked for in.
const RECENT: u32 = 200;
/// Everything, including finished things.
const ALL: ExecutionFilter = ExecutionFilter { project: None, activity: None, ended: Some(true) };

/// A thing with an id and a name.
pub(crate) trait Named {
    /// Its id.
    type Id: FromStr + Display + Copy;
    /// The noun for such a thing.
    const WHAT: &'static str;
    /// The word for one that is not current.
    const OVER: &'static str = "over";

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

/// A thing of which one verb lists all.
pub(crate) trait Listed: Named {
    /// The verb.
    fn all() -> Call;
}

/// A thing that is listed for one project at a time.
pub(crate) trait OfProject: Named {
    /// The verb.
    fn of(project: ProjectId) -> Call;
}

macro_rules! named {
    ($($view:ty, $id:ty, $what:literal, $all:expr;)*) => {$(
        impl Named for $view {
            type Id = $id;
            const WHAT: &'static str = $what;

            fn id(&self) -> $id {
                self.id
            }

            fn name(&self) -> &str {
                &self.name
            }
        }

        impl Listed for $view {
            fn all() -> Call {
                $all
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
    NotifyChannel, ChannelId, "channel", Call::NotifyList {};
}

impl Named for Handoff {
    type Id = HandoffId;
    const WHAT: &'static str = "handoff";

    fn id(&self) -> HandoffId {
        self.id
    }

    fn name(&self) -> &str {
        &self.title
    }

    fn current(&self) -> bool {
        !self.status.is_over()
    }
}

impl Listed for Handoff {
    fn all() -> Call {
        Call::HandoffList { filter: HandoffFilter { limit: Some(200), ..HandoffFilter::default() } }
    }
}

impl Named for WorkOverlap {
    type Id = OverlapId;
    const WHAT: &'static str = "overlap";
    const OVER: &'static str = "ended";

    fn id(&self) -> OverlapId {
        self.id
    }

    fn name(&self) -> &str {
        &self.one.name
    }

    fn current(&self) -> bool {
        self.ended_at.is_none()
    }
}

impl Listed for WorkOverlap {
    fn all() -> Call {
        Call::OverlapList { filter: OverlapFilter { ended: Some(true), ..OverlapFilter::default() } }
    }
}

impl Named for Reservation {
    type Id = ReservationId;
    const WHAT: &'static str = "reservation";

    fn id(&self) -> ReservationId {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl Listed for Reservation {
    fn all() -> Call {
        Call::OverlapReservations { filter: ReservationFilter::default() }
    }
}

impl Named for Session {
    type Id = SessionId;
    const WHAT: &'static str = "session";
    const OVER: &'static str = "ended";

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

impl Listed for Session {
    fn all() -> Call {
        Call::SessionList { filter: ALL }
    }
}

impl Named for Workspace {
    type Id = WorkspaceId;
    const WHAT: &'static str = "workspace";
    const OVER: &'static str = "deleted";

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

impl Listed for Workspace {
    fn all() -> Call {
        Call::WorkspaceList { filter: ALL }
    }
}

impl Named for TaskLine {
    type Id = TaskId;
    const WHAT: &'static str = "task";
    const OVER: &'static str = "finished";

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

impl Listed for TaskLine {
    fn all() -> Call {
        Call::TaskList { filter: TaskFilter::default() }
    }
}

impl Named for Worker {
    type Id = WorkerId;
    const WHAT: &'static str = "worker";
    const OVER: &'static str = "stopped";

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

impl Listed for Worker {
    fn all() -> Call {
        Call::WorkerList { filter: WorkerFilter::default() }
    }
}

impl Named for Escalation {
    type Id = EscalationId;
    const WHAT: &'static str = "escalation";
    const OVER: &'static str = "answered";

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

impl Listed for Escalation {
    fn all() -> Call {
        Call::EscalationList { filter: EscalationFilter { project: None, answered: Some(true) } }
    }
}

impl Named for Approval {
    type Id = ApprovalId;
    const WHAT: &'static str = "approval";
    const OVER: &'static str = "answered";

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

impl Listed for Approval {
    fn all() -> Call {
        Call::ApprovalList { filter: ApprovalFilter { answered: Some(true), ..Default::default() } }
    }
}

impl Named for Grant {
    type Id = GrantId;
    const WHAT: &'static str = "grant";

    fn id(&self) -> GrantId {
        self.id
    }

    fn name(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.author.name)
    }
}

impl Listed for Grant {
    fn all() -> Call {
        Call::GrantList {}
    }
}

impl Named for Recipe {
    type Id = RecipeId;
    const WHAT: &'static str = "recipe";
    const OVER: &'static str = "disabled";

    fn id(&self) -> RecipeId {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn current(&self) -> bool {
        !self.disabled
    }
}

impl OfProject for Recipe {
    fn of(project: ProjectId) -> Call {
        Call::RecipeList { project }
    }
}

impl Named for Schedule {
    type Id = ScheduleId;
    const WHAT: &'static str = "schedule";

    fn id(&self) -> ScheduleId {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl OfProject for Schedule {
    fn of(project: ProjectId) -> Call {
        Call::ScheduleList { project }
    }
}

impl Named for Hook {
    type Id = HookId;
    const WHAT: &'static str = "webhook";

    fn id(&self) -> HookId {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl OfProject for Hook {
    fn of(project: ProjectId) -> Call {
        Call::HookList { project }
    }
}

impl Named for Execution {
    type Id = ExecutionId;
    const WHAT: &'static str = "execution";

    fn id(&self) -> ExecutionId {
        self.id
    }

    /// The recipe's name: the only execution of a recipe that is not over needs no id.
    fn name(&self) -> &str {
        &self.name
    }

    fn current(&self) -> bool {
        self.ended_at.is_none()
    }
}

impl OfProject for Execution {
    fn of(project: ProjectId) -> Call {
        let filter = ExecutionsWanted { limit: Some(RECENT), ..ExecutionsWanted::default() };
        Call::ExecutionList { project, filter }
    }
}

impl Named for Artifact {
    type Id = ArtifactId;
    const WHAT: &'static str = "artifact";

    fn id(&self) -> ArtifactId {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl OfProject for Artifact {
    fn of(project: ProjectId) -> Call {
        let filter = ArtifactsWanted { limit: Some(RECENT), ..ArtifactsWanted::default() };
        Call::ArtifactList { project, filter }
    }
}

/// The id of the thing that `text` means; asks the hub only if `text` is not an id.
pub(crate) async fn pick<T: Listed>(client: &Client, text: &str) -> Result<T::Id, Failure>
where
    Vec<T>: View,
{
    match text.parse() {
        Ok(id) => Ok(id),
        Err(_) => choose(&client.ask::<Vec<T>>(T::all()).await?, text),
    }
}

/// The same for an optional argument.
pub(crate) async fn pick_if<T: Listed>(client: &Client, text: Option<&str>) -> Result<Option<T::Id>, Failure>
where
    Vec<T>: View,
{
    match text {
        Some(text) => pick::<T>(client, text).await.map(Some),
        None => Ok(None),
    }
}

/// The id of the thing with exactly this id or name, for commands that delete: they never guess.
pub(crate) async fn pick_exact<T: Listed>(client: &Client, text: &str) -> Result<T::Id, Failure>
where
    Vec<T>: View,
{
    match text.parse() {
        Ok(id) => Ok(id),
        Err(_) => exact(&client.ask::<Vec<T>>(T::all()).await?, text),
    }
}

/// The id of the thing that `text` means, in one project or in all; asks the hub only if `text` is not an id.
pub(crate) async fn pick_of<T: OfProject>(client: &Client, project: Option<&str>, text: &str) -> Result<T::Id, Failure>
where
    Vec<T>: View,
{
    match text.parse() {
        Ok(id) => Ok(id),
        Err(_) => choose(&all_of::<T>(client, project).await?, text),
    }
}

/// Like [`pick_exact`], for things that are listed for one project at a time.
pub(crate) async fn pick_exact_of<T: OfProject>(
    client: &Client,
    project: Option<&str>,
    text: &str,
) -> Result<T::Id, Failure>
where
    Vec<T>: View,
{
    match text.parse() {
        Ok(id) => Ok(id),
        Err(_) => exact(&all_of::<T>(client, project).await?, text),
    }
}

/// Everything of a project, or of all projects that the caller sees.
pub(crate) async fn all_of<T: OfProject>(client: &Client, project: Option<&str>) -> Result<Vec<T>, Failure>
where
    Vec<T>: View,
{
    let mut found = Vec::new();
    for project in projects(client, project).await? {
        found.extend(client.ask::<Vec<T>>(T::of(project)).await?);
    }
    Ok(found)
}

/// The project that is meant, or all that the caller sees.
pub(crate) async fn projects(client: &Client, project: Option<&str>) -> Result<Vec<ProjectId>, Failure> {
    match pick_if::<Project>(client, project).await? {
        Some(project) => Ok(vec![project]),
        None => {
            let all: Vec<Project> = client.ask(Project::all()).await?;
            Ok(all.iter().map(|project| project.id).collect())
        }
    }
}

/// The one of `all` whose id, short name or name is exactly `text`.
pub(crate) fn exact<T: Named>(all: &[T], text: &str) -> Result<T::Id, Failure> {
    let wanted = text.trim();
    let is = |one: &&T| one.name() == wanted || one.short() == Some(wanted) || one.id().to_string() == wanted;
    match preferred(all.iter().filter(is).collect()).as_slice() {
        [one] => Ok(one.id()),
        [] => {
            let near = matches(all, wanted);
            let hint = if near.is_empty() { String::new() } else { format!("; similar:{}", listed(&near)) };
            Err(Failure::not_found(format!("no {} has exactly the id or name `{text}`{hint}", T::WHAT))
                .advise("this command deletes, so it takes the full id or name"))
        }
        several => Err(ambiguous(several, text)),
    }
}

/// The one of `all` that `text` means: an id, a name, or the beginning of either or the end of an id.
pub(crate) fn choose<T: Named>(all: &[T], text: &str) -> Result<T::Id, Failure> {
    match matches(all, text).as_slice() {
        [] => Err(Failure::not_found(format!("no {} `{text}` found", T::WHAT)).advise(format!(
            "pass its id, its name, or at least {SHORTEST} characters of the beginning of either; you can see {}",
            counted(all.len(), T::WHAT, &plural(T::WHAT))
        ))),
        [one] => Ok(one.id()),
        several => Err(ambiguous(several, text)),
    }
}

/// Like [`choose`], for commands that take several kinds of things; `None`: it means none of these.
pub(crate) fn choose_if<T: Named>(all: &[T], text: &str) -> Result<Option<T::Id>, Failure> {
    match matches(all, text).as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.id())),
        several => Err(ambiguous(several, text)),
    }
}

/// Everything that `text` may mean. Names and abbreviated ids are equally good; beginnings of names count only if
/// nothing else does.
fn matches<'a, T: Named>(all: &'a [T], text: &str) -> Vec<&'a T> {
    let wanted = text.trim().to_lowercase();
    let named = |one: &&T| {
        one.name().to_lowercase() == wanted || one.short().is_some_and(|short| short.to_lowercase() == wanted)
    };
    let mut found = preferred(all.iter().filter(named).collect());
    found.extend(all.iter().filter(|one| !named(one) && abbreviates(&wanted, &one.id().to_string())));
    if found.is_empty() && wanted.chars().count() >= SHORTEST {
        found = preferred(all.iter().filter(|one| one.name().to_lowercase().starts_with(&wanted)).collect());
    }
    found
}

/// Whether `text` is the beginning or the end of an id.
fn abbreviates(text: &str, id: &str) -> bool {
    let prefix = id.find('_').map_or(0, |at| at + 1);
    let hexadecimal = text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.len() >= prefix + SHORTEST && id.starts_with(text) || hexadecimal && id.ends_with(text)
}

/// Of several things with the same name, the current one.
fn preferred<T: Named>(mut found: Vec<&T>) -> Vec<&T> {
    let name = |one: &T| one.name().to_lowercase();
    let alike = found.windows(2).all(|pair| name(pair[0]) == name(pair[1]));
    if alike && found.iter().filter(|one| one.current()).count() == 1 {
        found.retain(|one| one.current());
    }
    found
}

fn ambiguous<T: Named>(several: &[&T], text: &str) -> Failure {
    let count = counted(several.len(), T::WHAT, &plural(T::WHAT));
    Failure::usage(format!("`{text}` matches {count}:{}", listed(several))).advise("pass the full id")
}

/// A line for each of the first things.
fn listed<T: Named>(several: &[&T]) -> String {
    let over = |one: &T| if one.current() { String::new() } else { format!(", {}", T::OVER) };
    let short = |one: &T| one.short().map(|short| format!("{short}, ")).unwrap_or_default();
    let name = |one: &T| domain::text::title(one.name());
    let line = |one: &&T| format!("\n  {} ({}{}{})", one.id(), short(one), name(one), over(one));
    let more =
        if several.len() > SHOWN { format!("\n  … and {} more", several.len() - SHOWN) } else { String::new() };
    several.iter().take(SHOWN).map(line).chain([more]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exit;

    struct Thing(ProjectId, &'static str, bool);

    impl Named for Thing {
        type Id = ProjectId;
        const WHAT: &'static str = "thing";

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
        assert_eq!(choose(&all, "0001").unwrap(), id(0), "the end of an id");
        assert_eq!(
            choose(&all, "prj_0190").unwrap_err().exit(),
            Exit::Usage,
            "an id is not preferred for being current"
        );
        assert_eq!(choose(&all, "001").unwrap_err().exit(), Exit::NotFound, "too short");
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
        assert_eq!(choose(&all, "docs").unwrap(), all[2].0);
        assert_eq!(choose(&all, "parser t").unwrap(), all[1].0);
        assert_eq!(choose(&all, "doc").unwrap_err().exit(), Exit::NotFound, "too short to be meant");
        let ambiguous = choose(&all, "pars").unwrap_err();
        assert_eq!(ambiguous.exit(), Exit::Usage);
        assert!(ambiguous.render(false).contains(&all[1].0.to_string()), "{ambiguous:?}");
        let said = ambiguous.render(false);
        assert!(said.contains("matches 2 things:") && said.contains("(Parser tests)"), "{said}");
        assert_eq!(choose(&all, "web").unwrap_err().exit(), Exit::NotFound);
        assert_eq!(choose_if(&all, "web").unwrap(), None);
        assert_eq!(choose_if(&all, "docs").unwrap(), Some(all[2].0));
        assert_eq!(choose_if(&all, "pars").unwrap_err().exit(), Exit::Usage, "it is not passed over");
        assert_eq!(choose(&all, "").unwrap_err().exit(), Exit::NotFound);
    }

    #[test]
    fn the_name_of_a_current_thing_does_not_hide_another_name() {
        let all = [
            Thing(ProjectId::generate(), "Parser", false),
            Thing(ProjectId::generate(), "Parser tests", true),
            Thing(ProjectId::generate(), "parser", true),
        ];
        assert_eq!(choose(&all, "parser").unwrap(), all[2].0, "of two with this name, the current one");
        assert_eq!(choose(&all, "pars").unwrap_err().exit(), Exit::Usage, "two different names");
    }

    #[test]
    fn a_deletion_takes_only_the_whole_name_or_id() {
        let all: Vec<Thing> =
            ["Parser", "Parser tests"].into_iter().map(|name| Thing(ProjectId::generate(), name, true)).collect();
        assert_eq!(exact(&all, " Parser ").unwrap(), all[0].0);
        assert_eq!(exact(&all, &all[1].0.to_string()).unwrap(), all[1].0);
        for near in ["Parser t", "pars", "parser", &all[0].0.to_string()[..30]] {
            let refused = exact(&all, near).unwrap_err();
            assert_eq!(refused.exit(), Exit::NotFound, "{near}");
            assert!(refused.render(false).contains("similar:"), "{near}: {refused:?}");
        }
    }
}
