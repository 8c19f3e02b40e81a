//! The parameters of a policy: values by name, and the C struct that they fill for a link.

use crate::ffi::{RawLinkContext, RawParameter, text};
use crate::parameter::{Kind, ParameterError, Value};
use crate::policy::{Origin, Policy};
use std::cell::RefCell;
use std::ffi::c_void;

/// What the parameters of a policy may depend on: its link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkContext {
    /// Rate of the link, bit/s.
    pub rate_bps: f64,
    /// Rate of the slowest link in the data direction, bit/s.
    pub bottleneck_bps: f64,
    /// Limit of the link's buffer in packets, if it has one; else 0.
    pub buffer_packets: u64,
    /// Limit of the link's buffer in bytes, if it has one; else 0.
    pub buffer_bytes: u64,
}

impl LinkContext {
    /// An example link: 10 Mbit/s, 50 packets.
    pub const EXAMPLE: LinkContext =
        LinkContext { rate_bps: 1e7, bottleneck_bps: 1e7, buffer_packets: 50, buffer_bytes: 0 };
}

/// The values of a policy's parameters, given or by default.
#[derive(Debug, Clone)]
pub struct Settings {
    policy: &'static Policy,
    values: Vec<Value>,
}

impl Settings {
    /// Returns the defaults.
    ///
    /// # Panics
    /// When a default does not parse, which is the header's fault; loading a header checks it.
    pub fn new(policy: &'static Policy) -> Settings {
        let values = policy
            .parameters()
            .iter()
            .map(|one| one.parse(one.default).unwrap_or_else(|error| panic!("{error}")));
        Settings { policy, values: values.collect() }
    }

    /// Parses a text and sets a parameter to its value.
    ///
    /// # Errors
    /// [`ParameterError`] if the text is not allowed; the parameter keeps its value then.
    ///
    /// # Panics
    /// When the policy has no parameter of that name.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let index = parameter_index(self.policy, name);
        self.values[index] = self.policy.parameters()[index].parse(value)?;
        Ok(())
    }

    /// Sets a parameter to a value, which must be of its kind; only the range of a number is checked.
    ///
    /// # Errors
    /// [`ParameterError`] if a number is out of range or NaN; the parameter keeps its value then.
    ///
    /// # Panics
    /// When the policy has no parameter of that name.
    pub fn set_value(&mut self, name: &str, value: Value) -> Result<(), ParameterError> {
        let index = parameter_index(self.policy, name);
        let parameter = &self.policy.parameters()[index];
        if let Value::Number(number) | Value::Packets(number) = value
            && !(parameter.least..=parameter.most).contains(&number)
        {
            return Err(parameter.refuse(&number.to_string()));
        }
        self.values[index] = value;
        Ok(())
    }

    /// Returns the complete struct of parameters for a link; calls the header's set-up function. Parameters of a user's
    /// policy are also recorded for [`gather_params`], and its calls are watched.
    ///
    /// # Errors
    /// [`ParameterError`] if a value does not fit the link or another value; if set-up refuses it, its `value` is empty.
    pub fn for_link(&self, context: &LinkContext) -> Result<Params, ParameterError> {
        let mut params = self.before_set_up(context)?;
        params.set_up()?;
        if *self.policy.origin() != Origin::Shipped {
            #[cfg(feature = "native")]
            crate::own::start_watching();
            note_gathered(&params);
        }
        Ok(params)
    }

    /// Returns the parameters' struct for a link without the fields that the header's set-up function computes, for tools
    /// that call this function themselves.
    ///
    /// # Errors
    /// [`ParameterError`] if a share of the buffer or rate, or any other number, is out of range at this link.
    pub fn before_set_up(&self, context: &LinkContext) -> Result<Params, ParameterError> {
        let mut params = Params {
            policy: self.policy,
            words: vec![0; self.policy.sizes().0.div_ceil(8)].into(),
            context: *context,
            shares: 0,
        };
        for (index, value) in self.values.iter().enumerate() {
            if let Value::Share(_) = value {
                params.shares |= 1 << index;
            }
            let number = params.resolve(index, *value, &self.values);
            params.write(index, number)?;
        }
        Ok(params)
    }
}

/// The C struct of a policy's parameters for a link.
#[derive(Debug, Clone)]
pub struct Params {
    policy: &'static Policy,
    words: Box<[u64]>,
    context: LinkContext,
    shares: u64,
}

/// A value that no longer depends on the link.
enum Absolute {
    Number(f64),
    Packets(f64),
    Never,
    Bits(u32),
}

