//! Calls the parts of the headers that no description offers, through `tests/parts/*.c`.

use mousehole_policy::{NEVER, Params, State, View, find};
use std::ffi::{CStr, c_char, c_void};

#[repr(C)]
struct CPlace {
    name: *const c_char,
    offset: u32,
    bytes: u32,
}

unsafe extern "C" {
    static mh_test_places: [CPlace; 1]; // ends with a null name
    fn mh_test_mul_q32(a: u64, f_q32: u64) -> u64;
    fn mh_test_mul_q64(a: u64, f_q64: u64) -> u64;
    fn mh_test_codel_gap_ns(interval_ns: u64, shift: u32, count: u32) -> u64;
    fn mh_test_pow_q64(base_q64: u64, exponent: u64) -> u64;
    fn mh_test_fixed(value: f64, bits: u32) -> u64;
    fn mh_test_is_share(name: *const c_char, shares: u64) -> u32;
    fn mh_test_red_average(params: *const c_void, avg_q32: u64, queue_q32: u64, idle_ns: u64) -> u64;
    fn mh_test_red_probability(params: *const c_void, avg_q32: u64) -> u64;
    fn mh_test_shred_probability(params: *const c_void, avg_q32: u64, hint: u64, hint_avg_q32: u64) -> u64;
    fn mh_test_token_bucket_setup(params: *mut c_void, rate: f64, burst: u32);
    fn mh_test_token_bucket_scaled_at(params: *const c_void, percent_q32: u64) -> u64;
    fn mh_test_token_bucket_refill(params: *const c_void, bucket: *mut c_void, now_ns: u64);
    fn mh_test_token_bucket_conforms(params: *const c_void, bucket: *const c_void, tokens: u32) -> u32;
    fn mh_test_token_bucket_take(params: *const c_void, bucket: *mut c_void, tokens: u32);
    fn mh_test_token_bucket_take_clipped(params: *const c_void, bucket: *mut c_void, tokens: u32);
    fn mh_test_token_bucket_packet(
        params: *const c_void,
        bucket: *mut c_void,
        tokens: u32,
        now_ns: u64,
    ) -> u32;
    fn mh_test_token_bucket_wait_ns(params: *const c_void, bucket: *const c_void, tokens: u32) -> u64;
    fn mh_test_token_bucket_percent_q16(params: *const c_void, bucket: *const c_void) -> u64;
    fn mh_test_size_history_setup(params: *mut c_void, percent_q32: u64, flows: u32);
    fn mh_test_size_history_flow_end(params: *const c_void, history: *mut c_void, size: u32);
    fn mh_test_size_history_quantile(history: *const c_void) -> u32;
    fn mh_test_flow_meter_packet(
        params: *const c_void,
        meter: *mut c_void,
        view: *const View,
        now_ns: u64,
    ) -> u32;
    fn mh_test_flow_meter_expired(params: *const c_void, meter: *const c_void, now_ns: u64) -> u32;
    fn mh_test_flow_meter_count(meter: *const c_void, unit: u32) -> u32;
}

/// Returns the offset and the size in bytes of a struct (`mh_token_bucket`) or of a field (`mh_red_params.slope_q64`).
fn locate(name: &str) -> (usize, usize) {
    let first = (&raw const mh_test_places).cast::<CPlace>();
    for index in 0.. {
        // SAFETY: the list is constant and ends with a null name, at which the loop stops.
        let place = unsafe { &*first.add(index) };
        assert!(!place.name.is_null(), "tests/parts/functions.c does not list {name}");
        // SAFETY: names are string literals.
        if unsafe { CStr::from_ptr(place.name) }.to_bytes() == name.as_bytes() {
            return (place.offset as usize, place.bytes as usize);
        }
    }
    unreachable!()
}

/// Returns the bytes of a field, such as a struct within the struct.
pub fn inner(bytes: &[u8], name: &str) -> Vec<u8> {
    let (offset, length) = locate(name);
    bytes[offset..offset + length].to_vec()
}

/// Replaces the bytes of a field.
pub fn replace(bytes: &mut [u8], name: &str, by: &[u8]) {
    let (offset, length) = locate(name);
    bytes[offset..offset + length].copy_from_slice(by);
}

