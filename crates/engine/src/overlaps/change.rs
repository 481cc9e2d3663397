//! The changes of one branch, as far as they can meet those of another.

use std::collections::BTreeSet;

/// All changes of a branch against a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Branch {
    /// The changes. At most one adds, changes, deletes or moves a path.
    pub changes: Vec<Change>,
    /// The folders of that commit that the branch no longer has.
    pub gone: BTreeSet<String>,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path; the old path if the file is deleted.
    pub path: String,
    /// The old path of a moved file.
    pub from: Option<String>,
    /// The kind of entry at the old path; absent if the file is new.
    pub before: Option<EntryKind>,
    /// The entry now; absent if the file is deleted.
    pub after: Option<Entry>,
    /// What happened to the content.
    pub content: Content,
    /// The functions, methods and types that it changes, as far as they are known.
    pub symbols: Vec<Symbol>,
}

/// A change of a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its qualified name.
    pub name: String,
    /// Identifies its code before; absent if it is new.
    pub before: Option<String>,
    /// Identifies its code now, equal for equal code on both branches; absent if it is gone.
    pub after: Option<String>,
}

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its kind.
    pub kind: EntryKind,
    /// Identifies its content; equal for equal content on both branches.
    pub content: String,
}

/// The kind of an entry, as its mode says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A file.
    File,
    /// A file that can be executed.
    Executable,
    /// A symbolic link.
    Link,
    /// A commit of another repository.
    Submodule,
}

impl EntryKind {
    /// Whether its content is lines or bytes, rather than a target.
    pub fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }
}

/// What happened to the content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Nothing: it moved, or only its mode changed.
    Same,
    /// These lines changed, in order.
    Lines(Vec<Hunk>),
    /// It changed, and is not compared by line: a binary file, or one with too many changes.
    Whole,
}

/// Changed lines of the old content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The number of lines before the change.
    pub first: u32,
    /// The number of lines up to the end of the change; equal to `first` if lines were only added.
    pub end: u32,
    /// Identifies the new lines; equal for equal lines on both branches.
    pub new: String,
}

impl Change {
    /// Whether the branch has the file at its path, and had not before.
    pub(super) fn arrives(&self) -> bool {
        self.after.is_some() && (self.before.is_none() || self.from.is_some())
    }

    /// The path that the common commit has; absent if the file is new.
    pub(super) fn old_path(&self) -> Option<&str> {
        self.before?;
        Some(self.from.as_deref().unwrap_or(&self.path))
    }
}
