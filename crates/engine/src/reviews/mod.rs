//! Reviews of changes: the life of a thread of comments, and how reviewed work returns to its agent.

use domain::{AuthorKind, TaskStatus, ThreadStatus};

/// How the comments reach the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayBack {
    /// The task returns to the queue, with the work and the comments.
    Retry,
    /// The report that is being checked is refused, and its worker continues.
    Refuse,
    /// The agent works: its session gets the comments.
    Tell,
}

/// Why a task cannot be sent back or approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The work was accepted.
    #[error("its work was accepted: reopen it to ask for more (`shopfloor task reopen`)")]
    Done,
    /// Nobody has worked on the task since it was queued.
    #[error("nobody has changed anything for it yet")]
    NothingYet,
    /// The task failed or was cancelled.
    #[error("nobody works on it: retry it first (`shopfloor task retry`)")]
    Ended,
    /// The report is not there yet, or its checks are not over.
    #[error("there is no checked report to approve yet")]
    NotReported,
}

/// How a task in this state is sent back.
pub fn way_back(status: TaskStatus) -> Result<WayBack, Refused> {
    match status {
        TaskStatus::Escalated => Ok(WayBack::Retry),
        TaskStatus::Reported | TaskStatus::Validating => Ok(WayBack::Refuse),
        TaskStatus::Assigned | TaskStatus::Running => Ok(WayBack::Tell),
        TaskStatus::Done => Err(Refused::Done),
        TaskStatus::Blocked | TaskStatus::Ready => Err(Refused::NothingYet),
        TaskStatus::Failed | TaskStatus::Cancelled => Err(Refused::Ended),
    }
}

/// Whether a task in this state has a report that a person can approve: it waits for a person, or it is done.
pub fn approvable(status: TaskStatus) -> Result<(), Refused> {
    match status {
        TaskStatus::Escalated | TaskStatus::Done => Ok(()),
        TaskStatus::Failed | TaskStatus::Cancelled => Err(Refused::Ended),
        _ => Err(Refused::NotReported),
    }
}

/// The status of a thread after a comment: a person's comment is for the agent, an agent's reply is for people.
pub fn after_comment(status: ThreadStatus, by: AuthorKind) -> ThreadStatus {
    match (status, by) {
        (_, AuthorKind::User | AuthorKind::FloorManager) => ThreadStatus::Open,
        (ThreadStatus::Resolved, AuthorKind::Agent) => ThreadStatus::Sent,
        (status, AuthorKind::Agent) => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_can_be_sent_back_or_says_why_not() {
        for status in TaskStatus::ALL {
            let way = way_back(*status);
            assert_eq!(way.is_ok(), status.is_held() || *status == TaskStatus::Escalated, "{status}: {way:?}");
            let said = approvable(*status);
            assert_eq!(said.is_ok(), matches!(status, TaskStatus::Escalated | TaskStatus::Done), "{status}: {said:?}");
        }
    }

    #[test]
    fn a_persons_comment_reaches_the_agent_and_an_agents_reply_a_person() {
        for status in ThreadStatus::ALL {
            assert_eq!(after_comment(*status, AuthorKind::User), ThreadStatus::Open, "{status}");
            assert_ne!(after_comment(*status, AuthorKind::Agent), ThreadStatus::Resolved, "{status}");
        }
        assert_eq!(after_comment(ThreadStatus::Sent, AuthorKind::Agent), ThreadStatus::Sent);
    }
}
