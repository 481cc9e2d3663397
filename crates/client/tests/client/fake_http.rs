//! A server that answers each connection as scripted, and returns the requests.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A scripted reaction to a request.
pub(crate) enum Reply {
    /// Hangs up.
    HangUp,
    /// Answers with a status, more headers and a body.
    Answer(u16, &'static str, String),
}

/// A request.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) line: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Serves the script, one connection per reply; returns the address and the future requests.
pub(crate) async fn serve(script: Vec<Reply>) -> (String, JoinHandle<Vec<Asked>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let mut asked = Vec::new();
        for reply in script {
            let (mut stream, _) = listener.accept().await.unwrap();
            asked.push(read(&mut stream).await);
            if let Reply::Answer(status, headers, body) = reply {
                let length = body.len();
                let text = format!(
                    "HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
                );
                stream.write_all(text.as_bytes()).await.unwrap();
            }
        }
        asked
    });
    (url, served)
}

async fn read(stream: &mut TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await.unwrap();
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let pairs = lines[1..].iter().filter_map(|line| line.split_once(": "));
    let headers: Vec<_> = pairs.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await.unwrap();
    Asked { line: lines[0].clone(), headers, body: String::from_utf8(body).unwrap() }
}
