//! What a notification says, for people and for each kind of receiver.

use domain::text::counted;
use domain::{ChannelKind, NotificationId, NotifyKind, Timestamp};
use engine::notify::counts;
use serde_json::{Value, json};
use store::Letter;

/// How many things a digest names.
const NAMED: usize = 10;

/// One notification: about one thing, or a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    title: String,
    lines: Vec<Line>,
    more: usize,
    counts: Vec<(NotifyKind, usize)>,
    url: String,
    urgent: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    kind: NotifyKind,
    title: String,
    project: String,
    url: String,
}

impl Message {
    /// About these things; `None` if there are none. `base` is the address of the page.
    pub(crate) fn of(letters: Vec<Letter>, base: &str) -> Option<Self> {
        let kinds: Vec<NotifyKind> = letters.iter().map(|letter| letter.kind).collect();
        let counts = counts(&kinds);
        let lines = letters.into_iter().map(|Letter { kind, title, project, path }| {
            let url = format!("{base}{path}");
            Line { kind, title, project, url }
        });
        let mut lines: Vec<Line> = lines.collect();
        let (title, url) = match lines.as_slice() {
            [] => return None,
            [one] => (words(one.kind).0.to_owned(), one.url.clone()),
            _ => (digest(&counts), format!("{base}/needs")),
        };
        let more = lines.len().saturating_sub(NAMED);
        lines.truncate(NAMED);
        let urgent = kinds.iter().any(|kind| matches!(kind, NotifyKind::Approval | NotifyKind::Question));
        Some(Self { title, lines, more, counts, url, urgent })
    }

    /// The message that tries a channel.
    pub(crate) fn test(base: &str) -> Self {
        let title = "Test: notifications from Shopfloor arrive here".to_owned();
        Self { title, lines: Vec::new(), more: 0, counts: Vec::new(), url: format!("{base}/settings"), urgent: false }
    }

    fn text(&self) -> String {
        let more = (self.more > 0).then(|| format!("and {} more", self.more));
        let line = |line: &Line| match self.lines.len() {
            1 => format!("{} ({})", line.title, line.project),
            _ => format!("{}: {} ({})", words(line.kind).0, line.title, line.project),
        };
        let lines: Vec<String> = self.lines.iter().map(line).chain(more).collect();
        if lines.is_empty() { self.title.clone() } else { lines.join("\n") }
    }

    /// The body of a request to ntfy's server.
    pub(super) fn ntfy(&self, topic: &str) -> Value {
        let priority = if self.urgent { 4 } else { 3 };
        json!({
            "topic": topic, "title": self.title, "message": self.text(), "click": self.url, "priority": priority,
            "tags": ["factory"],
        })
    }

    /// The body of a signed webhook.
    pub(super) fn webhook(&self, id: NotificationId, at: Timestamp) -> Value {
        let item =
            |line: &Line| json!({ "kind": line.kind, "title": line.title, "project": line.project, "url": line.url });
        let counts: serde_json::Map<String, Value> =
            self.counts.iter().map(|(kind, count)| (kind.word().to_owned(), json!(count))).collect();
        json!({
            "type": if self.counts.is_empty() { "test" } else { "notification" },
            "timestamp": at,
            "data": {
                "id": id, "title": self.title, "text": self.text(), "url": self.url, "counts": counts,
                "items": self.lines.iter().map(item).collect::<Vec<_>>(), "more": self.more,
            },
        })
    }

    /// The body for an incoming webhook of Slack or Discord.
    pub(super) fn chat(&self, kind: ChannelKind) -> Value {
        let escaped = |text: &str| match kind {
            ChannelKind::Discord => {
                escape(text, &['\\', '*', '_', '~', '`', '|', '>', '[', ']', '(', ')', '#', '<', '@'])
            }
            _ => text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"),
        };
        let link = |url: &str| format!("<{url}>");
        let mut text = match kind {
            ChannelKind::Discord => format!("**{}**", escaped(&self.title)),
            _ => format!("*{}*", escaped(&self.title)),
        };
        for line in &self.lines {
            let title = escaped(&format!("{} ({})", line.title, line.project));
            text.push_str(&format!("\n{title} {}", link(&line.url)));
        }
        if self.more > 0 || self.lines.is_empty() {
            let more = if self.more > 0 { format!("and {} more ", self.more) } else { String::new() };
            text.push_str(&format!("\n{more}{}", link(&self.url)));
        }
        match kind {
            // Nothing in a title notifies anybody there.
            ChannelKind::Discord => {
                json!({ "content": shortened(&text, 2000), "allowed_mentions": { "parse": [] } })
            }
            _ => json!({ "text": text }),
        }
    }

    /// The text that a browser gets.
    pub(super) fn push(&self, id: NotificationId) -> String {
        let body = shortened(&self.text(), 800);
        json!({ "title": self.title, "body": body, "url": self.url, "tag": id }).to_string()
    }
}

fn escape(text: &str, signs: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if signs.contains(&letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit - 1) {
        Some((at, _)) if text[at..].chars().count() > 1 => format!("{}…", &text[..at]),
        _ => text.to_owned(),
    }
}

/// What a kind is called: alone, and after a number.
fn words(kind: NotifyKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        NotifyKind::Approval => ("Approval needed", "approval", "approvals"),
        NotifyKind::Question => ("Question for you", "question", "questions"),
        NotifyKind::Waiting => ("Agent waits for input", "waiting agent", "waiting agents"),
        NotifyKind::Mention => ("You were mentioned", "mention", "mentions"),
        NotifyKind::Blocked => ("Activity blocked", "blocked activity", "blocked activities"),
        NotifyKind::Failed => ("Work failed", "failure", "failures"),
        NotifyKind::Worker => ("Worker stopped", "stopped worker", "stopped workers"),
        NotifyKind::Merge => ("Merging stopped", "stopped merge", "stopped merges"),
        NotifyKind::Done => ("Task done", "done task", "done tasks"),
        NotifyKind::Landed => ("Work landed", "landing", "landings"),
    }
}

fn digest(counts: &[(NotifyKind, usize)]) -> String {
    let part = |(kind, count): &(NotifyKind, usize)| {
        let (_, one, many) = words(*kind);
        counted(u64::try_from(*count).unwrap_or(u64::MAX), one, many)
    };
    counts.iter().map(part).collect::<Vec<_>>().join(", ")
}
