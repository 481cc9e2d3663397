//! Overlaps: the work in workspaces as their runners describe it, and where it meets.

mod base;
mod compare;
mod paths;
mod reads;
mod rows;
mod take;
mod work;

pub(crate) use base::counted;
pub(crate) use compare::{over, turned};
pub(crate) use paths::{Changing, changing, of_branches};
pub(crate) use reads::{current, visible};
pub(crate) use take::{forks, of_reports, take};
pub(crate) use work::{fault, work};
