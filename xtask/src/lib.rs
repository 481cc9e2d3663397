//! Checks of the workspace's shape: what must be absent is a test.

#[cfg(test)]
mod tidy;
