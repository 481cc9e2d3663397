//! Overlaps told from facts, beside what `git merge-tree` says of the same branches.

mod cases;
mod corpus;
mod oracle;
