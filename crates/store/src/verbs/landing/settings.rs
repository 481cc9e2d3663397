//! What happens to accepted work of a project.

use domain::text::counted;
use domain::{Action, LandMode, ProjectId, branch};
use protocol::{Change, LandingSettings, Verb, verbs};

use super::tell;
use crate::sql::{Connection, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::{Command, StoreError};

/// The settings of a project that has none.
const DEFAULTS: LandingSettings = LandingSettings { mode: LandMode::ByHand, target: None, keep_days: 14 };
/// The longest time that workspaces of finished tasks are kept.
const MOST_DAYS: u32 = 3650;

/// A project's settings, without an access check.
pub(crate) async fn of(c: &mut Connection<'_>, project: ProjectId) -> Result<LandingSettings, StoreError> {
    let sql = "SELECT settings FROM landing_settings WHERE project = $1";
    match c.first(sql, vec![text(project)]).await? {
        Some(row) => row.json("settings"),
        None => Ok(DEFAULTS),
    }
}

/// The settings of every project that has any.
pub(crate) async fn all(
    c: &mut Connection<'_>,
    only: Option<ProjectId>,
) -> Result<Vec<(ProjectId, LandingSettings)>, StoreError> {
    let filter = if only.is_some() { "WHERE project = $1" } else { "" };
    let sql = format!("SELECT project, settings FROM landing_settings {filter} ORDER BY project");
    let rows = c.all(&sql, only.map(text).into_iter().collect()).await?;
    rows.iter().map(|row| Ok((row.parsed("project")?, row.json("settings")?))).collect()
}

impl Command for verbs::LandingConfigure {
    type Output = LandingSettings;
    const VERB: &'static str = verbs::LandingConfigure::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<LandingSettings, StoreError> {
        tx.check(self.project, Action::Govern, "project").await?;
        let before = of(tx.read(), self.project).await?;
        let mut after = before.clone();
        if let Some(mode) = self.input.mode {
            after.mode = mode;
        }
        if let Some(target) = &self.input.target {
            after.target = match target.trim() {
                "" => None,
                name => {
                    branch::check(name).map_err(|error| StoreError::invalid("target", error.to_string()))?;
                    Some(name.to_owned())
                }
            };
        }
        if let Some(days) = self.input.keep_days {
            if days > MOST_DAYS {
                return Err(StoreError::invalid("keep_days", format!("at most {MOST_DAYS} days")));
            }
            after.keep_days = days;
        }
        if after == before {
            return Ok(before);
        }
        let sql = "INSERT INTO landing_settings (project, settings) VALUES ($1, $2) \
                   ON CONFLICT (project) DO UPDATE SET settings = $2";
        tx.run(sql, args![self.project.to_string(), to_json(&after)]).await?;
        tell(tx, self.project, Change::LandingSettings { project: self.project, settings: after.clone() });
        let target = after.target.as_deref().unwrap_or("the base branch");
        let days = counted(after.keep_days, "day", "days");
        let detail = format!("accepted work: {}, on {target}; workspaces kept {days}", after.mode);
        tx.audit(Self::VERB, self.project, AuditScope::Project(self.project), detail);
        Ok(after)
    }
}
