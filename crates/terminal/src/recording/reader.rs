//! Reads a recording, finished or not.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::cast::read_line;
use super::segment::{self, Frame};
use super::{Happening, Header, Marker, Moment, Point};

/// A recording on disk.
#[derive(Debug, Clone)]
pub struct Recording {
    dir: PathBuf,
    header: Header,
}

/// A recording from some point on; an iterator over its events.
pub struct Play {
    /// Where it begins: the screen at that time.
    pub start: Point,
    segments: VecDeque<PathBuf>,
    /// Points before this position in the first segment are skipped.
    skip_to: Option<u64>,
    waiting: VecDeque<Moment>,
    time_us: u64,
    offset: u64,
}

impl Recording {
    /// Opens the recording in this directory.
    pub fn open(dir: &Path) -> io::Result<Recording> {
        let header = serde_json::from_slice(&std::fs::read(dir.join("header.json"))?)?;
        Ok(Recording { dir: dir.to_owned(), header })
    }

    /// Its header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How many bytes it takes on disk.
    pub fn size(&self) -> io::Result<u64> {
        std::fs::read_dir(&self.dir)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
    }

    /// Whether nothing of it may be dropped.
    pub fn kept(&self) -> bool {
        self.dir.join("keep").exists()
    }

    /// Its markers, oldest first; also those of dropped output.
    pub fn markers(&self) -> io::Result<Vec<Marker>> {
        match std::fs::read_to_string(self.dir.join("markers.jsonl")) {
            Ok(lines) => Ok(lines.lines().map_while(|line| serde_json::from_str(line).ok()).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The positions of the available output.
    pub fn offsets(&self) -> io::Result<std::ops::Range<u64>> {
        let first = self.points()?.first().map_or(0, |(_, offset, _)| *offset);
        Ok(first..self.end()?.1)
    }

    /// From when it has output: earlier output was dropped.
    pub fn begins(&self) -> io::Result<Duration> {
        let points = self.points()?;
        points.first().map(|(time, ..)| *time).ok_or_else(nothing)
    }

    /// How long it is.
    pub fn duration(&self) -> io::Result<Duration> {
        Ok(self.end()?.0)
    }

    /// Everything from the latest point at or before this time; the first moments may be earlier.
    pub fn play_from(&self, time: Duration) -> io::Result<Play> {
        self.play(|point_time, _| point_time <= time)
    }

    /// Everything from the latest point at or before this position; the first moments may be earlier.
    pub fn play_from_offset(&self, offset: u64) -> io::Result<Play> {
        self.play(|_, point_offset| point_offset <= offset)
    }

    /// The output between two positions; shorter if it ends earlier or was dropped.
    pub fn output(&self, range: std::ops::Range<u64>) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        for moment in self.play_from_offset(range.start)? {
            let moment = moment?;
            if moment.offset >= range.end {
                break;
            }
            if let Happening::Output(bytes) = moment.happening {
                let from = range.start.saturating_sub(moment.offset).min(bytes.len() as u64) as usize;
                let to = (range.end - moment.offset).min(bytes.len() as u64) as usize;
                out.extend_from_slice(&bytes[from..to.max(from)]);
            }
        }
        Ok(out)
    }

    /// Checks that no byte of output is missing between the first and the last; returns the end.
    pub fn verify(&self) -> io::Result<u64> {
        let mut play = self.play_from(Duration::ZERO)?;
        let mut offset = play.start.screen.offset;
        for moment in play.by_ref() {
            let moment = moment?;
            if moment.offset != offset {
                let missing = format!("output is missing from {offset} to {}", moment.offset);
                return Err(io::Error::new(io::ErrorKind::InvalidData, missing));
            }
            if let Happening::Output(bytes) = &moment.happening {
                offset += bytes.len() as u64;
            }
        }
        Ok(offset)
    }

    fn end(&self) -> io::Result<(Duration, u64)> {
        let mut play = self.play(|_, _| true)?;
        let mut end = (play.start.time, play.start.screen.offset);
        for moment in play.by_ref() {
            let moment = moment?;
            let length = if let Happening::Output(bytes) = &moment.happening { bytes.len() as u64 } else { 0 };
            end = (moment.time, moment.offset + length);
        }
        Ok(end)
    }

    /// Time, position and segment of the first point of each segment.
    fn points(&self) -> io::Result<Vec<(Duration, u64, PathBuf)>> {
        let mut points = Vec::new();
        for (_, path) in segment::list(&self.dir)? {
            let mut head = [0; 28];
            let read = std::os::unix::fs::FileExt::read_at(&std::fs::File::open(&path)?, &mut head, 0)?;
            if let Some((time, offset)) = head[..read].get(8..).and_then(segment::where_is) {
                points.push((time, offset, path));
            }
        }
        Ok(points)
    }

    fn play(&self, early: impl Fn(Duration, u64) -> bool) -> io::Result<Play> {
        let points = self.points()?;
        // The first, if even that is too late: earlier ones were dropped.
        let last = points.iter().rposition(|(time, offset, _)| early(*time, *offset)).unwrap_or(0);
        let path = &points.get(last).ok_or_else(nothing)?.2;
        let bytes = std::fs::read(path)?;
        let mut start = None;
        for frame in segment::frames(&bytes) {
            if let Frame::Point(point) = frame
                && let Some((time, offset)) = segment::where_is(point)
                && (start.is_none() || early(time, offset))
            {
                start = Some(point);
            }
        }
        let start = segment::read_point(start.ok_or_else(nothing)?)?;
        Ok(Play {
            segments: points[last..].iter().map(|(_, _, path)| path.clone()).collect(),
            skip_to: Some(start.screen.offset),
            waiting: VecDeque::new(),
            time_us: start.time.as_micros() as u64,
            offset: start.screen.offset,
            start,
        })
    }
}

fn nothing() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "nothing has been recorded")
}

impl Play {
    /// Reads the next segment; a torn or damaged frame ends it.
    fn read(&mut self, bytes: &[u8]) {
        for frame in segment::frames(bytes) {
            match frame {
                Frame::Point(point) => {
                    let Some((time, offset)) = segment::where_is(point) else { return };
                    let start = (self.start.time, self.start.screen.offset);
                    if self.skip_to.is_some() && (time, offset) != start {
                        continue;
                    }
                    self.skip_to = None;
                    (self.time_us, self.offset) = (time.as_micros() as u64, offset);
                }
                Frame::Lines(_) if self.skip_to.is_some() => (),
                Frame::Lines(lines) => {
                    let Ok(lines) = segment::unpack(lines) else { return };
                    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                        let Ok((interval, happening)) = read_line(line) else { return };
                        self.time_us += interval;
                        let Some(happening) = happening else { continue };
                        let (time, offset) = (Duration::from_micros(self.time_us), self.offset);
                        if let Happening::Output(bytes) = &happening {
                            self.offset += bytes.len() as u64;
                        }
                        self.waiting.push_back(Moment { time, offset, happening });
                    }
                }
            }
        }
    }
}

impl Iterator for Play {
    type Item = io::Result<Moment>;

    fn next(&mut self) -> Option<io::Result<Moment>> {
        while self.waiting.is_empty() {
            let path = self.segments.pop_front()?;
            match std::fs::read(&path) {
                Ok(bytes) => self.read(&bytes),
                // Dropped while we read: the next one begins with a point.
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                Err(error) => return Some(Err(error)),
            }
        }
        self.waiting.pop_front().map(Ok)
    }
}
