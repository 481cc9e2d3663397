//! `shopfloor presence`.

use protocol::{Activity, ActivityFilter, Call, Place, PresenceEntry, Project, User};

use super::words;
use crate::table::Table;
use crate::{Context, Failure, Output};

/// Shows who is connected and what they look at.
pub(crate) async fn run(context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let entries: Vec<PresenceEntry> = client.ask(Call::PresenceList {}).await?;
    if out.json {
        return out.show(&entries, |_| String::new());
    }
    let names = Names {
        users: client.ask(Call::UserList {}).await?,
        projects: client.ask(Call::ProjectList {}).await?,
        activities: client.ask(Call::ActivityList { filter: ActivityFilter::default() }).await?,
    };
    out.show(&entries, |out| table(&entries, &names, out))
}

struct Names {
    users: Vec<User>,
    projects: Vec<Project>,
    activities: Vec<Activity>,
}

impl Names {
    fn place(&self, place: &Place) -> String {
        let project = self.projects.iter().find(|project| project.id == place.project);
        let project = project.map_or_else(|| place.project.to_string(), |project| project.name.clone());
        let Some(id) = place.activity else {
            return project;
        };
        let activity = self.activities.iter().find(|activity| activity.id == id);
        format!("{project} / {}", activity.map_or_else(|| id.to_string(), |activity| activity.name.clone()))
    }
}

fn table(entries: &[PresenceEntry], names: &Names, out: &Output) -> String {
    let mut table = Table::new(&["ID", "NAME…", "HERE", "LOOKING AT…"], "nobody is connected");
    for entry in entries {
        let user = names.users.iter().find(|user| user.id == entry.user);
        let places: Vec<String> = entry.places.iter().map(|place| names.place(place)).collect();
        table.row([
            entry.user.into(),
            user.map_or("-", |user| &user.name).into(),
            words::yes(entry.connected).into(),
            places.join(", ").into(),
        ]);
    }
    table.render(out)
}
