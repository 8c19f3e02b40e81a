//! Ends the process with one sentence when memory is exhausted.
//!
//! The standard library would abort with a signal and a trace. A process without memory can do nothing, and an
//! allocator must not unwind, so the process ends here.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

/// Exit status: that of any plan that cannot be carried out.
const STATUS: i32 = 2;

/// The system's allocator, except that it ends the process instead of returning null.
struct ExitingAllocator;

#[global_allocator]
static ALLOCATOR: ExitingAllocator = ExitingAllocator;

// SAFETY: every call is passed on to the system's allocator; the process ends if that returns null.
unsafe impl GlobalAlloc for ExitingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the contract of this function, which the caller fulfils, is that of `System`.
        exit_if_null(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        exit_if_null(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        exit_if_null(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns the memory; ends the process if it is null, since `size` bytes could not be allocated.
#[inline(always)]
fn exit_if_null(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        exit_out_of_memory(size);
    }
    memory
}

/// Writes to standard error that `size` bytes could not be allocated, and ends the process.
#[cold]
fn exit_out_of_memory(size: usize) -> ! {
    // Formatting numbers into a locked stream allocates nothing; standard error is not buffered.
    let _ = writeln!(
        std::io::stderr().lock(),
        "mousehole: error: out of memory: could not allocate {size} more bytes; give fewer --jobs, a shorter \
         --duration, a lower --rate or a lower --load"
    );
    // Not `exit`, which would run the handlers of other threads' libraries.
    _exit(STATUS)
}

unsafe extern "C" {
    /// Ends the process at once (POSIX).
    safe fn _exit(status: i32) -> !;
}
