//! A verb's declaration, as data.

use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::Answer;
use super::part::Schemas;

/// A verb's declaration.
#[derive(Debug)]
pub struct Spec {
    /// Its name: `chat.send`.
    pub name: &'static str,
    /// The subject that declares it.
    pub subject: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The HTTP path, with at most one parameter.
    pub path: &'static str,
    /// The HTTP status of success.
    pub status: u16,
    /// Its fields.
    pub fields: &'static [Field],
    /// Who may use it.
    pub access: Access,
    pub(super) changes: bool,
    /// Whether the audit trail has an entry of it.
    pub audited: bool,
    /// The kind of its answer, as the variant of [`Answer`] is named.
    pub(super) answer: &'static str,
    pub(super) decode: fn(&[u8]) -> Result<Answer, serde_json::Error>,
}

impl Spec {
    /// Whether the verb changes anything; such a verb accepts an idempotency key.
    pub const fn changes(&self) -> bool {
        self.changes
    }

    /// The kind of its answer, as frames name it.
    pub fn answer_kind(&self) -> String {
        let mut kind = String::new();
        for letter in self.answer.chars() {
            if letter.is_uppercase() && !kind.is_empty() {
                kind.push('_');
            }
            kind.extend(letter.to_lowercase());
        }
        kind
    }

    /// The path with its parameter filled in.
    pub fn path_to(&self, id: Option<&str>) -> String {
        match (self.path.split_once('{'), id) {
            (Some((before, rest)), Some(id)) => {
                let after = rest.split_once('}').map_or("", |(_, after)| after);
                format!("{before}{id}{after}")
            }
            _ => self.path.to_owned(),
        }
    }

    /// Reads the body of a successful HTTP response.
    pub fn decode(&self, body: &[u8]) -> Result<Answer, serde_json::Error> {
        (self.decode)(body)
    }
}

/// A field of a verb.
#[derive(Debug)]
pub struct Field {
    /// Its name in a socket's frame.
    pub name: &'static str,
    /// The part of an HTTP request that carries it.
    pub role: Role,
    pub(super) schema: fn(&mut Schemas) -> RefOr<Schema>,
}

impl Field {
    /// The OpenAPI schema of its type; the schemas that it refers to are added to `schemas`.
    pub fn schema(&self, schemas: &mut Schemas) -> RefOr<Schema> {
        (self.schema)(schemas)
    }

    pub(super) fn schema_of<T: ToSchema>(schemas: &mut Schemas) -> RefOr<Schema> {
        T::schemas(schemas);
        T::schema()
    }
}

/// A part of an HTTP request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The parameter of the path.
    Path,
    /// The query string.
    Query,
    /// The JSON body.
    Body,
}

/// Who may use a verb. Everybody else gets `not_found` if they may not see the project, else `forbidden`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// Everybody with a credential. The answer contains only what the caller may see.
    Anyone,
    /// Every person.
    Person,
    /// The owner of the hub.
    HubOwner,
    /// Everybody who may see the project.
    See,
    /// Every person who may see the project.
    PersonSees,
    /// Everybody who may write in the project, agents of its sessions included.
    Write,
    /// Every person who may write in the project.
    Decide,
    /// The owner of the project, message, worker or lease.
    Owner,
    /// The person whom it belongs to. For everybody else it does not exist.
    Mine,
    /// The owner of the runner.
    MyRunner,
    /// Everybody who may see execution in the project.
    Look,
    /// Every person who may see execution in the project.
    PersonLooks,
    /// Everybody who may see execution; the runner must be connected.
    LookOnRunner,
    /// The owner of the session or workspace.
    Drive,
    /// The same; the runner must be connected.
    DriveOnRunner,
    /// Every person who may write in the project and has a runner for it.
    Spawn,
}

/// The parts of a verb's HTTP request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The parameter of the path.
    pub path: Option<String>,
    /// The parameters after `?`.
    pub query: Vec<(String, String)>,
    /// The JSON body.
    pub body: Option<Value>,
}

impl Parts {
    pub(super) fn path(mut self, id: &impl Display) -> Self {
        self.path = Some(id.to_string());
        self
    }

    pub(super) fn query(mut self, fields: &impl Serialize) -> Self {
        if let Value::Object(fields) = plain(fields) {
            let text = |value| match value {
                Value::Null => None,
                Value::String(text) => Some(text),
                other => Some(other.to_string()),
            };
            self.query = fields.into_iter().filter_map(|(name, value)| Some((name, text(value)?))).collect();
        }
        self
    }

    pub(super) fn body(mut self, input: &impl Serialize) -> Self {
        self.body = Some(plain(input));
        self
    }
}

fn plain(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("inputs have text keys and plain values")
}