/// Returns a field of 4 or 8 bytes.
pub fn field(bytes: &[u8], name: &str) -> u64 {
    let bytes = inner(bytes, name);
    match bytes.len() {
        4 => u32::from_ne_bytes(bytes.try_into().unwrap()).into(),
        _ => u64::from_ne_bytes(bytes.try_into().expect(name)),
    }
}

/// Returns a field of 4 or 8 bytes of a struct that is given as words.
pub fn word_field(words: &[u64], name: &str) -> u64 {
    let (offset, length) = locate(name);
    match length {
        4 => u64::from((words[offset / 8] >> (offset % 8 * 8)) as u32),
        _ => words[offset / 8],
    }
}

/// Returns a struct of zeros, with the length that C gives it.
fn zeroed(name: &str) -> State {
    State::new(locate(name).1)
}

/// Returns the address of a struct that is given as words.
fn pointer(words: &[u64]) -> *const c_void {
    words.as_ptr().cast()
}

/// Returns the address of a struct that is given as words, to change it.
fn pointer_mut(words: &mut [u64]) -> *mut c_void {
    words.as_mut_ptr().cast()
}

/// Returns `mh_mul_q32(a, f_q32)`.
pub fn mul_q32(a: u64, f_q32: u64) -> u64 {
    // SAFETY: pure arithmetic on values.
    unsafe { mh_test_mul_q32(a, f_q32) }
}

/// Returns `mh_mul_q64(a, f_q64)`.
pub fn mul_q64(a: u64, f_q64: u64) -> u64 {
    // SAFETY: pure arithmetic on values.
    unsafe { mh_test_mul_q64(a, f_q64) }
}

/// Returns interval / sqrt(count), ns, by `mh_codel_gap_ns`.
pub fn codel_gap_ns(interval_ns: u64, shift: u32, count: u32) -> u64 {
    // SAFETY: pure arithmetic on values.
    unsafe { mh_test_codel_gap_ns(interval_ns, shift, count) }
}

/// Returns `mh_pow_q64(base_q64, exponent)`.
pub fn pow_q64(base_q64: u64, exponent: u64) -> u64 {
    // SAFETY: pure arithmetic on values.
    unsafe { mh_test_pow_q64(base_q64, exponent) }
}

/// Returns `mh_fixed(value, bits)`.
pub fn c_fixed(value: f64, bits: u32) -> u64 {
    // SAFETY: pure arithmetic on values.
    unsafe { mh_test_fixed(value, bits) }
}

/// Returns whether a parameter was given as a share, where `shares` has a bit for each of min, max, mi and xin.
pub fn is_share(name: &CStr, shares: u64) -> bool {
    // SAFETY: the function reads the string and a table of its own.
    unsafe { mh_test_is_share(name.as_ptr(), shares) != 0 }
}

/// Returns `round(value * 2^bits)`.
pub fn fixed(value: f64, bits: i32) -> u64 {
    libm::ldexp(value, bits).round() as u64
}

/// Returns a number in Q32 as a float.
pub fn from_q32(value_q32: u64) -> f64 {
    value_q32 as f64 / 4294967296.0
}

/// RED's arithmetic with some parameters; lengths in mean packets.
pub struct Red(State);

impl Red {
    /// Takes the parameters of RED, or of a policy whose struct begins with RED's.
    pub fn new(params: &Params) -> Red {
        assert!(params.bytes().len() >= find("red").unwrap().sizes().0);
        Red(State::from_bytes(&params.bytes()))
    }

    /// Returns the average after an arrival that finds `queue` mean packets, after `idle_ns` of idle time.
    pub fn average(&self, average: f64, queue: f64, idle_ns: u64) -> f64 {
        let (average_q32, queue_q32) = (fixed(average, 32), fixed(queue, 32));
        // SAFETY: the bytes are those of the struct; the function only reads them.
        from_q32(unsafe { mh_test_red_average(pointer(&self.0), average_q32, queue_q32, idle_ns) })
    }

    /// Returns the base probability p_b at an average.
    pub fn probability(&self, average: f64) -> f64 {
        // SAFETY: the bytes are those of the struct; the function only reads them.
        from_q32(unsafe { mh_test_red_probability(pointer(&self.0), fixed(average, 32)) })
    }
}

/// SHRED's base probability with some parameters.
pub struct Shred(State);

