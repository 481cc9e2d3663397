//! What people and programs send: kept as it is or refused with a reason, and never more than the hub can take
//! (T5, T6, T12).

mod criteria;
mod floods;
mod malformed;
mod methods;
mod texts;
