//! Overlaps: the work in workspaces as their runners describe it, the files that activities declare, and where they meet.

mod base;
mod compare;
mod declared;
mod paths;
mod reads;
mod reserve;
mod rows;
mod take;
mod work;

pub(crate) use base::counted;
pub(crate) use compare::{over, turned};
pub use declared::{DeclaredIn, TendDeclared};
pub(crate) use paths::{Changing, changing, of_branches};
pub(crate) use reads::{current, visible};
pub(crate) use reserve::{Reserved, current as reservations, reserved};
pub(crate) use take::{forks, of_reports, take};
pub(crate) use work::{fault, work};
