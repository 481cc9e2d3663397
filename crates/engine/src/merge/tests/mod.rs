//! The queue in a world with a virtual clock: properties of every history, and the makespans of a simulated project.

mod cases;
mod properties;
mod simulation;
mod world;
