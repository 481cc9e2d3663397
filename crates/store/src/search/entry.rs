//! What of a thing is indexed. Nothing that `protocol::veil` removes may become part of an entry.

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use domain::text::title;
use domain::{ActivityStatus, ProjectId, SearchKind, SessionStatus, Timestamp, UserId};
use engine::search::terms;
use protocol::{Activity, Message, Project, Session};

use super::terms::{of_kind, of_project};
use crate::sql::{Value, args};
use crate::verbs::work::tasks::row::TaskRow;

/// A thing in the search index.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) kind: SearchKind,
    pub(crate) project: ProjectId,
    /// The owner of an execution: only those who may see it find the entry.
    pub(crate) owner: Option<UserId>,
    pub(crate) open: bool,
    pub(crate) at: Timestamp,
    pub(crate) title: String,
    /// A further name that counts as part of the title.
    pub(crate) name: Option<String>,
    pub(crate) body: String,
}

impl Entry {
    /// A project, by its key too.
    pub(crate) fn project(project: &Project) -> Self {
        let Project { id, key, content, updated_at, .. } = project;
        Self::written(SearchKind::Project, id, *id, content, *updated_at).called(key)
    }

    /// An activity.
    pub(crate) fn activity(activity: &Activity) -> Self {
        let Activity { id, project, content, status, updated_at, .. } = activity;
        Self::written(SearchKind::Activity, id, *project, content, *updated_at).open(is_open(*status))
    }

    /// A task, by its labels too.
    pub(crate) fn task(task: &TaskRow) -> Self {
        let TaskRow { id, project, description, labels, updated_at, .. } = task;
        let entry = Self::written(SearchKind::Task, id, *project, description, *updated_at);
        entry.labelled(labels).open(!task.status().is_over())
    }

    /// A chat message.
    pub(crate) fn message(message: &Message) -> Self {
        let Message { id, project, content, created_at, .. } = message;
        Self::said(id, *project, content, *created_at)
    }

    /// A session, or its recording once it has ended.
    pub(crate) fn session(session: &Session) -> Self {
        let recorded = session.recording.output_bytes > 0 || session.recording.disk_bytes > 0;
        let entry = Self::said(session.id, session.project, &session.agent, session.created_at);
        entry.run(session.owner.id, &session.title, session.model.as_deref(), session.state.status, recorded)
    }

    /// Something with a title in its text.
    pub(super) fn written(kind: SearchKind, id: impl Display, project: ProjectId, text: &str, at: Timestamp) -> Self {
        let (title, body) = (title(text), rest(text));
        Self { id: id.to_string(), kind, project, owner: None, open: true, at, title, name: None, body }
    }

    /// A text without a title.
    pub(super) fn said(id: impl Display, project: ProjectId, text: &str, at: Timestamp) -> Self {
        let (kind, title, body) = (SearchKind::Message, String::new(), text.to_owned());
        Self { id: id.to_string(), kind, project, owner: None, open: true, at, title, name: None, body }
    }

    /// An execution, whose text names its agent.
    pub(super) fn run(
        self,
        owner: UserId,
        title: &str,
        model: Option<&str>,
        status: SessionStatus,
        recorded: bool,
    ) -> Self {
        let ended = matches!(status, SessionStatus::Exited | SessionStatus::Lost);
        let kind = if ended && recorded { SearchKind::Recording } else { SearchKind::Session };
        let body = [Some(self.body.as_str()), model].into_iter().flatten().collect::<Vec<_>>().join(" ");
        Self { kind, owner: Some(owner), open: !ended, title: title.to_owned(), body, ..self }
    }

    pub(super) fn called(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    pub(super) fn labelled(self, labels: &[String]) -> Self {
        if labels.is_empty() { self } else { self.called(&labels.join(" ")) }
    }

    pub(super) fn open(self, open: bool) -> Self {
        Self { open, ..self }
    }

    /// Changes with everything but the time.
    pub(super) fn digest(&self) -> i64 {
        let mut hasher = DefaultHasher::new();
        let owner = self.owner.map(|owner| owner.to_string());
        (self.kind.word(), owner, self.open, &self.title, &self.name, &self.body).hash(&mut hasher);
        hasher.finish().cast_signed()
    }

    /// The values of its row.
    pub(super) fn row(self, digest: i64) -> Vec<Value> {
        let names: Vec<&str> = self.name.as_deref().into_iter().collect();
        let mut terms = terms(&self.title, &names, &self.body);
        terms.extend([of_kind(self.kind).text, of_project(self.project).text]);
        let terms = terms.into_iter().collect::<Vec<_>>().join(" ");
        args![
            self.id,
            self.kind.word(),
            self.project.to_string(),
            self.owner.map(|owner| owner.to_string()),
            self.open,
            self.at,
            digest,
            self.title,
            self.name,
            self.body,
            terms,
        ]
    }
}

/// Whether work on an activity continues.
pub(super) fn is_open(status: ActivityStatus) -> bool {
    matches!(status, ActivityStatus::Active | ActivityStatus::Blocked)
}

/// A text without the line that its title is made from, unless the title is only a part of that line.
fn rest(content: &str) -> String {
    let title = title(content);
    let text = content.trim_start_matches(|c: char| c.is_whitespace() || c == '#');
    match text.strip_prefix(title.as_str()) {
        Some(rest) => rest.trim().to_owned(),
        None => content.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_text_does_not_repeat_its_title() {
        assert_eq!(rest("# Parser\n\ngoals"), "goals");
        assert_eq!(rest("Parser"), "");
        let long = "word ".repeat(40);
        assert_eq!(rest(&long), long, "the title has only a part of it");
        assert_eq!(rest(""), "");
    }
}
