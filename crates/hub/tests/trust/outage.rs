//! PostgreSQL is away: requests fail at once, health says so, and the hub recovers by itself when it is back.

use protocol::Call;
use reqwest::Method;
use testkit::{Fsync, Postgres, TestHub, wait_until};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::support::{Credential, begin, call, send};

/// The only way to the server: closed, nobody is let in and everybody inside is put out.
struct Door {
    port: u16,
    socket: String,
    open: Option<JoinHandle<()>>,
}

impl Door {
    /// Stands before a server on a Unix socket; the URL that leads through it.
    async fn before(url: &str) -> (Self, String) {
        let (address, socket) = url.split_once("?host=").expect("a server of our own is on a Unix socket");
        let mut door = Self { port: 0, socket: format!("{socket}/.s.PGSQL.5432"), open: None };
        door.open().await;
        let url = format!("{}?sslmode=disable", address.replace("localhost", &format!("127.0.0.1:{}", door.port)));
        (door, url)
    }

    async fn open(&mut self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).await.expect("the port is ours");
        self.port = listener.local_addr().expect("it listens").port();
        let socket = self.socket.clone();
        self.open = Some(tokio::spawn(async move {
            let mut inside = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                inside.spawn(relay(client, socket.clone()));
            }
        }));
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            open.abort();
        }
    }
}

async fn relay(mut client: TcpStream, socket: String) {
    if let Ok(mut server) = UnixStream::connect(socket).await {
        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_database_is_reported_at_once_and_reconnected() {
    let database = Postgres::start(Fsync::Off).database().await;
    let (mut door, url) = Door::before(database.url()).await;
    let hub = TestHub::with(|options| options.database = url).await;
    let ann = Credential::of(&hub.owner());
    let health = async || send(begin(&hub, Method::GET, "/api/health")).await;
    let well = health().await;
    assert_eq!((well.status, &well.body["status"]), (200, &"ok".into()), "{}", well.text);
    assert_eq!(call(&hub, &ann, &Call::ProjectList {}).await.status, 200);
    door.close();
    wait_until("health says that the database is away", async || {
        let away = health().await;
        (away.status == 503).then_some(away)
    })
    .await;
    let away = health().await;
    assert_eq!(
        (&away.body["status"], away.headers["retry-after"].as_bytes()),
        (&"unavailable".into(), "1".as_bytes()),
        "{}",
        away.text
    );
    assert!(!away.text.contains("127.0.0.1"), "where the database is is nobody's business: {}", away.text);
    for verb in [Call::ProjectList {}, Call::RunnerList {}] {
        let refused = call(&hub, &ann, &verb).await;
        assert_eq!(
            (refused.status, refused.headers["retry-after"].as_bytes()),
            (503, "1".as_bytes()),
            "{}",
            refused.text
        );
    }
    let input = protocol::ProjectCreate { content: "While it is away".into(), ..Default::default() };
    let create = Call::ProjectCreate { input };
    let refused = call(&hub, &ann, &create).await;
    assert_eq!((refused.status, refused.headers["retry-after"].as_bytes()), (503, "1".as_bytes()), "{}", refused.text);
    door.open().await;
    wait_until("the hub is well again, by itself", async || {
        let again = health().await;
        (again.status == 200 && again.body["status"] == "ok").then_some(())
    })
    .await;
    assert_eq!(call(&hub, &ann, &Call::ProjectList {}).await.status, 200);
    assert!(call(&hub, &ann, &create).await.status < 300);
    hub.stop().await;
}
