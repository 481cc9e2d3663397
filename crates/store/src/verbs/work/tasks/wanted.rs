//! The rows that the commands of a group will read, read together.

use std::collections::{BTreeSet, HashMap};

use domain::{ProjectId, TaskId, UserId};
use protocol::WorkSettings;

use super::similar::LOOK;
use crate::StoreError;
use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::projects;
use crate::verbs::work::workers::{rows, settings};

/// The rows that the commands of a group will read.
#[derive(Debug, Default)]
pub struct Wanted {
    /// Tasks that a command will change.
    pub(crate) tasks: Vec<TaskId>,
    /// Tasks that may be accepted; this needs their dependants, too.
    pub(crate) ends: Vec<TaskId>,
    /// The project of each task that a command takes.
    pub(crate) takes: Vec<ProjectId>,
    /// Workers that take a task, by project, owner and name.
    pub(crate) workers: HashMap<(ProjectId, UserId), Vec<String>>,
    /// Hashes of the texts of new tasks.
    pub(crate) gists: Vec<(ProjectId, i64)>,
}

impl Tx<'_> {
    /// Reads the rows that the commands of a group will need.
    pub(crate) async fn read_wanted(&mut self, wanted: Wanted) -> Result<(), StoreError> {
        let mut projects: BTreeSet<ProjectId> = BTreeSet::new();
        for project in wanted.takes {
            projects.insert(project);
            *self.book().wanted.entry(project).or_default() += 1;
        }
        self.know_gists(&wanted.gists).await?;
        self.know_dependants(&wanted.ends).await?;
        let book = self.book();
        let gists: BTreeSet<(ProjectId, i64)> = wanted.gists.into_iter().collect();
        let near = gists.iter().filter_map(|gist| book.gists.get(gist)).flat_map(|tasks| tasks.iter().rev().take(LOOK));
        let waiting = wanted.ends.iter().filter_map(|task| book.dependants.get(task)).flatten();
        let all: Vec<TaskId> = near.chain(waiting).chain(&wanted.tasks).copied().collect();
        self.tasks(&all).await?;
        let mut held = Vec::new();
        let book = self.book();
        for task in wanted.tasks.iter().filter_map(|task| book.tasks.get(task)) {
            projects.insert(task.project);
            held.extend(task.worker());
        }
        rows::know(self, &held).await?;
        for project in projects {
            let owners: Vec<UserId> =
                wanted.workers.keys().filter(|(of, _)| *of == project).map(|(_, owner)| *owner).collect();
            self.know_project(project, &owners).await?;
        }
        for ((project, owner), names) in wanted.workers {
            rows::know_named(self, project, owner, &names).await?;
        }
        Ok(())
    }

    /// Reads the access facts and work settings of a project, and the freezes of these people, in one query.
    async fn know_project(&mut self, project: ProjectId, owners: &[UserId]) -> Result<(), StoreError> {
        if self.batch().known.facts.contains_key(&project)
            && self.book().settings.contains_key(&project)
            && owners.iter().all(|owner| self.book().frozen.contains_key(&(*owner, project)))
        {
            return Ok(());
        }
        let sql = "SELECT p.id, p.owner, p.visibility, p.share_execution, s.settings, (SELECT COUNT(*) FROM freezes f \
                   WHERE f.project IN ('', p.id)) AS freezes FROM projects p LEFT JOIN work_settings s ON s.project = p.id \
                   WHERE p.id = $1";
        let Some(row) = self.stored().first(sql, vec![text(project)]).await? else { return Ok(()) };
        let facts = projects::facts(&row)?;
        self.batch().known.facts.entry(project).or_insert(facts);
        // If anything is frozen, settings and freezes are read on demand.
        if row.integer("freezes")? == 0 {
            let settings: WorkSettings = match row.text_or_none("settings")? {
                Some(_) => row.json("settings")?,
                None => settings::DEFAULTS,
            };
            self.book().settings.insert(project, settings);
            self.book().frozen.extend(owners.iter().map(|owner| ((*owner, project), false)));
        }
        Ok(())
    }
}
