//! Reads the requests of one connection and writes its events, at its own pace.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;

use super::core::Core;
use crate::wire::{Request, read_frame};

/// Accepts connections as long as the host lives.
pub(crate) async fn accept(listener: UnixListener, core: Rc<RefCell<Core>>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => serve(stream, &core),
            // Most likely out of file descriptors: others may be closed meanwhile.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
        }
    }
}

fn serve(stream: UnixStream, core: &Rc<RefCell<Core>>) {
    let (id, bell) = core.borrow_mut().connected();
    let (read, write) = stream.into_split();
    let (reader, writer) = (Rc::clone(core), Rc::clone(core));
    let writing = tokio::task::spawn_local(async move {
        let _ = tell(write, id, &bell, &writer).await;
        writer.borrow_mut().disconnected(id);
    });
    tokio::task::spawn_local(async move {
        let _ = listen(read, id, &reader).await;
        reader.borrow_mut().disconnected(id);
        writing.abort();
    });
}

async fn listen(read: OwnedReadHalf, id: u64, core: &RefCell<Core>) -> io::Result<()> {
    let mut read = BufReader::with_capacity(8 << 10, read);
    while let Some(frame) = read_frame(&mut read).await? {
        let request = Request::decode(&frame)?;
        core.borrow_mut().request(id, request);
    }
    Ok(())
}

async fn tell(mut write: OwnedWriteHalf, id: u64, bell: &Notify, core: &RefCell<Core>) -> io::Result<()> {
    loop {
        let event = core.borrow_mut().next_event(id);
        match event {
            Some(event) => write.write_all(&event.encode()).await?,
            None => bell.notified().await,
        }
    }
}
