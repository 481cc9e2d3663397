//! Step-up: verbs that create credentials or let others in need a login of today.

use domain::{RunnerPolicy, Timestamp};
use protocol::{Call, ProblemKind};
use store::Credential;

use crate::AppError;

/// Maximum age of a browser's login for such verbs.
const FRESH_HOURS: i64 = 24;

/// Refuses such a verb from a browser that logged in long ago and may have been left open; tokens are exempt.
pub(crate) fn check(credential: &Credential, now: Timestamp, call: &Call) -> Result<(), AppError> {
    let Some(since) = credential.logged_in_at else { return Ok(()) };
    if !widens(call) || now <= since.plus_millis(FRESH_HOURS * 3_600_000) {
        return Ok(());
    }
    let detail = format!(
        "this browser logged in more than {FRESH_HOURS} hours ago, which is too long for {}: log in again, then repeat it",
        call.verb()
    );
    Err(AppError::new(ProblemKind::Forbidden, detail))
}

/// Whether the verb creates a credential, shows a project to more people, or lets other people's commands run.
fn widens(call: &Call) -> bool {
    match call {
        Call::TokenCreate { .. }
        | Call::LoginLink {}
        | Call::InviteCreate { .. }
        | Call::ObserverCreate { .. }
        | Call::RunnerCreate { .. }
        // Titles of private projects would go there.
        | Call::NotifyAdd { .. }
        // Other services could start executions.
        | Call::HookAdd { .. }
        | Call::HookRotate { .. } => true,
        // Approved commands run on the person's machine.
        Call::ApprovalAnswer { input, .. } => input.answer.allows(),
        Call::RunnerUpdate { input, .. } => input.policy.is_some_and(|policy| policy != RunnerPolicy::Ask),
        Call::ProjectUpdate { input, .. } => input.visibility.is_some() || input.share_execution.is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Actor, UserId};

    fn credential(logged_in_at: Option<i64>) -> Credential {
        let id = UserId::generate();
        Credential {
            id: "lgn".into(),
            depends_on: id.to_string(),
            actor: Actor::User { id, hub_owner: true },
            name: "ann".into(),
            by_cookie: logged_in_at.is_some(),
            expires_at: None,
            logged_in_at: logged_in_at.map(Timestamp::from_millis),
        }
    }

    #[test]
    fn only_old_logins_are_refused_and_only_for_verbs_that_let_others_in() {
        let (token, read) = (Call::TokenCreate { input: Default::default() }, Call::TokenList {});
        let late = Timestamp::from_millis(FRESH_HOURS * 3_600_000 + 1);
        assert!(check(&credential(Some(0)), late, &token).is_err());
        assert!(check(&credential(Some(0)), late, &read).is_ok());
        assert!(check(&credential(Some(1)), late, &token).is_ok());
        assert!(check(&credential(None), late, &token).is_ok());
    }

    #[test]
    fn an_old_login_cannot_show_a_project_to_more_people() {
        let project = domain::ProjectId::generate();
        let late = Timestamp::from_millis(i64::MAX);
        let update = |input| Call::ProjectUpdate { project, input };
        let open = protocol::ProjectUpdate { visibility: Some(domain::Visibility::ReadOnly), ..Default::default() };
        let write = protocol::ProjectUpdate { content: Some("text".into()), ..Default::default() };
        assert!(check(&credential(Some(0)), late, &update(open)).is_err());
        assert!(check(&credential(Some(0)), late, &update(write)).is_ok());
    }
}
