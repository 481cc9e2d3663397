//! How the types of messages are declared: what clients send, and what they are shown.

/// What clients send with a verb.
macro_rules! inputs {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[ts(optional_fields)]
        pub struct $name {
            $($(#[$fdoc])* pub $field: $type,)*
        }
    )*};
}

/// What clients send with a verb that reads: filters, pages, ranges.
macro_rules! queries {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
        #[into_params(parameter_in = Query)]
        #[serde(deny_unknown_fields)]
        #[ts(optional_fields)]
        pub struct $name {
            $($(#[$fdoc])* pub $field: $type,)*
        }
    )*};
}

/// What clients are shown.
macro_rules! views {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
        pub struct $name {
            $($(#[$fdoc])* pub $field: $type,)*
        }
    )*};
}

pub(crate) use {inputs, queries, views};
