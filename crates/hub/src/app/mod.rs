//! The verbs: HTTP and WebSocket both call them here.
//!
//! Each verb of the protocol has one [`Handle`], in the file of its subject; a verb without one does not compile.

mod artifacts;
mod credentials;
mod criteria;
mod diff;
mod execution;
mod executions;
mod fresh;
mod handoff;
mod hooks;
mod landing;
mod merge;
mod notify;
mod overlaps;
mod people;
mod projects;
mod recipes;
mod recordings;
mod reviews;
mod runners;
mod search;
mod tasks;
mod workers;

use std::pin::Pin;

use domain::{Actor, RunnerId};
use protocol::{Answer, Call, ProblemKind, Verb, View, verbs};
use store::{Caller, Command, Credential};

use crate::AppError;
use crate::hub::Hub;

/// The caller, and the key that identifies a retry.
pub(crate) struct Asked<'a> {
    hub: &'a Hub,
    credential: &'a Credential,
    caller: &'a Caller,
    /// A retry with the same key acts once.
    key: Option<String>,
}

impl Asked<'_> {
    /// Runs a command of the store.
    async fn commit<C: Command>(self, command: C) -> Result<C::Output, AppError> {
        Ok(self.hub.store.write(self.caller, self.key, command).await?.value)
    }

    /// The connected runners that the caller may see.
    async fn connected(&self) -> Result<Vec<RunnerId>, AppError> {
        let runners = self.hub.store.runners(self.caller).await?;
        let connected = runners.into_iter().filter(|runner| self.hub.live.is_there(runner));
        Ok(connected.map(|runner| runner.id).collect())
    }
}

/// Executes a verb.
trait Handle: Verb {
    fn handle(self, asked: Asked<'_>) -> impl Future<Output = Result<Self::Answer, AppError>> + Send;
}

/// Handles verbs: `Name(verb, asked) { … }`.
macro_rules! handle {
    ($($name:ident($verb:pat, $asked:ident) $body:block)*) => {$(
        impl $crate::app::Handle for protocol::verbs::$name {
            async fn handle(self, $asked: $crate::app::Asked<'_>) -> Result<Self::Answer, $crate::AppError> {
                let $verb = self;
                $body
            }
        }
    )*};
}

/// Handles verbs that the store executes alone.
macro_rules! stored {
    ($($name:ident)*) => {
        $crate::app::handle! { $($name(verb, asked) { asked.commit(verb).await })* }
    };
}

use {handle, stored};

/// What a verb is doing, on the heap: the frame of [`dispatch`] has room for every verb at once, and without
/// optimisation that fills the stack of a thread.
fn apart<'a, V: Handle + Send + 'a>(
    verb: V,
    asked: Asked<'a>,
) -> Pin<Box<dyn Future<Output = Result<Answer, AppError>> + Send + 'a>> {
    Box::pin(async move { verb.handle(asked).await.map(View::into_answer) })
}

macro_rules! dispatch {
    ($($name:ident { $($field:ident),* })*) => {
        async fn dispatch(asked: Asked<'_>, call: Call) -> Result<Answer, AppError> {
            match call {
                $(Call::$name { $($field),* } => {
                    apart(verbs::$name { $($field),* }, asked).await
                })*
            }
        }
    };
}

protocol::every_verb!(dispatch);

/// Executes a call for the bearer of a credential.
pub(crate) async fn run(
    hub: &Hub,
    credential: &Credential,
    caller: &Caller,
    key: Option<String>,
    call: Call,
) -> Result<Answer, AppError> {
    no_runner(credential)?;
    fresh::check(credential, hub.store.now(), &call)?;
    dispatch(Asked { hub, credential, caller, key }, call).await
}

/// Refuses a runner's token: a runner uses only its link.
pub(crate) fn no_runner(credential: &Credential) -> Result<(), AppError> {
    match credential.actor {
        Actor::Runner { .. } => Err(AppError::new(
            ProblemKind::Forbidden,
            "a runner's token opens only the runner's link: use a personal token (`shopfloor token create NAME`)",
        )),
        _ => Ok(()),
    }
}
