//! Own policies: templates, checks and the folder of headers.

use crate::convert::to_python;
use crate::errors;
use mousehole_check::{Options, TemplateKind, check, template};
use mousehole_sim::error::Error;
use pyo3::prelude::*;

/// Returns the header of a policy; `kind` is `marker` or `dropper`.
#[pyfunction]
fn policy_template(py: Python<'_>, kind: &str, name: &str) -> PyResult<String> {
    let made = match kind {
        "marker" => template(TemplateKind::Marker, name),
        "dropper" => template(TemplateKind::Dropper, name),
        _ => return Err(errors::to_python(py, Error::field("kind", kind, "marker or dropper"))),
    };
    let allowed =
        "a name of lower-case letters, digits and hyphens, a letter first, that no shipped policy has";
    made.map_err(|_| errors::to_python(py, Error::field("name", name, allowed)))
}

/// Checks a header, or a policy known by its name. Other Python threads go on meanwhile.
#[pyfunction]
fn policy_check<'py>(
    py: Python<'py>,
    target: &str,
    records: u64,
    kernel: bool,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options { records, kernel, seed };
    let report = py.detach(|| check(target, &options)).map_err(|_| {
        let policies = mousehole_policy::policies();
        let names: Vec<&str> = policies.iter().map(|policy| policy.name()).collect();
        let allowed = format!("the path of a header (my-marker.h), or one of {}", names.join(", "));
        errors::to_python(py, Error::field("HEADER|NAME", target, allowed))
    })?;
    to_python(py, &report)
}

/// Returns the folder for a compiler's -I.
#[pyfunction]
fn policy_headers_folder(py: Python<'_>) -> PyResult<std::path::PathBuf> {
    mousehole_policy::lasting_headers_folder().map_err(|error| {
        let problem = format!("cannot be written; {error}");
        errors::to_python(py, Error::File { file: "the policies' headers".into(), problem })
    })
}

/// Registers the functions of this file.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(policy_template, module)?)?;
    module.add_function(wrap_pyfunction!(policy_check, module)?)?;
    module.add_function(wrap_pyfunction!(policy_headers_folder, module)?)
}
