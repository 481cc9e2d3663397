//! How a project's handoffs are written and kept.

use domain::text::Field;
use domain::{Action, ProjectId, WorkerId};
use engine::handoff::{Section, Template, sections, templates};
use protocol::{HandoffSettings, Verb, verbs};

use super::rows::HandoffRow;
use crate::sql::{Connection, args, text};
use crate::tx::{AuditScope, Tx};
use crate::verbs::{projects, sessions};
use crate::{Caller, Command, Store, StoreError};

/// The limit of a project's templates.
const TEMPLATES: Field = Field { name: "templates", limit: 32 * 1024, lines: true, optional: true };

/// A project's settings, without an access check.
pub(super) async fn of(c: &mut Connection<'_>, project: ProjectId) -> Result<HandoffSettings, StoreError> {
    let sql = "SELECT keep_files, templates FROM handoff_settings WHERE project = $1";
    match c.first(sql, vec![text(project)]).await? {
        Some(row) => Ok(HandoffSettings { keep_files: row.flag("keep_files")?, templates: row.text("templates")? }),
        None => Ok(HandoffSettings { keep_files: false, templates: String::new() }),
    }
}

impl HandoffRow {
    /// The sections of the document, by the named role or that of the session's worker.
    pub(super) async fn sections(&self, tx: &mut Tx<'_>) -> Result<Vec<Section>, StoreError> {
        let stored = of(tx.read(), self.view.project).await?.templates;
        let worker = sessions::get(tx.read(), self.view.session).await?.and_then(|(session, _)| session.worker);
        let role = match (&self.role, worker) {
            (Some(role), _) => Some(role.clone()),
            (None, Some(worker)) => role_of(tx, worker.id).await?,
            (None, None) => None,
        };
        Ok(sections(&read(&stored)?, role.as_deref()))
    }
}

async fn role_of(tx: &mut Tx<'_>, worker: WorkerId) -> Result<Option<String>, StoreError> {
    let row = tx.read().first("SELECT role FROM workers WHERE id = $1", vec![text(worker)]).await?;
    row.map(|row| row.text_or_none("role")).transpose().map(Option::flatten)
}

fn read(text: &str) -> Result<Vec<Template>, StoreError> {
    templates(text).map_err(|error| StoreError::invalid("templates", error.to_string()))
}

impl Command for verbs::HandoffConfigure {
    type Output = HandoffSettings;
    const VERB: &'static str = verbs::HandoffConfigure::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<HandoffSettings, StoreError> {
        tx.check(self.project, Action::Govern, "project").await?;
        let before = of(tx.read(), self.project).await?;
        let mut after = before.clone();
        if let Some(keep) = self.input.keep_files {
            after.keep_files = keep;
        }
        if let Some(text) = &self.input.templates {
            TEMPLATES.check(text)?;
            read(text)?;
            after.templates = text.trim().to_owned();
        }
        if after == before {
            return Ok(before);
        }
        let sql = "INSERT INTO handoff_settings (project, keep_files, templates) VALUES ($1, $2, $3) \
                   ON CONFLICT (project) DO UPDATE SET keep_files = $2, templates = $3";
        tx.run(sql, args![self.project.to_string(), after.keep_files, &after.templates]).await?;
        let kept = if after.keep_files { "kept as files" } else { "not kept as files" };
        let roles = read(&after.templates)?.len();
        let detail =
            format!("handoff documents: {kept}, {}", domain::text::counted(roles as u64, "template", "templates"));
        tx.audit(Self::VERB, self.project, AuditScope::Project(self.project), detail);
        Ok(after)
    }
}

impl Store {
    /// How a project's handoffs are written and kept.
    pub async fn handoff_settings(&self, caller: &Caller, project: ProjectId) -> Result<HandoffSettings, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        of(&mut c, project).await
    }
}
