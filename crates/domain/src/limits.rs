//! Limits per person, project and task.

/// Runners of one person.
pub const MAX_RUNNERS: u32 = 200;
/// Open invitations of one person.
pub const MAX_OPEN_INVITES: u32 = 100;
/// Unused login links of one person.
pub const MAX_OPEN_LOGIN_LINKS: u32 = 100;
/// Observer links of one project.
pub const MAX_OBSERVERS: u32 = 200;
/// Rows of a list without pages; the newest count.
pub const MAX_LISTED: usize = 10_000;
/// Characters of such a list, if its rows have long texts.
pub const MAX_LISTED_CHARACTERS: usize = 8 << 20;
/// Reports, attempts and questions that are shown with a task, each; the newest count.
pub const MAX_OF_ONE_TASK: usize = 200;
/// Late reports that are kept per attempt.
pub const MAX_LATE_REPORTS: u32 = 10;
/// Channels of one person for notifications.
pub const MAX_CHANNELS: u32 = 200;
