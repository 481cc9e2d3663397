//! What a command works with: settings, output, and the connection to the hub.

use client::Client;

use crate::cli::Global;
use crate::{Failure, Layers, Output, Settings};

/// The environment of one command.
pub struct Context {
    /// Environment and settings file.
    pub layers: Layers,
    /// The hub's address and the caller's token.
    pub settings: Settings,
    /// Where results go.
    pub out: Output,
}

impl Context {
    /// Resolves all settings of this run.
    pub fn new(global: &Global, layers: Layers) -> Result<Self, Failure> {
        let settings = Settings::resolve(global, &layers)?;
        let out = Output::of_this_process(global.json, settings.color.value);
        Ok(Self { layers, settings, out })
    }

    /// A client with a token.
    pub fn client(&self) -> Result<Client, Failure> {
        let hub = self.hub()?;
        match &self.settings.token {
            Some(token) => Ok(Client::with(hub, token.value.clone())?),
            None => Err(Failure::not_allowed(format!("you have no token for the hub at {hub}")).advise(
                "pass --token-file FILE or set SHOPFLOOR_TOKEN_FILE; `shopfloor token create` creates a token",
            )),
        }
    }

    /// A client without a token, for public requests.
    pub fn anonymous(&self) -> Result<Client, Failure> {
        Ok(Client::anonymous(self.hub()?)?)
    }

    /// The hub's address.
    pub(crate) fn hub(&self) -> Result<&str, Failure> {
        let missing = || {
            let dir = self.settings.data_dir.value.display();
            Failure::unreachable(format!("no hub found: {dir} has no hub.json, and no address was given"))
                .advise("start one with `shopfloor up`, or pass --hub URL or set SHOPFLOOR_HUB")
        };
        let hub = self.settings.hub.as_ref().map(|hub| hub.value.as_str()).ok_or_else(missing)?;
        // Check the address first, before other problems such as a missing token.
        let wrong = |error: client::ClientError| {
            Failure::usage(error.to_string()).advise("use an address such as http://127.0.0.1:4720")
        };
        client::check_address(hub).map_err(wrong)?;
        Ok(hub)
    }
}
