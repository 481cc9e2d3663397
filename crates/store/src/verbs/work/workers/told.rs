//! Announcements of workers, grouped by project.

use std::collections::BTreeMap;

use domain::ProjectId;
use protocol::{Change, Worker};

/// The maximum number of workers in one change, which must fit into a part of a full sync.
const TOLD: usize = 250;

/// The announcements of these workers. Each is about one project, so that everybody who sees the project may see all of
/// it.
pub(crate) fn together(workers: impl IntoIterator<Item = Worker>) -> Vec<(ProjectId, Change)> {
    let mut projects: BTreeMap<ProjectId, Vec<Worker>> = BTreeMap::new();
    for worker in workers {
        projects.entry(worker.project).or_default().push(worker);
    }
    let mut changes = Vec::new();
    for (project, workers) in projects {
        let parts = workers.chunks(TOLD);
        changes.extend(parts.map(|workers| (project, Change::Workers { workers: workers.to_vec() })));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::WorkerId;

    fn worker(project: ProjectId) -> Worker {
        let worker = serde_json::json!({
            "id": WorkerId::generate(), "project": project,
            "owner": { "id": domain::UserId::generate(), "name": "Ada" }, "name": "anvil", "kind": "managed",
            "runner": null, "agent": "codex", "model": null, "role": null, "abilities": [], "colour": 0,
            "status": "idle", "reason": null, "until": null, "task": null, "session": null, "queue": [],
            "failures": 0, "done": 0, "failed": 0, "usage": super::super::rows::nothing(), "budget_micros": null,
            "context_score": null, "seen_at": null, "created_at": "2026-11-15T21:25:37.868Z"
        });
        serde_json::from_value(worker).unwrap()
    }

    #[test]
    fn a_change_is_about_one_project_and_not_about_too_many() {
        let (one, other) = (ProjectId::generate(), ProjectId::generate());
        let workers: Vec<Worker> = (0..2 * TOLD + 2).map(|at| worker(if at % 2 == 0 { one } else { other })).collect();
        let changes = together(workers.clone());
        assert_eq!(changes.len(), 4, "two for each project");
        let mut told = Vec::new();
        for (project, change) in changes {
            let Change::Workers { workers } = change else { panic!("{change:?}") };
            assert!(workers.len() <= TOLD && workers.iter().all(|worker| worker.project == project));
            told.extend(workers);
        }
        let of = |project| move |worker: &&Worker| worker.project == project;
        for project in [one, other] {
            assert!(told.iter().filter(of(project)).eq(workers.iter().filter(of(project))), "each once, in order");
        }
        assert_eq!(together([]), []);
    }
}
