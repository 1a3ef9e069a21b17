//! Piece counts on disk: runs in a folder, joined to fewer when they are many, and to one at the end.
//!
//! In: tables that memory has no room for. Out: [`StoredCounts`], one run with all pieces. A
//! temporary folder is removed with the last that uses it, whatever happened. Every piece is written
//! about once per factor of [`FAN`] between the corpus and the memory; joining holds one buffer for
//! each run.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::counts::Pieces;
use super::join::join;
use super::runs::{Run, RunReader, RunWriter, Sorted};
use super::table::{Rows, Table};
use super::totals::Totals;
use crate::error::{Error, Result};

/// So many runs of one level are joined to one of the next.
const FAN: usize = 32;
const BUFFER_LEAST: usize = 1 << 12;
const BUFFER_MOST: usize = 1 << 18;
/// The run that holds all pieces.
const ALL: &str = "counts.run";
const UNFINISHED: &str = "counts.part";

/// A folder for runs.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    temporary: bool,
}

impl Folder {
    /// A new folder in `parent`, removed when it is dropped.
    pub(super) fn temporary(parent: &Path) -> Result<Self> {
        let random = RandomState::new().hash_one(std::process::id());
        let path = parent.join(format!("bytepair-{random:016x}"));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder.create(&path).map_err(|source| failed(&path, source))?;
        Ok(Self { path, temporary: true })
    }

