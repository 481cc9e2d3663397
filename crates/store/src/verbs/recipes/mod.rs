//! Recipes and the agent profiles that their steps follow.

mod agents;
mod profiles;
mod saved;

pub use saved::SaveRecipe;

pub(crate) use profiles::{applied, followed};
pub(crate) use saved::{Version, named, recipe, version};
