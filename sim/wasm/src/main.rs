//! Compares schemes from JSON to JSON: as a program from standard input to output, in WebAssembly by the functions that it
//! exports, which `compare.mjs` calls. `make wasm-check` holds the two documents against each other.

use mousehole_compare::compare_json;
use std::io::{Read, Write};

/// Returns a buffer of so many bytes, for a request in JSON.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// Compares what the request in a buffer of [`reserve`] asks for, and frees the buffer. Returns a buffer of the answer,
/// which [`release`] frees: eight bytes of its length (little-endian), one that is 1 if a sentence about an error follows
/// and else 0, then the document or the sentence in UTF-8.
///
/// # Safety
/// `request` is of [`reserve`], with this length, and has not been given before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn compare(request: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: the caller's promise.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(request, length)) };
    let found = match std::str::from_utf8(&request) {
        Ok(text) => compare_json(text),
        Err(error) => Err(format!("request: {error}")),
    };
    let (is_error, text) = match &found {
        Ok(document) => (0, document),
        Err(sentence) => (1, sentence),
    };
    let whole = [&(text.len() as u64).to_le_bytes()[..], &[is_error], text.as_bytes()].concat();
    Box::into_raw(whole.into_boxed_slice()).cast()
}

/// Frees the answer of [`compare`].
///
/// # Safety
/// `answer` is of [`compare`] and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn release(answer: *mut u8) {
    // SAFETY: the caller's promise; the first eight bytes say how long the text behind the head of nine is.
    unsafe {
        let length = u64::from_le_bytes(*answer.cast::<[u8; 8]>()) as usize;
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, length + 9)));
    }
}

fn main() {
    let mut request = String::new();
    let read = std::io::stdin().read_to_string(&mut request).map_err(|error| error.to_string());
    match read.and_then(|_| compare_json(&request)) {
        Ok(document) => std::io::stdout().write_all(document.as_bytes()).expect("the document is written"),
        Err(sentence) => {
            eprintln!("{sentence}");
            std::process::exit(2);
        }
    }
}
