//! Notifications from the command line, to a receiver on this machine; across `kill -9`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};

use crate::fixture::Fixture;

/// A hub that may send to this machine, at once.
fn hub() -> Fixture {
    let mut fixture = Fixture::empty();
    let folder = fixture.path(".config/shopfloor");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "notify_allow_host = ['127.0.0.1']\n").unwrap();
    fixture.start("127.0.0.1:0");
    let settings = fixture.json(&["notify", "settings", "--gather", "0", "--at-most", "0"]);
    assert_eq!(settings["gather_seconds"], 0);
    fixture
}

/// A receiver of notifications; it answers once a test has set the status.
struct Server {
    url: String,
    got: Receiver<(String, Value)>,
    answers: Sender<u16>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let ((sent, got), (answers, wanted)) = (channel(), channel());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                if sent.send(read(&mut stream)).is_err() {
                    return;
                }
                let Ok(status) = wanted.recv() else { return };
                let head = format!("HTTP/1.1 {status} ok\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                // A killed hub does not read the answer.
                let _ = stream.write_all(head.as_bytes());
            }
        });
        Self { url, got, answers }
    }

    fn next(&self) -> (String, Value) {
        self.got.recv_timeout(std::time::Duration::from_secs(60)).expect("a request arrives")
    }
}

/// The id of a webhook's message, and its body.
fn read(stream: &mut TcpStream) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let (mut id, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "webhook-id" => id = value.trim().to_owned(),
            "content-length" => length = value.trim().parse().unwrap(),
            _ if line.trim().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (id, serde_json::from_slice(&body).unwrap())
}

#[test]
fn a_person_adds_tests_and_removes_a_place() {
    let (fixture, server) = (hub(), Server::start());
    assert!(fixture.text(&["notify", "list"]).contains("notify add"), "an empty list teaches the next step");
    server.answers.send(204).unwrap();
    let made = fixture.json(&["notify", "add", "webhook", &server.url, "--name", "hook", "--kinds", "failed,approval"]);
    assert_eq!(made["channel"]["kinds"], json!(["approval", "failed"]));
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    assert_eq!(fixture.json(&["notify", "list"])[0], made["channel"]);
    let said = fixture.text(&["notify", "test", "hook"]);
    assert_eq!(said, "delivered: 127.0.0.1 accepted the message\n");
    assert_eq!(server.next().1["type"], "test");
    server.answers.send(500).unwrap();
    assert!(fixture.run(&["notify", "test", "hook"]).stdout.contains("not delivered: the receiver answered 500"));
    let list = fixture.text(&["notify", "list"]);
    assert!(list.contains("failing: the receiver answered 500") && !list.contains("whsec_"), "{list}");
    let quiet = fixture.text(&["notify", "settings", "--quiet", "22:00-07:00", "--zone", "Europe/Berlin"]);
    assert!(quiet.starts_with("quiet hours: 22:00 to 07:00 (Europe/Berlin)\n"), "{quiet}");
    assert!(fixture.run(&["notify", "settings", "--zone", "Moon/Tycho"]).stderr.contains("Moon/Tycho"));
    fixture.text(&["notify", "remove", "hook", "--yes"]);
    assert_eq!(fixture.json(&["notify", "list"]), json!([]));
    let refused = fixture.run(&["notify", "add", "ntfy", "https://192.168.0.1/topic"]);
    assert!(refused.stderr.contains("--notify-allow-host"), "{}", refused.stderr);
}

#[test]
fn a_notification_survives_kill_9_and_keeps_its_id() {
    let (mut fixture, server) = (hub(), Server::start());
    fixture.json(&["notify", "add", "webhook", &server.url]);
    fixture.text(&["project", "create", "Parser"]);
    fixture.text(&["activity", "create", "Parser", "Lexer", "--status", "blocked"]);
    let (first, body) = server.next();
    assert_eq!(body["data"]["items"][0]["kind"], "blocked");
    // It was sent, but the hub does not learn that it arrived.
    fixture.hub().kill();
    server.answers.send(200).unwrap();
    let listen = fixture.url.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    fixture.start(&listen);
    let (second, again) = server.next();
    assert_eq!((&second, &again["data"]["items"]), (&first, &body["data"]["items"]));
    server.answers.send(200).unwrap();
    crate::process::wait_until("it is recorded", || fixture.json(&["notify", "list"])[0]["waiting"] == 0);
}
