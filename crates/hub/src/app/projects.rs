//! Projects, their activities and their chat.

use super::{diff, handle, stored};

stored! {
    ProjectCreate ProjectUpdate ProjectDelete ActivityCreate ActivityUpdate ChatSend ChatEdit ChatDelete ChatRead
}

handle! {
    ProjectList(_, asked) { Ok(asked.hub.store.projects(asked.caller).await?) }

    ProjectShow(verb, asked) { Ok(asked.hub.store.project(asked.caller, verb.project).await?) }

    ProjectVersions(verb, asked) {
        Ok(asked.hub.store.project_versions(asked.caller, verb.project, verb.page).await?)
    }

    ProjectDiff(verb, asked) {
        let pair = asked.hub.store.project_pair(asked.caller, verb.project, verb.range).await?;
        diff::between(&pair, verb.range)
    }

    ActivityList(verb, asked) { Ok(asked.hub.store.activities(asked.caller, verb.filter.project).await?) }

    ActivityShow(verb, asked) { Ok(asked.hub.store.activity(asked.caller, verb.activity).await?) }

    ActivityVersions(verb, asked) {
        Ok(asked.hub.store.activity_versions(asked.caller, verb.activity, verb.page).await?)
    }

    ActivityDiff(verb, asked) {
        let pair = asked.hub.store.activity_pair(asked.caller, verb.activity, verb.range).await?;
        diff::between(&pair, verb.range)
    }

    ChatHistory(verb, asked) { Ok(asked.hub.store.messages(asked.caller, verb.project, verb.page).await?) }

    ChatUnread(_, asked) { Ok(asked.hub.store.unreads(asked.caller).await?) }
}
