//! Ends the program with one sentence where memory is exhausted.
//!
//! The standard library would abort with a signal and a trace. Nothing can be done in a process that gets no memory, and
//! an allocator must not unwind, so the process ends here.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

/// Status of the process: as for any plan that cannot be carried out.
const STATUS: i32 = 2;

/// The system's allocator, which never returns null.
struct OrExit;

#[global_allocator]
static ALLOCATOR: OrExit = OrExit;

// SAFETY: every call is passed on to the system's allocator; where it returns null the process ends.
unsafe impl GlobalAlloc for OrExit {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this function, which is the same.
        or_exit(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        or_exit(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        or_exit(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline(always)]
fn or_exit(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        exit(size);
    }
    memory
}

#[cold]
fn exit(size: usize) -> ! {
    // Formatting numbers into a locked stream allocates nothing; standard error is not buffered.
    let _ = writeln!(
        std::io::stderr().lock(),
        "mousehole: error: out of memory: no {size} bytes more were to be had; give fewer --jobs, a shorter \
         --duration, a lower --rate or a lower --load"
    );
    // Not `exit`, which would run the handlers of other threads' libraries.
    _exit(STATUS)
}

unsafe extern "C" {
    /// Ends the process at once (POSIX).
    safe fn _exit(status: i32) -> !;
}
