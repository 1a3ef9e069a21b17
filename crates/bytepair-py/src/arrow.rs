//! Arrow arrays in and out, by the C data interface and its PyCapsules
//! (<https://arrow.apache.org/docs/format/CDataInterface.html>).
//!
//! In: an object with `__arrow_c_array__` or `__arrow_c_stream__` whose items are strings. Out: their
//! texts in place; and capsules of a list array that shares the memory of [`crate::tokens`]. No
//! library of Arrow is needed: the interface is three C structures, and this file alone knows them.

#![expect(unsafe_code, reason = "the interface is made of C structures with raw pointers")]

use std::any::Any;
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::slice;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The flag of a type whose values may be null. Ours never are, but it is the type other libraries
/// mean when they say list of uint32.
const NULLABLE: i64 = 2;

/// `struct ArrowSchema`.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// A structure that its producer wants back.
trait Released: Sized {
    fn empty() -> Self;
    fn is_live(&self) -> bool;
}

macro_rules! released {
    ($name:ident { $($field:ident: $value:expr),* }) => {
        impl Released for $name {
            fn empty() -> Self {
                Self { $($field: $value,)* release: None, private_data: null_mut() }
            }

            fn is_live(&self) -> bool {
                self.release.is_some()
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: a structure with a release callback is live and this is its owner.
                    unsafe { release(self) }
                }
            }
        }

        // SAFETY: the interface lets a structure be moved, used and released by any one thread.
        unsafe impl Send for $name {}
        // SAFETY: through a shared reference it is only read.
        unsafe impl Sync for $name {}
    };
}

released!(Schema {
    format: null(),
    name: null(),
    metadata: null(),
    flags: 0,
    n_children: 0,
    children: null_mut(),
    dictionary: null_mut()
});
released!(Array {
    length: 0,
    null_count: 0,
    offset: 0,
    n_buffers: 0,
    n_children: 0,
    buffers: null_mut(),
    children: null_mut(),
    dictionary: null_mut()
});
released!(Stream { get_schema: None, get_next: None, get_last_error: None });

/// Moves the structure out of a capsule, which is left with a released one.
fn take<T: Released>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let place = capsule.pointer_checked(Some(name))?.cast::<T>();
    // SAFETY: a capsule of this name points to this structure. By the interface, moving is copying it
    // and marking the source as released; nothing else is done with the source in between.
    let taken = unsafe { std::mem::replace(&mut *place.as_ptr(), T::empty()) };
    if taken.is_live() {
        Ok(taken)
    } else {
        Err(PyValueError::new_err("the Arrow capsule was used before"))
    }
}

/// How an array of strings keeps them.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Offsets of 4 bytes.
    Small,
    /// Offsets of 8 bytes.
    Large,
    /// Views of 16 bytes.
    View,
}

/// An array of strings of some other library.
pub(crate) struct Strings {
    array: Array,
    kind: Kind,
    /// How many strings come before it, in other chunks.
    before: usize,
}

/// What the producer of `part` did not keep to. Checked is all that can be: how large a buffer is, the
/// interface does not say.
fn wrong(part: &str, what: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow {part} {what}; its producer is at fault"))
}

fn kind(schema: &Schema) -> PyResult<Kind> {
    if !schema.is_live() || schema.format.is_null() {
        return Err(wrong("schema", "has no format"));
    }
    // SAFETY: the format of a live schema is a string that ends in a zero byte.
    let format = unsafe { CStr::from_ptr(schema.format) }.to_str().unwrap_or("?");
    let refuse = |what: &str| {
        let message = format!(
            "texts are an Arrow column of {what}; give one of strings (string, large_string or \
             string_view)"
        );
        Err(PyTypeError::new_err(message))
    };
    if !schema.dictionary.is_null() {
        return refuse("dictionary-encoded values: cast it to string first");
    }
    match format {
        "u" => Ok(Kind::Small),
        "U" => Ok(Kind::Large),
        "vu" => Ok(Kind::View),
        "+s" => refuse("structs, such as a whole table: take one of its columns"),
        other => refuse(&format!("format {other:?}")),
    }
}

