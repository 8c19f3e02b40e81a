//! Files of the page, which come piece by piece and are never held as a whole.

use mousehole_compare::{Given, Options};
use mousehole_sim::error::{Error, Result};
use mousehole_sim::traffic::read::{ReadOptions, read_streams};
use std::io::{self, Read};

/// Bytes of all files together that a page takes: it waits for their reading in each of its workers.
pub const MOST_BYTES: u64 = 200_000_000;
/// Bytes by which the memory of one worker may grow while it reads; what takes more is refused.
const MOST_MEMORY: u64 = 1 << 30;
const SCENARIO: &str = ".toml";

/// Returns the traffic of the files that options name; asks the page for each to its end, by the number of its name.
///
/// # Errors
/// Those of [`read_streams`], among them that of more memory than `MOST_MEMORY`, and [`Error::File`] for a scenario,
/// which is no traffic.
pub fn read(options: &Options) -> Result<Given> {
    let lower = |name: &String| name.to_lowercase();
    if let Some(name) = options.files.iter().find(|name| lower(name).ends_with(SCENARIO)) {
        return Err(Error::file(name, "a scenario; the command mousehole compare takes it"));
    }
    let stream = |(number, name): (usize, &String)| {
        (name.clone(), Box::new(Pieces { file: number as u32 }) as Box<dyn Read + Send>)
    };
    let named = options.files.iter().enumerate().map(stream).collect();
    let reading = ReadOptions { seed: options.seed, most_bytes: Some(MOST_MEMORY), ..ReadOptions::default() };
    read_streams(named, &reading).map(Given::from)
}

/// The bytes of one file from where the page is in it.
struct Pieces {
    file: u32,
}

impl Read for Pieces {
    /// Puts the next bytes from the page into the buffer; returns their number, 0 at the end of the file.
    ///
    /// # Errors
    /// If the browser does not let the page read the file.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = page_read(self.file, buffer);
        usize::try_from(count).map_err(|_| io::Error::other("the browser does not let the page read it"))
    }
}

/// Asks the page for the next bytes of a file, by its number. Returns how many it wrote into the buffer: 0 at the end
/// of the file, negative for a fault.
#[cfg(target_arch = "wasm32")]
fn page_read(file: u32, buffer: &mut [u8]) -> i32 {
    #[link(wasm_import_module = "page")]
    unsafe extern "C" {
        fn read(file: u32, buffer: *mut u8, bytes: usize) -> i32;
    }
    // SAFETY: the page writes at most so many bytes into the buffer.
    unsafe { read(file, buffer.as_mut_ptr(), buffer.len()) }
}

/// Returns a fault: elsewhere there is no page.
#[cfg(not(target_arch = "wasm32"))]
fn page_read(_: u32, _: &mut [u8]) -> i32 {
    -1
}
