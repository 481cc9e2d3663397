//! The approvals that a merge run needs, before anything of it is read or run.

use domain::ApprovalKind;
use protocol::link::{DesiredMerge, MergeCheck, Subject, Wish};
use sha2::{Digest, Sha256};
use worktree::Oid;

use super::Merger;
use crate::approvals::{command_line, named, to_copy, wish};

impl Merger {
    /// Waits for the owner's answer to using a repository that others chose.
    pub(super) async fn may_reach(&self, merge: &DesiredMerge) -> Result<(), String> {
        if merge.repository_by.is_none() {
            return Ok(());
        }
        let wishes = vec![wish(ApprovalKind::Repository, merge.repository.location.clone())];
        self.approvals.allowed(Subject::Merge(merge.run), wishes, merge.sandbox.as_ref()).await
    }

    /// Waits for the owner's answers to running others' commands, and to running others' code with any command.
    pub(super) async fn may_run(&self, merge: &DesiredMerge, checks: &[MergeCheck], top: &Oid) -> Result<(), String> {
        let mut wishes: Vec<Wish> = Vec::new();
        if merge.commands_by.is_some() {
            wishes.extend(checks.iter().map(|check| wish(ApprovalKind::Command, command_line(&check.argv))));
        }
        if merge.repository_by.is_some() {
            wishes.extend(to_copy(&merge.repository));
            wishes.extend(setup(merge).map(|line| wish(ApprovalKind::Setup, line.to_owned())));
        }
        if let Some(by) = &merge.code_by {
            let text = format!("the work of {}, merged into `{}` as commit {top}", by.user.name, merge.target);
            let sha256 = hex::encode(Sha256::digest(text.as_bytes()));
            wishes.push(named(ApprovalKind::Code, text, sha256));
        }
        self.approvals.allowed(Subject::Merge(merge.run), wishes, merge.sandbox.as_ref()).await
    }
}

/// The command that prepares a checkout, if there is one.
pub(super) fn setup(merge: &DesiredMerge) -> Option<&str> {
    merge.repository.setup.as_deref().filter(|line| !line.trim().is_empty())
}
