//! Activities: which are open work, and which have ended without anybody closing them.

use domain::ActivityStatus;

/// Where lists show an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Open work.
    Open,
    /// Its sessions have ended, and nobody has completed or abandoned it.
    Ended,
    /// Completed or abandoned.
    Finished,
}

impl Group {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ended => "ended",
            Self::Finished => "finished",
        }
    }
}

/// The sessions of an activity.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Sessions {
    /// The number of sessions that have not ended.
    pub running: usize,
    /// The number of sessions that have ended.
    pub ended: usize,
    /// Whether workers that can still start another session ran one of them.
    pub continues: bool,
}

/// The group of an activity. A blocked one stays open: somebody has said what it waits for.
pub fn group(status: ActivityStatus, sessions: Sessions) -> Group {
    match status {
        ActivityStatus::Completed | ActivityStatus::Abandoned => Group::Finished,
        ActivityStatus::Active if sessions.running == 0 && sessions.ended > 0 && !sessions.continues => Group::Ended,
        ActivityStatus::Active | ActivityStatus::Blocked => Group::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: ActivityStatus, running: usize, ended: usize, continues: bool, expected: Group) {
        assert_eq!(group(status, Sessions { running, ended, continues }), expected, "{status} {running} {ended}");
    }

    #[test]
    fn an_active_activity_has_ended_with_its_last_session() {
        check(ActivityStatus::Active, 0, 2, false, Group::Ended);
        check(ActivityStatus::Active, 1, 2, false, Group::Open);
        check(ActivityStatus::Active, 0, 0, false, Group::Open);
        check(ActivityStatus::Active, 0, 2, true, Group::Open);
        check(ActivityStatus::Blocked, 0, 2, false, Group::Open);
        check(ActivityStatus::Completed, 1, 2, true, Group::Finished);
        check(ActivityStatus::Abandoned, 0, 0, false, Group::Finished);
    }
}
