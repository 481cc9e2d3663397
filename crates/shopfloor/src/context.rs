//! What a command works with: settings, output, and the way to the hub.

use client::Client;

use crate::cli::Global;
use crate::{Failure, Layers, Output, Settings};

/// The surroundings of one command.
pub struct Context {
    /// Environment and settings file.
    pub layers: Layers,
    /// Where the hub is, and who asks.
    pub settings: Settings,
    /// Where results go.
    pub out: Output,
}

impl Context {
    /// Settles all settings of this run.
    pub fn new(global: &Global, layers: Layers) -> Result<Self, Failure> {
        let settings = Settings::resolve(global, &layers)?;
        let out = Output::of_this_process(global.json, settings.color.value);
        Ok(Self { layers, settings, out })
    }

    /// A client with a credential.
    pub fn client(&self) -> Result<Client, Failure> {
        let hub = self.hub()?;
        match &self.settings.token {
            Some(token) => Ok(Client::with(hub, token.value.clone())?),
            None => Err(Failure::not_allowed(format!("there is no token for the hub at {hub}"))
                .advise("pass --token-file FILE or set SHOPFLOOR_TOKEN_FILE; `shopfloor token create` makes a token")),
        }
    }

    /// A client for what a hub tells anyone.
    pub fn anonymous(&self) -> Result<Client, Failure> {
        Ok(Client::anonymous(self.hub()?)?)
    }

    /// Where the hub is.
    pub(crate) fn hub(&self) -> Result<&str, Failure> {
        let missing = || {
            let dir = self.settings.data_dir.value.display();
            Failure::unreachable(format!("no hub is known: {dir} has no hub.json, and none was named"))
                .advise("start one with `shopfloor up`, or name one with --hub URL or SHOPFLOOR_HUB")
        };
        let hub = self.settings.hub.as_ref().map(|hub| hub.value.as_str()).ok_or_else(missing)?;
        // Before anything else is said about it, such as that there is no token.
        let wrong = |error: client::ClientError| Failure::usage(error.to_string()).advise("as http://127.0.0.1:4720");
        client::check_address(hub).map_err(wrong)?;
        Ok(hub)
    }
}
