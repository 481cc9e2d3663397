//! Checks of the workspace shape.
