//! Writes a recording while a session runs.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::cast::{write_line, write_output};
use super::segment::{self, Packer};
use super::{Happening, Header, Marker};
use crate::ring::whole_characters;
use crate::screen::{Screen, Snapshot};
use crate::spec::replace_file;

/// Maximum delay of a write.
const FLUSH_AFTER: Duration = Duration::from_secs(1);
/// How many bytes of lines make a frame.
const FRAME: usize = 64 << 10;
/// Playing can start at least this often: in time…
const POINT_AFTER: Duration = Duration::from_secs(60);
/// …and in output.
const POINT_BYTES: u64 = 256 << 10;
/// Approximate maximum size of a file.
const SEGMENT: u64 = 1 << 20;
/// How much to keep in memory while the disk is full.
const MOST_WAITING: usize = 1 << 20;

/// Records one session.
pub struct Recorder {
    dir: PathBuf,
    packer: Packer,
    began: Instant,
    file: File,
    number: u64,
    /// The length of the complete frames in the file.
    written: u64,
    /// Older segments with their sizes.
    older: Vec<(u64, u64)>,
    older_bytes: u64,
    limit: u64,
    kept: bool,
    waiting: Vec<u8>,
    waiting_since: Option<Instant>,
    last_us: u64,
    /// Bytes of recorded output; an unfinished character waits in `unfinished`.
    offset: u64,
    unfinished: Vec<u8>,
    point_at: Instant,
    point_offset: u64,
    /// Output was lost because the disk was full: the next frame must be a point.
    lost: u64,
}

impl Recorder {
    /// Begins a recording in this directory, which must not exist.
    pub fn create(dir: &Path, header: &Header, limit: u64, screen: &mut Screen) -> io::Result<Recorder> {
        DirBuilder::new().mode(0o700).create(dir)?;
        replace_file(&dir.join("header.json"), &serde_json::to_vec(header)?)?;
        let now = Instant::now();
        let mut recorder = Recorder {
            dir: dir.to_owned(),
            packer: Packer::new()?,
            began: now,
            file: new_file(dir, 1)?,
            number: 1,
            written: 0,
            older: Vec::new(),
            older_bytes: 0,
            limit,
            kept: false,
            waiting: Vec::new(),
            waiting_since: None,
            last_us: 0,
            offset: 0,
            unfinished: Vec::new(),
            point_at: now,
            point_offset: 0,
            lost: 0,
        };
        recorder.point(&screen.snapshot());
        Ok(recorder)
    }

    /// Records output that the screen has just processed.
    pub fn output(&mut self, bytes: &[u8], screen: &mut Screen) {
        match self.unfinished.is_empty() {
            true => self.add_whole(bytes),
            false => {
                let joined = [&std::mem::take(&mut self.unfinished), bytes].concat();
                self.add_whole(&joined);
            }
        }
        let due = self.offset - self.point_offset >= POINT_BYTES || self.point_at.elapsed() >= POINT_AFTER;
        if due && self.unfinished.is_empty() {
            self.flush();
            self.point_if_possible(screen);
        }
    }

    /// Records what was typed.
    pub fn input(&mut self, bytes: &[u8]) {
        self.add(&Happening::Input(bytes.to_vec()));
    }

    /// Records a new size.
    pub fn resize(&mut self, cols: u16, rows: u16) {
        self.add(&Happening::Resize(cols, rows));
    }

    /// Records a marker.
    pub fn mark(&mut self, kind: &str, text: &str) {
        let label = if text.is_empty() { kind.to_owned() } else { format!("{kind}: {text}") };
        self.add(&Happening::Marker(label));
        let marker = Marker { time_us: self.last_us, offset: self.offset, kind: kind.into(), text: text.into() };
        let _ = append_marker(&self.dir, &marker);
    }

    /// Nothing of this recording will be dropped.
    pub fn keep(&mut self) {
        self.kept = true;
        let _ = replace_file(&self.dir.join("keep"), b"");
    }

    /// When [`Recorder::tick`] wants to be called.
    pub fn due(&self) -> Option<Instant> {
        self.waiting_since.map(|since| since + FLUSH_AFTER)
    }

    /// Writes what has waited long enough.
    pub fn tick(&mut self, now: Instant, screen: &mut Screen) {
        if self.due().is_some_and(|due| due <= now) {
            self.flush();
            if self.lost > 0 {
                self.point_if_possible(screen);
            }
        }
    }