impl Params {
    /// Returns the policy whose parameters they are.
    pub fn policy(&self) -> &'static Policy {
        self.policy
    }

    /// Returns the link that they were made for.
    pub fn context(&self) -> &LinkContext {
        &self.context
    }

    /// Returns a bit mask of the parameters that were given in % of the buffer or rate: bit i stands for the i-th.
    pub fn shares(&self) -> u64 {
        self.shares
    }

    /// Returns the parameters for a link: those in `given`, pairs of name and text, and the defaults of all others.
    ///
    /// # Errors
    /// [`ParameterError`] if a value is not allowed.
    ///
    /// # Panics
    /// When the policy has no parameter of a given name.
    pub fn from_text(
        policy: &'static Policy,
        given: &[(&str, &str)],
        context: &LinkContext,
    ) -> Result<Params, ParameterError> {
        let mut settings = Settings::new(policy);
        for (name, value) in given {
            settings.set(name, value)?;
        }
        settings.for_link(context)
    }

    /// Sets a parameter to a number in its natural unit (s, bytes, packets, bit/s) and calls the header's set-up function
    /// again. On an error nothing changes.
    ///
    /// # Errors
    /// [`ParameterError`] if the number is not allowed.
    ///
    /// # Panics
    /// When the policy has no parameter of that name.
    pub fn set_number(&mut self, name: &str, number: f64) -> Result<(), ParameterError> {
        let index = parameter_index(self.policy, name);
        let mut changed = self.clone();
        changed.shares &= !(1 << index);
        changed.write(index, Absolute::Number(number))?;
        changed.set_up()?;
        *self = changed;
        Ok(())
    }

    /// Returns whether a shaper holds pure acknowledgements too: the parameter `hold_acks`. Without one it does not.
    pub fn holds_acks(&self) -> bool {
        self.policy.parameters().iter().any(|one| one.name == "hold_acks") && self.number("hold_acks") != 0.0
    }

    /// Returns a parameter as a number in its natural unit (s, bytes, packets, bit/s), read from the struct: of a threshold
    /// or buffer its count, of a flag 0 or 1, of a choice its position.
    ///
    /// # Panics
    /// When the policy has no parameter of that name.
    pub fn number(&self, name: &str) -> f64 {
        let index = parameter_index(self.policy, name);
        let raw = &self.policy.raw_parameters()[index];
        let kind = self.policy.parameters()[index].kind;
        let width = match kind {
            Kind::Threshold => 4,
            Kind::Buffer => 8,
            _ => raw.bytes as usize,
        };
        let word = self.field(raw.offset as usize, width);
        let fixed = |bits: u32| word as f64 / power_of_two(bits);
        match kind {
            Kind::Time | Kind::Timeout => word as f64 / 1e9,
            Kind::Fraction | Kind::Percent => fixed(32),
            Kind::Length if raw.bytes == 8 => fixed(32),
            Kind::Number => fixed(raw.bits),
            Kind::Flag => f64::from(word as u32 & raw.mask != 0),
            Kind::Choice(_) => f64::from((word as u32 & raw.mask) >> raw.mask.trailing_zeros()),
            _ => word as f64,
        }
    }

    /// Returns a copy of a member of this struct, at `offset` bytes, that is the parameters' struct of `policy`.
    ///
    /// # Panics
    /// When the offset is no multiple of 8, or the member would end beyond the struct.
    pub fn part(&self, policy: &'static Policy, offset: usize) -> Params {
        let words = policy.sizes().0.div_ceil(8);
        assert!(offset.is_multiple_of(8) && offset / 8 + words <= self.words.len(), "{policy:?} is no part");
        Params { policy, words: self.words[offset / 8..][..words].into(), context: self.context, shares: 0 }
    }

    /// Returns the struct's bytes, as C has them.
    pub fn bytes(&self) -> Vec<u8> {
        let bytes = self.words.iter().flat_map(|word| word.to_ne_bytes());
        bytes.take(self.policy.sizes().0).collect()
    }

    /// Returns the same with other bytes in the struct, for tests that change single fields.
    ///
    /// # Panics
    /// When there are not as many bytes as the struct has.
    pub fn with_bytes(&self, bytes: &[u8]) -> Params {
        assert_eq!(bytes.len(), self.policy.sizes().0, "{:?}", self.policy);
        Params { words: pack_words(bytes), ..self.clone() }
    }

    /// Returns the address of the struct, for calls of the header's functions.
    #[inline]
    pub(crate) fn pointer(&self) -> *const c_void {
        self.words.as_ptr().cast()
    }

    /// Returns the `index`-th parameter's value at this link: a share becomes packets or bit/s. A share of a buffer in bytes
    /// is in packets of the parameter `mean` in `all`, or of 1000 bytes.
    fn resolve(&self, index: usize, value: Value, all: &[Value]) -> Absolute {
        match value {
            Value::Number(number) => Absolute::Number(number),
            Value::Packets(packets) => Absolute::Packets(packets),
            Value::Never => Absolute::Never,
            Value::Flag(on) => Absolute::Bits(if on { u32::MAX } else { 0 }),
            Value::Choice(position) => Absolute::Bits(position),
            Value::Share(percent) if self.policy.parameters()[index].kind == Kind::Rate => {
                Absolute::Number((self.context.bottleneck_bps * percent / 100.0).round().max(1.0))
            }
            Value::Share(percent) => {
                let mean =
                    self.policy.parameters().iter().position(|one| one.name == "mean").map(|at| all[at]);
                let mean = if let Some(Value::Number(bytes)) = mean { bytes } else { 1000.0 };
                let packets = match self.context.buffer_packets {
                    0 => self.context.buffer_bytes as f64 / mean,
                    packets => packets as f64,
                };
                Absolute::Number(percent / 100.0 * packets)
            }
        }
    }

    /// Writes a parameter's value into its fields of the C struct.
    ///
    /// # Errors
    /// [`ParameterError`] for a number outside the parameter's range.
    fn write(&mut self, index: usize, value: Absolute) -> Result<(), ParameterError> {
        let (raw, parameter) = (&self.policy.raw_parameters()[index], &self.policy.parameters()[index]);
        if let Absolute::Number(number) | Absolute::Packets(number) = value
            && !matches!(parameter.kind, Kind::Flag | Kind::Choice(_))
            && !(parameter.least..=parameter.most).contains(&number)
        {
            return Err(ParameterError { value: format!("{number}"), ..parameter.refuse("") });
        }
        for at in 0..raw.count as usize {
            self.write_field(raw, parameter.kind, raw.offset as usize + at * raw.stride as usize, &value);
        }
        Ok(())
    }

    /// Writes a value at `offset` bytes in the format of its kind (`policy.h`), rounded to its steps. The value is in
    /// range; derived fields do not follow it.
    fn write_field(&mut self, raw: &RawParameter, kind: Kind, offset: usize, value: &Absolute) {
        let width = raw.bytes as usize;
        match (kind, value) {
            (Kind::Threshold, Absolute::Number(count) | Absolute::Packets(count)) => {
                self.set_field(offset, 4, *count as u64);
                self.set_field(offset + 4, 4, u64::from(matches!(value, Absolute::Packets(_))));
            }
            (Kind::Buffer, Absolute::Number(count) | Absolute::Packets(count)) => {
                self.set_field(offset, 8, count.round() as u64);
                self.set_field(offset + 8, 4, u64::from(matches!(value, Absolute::Packets(_))));
            }
            (Kind::Flag, Absolute::Bits(bits)) => self.set_bits(offset, raw.mask, *bits),
            (Kind::Flag, Absolute::Number(on)) => {
                self.set_bits(offset, raw.mask, if *on == 0.0 { 0 } else { u32::MAX })
            }
            (Kind::Choice(_), Absolute::Bits(position)) => {
                self.set_bits(offset, raw.mask, position << raw.mask.trailing_zeros());
            }
            (_, Absolute::Never) => self.set_field(offset, width, u64::MAX),
            (Kind::Time | Kind::Timeout, Absolute::Number(seconds)) => {
                self.set_field(offset, width, (seconds * 1e9).round() as u64);
            }
            (Kind::Fraction | Kind::Percent, Absolute::Number(number)) => {
                self.set_field(offset, width, to_fixed_point(*number, 32))
            }
            (Kind::Length, Absolute::Number(packets)) if width == 8 => {
                self.set_field(offset, width, to_fixed_point(*packets, 32))
            }
            (Kind::Number, Absolute::Number(number)) => {
                self.set_field(offset, width, to_fixed_point(*number, raw.bits))
            }
            (_, Absolute::Number(number) | Absolute::Packets(number)) => {
                self.set_field(offset, width, number.round() as u64);
            }
            (_, Absolute::Bits(bits)) => self.set_field(offset, width, u64::from(*bits)),
        }
    }

    /// Calls the header's set-up function, which computes the derived fields of this struct for its link; does nothing
    /// if the header has none.
    ///
    /// # Errors
    /// [`ParameterError`] when the function refuses a value; its `value` is empty, and derived fields may be
    /// incomplete.
    fn set_up(&mut self) -> Result<(), ParameterError> {
        let Some(set_up) = self.policy.raw().setup else { return Ok(()) };
        let context = RawLinkContext {
            rate_bps: self.context.rate_bps,
            bottleneck_bps: self.context.bottleneck_bps,
            buffer_bytes: self.context.buffer_bytes,
            buffer_packets: self.context.buffer_packets,
            shares: self.shares,
            parameters: self.policy.raw().parameters,
            parameter_count: u64::from(self.policy.raw().parameter_count),
        };
        // SAFETY: the struct is this policy's, and the function keeps neither pointer.
        let fault = unsafe { set_up(self.words.as_mut_ptr().cast(), &context) };
        match text(fault.parameter) {
            "" => Ok(()),
            parameter => Err(ParameterError {
                parameter: parameter.into(),
                value: String::new(),
                allowed: text(fault.allowed).into(),
            }),
        }
    }

    /// Returns the field of 4 or 8 bytes at `offset` bytes, which its width divides.
    fn field(&self, offset: usize, width: usize) -> u64 {
        let word = self.words[offset / 8];
        if width == 8 { word } else { u64::from((word >> (offset % 8 * 8)) as u32) }
    }

    /// Writes the field of 4 or 8 bytes at `offset` bytes, which its width divides; 4 bytes hold at most 2^32 - 1.
    fn set_field(&mut self, offset: usize, width: usize, value: u64) {
        let word = &mut self.words[offset / 8];
        if width == 8 {
            *word = value;
        } else {
            let shift = offset % 8 * 8;
            *word = *word & !(0xffff_ffff << shift)
                | u64::from(u32::try_from(value).unwrap_or(u32::MAX)) << shift;
        }
    }

    /// Replaces the bits of `mask` in the field of 4 bytes at `offset` bytes by those of `bits`.
    fn set_bits(&mut self, offset: usize, mask: u32, bits: u32) {
        let old = self.field(offset, 4) as u32;
        self.set_field(offset, 4, u64::from(old & !mask | bits & mask));
    }
}

