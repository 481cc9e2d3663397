//! `shopfloor up` where a hub already runs: it says where, and lets the person in.

use std::path::Path;

use protocol::{Call, LoginLink};

use super::browser;
use crate::here::Here;
use crate::{Context, Failure, when};

/// A hub that runs here, with a way in.
pub(crate) struct Already {
    here: Here,
    link: String,
}

impl Already {
    /// The hub of `data_dir`, if it answers its owner.
    pub(crate) async fn look(data_dir: &Path) -> Option<Self> {
        // Another program may use the address of a hub that was killed.
        let here = Here::look(data_dir).await.ok()?.filter(|here| here.health.is_some())?;
        let link: LoginLink = here.client(data_dir).ok()?.ask(Call::LoginLink {}).await.ok()?;
        Some(Self { here, link: link.link })
    }

    /// Shows it, and opens its page. `ignored`: options were given, which have no effect.
    pub(crate) fn show(&self, open: bool, ignored: bool, context: &Context) -> Result<(), Failure> {
        let (file, out) = (&self.here.file, &context.out);
        if out.json {
            let view = serde_json::json!({
                "url": file.url, "login_link": self.link, "pid": file.pid, "since": file.since, "started": false,
            });
            out.show(&view, |_| String::new())?;
        } else {
            out.line(&format!("log in once: {}", self.link))?;
            let since = file.since.map(|at| format!(", started {}", when::relative(at, out.now)));
            out.line(&format!(
                "shopfloor is already up: {} (process {}{})",
                file.url,
                file.pid,
                since.unwrap_or_default()
            ))?;
            if ignored {
                out.note("the options given now have no effect: end it with `shopfloor down` first");
            }
        }
        if open {
            browser::open(&self.link, out);
        }
        Ok(())
    }

    /// The failure of a command that must be the hub itself.
    pub(crate) fn refusal(&self) -> Failure {
        let failure = Failure::other(format!("Shopfloor is already running at {}", self.here.file.url));
        failure.advise(format!("log in: {}", self.link))
    }
}
