//! A proxy between a runner and the hub that cuts, stalls and half-opens.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What the proxy does to what passes through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Ends every connection, and takes none.
    Cut,
    /// Holds everything up, both ways; what was held up arrives later.
    Stall,
    /// Swallows what the hub says and what the runner says, for ever, on the connections that there are.
    HalfOpen,
}

/// The proxy of one runner.
pub(crate) struct Link {
    pub(crate) port: u16,
    fault: Arc<watch::Sender<Fault>>,
}

impl Link {
    pub(crate) async fn start(hub: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let fault = Arc::new(watch::Sender::new(Fault::None));
        let told = fault.clone();
        tokio::spawn(async move {
            while let Ok((runner, _)) = listener.accept().await {
                let mut now = told.subscribe();
                if *now.borrow() == Fault::Cut {
                    continue;
                }
                tokio::spawn(async move {
                    // The hub may be down: then the runner is cut off.
                    if let Ok(hub) = TcpStream::connect(("127.0.0.1", hub)).await {
                        now.mark_unchanged();
                        relay(runner, hub, now).await;
                    }
                });
            }
        });
        Self { port, fault }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn set(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }
}

async fn relay(mut runner: TcpStream, mut hub: TcpStream, mut fault: watch::Receiver<Fault>) {
    let _ = (runner.set_nodelay(true), hub.set_nodelay(true));
    let (mut said, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    // A connection that once swallowed something can never be whole again.
    let mut deaf = false;
    loop {
        let now = *fault.borrow_and_update();
        deaf |= now == Fault::HalfOpen;
        tokio::select! {
            changed = fault.changed() => if changed.is_err() || *fault.borrow() == Fault::Cut { return },
            read = runner.read(&mut said), if now != Fault::Stall => match read {
                Ok(length @ 1..) if deaf || hub.write_all(&said[..length]).await.is_ok() => {}
                _ => return,
            },
            read = hub.read(&mut answered), if now != Fault::Stall => match read {
                Ok(length @ 1..) if deaf || runner.write_all(&answered[..length]).await.is_ok() => {}
                _ => return,
            },
        }
    }
}
