//! Who is notified of an event.

use std::collections::BTreeSet;

use domain::{NotifyKind, UserId};

/// The people around an event.
#[derive(Debug, Clone, Default)]
pub struct Involved {
    /// The owner of the project.
    pub project_owner: Option<UserId>,
    /// The owner of the runner, session, worker or activity.
    pub owner: Option<UserId>,
    /// Who wrote the message, added the task, or asked for the landing.
    pub author: Option<UserId>,
    /// The people whom a message mentions.
    pub named: Vec<UserId>,
}

/// The people whom an event concerns. Whether they may see it is checked when the notification is sent.
pub fn concerned(kind: NotifyKind, involved: &Involved) -> BTreeSet<UserId> {
    let Involved { project_owner, owner, author, named } = involved;
    match kind {
        NotifyKind::Approval | NotifyKind::Waiting | NotifyKind::Worker => owner.iter().copied().collect(),
        NotifyKind::Question | NotifyKind::Blocked => project_owner.iter().chain(owner).copied().collect(),
        NotifyKind::Failed | NotifyKind::Done | NotifyKind::Landed | NotifyKind::Merge => {
            project_owner.iter().chain(author).copied().collect()
        }
        NotifyKind::Mention => named.iter().copied().filter(|one| Some(*one) != *author).collect(),
    }
}
