//! The parts of an HTTP request as types: a verb has each, or not.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::{DeserializeOwned, IgnoredAny};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, ToSchema};

/// A part that the verb does not have.
#[derive(Debug, Clone, Copy)]
pub struct Nothing;

/// A part that the verb has.
#[derive(Debug, Clone)]
pub struct Just<T>(pub T);

/// Schemas by name, as an OpenAPI document lists them.
pub type Schemas = Vec<(String, RefOr<Schema>)>;

/// The parameter of a path.
pub trait PathPart: Sized + Send {
    /// Reads it; `text` is absent when the path has no parameter.
    fn read(text: Option<&str>) -> Result<Self, String>;
    /// The name of its schema.
    fn schema(schemas: &mut Schemas) -> Option<String>;
}

impl PathPart for Nothing {
    fn read(_: Option<&str>) -> Result<Self, String> {
        Ok(Self)
    }

    fn schema(_: &mut Schemas) -> Option<String> {
        None
    }
}

impl<T: FromStr<Err: Display> + ToSchema + Send> PathPart for Just<T> {
    fn read(text: Option<&str>) -> Result<Self, String> {
        text.unwrap_or_default().parse().map(Self).map_err(|error: T::Err| error.to_string())
    }

    fn schema(schemas: &mut Schemas) -> Option<String> {
        Some(named::<T>(schemas))
    }
}

/// A query string.
pub trait QueryPart: Sized + Send {
    /// What is read from it.
    type Fields: DeserializeOwned;
    /// The part, where the verb has none.
    const NONE: Option<Self>;
    /// The part with those fields.
    fn with(fields: Self::Fields) -> Self;
    /// Its parameters.
    fn parameters() -> Vec<Parameter>;
}

impl QueryPart for Nothing {
    type Fields = IgnoredAny;
    const NONE: Option<Self> = Some(Self);

    fn with(_: IgnoredAny) -> Self {
        Self
    }

    fn parameters() -> Vec<Parameter> {
        Vec::new()
    }
}

impl<T: DeserializeOwned + IntoParams + Send> QueryPart for Just<T> {
    type Fields = T;
    const NONE: Option<Self> = None;

    fn with(fields: T) -> Self {
        Self(fields)
    }

    fn parameters() -> Vec<Parameter> {
        T::into_params(|| Some(ParameterIn::Query))
    }
}

/// A JSON body.
pub trait BodyPart: Sized + Send {
    /// What is read from it.
    type Input: DeserializeOwned;
    /// The part, where the verb has none.
    const NONE: Option<Self>;
    /// The part with that input.
    fn with(input: Self::Input) -> Self;
    /// The name of its schema.
    fn schema(schemas: &mut Schemas) -> Option<String>;
}

impl BodyPart for Nothing {
    type Input = IgnoredAny;
    const NONE: Option<Self> = Some(Self);

    fn with(_: IgnoredAny) -> Self {
        Self
    }

    fn schema(_: &mut Schemas) -> Option<String> {
        None
    }
}

impl<T: DeserializeOwned + ToSchema + Send> BodyPart for Just<T> {
    type Input = T;
    const NONE: Option<Self> = None;

    fn with(input: T) -> Self {
        Self(input)
    }

    fn schema(schemas: &mut Schemas) -> Option<String> {
        Some(named::<T>(schemas))
    }
}

/// Adds a type's schema, and those that it refers to; its name.
pub(super) fn named<T: ToSchema>(schemas: &mut Schemas) -> String {
    let name = T::name().into_owned();
    schemas.push((name.clone(), T::schema()));
    T::schemas(schemas);
    name
}