impl Strings {
    /// The chunks of a column of strings; `None` for what is no Arrow column.
    pub(crate) fn of_column(column: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Self>>> {
        if let Some(method) = column.getattr_opt("__arrow_c_stream__")? {
            let mut stream: Stream = take(&method.call0()?, STREAM)?;
            return chunks(column.py(), &mut stream).map(Some);
        }
        let Some(method) = column.getattr_opt("__arrow_c_array__")? else { return Ok(None) };
        let pair = method.call0()?;
        let pair = pair.cast::<PyTuple>()?;
        let schema: Schema = take(&pair.get_item(0)?, SCHEMA)?;
        let array = take(&pair.get_item(1)?, ARRAY)?;
        Ok(Some(vec![Self::new(array, kind(&schema)?, 0)?]))
    }

    fn new(array: Array, kind: Kind, before: usize) -> PyResult<Self> {
        let (length, offset) = (array.length, array.offset);
        if length < 0 || offset < 0 {
            return Err(wrong("array", &format!("has length {length} and offset {offset}")));
        }
        if length > 0 && (array.n_buffers < 3 || array.buffers.is_null()) {
            return Err(wrong("array", &format!("has {} buffers, not 3", array.n_buffers)));
        }
        Ok(Self { array, kind, before })
    }

    fn len(&self) -> usize {
        usize::try_from(self.array.length).unwrap_or(0)
    }

    fn offset(&self) -> usize {
        usize::try_from(self.array.offset).unwrap_or(0)
    }

    /// Buffer `index` as `len` values of `T`; of a buffer that is not there, none.
    ///
    /// # Safety
    /// By the format the buffer must have that many, and `index` must be below `n_buffers`.
    unsafe fn buffer<T>(&self, index: usize, len: usize) -> PyResult<&[T]> {
        // SAFETY: a live array has `n_buffers` buffer pointers.
        let place = unsafe { *self.array.buffers.add(index) }.cast::<T>();
        if place.is_null() || len == 0 {
            return Ok(&[]);
        }
        let bytes = len.checked_mul(size_of::<T>());
        if !place.is_aligned() || bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            let what = format!("has a buffer of {len} values that is not aligned or too long");
            return Err(wrong("array", &what));
        }
        // SAFETY: by the caller and the checks above.
        Ok(unsafe { slice::from_raw_parts(place, len) })
    }

