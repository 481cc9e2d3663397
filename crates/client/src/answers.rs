//! From the answer of a verb to the view that it carries.

use protocol::{
    Activity, Answer, AuditEntry, Diff, Invite, Login, LoginLink, Me, Message, NewInvite, NewObserver, NewRunner,
    NewToken, Observer, PresenceEntry, Project, Runner, Token, Unread, User, Version,
};

/// A view that one kind of answer carries.
pub trait FromAnswer: Sized {
    /// The view, or the answer back when it is of another kind.
    fn from_answer(answer: Answer) -> Result<Self, Answer>;
}

macro_rules! carried {
    ($($variant:ident($view:ty),)*) => {$(
        impl FromAnswer for $view {
            fn from_answer(answer: Answer) -> Result<Self, Answer> {
                match answer {
                    Answer::$variant(view) => Ok(view),
                    other => Err(other),
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
    fn from_answer(answer: Answer) -> Result<Self, Answer> {
        match answer {
            Answer::Done => Ok(()),
            other => Err(other),
        }
    }
}
