//! Search: finds things by their words.

use domain::{ProjectId, SearchKind, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::shapes::{queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! search {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* search {
        changes {
        }
        answers {
            SearchResults(SearchResults),
            TerminalResults(TerminalResults),
        }
        verbs {
            /// Things that the caller may see and that have all words of a text, best first.
            SearchFind "search.find" GET "/api/search" { query query: SearchQuery } -> 200 SearchResults, Anyone;
            /// Lines of terminals that the caller may see and that have all words of a text, newest first: what runners
            /// answer in a short time.
            SearchTerminals "search.terminals" GET "/api/search/terminals"
                { query query: TerminalQuery } -> 200 TerminalResults, Anyone;
        }
    } } };
}

pub(crate) use search;

queries! {
    /// What to search for.
    SearchQuery {
        /// Words, or the beginnings of words, in any order; case and accents do not matter.
        text: String,
        /// Only in this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        /// Only things of this kind.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<SearchKind>,
        /// Maximum number, at most 50; default: 20.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }

    /// What to search for in terminals.
    TerminalQuery {
        /// Words, or the beginnings of words, in any order; case and accents do not matter.
        text: String,
        /// Only sessions of this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        /// Maximum number, at most 50; default: 20.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

views! {
    /// What a search found.
    SearchResults {
        /// The things, best first.
        hits: Vec<SearchHit>,
        /// Whether there are more than these.
        truncated: bool,
    }

    /// A thing that was found.
    SearchHit {
        /// Its kind.
        kind: SearchKind,
        /// Its id.
        id: String,
        /// The project that it is in.
        project: ProjectId,
        /// The project's name.
        project_name: String,
        /// The short name of a task, such as `CALC-12`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        short: Option<String>,
        /// The place of a message in its chat.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        number: Option<u32>,
        /// Its title; a message's author.
        title: Vec<SearchPiece>,
        /// The part of its text around the first match.
        snippet: Vec<SearchPiece>,
        /// Whether it is open: not completed, ended or cancelled.
        open: bool,
        /// When it appeared, or when its text or status last changed.
        at: Timestamp,
    }

    /// Where words were found in terminals.
    #[derive(Default)]
    TerminalResults {
        /// The lines, newest first; at most three of a session.
        hits: Vec<TerminalHit>,
        /// Whether there are more than these.
        truncated: bool,
        /// How many runners with sessions that the caller may see did not answer in time: their lines are missing.
        unanswered: u32,
    }

    /// A line that a terminal has shown.
    TerminalHit {
        /// The session.
        session: SessionId,
        /// The session's title.
        title: String,
        /// The project that it is in.
        project: ProjectId,
        /// The project's name.
        project_name: String,
        /// Whether the session still runs.
        open: bool,
        /// When the line was on the screen first, from the start of the recording.
        #[ts(type = "number")]
        at_ms: u64,
        /// When that was.
        at: Timestamp,
        /// The line.
        line: Vec<SearchPiece>,
    }

    /// A piece of a text.
    SearchPiece {
        /// The text.
        text: String,
        /// Whether it matches the search.
        hit: bool,
    }
}
