//! How large the artifacts of a project may be, and how long they are kept.

use domain::text::counted;
use domain::{Action, ProjectId};
use protocol::{ArtifactSettings, Verb, verbs};

use crate::sql::{Connection, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::projects;
use crate::{Caller, Command, Store, StoreError};

/// The settings of a project that has none.
const DEFAULTS: ArtifactSettings = ArtifactSettings { days: 90, max_mib: 64, total_mib: 2048 };
/// The longest time that artifacts are kept, unless for good.
const MOST_DAYS: u32 = 3650;
/// The largest artifact, and all artifacts of a project, in MiB.
const MOST_MIB: (u32, u32) = (1024, 102_400);
const MIB: u64 = 1024 * 1024;

/// The most bytes of one artifact.
pub(super) fn most_of_one(settings: &ArtifactSettings) -> u64 {
    u64::from(settings.max_mib) * MIB
}

/// The most bytes of all artifacts of a project.
pub(super) fn most_of_all(settings: &ArtifactSettings) -> u64 {
    u64::from(settings.total_mib) * MIB
}

/// A project's settings, without an access check.
pub(super) async fn of(c: &mut Connection<'_>, project: ProjectId) -> Result<ArtifactSettings, StoreError> {
    match c.first("SELECT settings FROM artifact_settings WHERE project = $1", vec![text(project)]).await? {
        Some(row) => row.json("settings"),
        None => Ok(DEFAULTS),
    }
}

/// A value within its bounds, or a refusal that names them.
fn within(field: &'static str, value: u32, least: u32, most: u32) -> Result<u32, StoreError> {
    match value {
        value if (least..=most).contains(&value) => Ok(value),
        _ => Err(StoreError::invalid(field, format!("`{field}` is {least} to {most}"))),
    }
}

impl Command for verbs::ArtifactConfigure {
    type Output = ArtifactSettings;
    const VERB: &'static str = verbs::ArtifactConfigure::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<ArtifactSettings, StoreError> {
        tx.check(self.project, Action::Govern, "project").await?;
        let before = of(tx.read(), self.project).await?;
        let input = &self.input;
        let after = ArtifactSettings {
            days: within("days", input.days.unwrap_or(before.days), 0, MOST_DAYS)?,
            max_mib: within("max_mib", input.max_mib.unwrap_or(before.max_mib), 1, MOST_MIB.0)?,
            total_mib: within("total_mib", input.total_mib.unwrap_or(before.total_mib), 1, MOST_MIB.1)?,
        };
        if after == before {
            return Ok(before);
        }
        let sql = "INSERT INTO artifact_settings (project, settings) VALUES ($1, $2) \
                   ON CONFLICT (project) DO UPDATE SET settings = $2";
        tx.run(sql, args![self.project.to_string(), to_json(&after)]).await?;
        let kept = if after.days == 0 { "for good".to_owned() } else { counted(after.days, "day", "days") };
        let ArtifactSettings { max_mib, total_mib, .. } = after;
        let detail = format!("artifacts: kept {kept}; at most {max_mib} MiB each, {total_mib} MiB together");
        tx.audit(Self::VERB, self.project, AuditScope::Project(self.project), detail);
        Ok(after)
    }
}

impl Store {
    /// How large the artifacts of a project may be, and how long they are kept.
    pub async fn artifact_settings(&self, caller: &Caller, id: ProjectId) -> Result<ArtifactSettings, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, id, Action::See, "project").await?;
        of(&mut c, id).await
    }
}
