//! Workers as clients are told of them: those of a project together.

use std::collections::BTreeMap;

use domain::ProjectId;
use protocol::{Change, Worker};

/// How many one change tells of: a part of a full sync is to hold it.
const TOLD: usize = 250;

/// The changes that tell of these workers. Each is about one project: whoever sees that may see all of it.
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
