//! The frames of a recording: compressed lines, and between them points where playing can start.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Point;
use crate::screen::Snapshot;

/// zstd decoders skip frames that begin with this.
const SKIPPABLE: u32 = 0x184D_2A53;
const POINT: &[u8; 4] = b"SFP1";
/// No frame of ours is larger when unpacked.
const LARGEST: usize = 32 << 20;
const LEVEL: i32 = 1;

/// Packs frames.
pub(crate) struct Packer {
    compressor: zstd::bulk::Compressor<'static>,
}

impl Packer {
    pub(crate) fn new() -> io::Result<Packer> {
        let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
        compressor.include_checksum(true)?;
        Ok(Packer { compressor })
    }

    /// A frame of lines.
    pub(crate) fn lines(&mut self, lines: &[u8]) -> io::Result<Vec<u8>> {
        self.compressor.compress(lines)
    }

    /// A frame with a place where playing can begin.
    pub(crate) fn point(&mut self, time_us: u64, screen: &Snapshot) -> io::Result<Vec<u8>> {
        let packed = self.compressor.compress(&screen.bytes)?;
        let mut frame = Vec::with_capacity(packed.len() + 64);
        frame.extend_from_slice(&SKIPPABLE.to_le_bytes());
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(POINT);
        frame.extend_from_slice(&time_us.to_le_bytes());
        frame.extend_from_slice(&screen.offset.to_le_bytes());
        frame.extend_from_slice(&screen.cols.to_le_bytes());
        frame.extend_from_slice(&screen.rows.to_le_bytes());
        frame.extend_from_slice(&(screen.title.len() as u32).to_le_bytes());
        frame.extend_from_slice(screen.title.as_bytes());
        frame.extend_from_slice(&packed);
        let length = (frame.len() - 8) as u32;
        frame[4..8].copy_from_slice(&length.to_le_bytes());
        Ok(frame)
    }
}

/// A frame as it lies in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Frame<'a> {
    Lines(&'a [u8]),
    Point(&'a [u8]),
}

/// The complete frames at the beginning of some bytes; the rest is torn or not ours.
pub(crate) fn frames(bytes: &[u8]) -> impl Iterator<Item = Frame<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let magic = u32::from_le_bytes(rest.get(..4)?.try_into().ok()?);
        let (frame, length) = if magic == SKIPPABLE {
            let length = 8 + u32::from_le_bytes(rest.get(4..8)?.try_into().ok()?) as usize;
            (Frame::Point(rest.get(8..length)?), length)
        } else {
            let length = zstd::zstd_safe::find_frame_compressed_size(rest).ok()?;
            (Frame::Lines(rest.get(..length)?), length)
        };
        rest = &rest[length..];
        Some(frame)
    })
}

/// Unpacks a frame of lines.
pub(crate) fn unpack(frame: &[u8]) -> io::Result<Vec<u8>> {
    let size = zstd::zstd_safe::get_frame_content_size(frame).ok().flatten().unwrap_or(0);
    if size > LARGEST as u64 {
        return Err(damaged());
    }
    zstd::bulk::decompress(frame, size as usize)
}

/// When and at which position a point is, without its screen.
pub(crate) fn where_is(point: &[u8]) -> Option<(Duration, u64)> {
    let rest = point.strip_prefix(POINT)?;
    let time = u64::from_le_bytes(rest.get(..8)?.try_into().ok()?);
    let offset = u64::from_le_bytes(rest.get(8..16)?.try_into().ok()?);
    Some((Duration::from_micros(time), offset))
}

/// Reads a point with its screen.
pub(crate) fn read_point(point: &[u8]) -> io::Result<Point> {
    let read = || {
        let (time, offset) = where_is(point)?;
        let rest = &point[20..];
        let cols = u16::from_le_bytes(rest.get(..2)?.try_into().ok()?);
        let rows = u16::from_le_bytes(rest.get(2..4)?.try_into().ok()?);
        let title_length = u32::from_le_bytes(rest.get(4..8)?.try_into().ok()?) as usize;
        let title = String::from_utf8(rest.get(8..8usize.checked_add(title_length)?)?.to_vec()).ok()?;
        let bytes = unpack(&rest[8 + title_length..]).ok()?;
        Some(Point { time, screen: Snapshot { offset, cols, rows, title, bytes } })
    };
    read().ok_or_else(damaged)
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a damaged frame in a recording")
}

/// The file of a segment.
pub(crate) fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:08}.zst"))
}

/// The segments of a recording, oldest first.
pub(crate) fn list(dir: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "zst")
            && let Some(number) = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok())
        {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}
