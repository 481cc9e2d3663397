//! How many of what a person may have.

/// Runners of one person.
pub const MAX_RUNNERS: u32 = 200;
/// Invitations of one person that nobody has accepted and that still work.
pub const MAX_OPEN_INVITES: u32 = 100;
/// Login links of one person that nobody has used and that still work.
pub const MAX_OPEN_LOGIN_LINKS: u32 = 100;
/// Observer links of one project.
pub const MAX_OBSERVERS: u32 = 200;
/// Rows of a list that has no pages; the newest count.
pub const MAX_LISTED: usize = 10_000;
/// Characters of such a list, where its rows have long texts.
pub const MAX_LISTED_CHARACTERS: usize = 8 << 20;
/// Reports, attempts and questions of one task that are shown with it, each; the newest count.
pub const MAX_OF_ONE_TASK: usize = 200;
/// Late reports that are kept of one hold of a task.
pub const MAX_LATE_REPORTS: u32 = 10;
