//! How a project merges.

use domain::text::counted;
use domain::{Action, MergeAdders, MergeMethod, ProjectId};
use protocol::link::MergeCheck;
use protocol::{Change, MergeCommand, MergeSettings, Verb, WrittenBy, verbs};

use super::{advance, rows};
use crate::sql::{Connection, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::work::workers::rows::tell;
use crate::verbs::{approvals, projects};
use crate::{Caller, Command, Store, StoreError};

/// Maximum number of checks, of arguments, and of characters in all arguments of one.
pub(super) const MAX_CHECKS: usize = 20;
const MAX_ARGUMENTS: usize = 100;
const MAX_ARGUMENT: usize = 10_000;
/// The longest time limit of a check: a day.
const MAX_SECONDS: u32 = 86_400;
/// Maximum number of runs at once.
const MAX_AT_ONCE: u32 = 8;

/// How a project merges, and who wrote its checks.
pub(super) struct Rules {
    pub(super) settings: MergeSettings,
    pub(super) author: Option<WrittenBy>,
}

impl Rules {
    /// The checks, as runners get them.
    pub(super) fn checks(&self) -> Vec<MergeCheck> {
        let check = |command: &MergeCommand| MergeCheck { argv: command.argv.clone(), seconds: command.seconds };
        self.settings.checks.iter().map(check).collect()
    }
}

fn defaults() -> MergeSettings {
    MergeSettings { checks: Vec::new(), method: MergeMethod::Merge, adders: MergeAdders::Writers, at_once: 2 }
}

/// The settings with their author, without an access check.
pub(super) async fn rules(c: &mut Connection<'_>, project: ProjectId) -> Result<Rules, StoreError> {
    let sql = "SELECT s.settings, s.author, u.name AS author_name, s.by_agent AS author_agent, s.author_session \
               FROM merge_settings s JOIN users u ON u.id = s.author WHERE s.project = $1";
    let Some(row) = c.first(sql, vec![text(project)]).await? else {
        return Ok(Rules { settings: defaults(), author: None });
    };
    let author = approvals::written_by(&row, "author", "author_session")?;
    Ok(Rules { settings: row.json("settings")?, author })
}

/// The settings, without an access check.
pub(super) async fn of(c: &mut Connection<'_>, project: ProjectId) -> Result<MergeSettings, StoreError> {
    rules(c, project).await.map(|rules| rules.settings)
}

impl Store {
    /// How a project merges.
    pub async fn merge_settings(&self, caller: &Caller, project: ProjectId) -> Result<MergeSettings, StoreError> {
        let mut reader = self.readers.get().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        of(&mut c, project).await
    }
}

impl Command for verbs::MergeConfigure {
    type Output = MergeSettings;
    const VERB: &'static str = verbs::MergeConfigure::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<MergeSettings, StoreError> {
        tx.check(self.project, Action::Govern, "project").await?;
        let author = tx.caller.writer()?;
        let before = rules(tx.read(), self.project).await?;
        let input = self.input.clone();
        let after = MergeSettings {
            checks: input.checks.unwrap_or_else(|| before.settings.checks.clone()),
            method: input.method.unwrap_or(before.settings.method),
            adders: input.adders.unwrap_or(before.settings.adders),
            at_once: input.at_once.unwrap_or(before.settings.at_once),
        };
        check(&after)?;
        if after == before.settings {
            return Ok(after);
        }
        // Who changes something else has not written the checks.
        let author = match after.checks == before.settings.checks {
            true => before.author.unwrap_or(author),
            false => author,
        };
        let sql = "INSERT INTO merge_settings (project, settings, author, author_session, by_agent) \
                   VALUES ($1, $2, $3, $4, $5) ON CONFLICT (project) DO UPDATE SET settings = $2, author = $3, \
                   author_session = $4, by_agent = $5";
        let values = args![
            self.project.to_string(),
            to_json(&after),
            author.user.id.to_string(),
            author.agent.map(|id| id.to_string()),
            author.by_agent,
        ];
        tx.run(sql, values).await?;
        let checks = counted(after.checks.len(), "check", "checks");
        let detail = format!("merges with {checks} by {}", after.method);
        tx.audit(Self::VERB, self.project, AuditScope::Project(self.project), detail);
        tell(tx, self.project, Change::MergeSettings { project: self.project, settings: after.clone() });
        if after.checks != before.settings.checks || after.method != before.settings.method {
            start_over(tx, self.project).await?;
        }
        for queue in rows::queues(tx.read(), self.project).await? {
            advance::advance(tx, &queue.key).await?;
        }
        Ok(after)
    }
}

/// What other checks said does not count any more.
async fn start_over(tx: &mut Tx<'_>, project: ProjectId) -> Result<(), StoreError> {
    for queue in rows::queues(tx.read(), project).await? {
        for run in rows::open_runs(tx.read(), &queue.key).await? {
            super::perform::end_run(tx, run.id, domain::MergeRunState::Cancelled).await?;
        }
    }
    let sql = "UPDATE merge_runs SET state = 'unproven' WHERE project = $1 AND state IN ('green', 'red')";
    tx.run(sql, vec![text(project)]).await?;
    Ok(())
}

fn check(settings: &MergeSettings) -> Result<(), StoreError> {
    let refuse = |message: String| Err(StoreError::invalid("checks", message));
    if settings.checks.len() > MAX_CHECKS {
        return refuse(format!("at most {MAX_CHECKS} checks"));
    }
    for command in &settings.checks {
        let size: usize = command.argv.iter().map(|argument| argument.chars().count()).sum();
        if command.argv.first().is_none_or(String::is_empty) {
            return refuse("a check needs a program".to_owned());
        }
        if command.argv.len() > MAX_ARGUMENTS || size > MAX_ARGUMENT {
            return refuse(format!("a check has at most {MAX_ARGUMENTS} arguments and {MAX_ARGUMENT} characters"));
        }
        if command.argv.iter().any(|argument| argument.contains('\0')) {
            return refuse("an argument cannot contain a NUL character".to_owned());
        }
        if command.seconds == 0 || command.seconds > MAX_SECONDS {
            return refuse(format!("the time limit of a check is 1 to {MAX_SECONDS} seconds"));
        }
    }
    if settings.at_once == 0 || settings.at_once > MAX_AT_ONCE {
        return Err(StoreError::invalid("at_once", format!("`at_once` is 1 to {MAX_AT_ONCE}")));
    }
    Ok(())
}
