//! How the rows of a result are written: an estimate as three columns, and what is not known as null.
//!
//! An object has columns with names of its own, so each estimate of a row names its three in `estimate_columns!`.

use crate::quantities::Quantity;
use crate::statistics::Estimate;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Columns of numbers by name.
pub type Columns = BTreeMap<String, Option<f64>>;
/// Estimates of quantities, in the order of the table.
pub type Estimates = Vec<(Quantity, Estimate)>;

/// Makes a type that writes an estimate as a column with this text and the two ends of its interval. The field of the
/// estimate is flattened and written with [`write`].
macro_rules! estimate_columns {
    ($(#[doc = $text:literal])+ $columns:ident { $mean:ident, $low:ident, $high:ident }) => {
        #[derive(serde::Serialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        struct $columns {
            $(#[doc = $text])+
            $mean: Option<f64>,
            /// Lower end of its 95 % interval; null without one.
            $low: Option<f64>,
            /// Upper end of its 95 % interval; null without one.
            $high: Option<f64>,
        }

        impl From<&crate::statistics::Estimate> for $columns {
            fn from(estimate: &crate::statistics::Estimate) -> $columns {
                let [$mean, $low, $high] = $crate::columns::ends(estimate);
                $columns { $mean, $low, $high }
            }
        }
    };
}
pub(crate) use estimate_columns;

/// Writes a value as the columns that `C` makes of it.
///
/// # Errors
/// Those of the serializer.
pub fn write<'a, C: From<&'a V> + Serialize, V, S: Serializer>(
    value: &'a V,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    C::from(value).serialize(serializer)
}

/// Writes estimates of quantities as the columns of these, in alphabetical order: mean, lower and
/// upper end of each. What is not known is null.
///
/// # Errors
/// Those of the serializer.
pub fn write_all<S: Serializer>(estimates: &Estimates, serializer: S) -> Result<S::Ok, S::Error> {
    let three = |(quantity, estimate): &(Quantity, Estimate)| {
        let (low, high) = quantity.ends();
        [quantity.name(), low, high].into_iter().zip(ends(estimate))
    };
    estimates.iter().flat_map(three).collect::<Columns>().serialize(serializer)
}

/// Writes a number that may be infinite or NaN, which JSON has not, as null.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_finite_or_null<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    finite_or_none(*number).serialize(serializer)
}

/// Returns mean, lower and upper end of an estimate; None for what is not known.
pub fn ends(estimate: &Estimate) -> [Option<f64>; 3] {
    [estimate.mean, estimate.low, estimate.high].map(finite_or_none)
}

/// Returns the number; None if it is infinite or NaN.
pub fn finite_or_none(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}
