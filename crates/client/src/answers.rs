//! From the answer of a verb to the view that it carries.

use protocol::{
    Activity, Answer, AuditEntry, Diff, Invite, Login, LoginLink, Me, Message, NewInvite, NewObserver, NewRunner,
    NewToken, Observer, PresenceEntry, Project, Runner, Token, Unread, User, Version,
};

/// A view that one kind of answer carries.
pub trait FromAnswer: Sized {
    /// The view; `None` when the answer is of another kind.
    fn from_answer(answer: Answer) -> Option<Self>;
}

macro_rules! carried {
    ($($variant:ident($view:ty),)*) => {$(
        impl FromAnswer for $view {
            fn from_answer(answer: Answer) -> Option<Self> {
                match answer {
                    Answer::$variant(view) => Some(view),
                    _ => None,
                }
            }
        }
    )*};
}

carried! {
    Me(Me),
    User(User),
    Users(Vec<User>),
    Project(Project),
    Projects(Vec<Project>),
    Activity(Activity),
    Activities(Vec<Activity>),
    Versions(Vec<Version>),
    Diff(Diff),
    Message(Message),
    Messages(Vec<Message>),
    Unread(Unread),
    Unreads(Vec<Unread>),
    Tokens(Vec<Token>),
    NewToken(NewToken),
    Logins(Vec<Login>),
    LoginLink(LoginLink),
    Invites(Vec<Invite>),
    NewInvite(NewInvite),
    Observers(Vec<Observer>),
    NewObserver(NewObserver),
    Runners(Vec<Runner>),
    NewRunner(NewRunner),
    Audit(Vec<AuditEntry>),
    Presence(Vec<PresenceEntry>),
}

impl FromAnswer for () {
    fn from_answer(answer: Answer) -> Option<Self> {
        matches!(answer, Answer::Done).then_some(())
    }
}