impl Shred {
    pub fn new(params: &Params) -> Shred {
        assert_eq!(params.policy().name(), "shred");
        Shred(State::from_bytes(&params.bytes()))
    }

    /// Returns p_b at an average length, for a packet with `hint` (0 for none) where hints average `hint_average`.
    pub fn probability(&self, average: f64, hint: u8, hint_average: f64) -> f64 {
        let (avg_q32, hint_avg_q32) = (fixed(average, 32), fixed(hint_average.clamp(1.0, 255.0), 32));
        // SAFETY: the bytes are those of the struct; the function only reads them.
        from_q32(unsafe { mh_test_shred_probability(pointer(&self.0), avg_q32, hint.into(), hint_avg_q32) })
    }
}

/// Parameters of a token bucket.
#[derive(Debug, Clone)]
pub struct BucketParams(State);

/// A token bucket, full at first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket(State);

impl BucketParams {
    /// Returns the parameters for a rate in tokens/s and a burst in tokens.
    pub fn new(rate: f64, burst: u32) -> BucketParams {
        let mut params = zeroed("mh_token_bucket_params");
        // SAFETY: the bytes are those of the struct, which the function fills.
        unsafe { mh_test_token_bucket_setup(pointer_mut(&mut params), rate, burst) };
        BucketParams(params)
    }

    pub fn from_bytes(bytes: &[u8]) -> BucketParams {
        assert_eq!(bytes.len(), locate("mh_token_bucket_params").1);
        BucketParams(State::from_bytes(bytes))
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.bytes()
    }

    /// Returns a field, such as `rate_scaled`.
    pub fn field(&self, name: &str) -> u64 {
        word_field(&self.0, &format!("mh_token_bucket_params.{name}"))
    }

    /// Returns the level in scaled units at a percentage of the burst.
    pub fn scaled_at(&self, percent_q32: u64) -> u64 {
        // SAFETY: the bytes are those of the struct; the function only reads them.
        unsafe { mh_test_token_bucket_scaled_at(pointer(&self.0), percent_q32) }
    }
}

/// Each function's parameters and bucket are bytes of the structs that C expects, and it touches nothing else.
impl Bucket {
    pub fn full() -> Bucket {
        Bucket(zeroed("mh_token_bucket"))
    }

    pub fn from_bytes(bytes: &[u8]) -> Bucket {
        assert_eq!(bytes.len(), locate("mh_token_bucket").1);
        Bucket(State::from_bytes(bytes))
    }

    /// Returns the tokens in it, negative in debt; the burst, as far as 53 bits go, when full.
    pub fn tokens(&self, params: &BucketParams) -> f64 {
        let missing = word_field(&self.0, "mh_token_bucket.missing_scaled") as f64;
        (params.field("burst_scaled") as f64 - missing) / params.field("token_scaled") as f64
    }

    pub fn refill(&mut self, params: &BucketParams, now_ns: u64) {
        // SAFETY: as said above.
        unsafe { mh_test_token_bucket_refill(pointer(&params.0), pointer_mut(&mut self.0), now_ns) }
    }

    pub fn conforms(&self, params: &BucketParams, tokens: u32) -> bool {
        // SAFETY: as said above.
        unsafe { mh_test_token_bucket_conforms(pointer(&params.0), pointer(&self.0), tokens) != 0 }
    }

    pub fn take(&mut self, params: &BucketParams, tokens: u32) {
        // SAFETY: as said above.
        unsafe { mh_test_token_bucket_take(pointer(&params.0), pointer_mut(&mut self.0), tokens) }
    }

    pub fn take_clipped(&mut self, params: &BucketParams, tokens: u32) {
        // SAFETY: as said above.
        unsafe { mh_test_token_bucket_take_clipped(pointer(&params.0), pointer_mut(&mut self.0), tokens) }
    }

    /// Refills the bucket and takes the tokens if it holds them. Returns whether it did.
    pub fn packet(&mut self, params: &BucketParams, tokens: u32, now_ns: u64) -> bool {
        // SAFETY: as said above.
        let taken = unsafe {
            mh_test_token_bucket_packet(pointer(&params.0), pointer_mut(&mut self.0), tokens, now_ns)
        };
        assert!(taken <= 1, "the header says 1 or 0");
        taken == 1
    }

