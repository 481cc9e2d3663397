//! Who does what in a project.

use domain::{Action, ProjectId};
use protocol::DoingWhat;

use crate::sql::text;
use crate::verbs::workspaces::sees;
use crate::verbs::{projects, sessions};
use crate::{Caller, Store, StoreError};

impl Store {
    /// Who does what in a project: workers with their tasks, and the sessions that the caller may see.
    pub async fn doing(&self, caller: &Caller, project: ProjectId) -> Result<Vec<DoingWhat>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = projects::check(&mut c, caller, project, Action::See, "project").await?;
        let sql = "SELECT w.name, t.title, t.progress, t.files, t.taken_at, t.updated_at, t.session FROM tasks t \
                   JOIN workers w ON w.id = t.worker WHERE t.project = $1 AND t.status IN ('assigned', 'running', \
                   'reported', 'validating') ORDER BY t.taken_at, t.id LIMIT 500";
        let mut doing = Vec::new();
        let mut taken = Vec::new();
        for row in c.all(sql, vec![text(project)]).await? {
            let title = row.text("title")?;
            let what = row.text_or_none("progress")?.map_or(title.clone(), |progress| format!("{title}: {progress}"));
            let since = row.time_or_none("taken_at")?.unwrap_or(row.time("updated_at")?);
            taken.extend(row.text_or_none("session")?);
            doing.push(DoingWhat { who: row.text("name")?, what, files: row.json("files")?, since });
        }
        let filter = protocol::ExecutionFilter { project: Some(project), ..Default::default() };
        for session in sessions::of(&mut c, filter, None).await? {
            if sees(caller, Some(&facts), session.owner.id) && !taken.contains(&session.id.to_string()) {
                let (who, what) = (session.owner.name, session.title);
                doing.push(DoingWhat { who, what, files: Vec::new(), since: session.created_at });
            }
        }
        Ok(doing)
    }
}
