//! Wraps bpf(2): maps, programs, links, and their pins.
//!
//! aya loads programs; what outlives a command is opened here by its pin.

use aya::maps::{Map as AyaMap, MapData};
use aya_obj::generated::{
    bpf_attach_type, bpf_attr, bpf_cmd, bpf_insn, bpf_link_info, bpf_map_info, bpf_map_type, bpf_prog_info,
    bpf_prog_type, bpf_stats_type,
};
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::{io, mem, ptr};

/// An open map of the kernel.
#[derive(Debug)]
pub struct Map {
    descriptor: OwnedFd,
    name: String,
    kind: u32,
    key_bytes: usize,
    value_bytes: usize,
    max_entries: u32,
}

impl Map {
    /// Opens a map by its pin.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open(path: &Path) -> io::Result<Map> {
        Map::new(open_pin(path)?)
    }

    /// Creates an array of one zeroed entry. The name is cut to 15 bytes. The map ends with its
    /// last descriptor unless it is pinned.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn create(name: &CStr, value_bytes: u32) -> io::Result<Map> {
        // SAFETY: the struct is numbers, which may be zero; the new descriptor is nobody else's.
        unsafe {
            let mut attributes: bpf_attr = mem::zeroed();
            let create = &mut attributes.__bindgen_anon_1;
            create.map_type = bpf_map_type::BPF_MAP_TYPE_ARRAY as u32;
            (create.key_size, create.value_size, create.max_entries) = (4, value_bytes, 1);
            let room = create.map_name.len() - 1;
            for (to, from) in create.map_name.iter_mut().zip(name.to_bytes().iter().take(room)) {
                *to = *from as _;
            }
            Map::new(own_descriptor(call_bpf(bpf_cmd::BPF_MAP_CREATE, &mut attributes)?))
        }
    }

    /// Returns the map behind one of aya's, with a descriptor of its own.
    ///
    /// # Panics
    /// For a kind of map that our programs do not have.
    pub(crate) fn from_aya(map: &AyaMap) -> io::Result<Map> {
        let data: &MapData = match map {
            AyaMap::Array(data)
            | AyaMap::PerCpuArray(data)
            | AyaMap::HashMap(data)
            | AyaMap::LruHashMap(data)
            | AyaMap::RingBuf(data) => data,
            other => unreachable!("the programs have no map such as {other:?}"),
        };
        Map::new(data.fd().as_fd().try_clone_to_owned()?)
    }

    /// Returns the map of a descriptor, after asking the kernel for its properties.
    fn new(descriptor: OwnedFd) -> io::Result<Map> {
        let info: bpf_map_info = read_info(descriptor.as_fd())?;
        Ok(Map {
            name: parse_name(&info.name),
            kind: info.type_,
            key_bytes: info.key_size as usize,
            value_bytes: info.value_size as usize,
            max_entries: info.max_entries,
            descriptor,
        })
    }

    /// Returns its name, of which the kernel stores 15 bytes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bytes of a value; in a per-CPU map, those of one CPU.
    pub fn value_size(&self) -> usize {
        self.value_bytes
    }

    /// Returns how many entries it can hold.
    pub fn max_entries(&self) -> u32 {
        self.max_entries
    }

    /// Pins it at this path of a BPF file system.
    ///
    /// # Errors
    /// The kernel's error; EEXIST if the path is in use.
    pub fn pin(&self, path: &Path) -> io::Result<()> {
        pin(self.descriptor.as_fd(), path)
    }

    /// Returns the value of a key; `None` if the key is not in the map.
    ///
    /// # Errors
    /// The kernel's error.
    ///
    /// # Panics
    /// For a per-CPU array, which [`Map::lookup_percpu`] reads, and for a key of the wrong length.
    pub fn lookup(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        assert_ne!(self.kind, bpf_map_type::BPF_MAP_TYPE_PERCPU_ARRAY as u32, "{}", self.name);
        self.read(key, self.value_bytes)
    }

    /// Returns the values of a key on all possible CPUs; `None` if the key is not in the map. The
    /// map must be a per-CPU one.
    ///
    /// # Errors
    /// The kernel's error.
    ///
    /// # Panics
    /// For a key of the wrong length.
    pub fn lookup_percpu(&self, key: &[u8]) -> io::Result<Option<Vec<Vec<u8>>>> {
        let cpus = aya::util::nr_cpus().map_err(|(_, error)| error)?;
        let stride = self.value_bytes.next_multiple_of(8);
        let all = self.read(key, stride * cpus)?;
        Ok(all.map(|all| all.chunks(stride).map(|one| one[..self.value_bytes].to_vec()).collect()))
    }

    /// Returns the `bytes` that the kernel writes for a key; `None` if the key is not in the map.
    ///
    /// # Panics
    /// For a key of the wrong length.
    fn read(&self, key: &[u8], bytes: usize) -> io::Result<Option<Vec<u8>>> {
        let mut value = vec![0; bytes];
        match self.access_element(bpf_cmd::BPF_MAP_LOOKUP_ELEM, Some(key), value.as_mut_ptr()) {
            Ok(()) => Ok(Some(value)),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sets the value of a key; an absent key of a hash table is added.
    ///
    /// # Errors
    /// The kernel's error; EINVAL for a value of another length than the map's.
    ///
    /// # Panics
    /// For a key of the wrong length.
    pub fn update(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        if value.len() != self.value_bytes {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        self.access_element(bpf_cmd::BPF_MAP_UPDATE_ELEM, Some(key), value.as_ptr().cast_mut())
    }

    /// Iterates over all keys. If the table changes meanwhile, a key may appear twice or be missed.
    /// Ends early, without a sign of it, at the kernel's first error.
    pub fn keys(&self) -> impl Iterator<Item = Vec<u8>> {
        let mut last: Option<Vec<u8>> = None;
        std::iter::from_fn(move || {
            let mut next = vec![0; self.key_bytes];
            self.access_element(bpf_cmd::BPF_MAP_GET_NEXT_KEY, last.as_deref(), next.as_mut_ptr()).ok()?;
            last = Some(next.clone());
            Some(next)
        })
    }

    /// Runs a command on one element. `value` must have room for what the command reads or writes
    /// there; `key` is `None` only for the first of all keys.
    ///
    /// # Panics
    /// For a key of the wrong length.
    fn access_element(&self, command: bpf_cmd, key: Option<&[u8]>, value: *mut u8) -> io::Result<()> {
        assert!(key.is_none_or(|key| key.len() == self.key_bytes), "{}", self.name);
        // SAFETY: the struct is numbers, which may be zero; the key has the map's length, and the value its room.
        unsafe {
            let mut attributes: bpf_attr = mem::zeroed();
            let element = &mut attributes.__bindgen_anon_2;
            element.map_fd = self.descriptor.as_raw_fd() as u32;
            element.key = key.map_or(0, |key| key.as_ptr() as u64);
            element.__bindgen_anon_1.value = value as u64;
            call_bpf(command, &mut attributes).map(drop)
        }
    }

    /// Reads the next entries of an array, as many as `keys` has room for, into `keys` and
    /// `values`. `from` is `None` at first, then what the last call returned. Returns how many
    /// entries there were, and where to go on; `None` after the last.
    ///
    /// # Errors
    /// The kernel's error.
    ///
    /// # Panics
    /// If keys do not have 4 bytes or `values` has less room than `keys`.
    pub(crate) fn read_batch(
        &self,
        from: Option<u32>,
        keys: &mut [u32],
        values: &mut [u8],
    ) -> io::Result<(usize, Option<u32>)> {
        assert!(self.key_bytes == 4 && values.len() >= keys.len() * self.value_bytes, "{}", self.name);
        let (mut from, mut to) = (from, 0_u32);
        // SAFETY: the struct is numbers, which may be zero; the buffers have room for a batch.
        unsafe {
            let mut attributes: bpf_attr = mem::zeroed();
            let batch = &mut attributes.batch;
            batch.map_fd = self.descriptor.as_raw_fd() as u32;
            batch.in_batch = from.as_mut().map_or(0, |from| ptr::from_mut(from) as u64);
            batch.out_batch = &raw mut to as u64;
            (batch.keys, batch.values) = (keys.as_mut_ptr() as u64, values.as_mut_ptr() as u64);
            batch.count = keys.len() as u32;
            let done = call_bpf(bpf_cmd::BPF_MAP_LOOKUP_BATCH, &mut attributes);
            let count = attributes.batch.count as usize;
            match done {
                Ok(_) => Ok((count, Some(to))),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok((count, None)),
                Err(error) => Err(error),
            }
        }
    }

    /// Returns it as aya's ring buffer.
    ///
    /// # Errors
    /// The kernel's error; invalid input for another kind of map.
    pub(crate) fn into_ring(self) -> io::Result<aya::maps::RingBuf<MapData>> {
        let invalid = |error: aya::maps::MapError| io::Error::new(io::ErrorKind::InvalidInput, error);
        let data = MapData::from_fd(self.descriptor).map_err(invalid)?;
        aya::maps::RingBuf::try_from(AyaMap::RingBuf(data)).map_err(invalid)
    }
}

/// Pins the map, program or link of a descriptor, which then outlives the process.
pub(crate) fn pin(what: BorrowedFd, path: &Path) -> io::Result<()> {
    call_with_path(bpf_cmd::BPF_OBJ_PIN, path, what.as_raw_fd() as u32).map(drop)
}

/// Opens a pinned map, program or link. Fails with the kernel's error, ENOENT for an absent path.
pub(crate) fn open_pin(path: &Path) -> io::Result<OwnedFd> {
    // SAFETY: the new descriptor is nobody else's.
    call_with_path(bpf_cmd::BPF_OBJ_GET, path, 0).map(|new| unsafe { own_descriptor(new) })
}

/// Runs a command that takes a path and a descriptor (0 for none).
///
/// # Panics
/// For a path with a zero byte.
fn call_with_path(command: bpf_cmd, path: &Path, what: u32) -> io::Result<i64> {
    let text = CString::new(path.as_os_str().as_bytes()).expect("no zero byte");
    // SAFETY: the struct is numbers, which may be zero; the path ends in a zero byte.
    unsafe {
        let mut attributes: bpf_attr = mem::zeroed();
        attributes.__bindgen_anon_4.pathname = text.as_ptr() as u64;
        attributes.__bindgen_anon_4.bpf_fd = what;
        call_bpf(command, &mut attributes)
    }
}

/// Attaches a program to a device's egress by a tcx link. The link ends when the descriptor is
/// closed, unless it is pinned.
///
/// # Errors
/// The kernel's error.
pub fn create_link(program: BorrowedFd, device: u32) -> io::Result<OwnedFd> {
    // SAFETY: the struct is numbers, which may be zero; the new descriptor is nobody else's.
    unsafe {
        let mut attributes: bpf_attr = mem::zeroed();
        let link = &mut attributes.link_create;
        link.__bindgen_anon_1.prog_fd = program.as_raw_fd() as u32;
        link.__bindgen_anon_2.target_ifindex = device;
        link.attach_type = bpf_attach_type::BPF_TCX_EGRESS as u32;
        Ok(own_descriptor(call_bpf(bpf_cmd::BPF_LINK_CREATE, &mut attributes)?))
    }
}

/// Replaces the program of a link, without a packet that passes neither.
pub(crate) fn update_link(link: BorrowedFd, program: BorrowedFd) -> io::Result<()> {
    // SAFETY: the struct is numbers, which may be zero.
    unsafe {
        let mut attributes: bpf_attr = mem::zeroed();
        attributes.link_update.link_fd = link.as_raw_fd() as u32;
        attributes.link_update.__bindgen_anon_1.new_prog_fd = program.as_raw_fd() as u32;
        call_bpf(bpf_cmd::BPF_LINK_UPDATE, &mut attributes).map(drop)
    }
}

/// Loads a program for filters and tcx from its instructions, eight bytes each.
///
/// # Errors
/// The kernel's error.
pub fn load_instructions(name: &CStr, instructions: &[u64]) -> io::Result<OwnedFd> {
    const { assert!(size_of::<bpf_insn>() == size_of::<u64>()) };
    // SAFETY: the struct is numbers, which may be zero; the new descriptor is nobody else's.
    unsafe {
        let mut attributes: bpf_attr = mem::zeroed();
        let load = &mut attributes.__bindgen_anon_3;
        load.prog_type = bpf_prog_type::BPF_PROG_TYPE_SCHED_CLS as u32;
        (load.insns, load.insn_cnt) = (instructions.as_ptr() as u64, instructions.len() as u32);
        load.license = c"Dual MIT/GPL".as_ptr() as u64;
        let room = load.prog_name.len() - 1;
        for (to, from) in load.prog_name.iter_mut().zip(name.to_bytes().iter().take(room)) {
            *to = *from as _;
        }
        Ok(own_descriptor(call_bpf(bpf_cmd::BPF_PROG_LOAD, &mut attributes)?))
    }
}

/// Returns the numbers of the programs at a device's tcx hook, in the order in which they run.
///
/// # Errors
/// The kernel's error, for example if there are more than `most`.
pub(crate) fn list_programs(device: u32, hook: bpf_attach_type, most: usize) -> io::Result<Vec<u32>> {
    let mut ids = vec![0_u32; most];
    // SAFETY: the struct is numbers, which may be zero; the array has the given length.
    unsafe {
        let mut attributes: bpf_attr = mem::zeroed();
        let query = &mut attributes.query;
        query.__bindgen_anon_1.target_ifindex = device;
        query.attach_type = hook as u32;
        query.prog_ids = ids.as_mut_ptr() as u64;
        query.__bindgen_anon_2.prog_cnt = most as u32;
        call_bpf(bpf_cmd::BPF_PROG_QUERY, &mut attributes)?;
        ids.truncate(attributes.query.__bindgen_anon_2.prog_cnt as usize);
    }
    Ok(ids)
}

/// Opens a program by its number.
pub(crate) fn open_program(id: u32) -> io::Result<OwnedFd> {
    // SAFETY: the struct is numbers, which may be zero; the new descriptor is nobody else's.
    unsafe {
        let mut attributes: bpf_attr = mem::zeroed();
        attributes.__bindgen_anon_6.__bindgen_anon_1.prog_id = id;
        Ok(own_descriptor(call_bpf(bpf_cmd::BPF_PROG_GET_FD_BY_ID, &mut attributes)?))
    }
}

/// Returns the kernel's information about a program.
///
/// # Errors
/// The kernel's error.
pub fn program_info(program: BorrowedFd) -> io::Result<bpf_prog_info> {
    read_info(program)
}

/// Returns the kernel's information about a link.
pub(crate) fn link_info(link: BorrowedFd) -> io::Result<bpf_link_info> {
    read_info(link)
}

/// Makes the kernel count the run time of all programs of the machine until the descriptor is
/// closed.
///
/// # Errors
/// The kernel's error.
pub fn enable_run_time_statistics() -> io::Result<OwnedFd> {
    // SAFETY: the struct is numbers, which may be zero; the new descriptor is nobody else's.
    unsafe {
        let mut attributes: bpf_attr = mem::zeroed();
        attributes.enable_stats.type_ = bpf_stats_type::BPF_STATS_RUN_TIME as u32;
        Ok(own_descriptor(call_bpf(bpf_cmd::BPF_ENABLE_STATS, &mut attributes)?))
    }
}

/// The input of a test run.
#[derive(Debug)]
pub struct TestRun<'a> {
    /// The frame.
    pub frame: &'a [u8],
    /// Room for the frame after the run; may be empty.
    pub out: &'a mut [u8],
    /// `struct __sk_buff`; the run overwrites it.
    pub context: &'a mut [u8],
    /// How often the program runs; 0 means once.
    pub repeat: u32,
}

/// The result of a test run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tested {
    /// The program's return value.
    pub verdict: u32,
    /// Bytes of the frame after the run.
    pub bytes: usize,
    /// Mean time of one run, ns.
    pub duration_ns: u32,
}