    /// A folder that is there and stays.
    pub(super) fn kept(path: PathBuf) -> Self {
        Self { path, temporary: false }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.temporary {
            // Nobody is left to be told that a temporary folder could not be removed.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

pub(super) fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::Store { path: path.display().to_string(), source }
}

/// A run and how many joins it went through.
#[derive(Debug, Clone)]
pub(super) struct Leveled {
    pub(super) level: u32,
    pub(super) run: Run,
}

/// See the module.
pub(super) struct Store {
    folder: Arc<Folder>,
    pub(super) runs: Vec<Leveled>,
    next: u64,
    /// Bytes of a reader's buffer.
    buffer: usize,
    /// The folder is a checkpoint: files that were joined stay until [`Store::forget`].
    kept: bool,
    obsolete: Vec<PathBuf>,
}

type Beat<'b> = &'b mut dyn FnMut() -> Result<()>;

impl Store {
    /// A store without runs; `memory` is what its readers may take together, about.
    pub(super) fn new(folder: Folder, memory: usize) -> Self {
        let kept = !folder.temporary;
        let buffer = (memory / (2 * FAN)).clamp(BUFFER_LEAST, BUFFER_MOST);
        let folder = Arc::new(folder);
        Self { folder, runs: Vec::new(), next: 0, buffer, kept, obsolete: Vec::new() }
    }

    /// The path of a run by its number.
    pub(super) fn path_of(folder: &Path, number: u64) -> PathBuf {
        folder.join(format!("{number}.run"))
    }

    /// Takes up the runs of an earlier process, by number and level, and removes all others.
    pub(super) fn take_up(&mut self, runs: &[(u64, u32)]) -> Result<()> {
        for &(number, level) in runs {
            let run = Run::open(&Self::path_of(&self.folder.path, number))?;
            self.runs.push(Leveled { level, run });
            self.next = self.next.max(number + 1);
        }
        let entries = fs::read_dir(&self.folder.path);
        for entry in entries.map_err(|source| failed(&self.folder.path, source))? {
            let path = entry.map_err(|source| failed(&self.folder.path, source))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = name.strip_suffix(".run").and_then(|number| number.parse::<u64>().ok());
            let unused = number.is_some_and(|number| !runs.iter().any(|run| run.0 == number));
            if unused || name == UNFINISHED {
                fs::remove_file(&path).map_err(|source| failed(&path, source))?;
            }
        }
        Ok(())
    }

    /// The number and level of each run.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (u64, u32)> {
        self.runs.iter().filter_map(|Leveled { level, run }| {
            let name = run.path.file_stem()?.to_str()?;
            Some((name.parse().ok()?, *level))
        })
    }

    fn create(&mut self) -> Result<RunWriter> {
        let number = self.next;
        self.next += 1;
        RunWriter::create(Self::path_of(&self.folder.path, number))
    }

    /// Writes tables as a run, unless they are empty.
    pub(super) fn add(&mut self, tables: Vec<Table>, beat: Beat<'_>) -> Result<()> {
        if tables.iter().all(|table| table.len() == 0) {
            return Ok(());
        }
        let mut rows: Vec<Rows> = Vec::with_capacity(tables.len());
        for table in tables {
            rows.push(table.into_rows(beat)?);
        }
        let mut writer = self.create()?;
        join(rows.iter().flat_map(Rows::iter).collect(), beat, |piece, count| {
            writer.push(piece, count)
        })?;
        drop(rows);
        let run = writer.finish(self.kept)?;
        self.runs.push(Leveled { level: 0, run });
        self.compact(beat)
    }

    /// Joins runs of one level where they are many.
    fn compact(&mut self, beat: Beat<'_>) -> Result<()> {
        while let Some(level) = self.full_level() {
            let (many, others) = self.runs.drain(..).partition(|run| run.level == level);
            self.runs = others;
            let mut writer = self.create()?;
            join(self.readers(&many)?, beat, |piece, count| writer.push(piece, count))?;
            let run = writer.finish(self.kept)?;
            self.runs.push(Leveled { level: level + 1, run });
            self.discard(many)?;
        }
        Ok(())
    }

    fn full_level(&self) -> Option<u32> {
        let number = |level| self.runs.iter().filter(|run| run.level == level).count();
        self.runs.iter().map(|run| run.level).find(|&level| number(level) >= FAN)
    }

    fn readers(&self, runs: &[Leveled]) -> Result<Vec<RunReader>> {
        runs.iter().map(|leveled| leveled.run.read(self.buffer)).collect()
    }

    fn discard(&mut self, runs: Vec<Leveled>) -> Result<()> {
        let paths = runs.into_iter().map(|leveled| leveled.run.path);
        if self.kept {
            self.obsolete.extend(paths);
            return Ok(());
        }
        for path in paths {
            fs::remove_file(&path).map_err(|source| failed(&path, source))?;
        }
        Ok(())
    }

    /// Removes the files that were joined; called when no checkpoint names them any more.
    pub(super) fn forget(&mut self) -> Result<()> {
        for path in self.obsolete.drain(..) {
            fs::remove_file(&path).map_err(|source| failed(&path, source))?;
        }
        Ok(())
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// All that earlier processes counted in this folder, if they were done.
    pub(super) fn complete(&self) -> Result<Option<StoredCounts>> {
        let path = self.folder.path.join(ALL);
        if !path.exists() {
            return Ok(None);
        }
        Ok(Some(StoredCounts {
            run: Run::open(&path)?,
            buffer: self.buffer,
            folder: self.folder.clone(),
        }))
    }

    /// All pieces with counts of at least `least`, in one run.
    pub(super) fn finish(mut self, least: u64, beat: Beat<'_>) -> Result<StoredCounts> {
        let (part, path) = (self.folder.path.join(UNFINISHED), self.folder.path.join(ALL));
        if least <= 1 && self.runs.len() == 1 {
            fs::rename(&self.runs[0].run.path, &path).map_err(|source| failed(&path, source))?;
            self.runs.clear();
        } else {
            let mut writer = RunWriter::create(part.clone())?;
            join(self.readers(&self.runs)?, beat, |piece, count| {
                if count >= least { writer.push(piece, count) } else { Ok(()) }
            })?;
            writer.finish(self.kept)?;
            fs::rename(&part, &path).map_err(|source| failed(&path, source))?;
        }
        let runs = std::mem::take(&mut self.runs);
        self.discard(runs)?;
        self.forget()?;
        Ok(StoredCounts { run: Run::open(&path)?, buffer: self.buffer, folder: self.folder })
    }
}

/// Piece counts on disk, in the order of the pieces' bytes. Those that lie in a temporary folder go
/// with it when they are dropped.
#[derive(Debug)]
pub struct StoredCounts {
    run: Run,
    buffer: usize,
    #[expect(dead_code, reason = "keeps the folder as long as its file is read")]
    folder: Arc<Folder>,
}

impl Pieces for StoredCounts {
    fn totals(&self) -> Totals {
        self.run.totals
    }

    fn each(
        &self,
        beat: &mut dyn FnMut() -> Result<()>,
        f: &mut dyn FnMut(&[u8], u64) -> Result<()>,
    ) -> Result<()> {
        let mut reader = self.run.read(self.buffer.max(1 << 16))?;
        let mut steps = 0u32;
        while reader.advance()? {
            f(reader.piece(), reader.count())?;
            steps += 1;
            if steps.is_multiple_of(1 << 14) {
                beat()?;
            }
        }
        Ok(())
    }
}
