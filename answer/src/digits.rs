//! Digits of numbers as text: significant ones, and thousands.

/// Returns a number with at most `digits` significant digits, of which there is at least one, as
/// C's `%g` writes it; `NaN` and `inf` as Rust does.
pub fn significant(number: f64, digits: usize) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let scientific = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim_zeros(mantissa), exponent.abs());
    }
    let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    trim_zeros(&format!("{number:.decimals$}")).to_owned()
}

/// Returns a number as text without zeros at the end of its fraction.
fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Returns a number that is not negative without decimals, its thousands separated by commas.
pub fn with_commas(number: f64) -> String {
    group_thousands(&format!("{number:.0}"))
}

/// Returns the digits of a whole number, which are ASCII, with commas between thousands.
pub fn group_thousands(digits: &str) -> String {
    let mut found = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            found.push(',');
        }
        found.push(digit);
    }
    found
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn significant__is_that_of_c() {
        let numbers = [123.456, 0.000_123_45, 0.000_012_3, 1234.0, 999.6, 0.0, -0.5, 1e9, 2.0];
        assert_eq!(
            numbers.map(|number| significant(number, 3)),
            ["123", "0.000123", "1.23e-05", "1.23e+03", "1e+03", "0", "-0.5", "1e+09", "2"]
        );
        assert_eq!(significant(0.1 + 0.2, 6), "0.3");
    }
}
