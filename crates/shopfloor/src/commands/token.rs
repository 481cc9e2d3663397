//! `shopfloor token`.

use clap::Subcommand;
use domain::Timestamp;
use protocol::{Call, NewToken, Token, TokenCreate};

use crate::confirm::{Yes, sure};
use crate::pick::pick_exact;
use crate::table::Table;
use crate::{Context, Failure, Output, when};

/// Subcommands for tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token; it is printed once
    Create {
        /// A name for it
        name: String,
        /// When it expires: a time, or a duration such as 30d [default: never]
        #[arg(long, value_name = "WHEN", value_parser = when::parse)]
        expires: Option<Timestamp>,
    },
    /// List your tokens
    List,
    /// Revoke a token and close its connections, after asking; takes the exact name or id
    Revoke {
        /// The token's id or name
        #[arg(id = "which", value_name = "TOKEN")]
        token: String,
        #[command(flatten)]
        yes: Yes,
    },
}

/// Runs the subcommand.
pub(crate) async fn run(command: TokenCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        TokenCommand::Create { name, expires } => {
            let input = TokenCreate { name, expires_at: expires };
            let made: NewToken = client.ask(Call::TokenCreate { input }).await?;
            if !out.json {
                out.note(&format!("{}: the token below is not shown again", made.token.id));
            }
            out.show(&made, |_| made.secret.clone())
        }
        TokenCommand::List => {
            let tokens: Vec<Token> = client.ask(Call::TokenList {}).await?;
            out.show(&tokens, |out| table(&tokens, out))
        }
        TokenCommand::Revoke { token, yes } => {
            let token = pick_exact::<Token>(client, &token).await?;
            if !yes.yes {
                let tokens: Vec<Token> = client.ask(Call::TokenList {}).await?;
                let known = tokens.iter().find(|known| known.id == token);
                let what = known.map_or_else(
                    || format!("token {token}"),
                    |known| {
                        let used = when::relative_or(known.last_used_at, out.now, "never");
                        format!("token `{}` ({token}, last used: {used})", known.name)
                    },
                );
                sure(false, "revoke", &what, "Programs that use the token lose their access at once.")?;
            }
            client.ask::<()>(Call::TokenRevoke { token }).await?;
            out.did("revoked", token)
        }
    }
}

fn table(tokens: &[Token], out: &Output) -> String {
    let mut table = Table::new(&["ID", "NAME…", "KIND", "MADE", "LAST USED", "EXPIRES"], "no tokens");
    for token in tokens {
        table.row([
            token.id.into(),
            (&token.name).into(),
            token.kind.into(),
            when::relative(token.created_at, out.now).into(),
            when::relative_or(token.last_used_at, out.now, "never").into(),
            when::ahead_or(token.expires_at, out.now, "never").into(),
        ]);
    }
    table.render(out)
}