thread_local! {
    static GATHERED: RefCell<Option<Vec<Params>>> = const { RefCell::new(None) };
}

/// Runs `work` and returns its result with the parameters of users' policies that [`Settings::for_link`] has completed in
/// this thread meanwhile, in that order. Calls cannot be nested: an inner one discards what the outer one has recorded.
pub fn gather_params<T>(work: impl FnOnce() -> T) -> (T, Vec<Params>) {
    GATHERED.set(Some(Vec::new()));
    let done = work();
    (done, GATHERED.take().unwrap_or_default())
}

/// Records parameters of a user's policy for [`gather_params`] if it is running.
fn note_gathered(params: &Params) {
    GATHERED.with_borrow_mut(|gathered| gathered.as_mut().map(|all| all.push(params.clone())));
}

/// Returns the index of a parameter in the policy's table.
///
/// # Panics
/// When the policy has no parameter of that name.
fn parameter_index(policy: &Policy, name: &str) -> usize {
    let found = policy.parameters().iter().position(|one| one.name == name);
    found.unwrap_or_else(|| panic!("{} has no parameter {name}", policy.name()))
}

/// Returns `round(value * 2^bits)`, from 0 to 2^64 - 1; 0 for NaN.
fn to_fixed_point(value: f64, bits: u32) -> u64 {
    (value * power_of_two(bits)).round() as u64
}

/// Returns 2^bits, for fewer than 128 bits.
fn power_of_two(bits: u32) -> f64 {
    (1u128 << bits) as f64
}

/// A state of a policy: of a flow, or shared by all flows. All zero is a fresh one. A state without bytes is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State(Box<[u64]>);

impl State {
    /// Returns a fresh state of this many bytes.
    pub fn new(bytes: usize) -> State {
        State(vec![0; bytes.div_ceil(8)].into())
    }

    /// Returns a state with these bytes, as C has them, filled up with zeros to a multiple of 8.
    pub fn from_bytes(bytes: &[u8]) -> State {
        State(pack_words(bytes))
    }

    /// Returns its bytes, as C has them, a multiple of 8.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }
}

impl std::ops::Deref for State {
    type Target = [u64];

    /// Returns the state's words of 64 bits.
    #[inline]
    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl std::ops::DerefMut for State {
    /// Returns the state's words of 64 bits, to change them.
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

/// Returns bytes as words of 64 bits in this machine's byte order, the last one filled up with zeros.
fn pack_words(bytes: &[u8]) -> Box<[u64]> {
    let word = |chunk: &[u8]| {
        let mut whole = [0; 8];
        whole[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(whole)
    };
    bytes.chunks(8).map(word).collect()
}
