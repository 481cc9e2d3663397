//! The ceiling for throughput: a bare loop that reads a pseudo-terminal and does nothing else.

use std::time::Instant;

use pty_process::{Command, Size};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::report::say;

const END: &[u8] = b"##END##";

/// Runs a program that waits for a line and writes until [`END`]; says how many seconds that took.
pub(crate) async fn measure(program: &str) -> anyhow::Result<()> {
    let (mut pty, pts) = pty_process::open()?;
    pty.resize(Size::new(24, 80))?;
    let mut child = Command::new(program).kill_on_drop(true).spawn(pts)?;
    let mut buffer = vec![0; 64 * 1024];
    read_until(&mut pty, &mut buffer, b"READY>").await?;
    let begin = Instant::now();
    pty.write_all(b"\n").await?;
    read_until(&mut pty, &mut buffer, END).await?;
    say(&begin.elapsed().as_secs_f64().to_string());
    child.kill().await?;
    Ok(())
}

async fn read_until(pty: &mut pty_process::Pty, buffer: &mut [u8], needle: &[u8]) -> anyhow::Result<()> {
    let mut tail: Vec<u8> = Vec::new();
    loop {
        let length = pty.read(buffer).await?;
        anyhow::ensure!(length > 0, "the program ended too early");
        tail.extend(&buffer[length.saturating_sub(64)..length]);
        if tail.windows(needle.len()).any(|window| window == needle) {
            return Ok(());
        }
        let cut = tail.len().saturating_sub(needle.len());
        tail.drain(..cut);
    }
}
