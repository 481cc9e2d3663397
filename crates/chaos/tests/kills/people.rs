//! Two people with projects that both, or only one of them, may see.

use std::path::Path;

use client::Client;
use domain::{ProjectId, UserId, Visibility};
use protocol::{Call, Me, Project, ProjectCreate};

/// Who watches, and what of it they may see.
pub(crate) struct Viewer {
    pub(crate) name: &'static str,
    pub(crate) client: Client,
    pub(crate) user: UserId,
    pub(crate) sees: Vec<ProjectId>,
    /// Forgets with each connection what it has seen but for the newest position, as a reloaded page does;
    /// the others resume a step earlier and leave out what they know.
    pub(crate) exact: bool,
}

/// Ann, who owns the hub, and Bo.
pub(crate) struct People {
    ann: Client,
    bo: Client,
    /// Both write in it.
    open: ProjectId,
    /// Ann's, which Bo reads.
    shown: ProjectId,
    /// Ann's own.
    hidden: ProjectId,
    /// Bo's own.
    secret: ProjectId,
}

impl People {
    pub(crate) async fn gather(url: &str, folder: &Path) -> Self {
        let token = std::fs::read_to_string(folder.join("token")).unwrap();
        let ann = Client::new(url, token.trim()).unwrap();
        let bo = Client::new(url, &testkit::join(url, &ann, "bo").await.unwrap()).unwrap();
        let (open, shown) = (create(&ann, Visibility::ReadWrite).await, create(&ann, Visibility::ReadOnly).await);
        let (hidden, secret) = (create(&ann, Visibility::Private).await, create(&bo, Visibility::Private).await);
        Self { ann, bo, open, shown, hidden, secret }
    }

    /// Who the writer with this number is, and where they write.
    pub(crate) fn writer(&self, number: u64) -> (Client, ProjectId) {
        match number % 8 {
            0..=2 => (self.ann.clone(), self.open),
            3..=4 => (self.bo.clone(), self.open),
            5 => (self.ann.clone(), self.shown),
            6 => (self.ann.clone(), self.hidden),
            _ => (self.bo.clone(), self.secret),
        }
    }

    /// Ann once, Bo twice.
    pub(crate) async fn watchers(&self) -> [Viewer; 3] {
        let bo = |name, exact| async move {
            let sees = vec![self.open, self.shown, self.secret];
            Viewer { name, client: self.bo.clone(), user: me(&self.bo).await, sees, exact }
        };
        let sees = vec![self.open, self.shown, self.hidden];
        let ann = Viewer { name: "ann", client: self.ann.clone(), user: me(&self.ann).await, sees, exact: false };
        [ann, bo("bo", false).await, bo("bo again", true).await]
    }
}

async fn create(client: &Client, visibility: Visibility) -> ProjectId {
    let input = ProjectCreate {
        content: format!("chaos {visibility}"),
        visibility: Some(visibility),
        ..ProjectCreate::default()
    };
    client.ask::<Project>(Call::ProjectCreate { input }).await.unwrap().id
}

async fn me(client: &Client) -> UserId {
    client.ask::<Me>(Call::Me {}).await.unwrap().user.unwrap().id
}
