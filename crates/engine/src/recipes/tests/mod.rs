//! Tests of the decisions: one rule each, random recipes and histories, stored histories, a simulator of hubs.

mod away;
mod blocks;
mod changes;
mod check;
mod generate;
mod golden;
mod operations;
mod properties;
mod simulator;
mod steps;
mod world;