/// Runs a program on a frame without any device (BPF_PROG_TEST_RUN). Overwrites `run.context` and,
/// if it is not empty, `run.out`; maps change as by a real packet.
///
/// # Errors
/// The kernel's error.
pub fn run_test(program: BorrowedFd, run: TestRun) -> io::Result<Tested> {
    let before = run.context.to_vec();
    // SAFETY: the struct is numbers, which may be zero; each buffer has the given length.
    unsafe {
        let mut attributes: bpf_attr = mem::zeroed();
        let test = &mut attributes.test;
        test.prog_fd = program.as_raw_fd() as u32;
        (test.data_in, test.data_size_in) = (run.frame.as_ptr() as u64, run.frame.len() as u32);
        if !run.out.is_empty() {
            (test.data_out, test.data_size_out) = (run.out.as_mut_ptr() as u64, run.out.len() as u32);
        }
        (test.ctx_in, test.ctx_size_in) = (before.as_ptr() as u64, before.len() as u32);
        (test.ctx_out, test.ctx_size_out) = (run.context.as_mut_ptr() as u64, before.len() as u32);
        test.repeat = run.repeat;
        call_bpf(bpf_cmd::BPF_PROG_TEST_RUN, &mut attributes)?;
        let test = attributes.test;
        Ok(Tested { verdict: test.retval, bytes: test.data_size_out as usize, duration_ns: test.duration })
    }
}

