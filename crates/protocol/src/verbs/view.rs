//! Answers as views: each kind of answer carries one type.

use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::openapi::{ArrayBuilder, Ref, RefOr, Schema};

use super::Answer;
use super::part::Schemas;

/// A type that one kind of answer carries.
pub trait View: Serialize + DeserializeOwned + Send + 'static {
    /// The variant of [`Answer`] that carries it.
    const KIND: &'static str;
    /// The answer that carries it.
    fn into_answer(self) -> Answer;
    /// The view; `None` when the answer is of another kind.
    fn from_answer(answer: Answer) -> Option<Self>;
    /// Its OpenAPI schema; `None` where HTTP answers without a body.
    fn schema(schemas: &mut Schemas) -> Option<RefOr<Schema>>;
}

impl View for () {
    const KIND: &'static str = "Done";

    fn into_answer(self) -> Answer {
        Answer::Done
    }

    fn from_answer(answer: Answer) -> Option<Self> {
        matches!(answer, Answer::Done).then_some(())
    }

    fn schema(_: &mut Schemas) -> Option<RefOr<Schema>> {
        None
    }
}

/// An answer's view alone, without its kind, as HTTP carries it.
#[derive(Debug)]
pub struct BareView<'a>(pub &'a Answer);

macro_rules! view {
    ($kind:ident Vec<$item:ty>) => {
        $crate::verbs::view::view! { @ $kind, Vec<$item>, $crate::verbs::view::list_of::<$item> }
    };
    ($kind:ident $view:ty) => {
        $crate::verbs::view::view! { @ $kind, $view, $crate::verbs::view::one_of::<$view> }
    };
    (@ $kind:ident, $view:ty, $schema:expr) => {
        impl $crate::verbs::View for $view {
            const KIND: &'static str = stringify!($kind);

            fn into_answer(self) -> Answer {
                Answer::$kind(self)
            }

            fn from_answer(answer: Answer) -> Option<Self> {
                match answer {
                    Answer::$kind(view) => Some(view),
                    _ => None,
                }
            }

            fn schema(
                schemas: &mut $crate::verbs::part::Schemas,
            ) -> Option<utoipa::openapi::RefOr<utoipa::openapi::Schema>> {
                Some($schema(schemas))
            }
        }
    };
}

pub(super) use view;

pub(super) fn one_of<T: utoipa::ToSchema>(schemas: &mut Schemas) -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name(super::part::named::<T>(schemas)))
}

pub(super) fn list_of<T: utoipa::ToSchema>(schemas: &mut Schemas) -> RefOr<Schema> {
    RefOr::T(Schema::Array(ArrayBuilder::new().items(one_of::<T>(schemas)).build()))
}

/// Reads the body of a successful HTTP response.
pub(super) fn decode<T: View>(body: &[u8]) -> Result<Answer, serde_json::Error> {
    match T::from_answer(Answer::Done) {
        Some(done) => Ok(done.into_answer()),
        None => serde_json::from_slice::<T>(body).map(T::into_answer),
    }
}
