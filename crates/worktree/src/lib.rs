//! Repositories and worktrees on one machine; the only crate that runs git.
