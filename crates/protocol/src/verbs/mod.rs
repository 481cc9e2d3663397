//! The verbs: everything that is derived from the subjects' declarations.
//!
//! A subject (`chat.rs`, `tasks/mod.rs`, …) declares its changes, answers and verbs in a macro of its own name. One verb is
//! declared as
//!
//! ```text
//! /// Sends a message.
//! ChatSend "chat.send" POST "/api/projects/{project}/messages"
//!     { path project: ProjectId, body input: MessageText } -> 201 Message, Write;
//! ```
//!
//! that is: its type, its name, method and path, its fields with the part of the request that carries each, the status and
//! the type of its answer, who may ask for it ([`Access`]), and `unaudited` if the audit trail has no entry of it.
//! A `GET` reads, and so does a verb that is marked `reads`, because it takes more than a query string holds; every other verb
//! changes something. A type that has the name of a verb is written `crate::Name`.

mod part;
mod spec;
mod view;

pub use part::{BodyPart, Just, Nothing, PathPart, QueryPart, Schemas};
pub use spec::{Access, Field, Parts, Role, Spec};
pub use view::{BareView, View};

use domain::*;
use serde::{Deserialize, Serialize, Serializer};
use ts_rs::TS;

use crate::activities::activities;
use crate::approvals::approvals;
use crate::artifacts::artifacts;
use crate::audit::audit;
use crate::chat::chat;
use crate::credentials::credentials;
use crate::executions::executions;
use crate::handoff::handoff;
use crate::hooks::hooks;
use crate::landing::landing;
use crate::merge::merge;
use crate::notify::notify;
use crate::overlaps::overlaps;
use crate::people::people;
use crate::projects::projects;
use crate::questions::questions;
use crate::recipes::recipes;
use crate::recordings::recordings;
use crate::reviews::reviews;
use crate::runners::runners;
use crate::schedules::schedules;
use crate::search::search;
use crate::sessions::sessions;
use crate::tasks::tasks;
use crate::work::work;
use crate::workers::workers;
use crate::workspaces::workspaces;
use crate::*;

/// A verb as a type.
pub trait Verb: Into<Call> + Clone + Serialize + Send + Sync + 'static {
    /// Its declaration.
    const SPEC: Spec;
    /// The id in its path.
    type Path: PathPart;
    /// Its query string.
    type Query: QueryPart;
    /// Its body.
    type Body: BodyPart;
    /// Its answer.
    type Answer: View;

    /// The verb, from the parts of an HTTP request.
    fn from_parts(path: Self::Path, query: Self::Query, body: Self::Body) -> Self;
}

/// An action for every verb.
pub trait Visitor {
    /// Runs it for one verb.
    fn visit<V: Verb>(&mut self);
}

/// The type of the part of a request that a role carries.
macro_rules! part {
    ($wanted:ident) => { Nothing };
    (path; path $field:ident: $type:ty $(, $($rest:tt)*)?) => { Just<$type> };
    (query; query $field:ident: $type:ty $(, $($rest:tt)*)?) => { Just<$type> };
    (body; body $field:ident: $type:ty $(, $($rest:tt)*)?) => { Just<$type> };
    ($wanted:ident; $role:ident $field:ident: $type:ty $(, $($rest:tt)*)?) => { part!($wanted $(; $($rest)*)?) };
    ($wanted:ident;) => { Nothing };
}

/// One of three, by the role.
macro_rules! given {
    (path, $path:expr, $query:expr, $body:expr) => {
        $path.0
    };
    (query, $path:expr, $query:expr, $body:expr) => {
        $query.0
    };
    (body, $path:expr, $query:expr, $body:expr) => {
        $body.0
    };
}

macro_rules! role {
    (path) => {
        Role::Path
    };
    (query) => {
        Role::Query
    };
    (body) => {
        Role::Body
    };
}

macro_rules! changes {
    (GET) => {
        false
    };
    ($method:ident reads) => {
        false
    };
    ($method:ident $($unaudited:ident)?) => {
        true
    };
}

macro_rules! audited {
    ($method:ident unaudited) => {
        false
    };
    ($method:ident $($reads:ident)?) => {
        changes!($method $($reads)?)
    };
}

