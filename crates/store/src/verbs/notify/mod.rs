//! Notifications: a person's channels and settings, what is pending, and its deliveries.

mod channels;
mod deliver;
mod gather;
mod happened;
mod letters;
mod plan;
mod settings;

pub use channels::{AddChannel, ChannelNow, TestedChannel};
pub use deliver::{ClaimDeliveries, Delivery, EndDelivery, FreeDeliveries};
pub use gather::TakeNotices;
pub use letters::Letter;
pub use plan::PlanDeliveries;