    /// Appends the texts, which stay where they are.
    pub(crate) fn read<'a>(&'a self, texts: &mut Vec<Cow<'a, str>>) -> PyResult<()> {
        if self.len() == 0 {
            return Ok(());
        }
        self.refuse_nulls()?;
        texts.try_reserve(self.len()).map_err(|_| {
            wrong("array", &format!("has {} texts, more than fit in memory", self.len()))
        })?;
        match self.kind {
            Kind::Small => self.read_by_offsets::<i32>(texts),
            Kind::Large => self.read_by_offsets::<i64>(texts),
            Kind::View => self.read_views(texts),
        }
    }

    fn refuse_nulls(&self) -> PyResult<()> {
        if self.array.null_count == 0 {
            return Ok(());
        }
        let (start, end) = (self.offset(), self.offset() + self.len());
        // SAFETY: buffer 0 has a bit for each value up to the last, where it is there at all.
        let bits: &[u8] = unsafe { self.buffer(0, end.div_ceil(8)) }?;
        let missing = |&at: &usize| !bits.is_empty() && bits[at / 8] >> (at % 8) & 1 == 0;
        match (start..end).find(missing) {
            None => Ok(()),
            Some(at) => Err(PyTypeError::new_err(format!(
                "text {} is null; drop it or fill it with \"\" first",
                self.before + at - start
            ))),
        }
    }

    fn text<'a>(&self, index: usize, bytes: Option<&'a [u8]>) -> PyResult<Cow<'a, str>> {
        let index = self.before + index;
        let bytes = bytes.ok_or_else(|| {
            PyValueError::new_err(format!("text {index} of the Arrow column is out of bounds"))
        })?;
        std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
            PyValueError::new_err(format!(
                "text {index} is not UTF-8 at byte {}; repair it, or encode its bytes",
                error.valid_up_to()
            ))
        })
    }

    fn read_by_offsets<'a, T: Copy + TryInto<usize>>(
        &'a self,
        texts: &mut Vec<Cow<'a, str>>,
    ) -> PyResult<()> {
        let end = self.offset() + self.len();
        // SAFETY: buffer 1 has an offset for each value and one more.
        let offsets: &[T] = unsafe { self.buffer(1, end + 1) }?;
        let offset = |at: usize| offsets.get(at).and_then(|&at| at.try_into().ok());
        // SAFETY: buffer 2 has as many bytes as the last offset says.
        let bytes: &[u8] = unsafe { self.buffer(2, offset(end).unwrap_or(0)) }?;
        for index in 0..self.len() {
            let at = self.offset() + index;
            let range = offset(at).zip(offset(at + 1));
            let bytes = range.and_then(|(start, end)| bytes.get(start..end));
            texts.push(self.text(index, bytes)?);
        }
        Ok(())
    }

    fn read_views<'a>(&'a self, texts: &mut Vec<Cow<'a, str>>) -> PyResult<()> {
        let end = self.offset() + self.len();
        let data = usize::try_from(self.array.n_buffers).unwrap_or(0).saturating_sub(3);
        // SAFETY: buffer 1 has a view of 16 bytes for each value.
        let views: &[[u8; 16]] = unsafe { self.buffer(1, end) }?;
        if views.is_empty() {
            return Err(wrong("array", "has no views"));
        }
        // SAFETY: the last buffer has the sizes of the data buffers, which lie between.
        let sizes: &[i64] = unsafe { self.buffer(2 + data, data) }?;
        let number = |view: &[u8; 16], at: usize| {
            let bytes = [view[at], view[at + 1], view[at + 2], view[at + 3]];
            usize::try_from(i32::from_ne_bytes(bytes)).ok()
        };
        for (index, view) in views[self.offset()..].iter().enumerate() {
            let bytes = match number(view, 0) {
                Some(len) if len <= 12 => view.get(4..4 + len),
                len => len.zip(number(view, 8)).zip(number(view, 12)).and_then(
                    |((len, buffer), start)| {
                        let size = usize::try_from(*sizes.get(buffer)?).ok()?;
                        // SAFETY: data buffer `buffer`, which there is, has `size` bytes.
                        let bytes = unsafe { self.buffer::<u8>(2 + buffer, size) }.ok()?;
                        bytes.get(start..start + len)
                    },
                ),
            };
            texts.push(self.text(index, bytes)?);
        }
        Ok(())
    }
}

/// All arrays of a stream.
fn chunks(py: Python<'_>, stream: &mut Stream) -> PyResult<Vec<Strings>> {
    let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
        return Err(PyValueError::new_err("the Arrow stream has no callbacks"));
    };
    let mut schema = Schema::empty();
    // SAFETY: the stream is live, and the structure may be written to.
    let code = unsafe { get_schema(stream, &raw mut schema) };
    failed(stream, code)?;
    let kind = kind(&schema)?;
    let (mut chunks, mut before) = (Vec::new(), 0);
    loop {
        py.check_signals()?;
        let mut array = Array::empty();
        // SAFETY: as above.
        let code = unsafe { get_next(stream, &raw mut array) };
        failed(stream, code)?;
        if !array.is_live() {
            return Ok(chunks);
        }
        let strings = Strings::new(array, kind, before)?;
        before += strings.len();
        chunks.push(strings);
    }
}

