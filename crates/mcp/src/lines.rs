//! Standard input and output as lines; an invalid line is answered, not ignored.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;

use crate::malformed;

/// Buffer size between us and the service.
const WAITING: usize = 64 * 1024;

/// The service's ends of the pipes, and a future that moves the lines until the service ends.
pub(crate) fn carry(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
) -> (DuplexStream, DuplexStream, impl Future<Output = io::Result<()>>) {
    let (inward, reads) = tokio::io::duplex(WAITING);
    let (writes, outward) = tokio::io::duplex(WAITING);
    let (send, answers) = mpsc::channel(16);
    let both = async move {
        let (taking, handing) = (take_in(input, inward, send), hand_out(outward, answers, output));
        tokio::pin!(taking, handing);
        tokio::select! {
            taken = &mut taking => taken?,
            handed = &mut handing => return handed,
        }
        handing.await
    };
    (reads, writes, both)
}

async fn take_in(
    input: impl AsyncRead + Unpin,
    mut service: DuplexStream,
    answers: mpsc::Sender<String>,
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).await? > 0 {
        let blank = line.iter().all(u8::is_ascii_whitespace);
        if let Some(answer) = malformed(&line).filter(|_| !blank) {
            // A closed output needs no answer.
            let _ = answers.send(answer).await;
        } else if service.write_all(&line).await.is_err() {
            return Ok(());
        }
        line.clear();
    }
    Ok(())
}

async fn hand_out(
    service: DuplexStream,
    mut answers: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut lines = BufReader::new(service).lines();
    let mut asked = true;
    loop {
        let line = tokio::select! {
            answer = answers.recv(), if asked => match answer {
                Some(answer) => answer,
                None => {
                    asked = false;
                    continue;
                }
            },
            line = lines.next_line() => match line? {
                Some(line) => line,
                None => break,
            },
        };
        say(&mut output, &line).await?;
    }
    while let Ok(answer) = answers.try_recv() {
        say(&mut output, &answer).await?;
    }
    Ok(())
}

async fn say(output: &mut (impl AsyncWrite + Unpin), line: &str) -> io::Result<()> {
    output.write_all(format!("{line}\n").as_bytes()).await?;
    output.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn invalid_json_is_answered_and_later_lines_are_served() {
        let (one, other) = (r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, r#"{"jsonrpc":"2.0","id":2,"method":"b"}"#);
        let input = format!("{one}\nnonsense\n[]\n\n{other}\n");
        let (mut reads, mut writes, carried) = carry(input.as_bytes(), Vec::new());
        let service = async move {
            let mut heard = String::new();
            reads.read_to_string(&mut heard).await.unwrap();
            writes.write_all(b"{\"c\": 3}\n").await.unwrap();
            heard
        };
        let (heard, carried) = tokio::join!(service, carried);
        carried.unwrap();
        assert_eq!(heard, format!("{one}\n\n{other}\n"));
    }

    #[tokio::test]
    async fn the_answer_is_a_parse_error() {
        let (reads, writes, carried) = carry(&b"nonsense\n"[..], tokio::io::sink());
        drop((reads, writes));
        carried.await.unwrap();
        let (mut theirs, ours) = tokio::io::duplex(1024);
        let (mut reads, writes, carried) = carry(&b"nonsense\n"[..], ours);
        let service = async move {
            let mut heard = Vec::new();
            reads.read_to_end(&mut heard).await.unwrap();
            drop(writes);
            heard
        };
        let mut said = String::new();
        let (heard, carried, read) = tokio::join!(service, carried, theirs.read_to_string(&mut said));
        carried.unwrap();
        read.unwrap();
        assert!(heard.is_empty());
        let answer: serde_json::Value = serde_json::from_str(said.trim()).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&serde_json::Value::Null, &(-32700).into()));
    }
}
