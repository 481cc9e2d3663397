//! Overlaps: the work in workspaces as their runners describe it, and where it meets.

mod compare;
mod paths;
mod reads;
mod rows;
mod take;
mod work;

pub(crate) use compare::{over, turned};
pub(crate) use paths::{Changing, changing, of_branches};
pub(crate) use reads::{current, visible};
pub(crate) use take::{forks, take};