/// Reads the kernel's information about the BPF object `object` (BPF_OBJ_GET_INFO_BY_FD). `T` must be the struct of its
/// kind, such as `bpf_map_info`; nothing checks that.
///
/// # Errors
/// The kernel's error.
fn read_info<T>(object: BorrowedFd) -> io::Result<T> {
    // SAFETY: the kernel's structs of information are numbers, which may be zero; the size is given.
    unsafe {
        let mut info: T = mem::zeroed();
        let mut attributes: bpf_attr = mem::zeroed();
        attributes.info.bpf_fd = object.as_raw_fd() as u32;
        attributes.info.info_len = size_of::<T>() as u32;
        attributes.info.info = &raw mut info as u64;
        call_bpf(bpf_cmd::BPF_OBJ_GET_INFO_BY_FD, &mut attributes)?;
        Ok(info)
    }
}

/// Returns the text before the first zero byte of a name; invalid UTF-8 is replaced.
pub(crate) fn parse_name(name: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = name.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Takes ownership of the descriptor that a call returned.
///
/// # Safety
/// It must be open, and nobody else may close it.
unsafe fn own_descriptor(new: i64) -> OwnedFd {
    // SAFETY: the caller promises it.
    unsafe { OwnedFd::from_raw_fd(new as i32) }
}

/// Calls bpf(2). Returns its result, a descriptor for the commands that create one, or the kernel's
/// error.
///
/// # Safety
/// Pointers in the struct must be valid for what the command does with them.
unsafe fn call_bpf(command: bpf_cmd, attributes: &mut bpf_attr) -> io::Result<i64> {
    // SAFETY: the caller promises the pointers; the size is the struct's.
    let done =
        unsafe { libc::syscall(libc::SYS_bpf, command as libc::c_long, attributes, size_of::<bpf_attr>()) };
    match done {
        0.. => Ok(done as i64),
        _ => Err(io::Error::last_os_error()),
    }
}