macro_rules! define {
    ([$dollar:tt] $($subject:ident {
        changes { $($(#[$about:meta])* $change:ident { $($what:ident: $changed:ty),* },)* }
        answers { $($kind:ident($($view:tt)+),)* }
        verbs { $(
            $(#[doc = $doc:literal])+
            $name:ident $verb:literal $method:ident $path:literal
                { $($(#[$on:meta])* $role:ident $field:ident: $type:ty),* } -> $status:literal $answer:ty, $access:ident
                $(, $mark:ident)?;
        )* }
    })*) => {
        /// A client's request: every verb that a socket carries.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
        #[serde(tag = "verb", deny_unknown_fields)]
        pub enum Call {
            $($(
                $(#[doc = $doc])+
                #[serde(rename = $verb)]
                #[allow(missing_docs, reason = "each field is an id or the input type that documents itself")]
                $name { $($(#[$on])* $field: $type),* },
            )*)*
        }

        impl Call {
            /// The declarations of all verbs, in the order of the documentation.
            pub const SPECS: &'static [&'static Spec] = &[$($(&$name::SPEC),*),*];

            /// The name of every verb, in the same order.
            pub const VERBS: &'static [&'static str] = &[$($($verb),*),*];

            /// The verb's declaration.
            pub fn spec(&self) -> &'static Spec {
                match self { $($(Self::$name { .. } => &$name::SPEC),*),* }
            }

            /// The verb's name.
            pub fn verb(&self) -> &'static str {
                self.spec().name
            }

            /// Whether the verb changes anything; such a verb accepts an idempotency key.
            pub fn changes(&self) -> bool {
                self.spec().changes()
            }

            /// The parts of the verb's HTTP request.
            pub fn parts(&self) -> Parts {
                match self { $($(Self::$name { $($field),* } => Parts::default()$(.$role($field))*),*),* }
            }
        }

        $($(
            $(#[doc = $doc])+
            #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
            #[allow(missing_docs, reason = "each field is an id or the input type that documents itself")]
            pub struct $name { $(pub $field: $type),* }

            impl From<$name> for Call {
                fn from($name { $($field),* }: $name) -> Self {
                    Self::$name { $($field),* }
                }
            }

            impl Verb for $name {
                const SPEC: Spec = Spec {
                    name: $verb,
                    subject: stringify!($subject),
                    about: concat!($($doc),+),
                    method: stringify!($method),
                    path: $path,
                    status: $status,
                    fields: &[$(Field {
                        name: stringify!($field),
                        role: role!($role),
                        schema: Field::schema_of::<$type>,
                    }),*],
                    access: Access::$access,
                    changes: changes!($method $($mark)?),
                    audited: audited!($method $($mark)?),
                    answer: <$answer as View>::KIND,
                    decode: view::decode::<$answer>,
                };
                type Path = part!(path; $($role $field: $type),*);
                type Query = part!(query; $($role $field: $type),*);
                type Body = part!(body; $($role $field: $type),*);
                type Answer = $answer;

                #[allow(unused_variables, reason = "few verbs have all three parts")]
                fn from_parts(path: Self::Path, query: Self::Query, body: Self::Body) -> Self {
                    Self { $($field: given!($role, path, query, body)),* }
                }
            }
        )*)*

        /// Shows a visitor every verb.
        pub fn visit_all(visitor: &mut impl Visitor) {
            $($(visitor.visit::<$name>();)*)*
        }

        /// A verb's answer.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
        #[serde(tag = "kind", content = "value", rename_all = "snake_case")]
        #[allow(missing_docs, reason = "each variant is named after the view that it carries")]
        #[allow(clippy::large_enum_variant, reason = "only a few exist at a time, each about to be encoded or decoded")]
        pub enum Answer {
            Done,
            $($($kind($($view)+),)*)*
        }

        $($(view::view! { $kind $($view)+ })*)*

        impl Serialize for BareView<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    Answer::Done => serializer.serialize_unit(),
                    $($(Answer::$kind(view) => view.serialize(serializer),)*)*
                }
            }
        }

        /// What changed, as the state after it.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        #[allow(missing_docs, reason = "each variant is named after the view that it carries")]
        pub enum Change {
            $($($(#[$about])* $change { $($what: $changed),* },)*)*
            /// An unknown kind: ignored, but its position counts. Read only, never sent.
            #[serde(other, skip_serializing)]
            #[ts(skip)]
            Unknown,
        }

        /// Hands `Name { fields }` of every verb to a macro.
        #[macro_export]
        macro_rules! every_verb {
            ($dollar callback:ident) => {
                $dollar callback! { $($($name { $($field),* })*)* }
            };
        }
    };
}

people! { [projects activities chat credentials runners approvals sessions questions handoff workspaces overlaps recordings search landing tasks reviews workers work merge recipes executions artifacts schedules hooks notify audit define $] }