fn failed(stream: &mut Stream, code: c_int) -> PyResult<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the stream is live; the callback gives null or a string that ends in a zero byte and
    // lives until the next call.
    let why = unsafe {
        let why = stream.get_last_error.map_or(null(), |last_error| last_error(stream));
        if why.is_null() {
            Cow::Borrowed("no reason given")
        } else {
            CStr::from_ptr(why).to_string_lossy()
        }
    };
    Err(PyValueError::new_err(format!("the Arrow stream failed with code {code}: {why}")))
}

/// What an exported array or schema keeps alive, itself behind its `private_data`.
struct Held<T> {
    /// The child, owned, or null.
    children: [*mut T; 1],
    buffers: [*const c_void; 2],
    /// Owns what the buffers point to.
    #[expect(dead_code, reason = "held, not read")]
    memory: Option<Arc<dyn Any + Send + Sync>>,
}

impl<T> Held<T> {
    fn new(
        child: Option<T>,
        buffer: *const c_void,
        memory: Option<Arc<dyn Any + Send + Sync>>,
    ) -> *mut Self {
        let child = child.map_or(null_mut(), |child| Box::into_raw(Box::new(child)));
        Box::into_raw(Box::new(Self { children: [child], buffers: [null(), buffer], memory }))
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        let [child] = self.children;
        if !child.is_null() {
            // SAFETY: made by `Held::new` from a box. A consumer that moves the child out leaves it
            // marked as released, and then dropping it does no more than free the box.
            drop(unsafe { Box::from_raw(child) });
        }
    }
}

/// Frees what [`Held::new`] made, the child with it.
unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: called once, by the owner, on a structure that `array_of` made.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Held<Array>>()));
        (*array).release = None;
    }
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: called once, by the owner, on a structure that `schema_of` made.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<Held<Schema>>()));
        (*schema).release = None;
    }
}

fn array_of<T: Send + Sync + 'static>(
    length: usize,
    values: &Arc<Vec<T>>,
    child: Option<Array>,
) -> PyResult<Array> {
    let n_children = i64::from(child.is_some());
    let memory: Arc<dyn Any + Send + Sync> = Arc::<Vec<T>>::clone(values);
    let length = i64::try_from(length)?;
    let held = Held::new(child, values.as_ptr().cast(), Some(memory));
    // SAFETY: `held` was made just now and is only freed by the release callback.
    let (buffers, children) = unsafe { (&raw mut (*held).buffers, &raw mut (*held).children) };
    let mut array = Array::empty();
    (array.length, array.n_buffers, array.n_children) = (length, 2, n_children);
    (array.buffers, array.private_data) = (buffers.cast(), held.cast());
    array.children = if n_children > 0 { children.cast() } else { null_mut() };
    array.release = Some(release_array);
    Ok(array)
}

fn schema_of(format: &'static CStr, name: &'static CStr, child: Option<Schema>) -> Schema {
    let n_children = i64::from(child.is_some());
    let held = Held::new(child, null(), None);
    // SAFETY: as in `array_of`.
    let children = unsafe { &raw mut (*held).children };
    let mut schema = Schema::empty();
    (schema.format, schema.name, schema.n_children) = (format.as_ptr(), name.as_ptr(), n_children);
    schema.flags = NULLABLE;
    schema.children = if n_children > 0 { children.cast() } else { null_mut() };
    schema.private_data = held.cast();
    schema.release = Some(release_schema);
    schema
}

/// A capsule with the type large list of uint32.
pub(crate) fn list_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let item = schema_of(c"I", c"item", None);
    let list = schema_of(c"+L", c"", Some(item));
    Ok(PyCapsule::new_with_value(py, list, SCHEMA)?.into_any())
}

/// A capsule with the array of lists that has these items and offsets.
pub(crate) fn list_array<'py>(
    py: Python<'py>,
    items: &Arc<Vec<u32>>,
    offsets: &Arc<Vec<i64>>,
) -> PyResult<Bound<'py, PyAny>> {
    let child = array_of(items.len(), items, None)?;
    let array = array_of(offsets.len() - 1, offsets, Some(child))?;
    Ok(PyCapsule::new_with_value(py, array, ARRAY)?.into_any())
}
