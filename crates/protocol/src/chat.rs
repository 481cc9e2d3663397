//! Chat: messages of a project, and how far each person has read.

use domain::{AuthorKind, MessageId, ProjectId, SessionId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{inputs, queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! chat {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* chat {
        changes {
            /// A message was sent, edited or deleted; `key` is the idempotency key of the request that sent it.
            Message { message: Message, key: Option<String> },
            /// The receiver's own unread count changed.
            Unread { unread: Unread },
        }
        answers {
            Messages(Vec<Message>),
            Message(Message),
            Unread(Unread),
            Unreads(Vec<Unread>),
        }
        verbs {
            /// A page of a project's chat, oldest first.
            ChatHistory "chat.history" GET "/api/projects/{project}/messages"
                { path project: ProjectId, query page: MessagePage } -> 200 Vec<Message>, See;
            /// Sends a message.
            ChatSend "chat.send" POST "/api/projects/{project}/messages"
                { path project: ProjectId, body input: MessageText } -> 201 Message, Write;
            /// Changes an own message.
            ChatEdit "chat.edit" PATCH "/api/messages/{message}"
                { path message: MessageId, body input: MessageText } -> 200 Message, Owner;
            /// Deletes an own message.
            ChatDelete "chat.delete" DELETE "/api/messages/{message}" { path message: MessageId } -> 204 (), Owner;
            /// Remembers how far the caller has read.
            ChatRead "chat.read" POST "/api/projects/{project}/read"
                { path project: ProjectId, body input: MarkRead } -> 200 Unread, PersonSees, unaudited;
            /// Unread counts of the caller, for every project that they may see.
            ChatUnread "chat.unread" GET "/api/unread" {} -> 200 Vec<Unread>, Person;
        }
    } } };
}

pub(crate) use chat;

inputs! {
    /// A message to be sent or its new text.
    MessageText {
        /// Markdown, with `#act_…` references and `@name` mentions.
        content: String,
    }

    /// How far a chat was read.
    MarkRead {
        /// The number of the last message that was read.
        number: u32,
    }
}

queries! {
    /// Which part of a chat to show.
    #[derive(Copy)]
    MessagePage {
        /// Only messages with a lower number; default: the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u32>,
        /// Maximum number, at most 200; default: 50.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

views! {
    /// A line in a project's chat.
    Message {
        /// The message's id.
        id: MessageId,
        /// The project whose chat it is in.
        project: ProjectId,
        /// Its place in that chat, from 1, without gaps.
        number: u32,
        /// The person whose credential wrote it.
        author: UserRef,
        /// Whether the person, their floor manager or an agent wrote it.
        author_kind: AuthorKind,
        /// The session whose agent wrote it, for people who may see it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        author_session: Option<SessionId>,
        /// Markdown; empty when deleted.
        content: String,
        /// The ids it refers to as `#act_…`.
        references: Vec<String>,
        /// The people it mentions as `@name`.
        mentions: Vec<UserId>,
        /// When it was sent.
        created_at: Timestamp,
        /// When it was last edited.
        edited_at: Option<Timestamp>,
        /// When it was deleted; the place in the chat remains.
        deleted_at: Option<Timestamp>,
    }

    /// How far the caller has read a project's chat.
    Unread {
        /// The project.
        project: ProjectId,
        /// The number of the last message that was read.
        read: u32,
        /// How many messages of others came after it.
        count: u32,
        /// How many of those mention the caller.
        mentions: u32,
    }
}