    /// Returns the time from the last refill until the bucket holds so many tokens, ns; `None` for never.
    pub fn wait_ns(&self, params: &BucketParams, tokens: u32) -> Option<u64> {
        // SAFETY: as said above.
        let wait_ns = unsafe { mh_test_token_bucket_wait_ns(pointer(&params.0), pointer(&self.0), tokens) };
        (wait_ns != NEVER).then_some(wait_ns)
    }

    /// Returns the level in percent of the burst.
    pub fn fill_percent(&self, params: &BucketParams) -> f64 {
        // SAFETY: as said above.
        unsafe { mh_test_token_bucket_percent_q16(pointer(&params.0), pointer(&self.0)) as f64 / 65536.0 }
    }
}

/// A history of the sizes of the last flows.
#[derive(Debug, Clone)]
pub struct History {
    params: State,
    state: State,
}

impl History {
    /// Returns an empty history for a quantile (0 to 1) of so many flows.
    pub fn new(quantile: f64, flows: u32) -> History {
        let mut params = zeroed("mh_size_history_params");
        // SAFETY: the bytes are those of the struct, which the function fills.
        unsafe { mh_test_size_history_setup(pointer_mut(&mut params), fixed(quantile * 100.0, 32), flows) };
        History { params, state: zeroed("mh_size_history") }
    }

    /// Returns the bytes that a history takes.
    pub fn size() -> usize {
        locate("mh_size_history").1
    }

    /// Returns the greatest number of flows that a history holds.
    pub fn most() -> usize {
        locate("mh_size_history.ring").1 / size_of::<u16>()
    }

    /// Adds the size of a flow that has ended.
    pub fn flow_end(&mut self, size: u32) {
        // SAFETY: parameters and history are bytes of the structs that C expects.
        unsafe { mh_test_size_history_flow_end(pointer(&self.params), pointer_mut(&mut self.state), size) }
    }

    /// Returns how many sizes are stored.
    pub fn flows(&self) -> usize {
        word_field(&self.state, "mh_size_history.count") as usize
    }

    /// Returns the quantile; `None` while no size is stored.
    pub fn quantile(&self) -> Option<u32> {
        // SAFETY: the history is bytes of the struct that C expects.
        let quantile = unsafe { mh_test_size_history_quantile(pointer(&self.state)) };
        (self.flows() > 0).then_some(quantile)
    }
}

/// A flow meter with its parameters.
pub struct Meter {
    params: State,
    state: State,
}

impl Meter {
    pub fn new(timeout_ns: u64, syn_restarts: bool) -> Meter {
        let mut params = zeroed("mh_flow_meter_params").bytes();
        replace(&mut params, "mh_flow_meter_params.timeout_ns", &timeout_ns.to_ne_bytes());
        replace(&mut params, "mh_flow_meter_params.syn_restarts", &u32::from(syn_restarts).to_ne_bytes());
        Meter { params: State::from_bytes(&params), state: zeroed("mh_flow_meter") }
    }

    /// Counts a packet. Returns whether it starts the flow anew.
    pub fn packet(&mut self, view: &View, now_ns: u64) -> bool {
        // SAFETY: parameters and meter are bytes of the structs that C expects.
        unsafe {
            mh_test_flow_meter_packet(pointer(&self.params), pointer_mut(&mut self.state), view, now_ns) != 0
        }
    }

    /// Returns whether the flow has been idle for longer than the timeout.
    pub fn expired(&self, now_ns: u64) -> bool {
        // SAFETY: parameters and meter are bytes of the structs that C expects.
        unsafe { mh_test_flow_meter_expired(pointer(&self.params), pointer(&self.state), now_ns) != 0 }
    }

    /// Returns the counts in bytes and in packets.
    pub fn counts(&self) -> (u32, u32) {
        // SAFETY: the meter is bytes of the struct that C expects. 0 is MH_BYTES, 1 is MH_PACKETS.
        let count = |unit| unsafe { mh_test_flow_meter_count(pointer(&self.state), unit) };
        (count(0), count(1))
    }
}

/// Returns how many packets the meter of a flow has counted, whose state is a `mh_flow_meter`.
pub fn metered_packets(flow: &State) -> u32 {
    word_field(flow, "mh_flow_meter.packets") as u32
}