    /// Ends the recording; everything is on the disk afterwards.
    pub fn finish(&mut self, code: i32) -> io::Result<()> {
        let rest = std::mem::take(&mut self.unfinished);
        if !rest.is_empty() {
            self.offset += rest.len() as u64;
            self.add(&Happening::Output(rest));
        }
        self.add(&Happening::Exit(code));
        self.flush();
        self.file.sync_all()
    }

    fn add_whole(&mut self, bytes: &[u8]) {
        let (whole, unfinished) = bytes.split_at(whole_characters(bytes));
        self.unfinished.extend_from_slice(unfinished);
        if !whole.is_empty() {
            self.offset += whole.len() as u64;
            self.write(|out, interval| write_output(out, interval, whole));
        }
    }

    fn add(&mut self, happening: &Happening) {
        self.write(|out, interval| write_line(out, interval, happening));
    }

    fn write(&mut self, line: impl FnOnce(&mut Vec<u8>, u64)) {
        let now = Instant::now();
        let now_us = now.duration_since(self.began).as_micros() as u64;
        line(&mut self.waiting, now_us - self.last_us);
        self.last_us = now_us;
        self.waiting_since.get_or_insert(now);
        if self.waiting.len() >= FRAME {
            self.flush();
        }
    }

    /// Writes everything that waits.
    pub fn flush(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let written = self.packer.lines(&self.waiting).and_then(|frame| self.append(&frame));
        match written {
            Ok(()) => {
                self.waiting.clear();
                self.waiting_since = None;
            }
            // The disk is full. The session continues; what does not fit into memory is missing in the recording.
            Err(_) if self.waiting.len() > MOST_WAITING => {
                self.lost += self.waiting.len() as u64;
                self.waiting.clear();
                self.waiting_since = Some(Instant::now());
            }
            Err(_) => self.waiting_since = Some(Instant::now()),
        }
    }

    /// A point must describe exactly what was recorded before it.
    fn point_if_possible(&mut self, screen: &mut Screen) {
        if self.waiting.is_empty() && self.unfinished.is_empty() {
            self.offset = screen.offset();
            self.point(&screen.snapshot());
        }
    }

    fn point(&mut self, screen: &Snapshot) {
        if self.written >= self.segment_size() {
            self.next_segment();
        }
        let time_us = self.began.elapsed().as_micros() as u64;
        let written = self.packer.point(time_us, screen).and_then(|frame| self.append(&frame));
        if written.is_ok() {
            self.point_at = Instant::now();
            self.point_offset = self.offset;
            self.last_us = time_us;
            if std::mem::take(&mut self.lost) > 0 {
                self.mark("lost", "output is missing here: the disk was full");
            }
        }
    }

    /// Writes a complete frame or nothing.
    fn append(&mut self, frame: &[u8]) -> io::Result<()> {
        let result = self.file.write_all_at(frame, self.written);
        match result {
            Ok(()) => self.written += frame.len() as u64,
            Err(_) => self.file.set_len(self.written)?,
        }
        result
    }

    fn segment_size(&self) -> u64 {
        SEGMENT.min(self.limit / 8).max(1)
    }

    fn next_segment(&mut self) {
        let Ok(file) = new_file(&self.dir, self.number + 1) else { return };
        let _ = self.file.sync_data();
        self.older.push((self.number, self.written));
        self.older_bytes += self.written;
        (self.file, self.written) = (file, 0);
        self.number += 1;
        let mut dropped = 0;
        while !self.kept && self.older_bytes > self.limit.saturating_sub(self.segment_size()) && !self.older.is_empty()
        {
            let (number, size) = self.older.remove(0);
            if std::fs::remove_file(segment::path(&self.dir, number)).is_ok() {
                dropped += size;
            }
            self.older_bytes -= size;
        }
        if dropped > 0 {
            self.mark("dropped", &format!("the oldest output: over the limit of {} bytes", self.limit));
        }
    }
}

fn new_file(dir: &Path, number: u64) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(0o600).open(segment::path(dir, number))
}

fn append_marker(dir: &Path, marker: &Marker) -> io::Result<()> {
    let mut line = serde_json::to_vec(marker)?;
    line.push(b'\n');
    File::options().append(true).create(true).mode(0o600).open(dir.join("markers.jsonl"))?.write_all(&line)
}
