//! Templates of users' own policies: headers that work unchanged, with comments on what to change.

/// The kind of policy that a template describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// The colour of a packet.
    Marker,
    /// Whether a queue takes a packet.
    Dropper,
    /// Which packet leaves next, and who is dropped.
    Queue,
}

/// The name in the templates: in C, in capital letters, and with hyphens.
const NAMES: [&str; 3] = ["placeholder_policy", "PLACEHOLDER_POLICY", "placeholder-policy"];

/// Returns the text of a header for a policy of this kind and name, which may have hyphens or underscores. It writes no
/// file.
///
/// # Errors
/// One sentence, if the name has other characters than a policy's may, or belongs to a registered policy.
pub fn template(kind: TemplateKind, name: &str) -> Result<String, String> {
    let c_name = name.replace('-', "_");
    let is_name = c_name.starts_with(|c: char| c.is_ascii_lowercase())
        && c_name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !is_name {
        return Err(format!(
            "\"{name}\" is no name for a policy; allowed: lower-case letters, digits and hyphens, a letter first"
        ));
    }
    if mousehole_policy::find(&c_name.replace('_', "-")).is_some() {
        return Err(format!("a policy named {name} is shipped already; choose another name"));
    }
    let text = match kind {
        TemplateKind::Marker => include_str!("../../templates/marker.h"),
        TemplateKind::Dropper => include_str!("../../templates/dropper.h"),
        TemplateKind::Queue => include_str!("../../templates/queue.h"),
    };
    let [plain, capital, hyphened] = NAMES;
    Ok(text
        .replace(plain, &c_name)
        .replace(capital, &c_name.to_uppercase())
        .replace(hyphened, &c_name.replace('_', "-")))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn template__has_the_name_everywhere() {
        for kind in [TemplateKind::Marker, TemplateKind::Dropper, TemplateKind::Queue] {
            let text = template(kind, "my-own2").unwrap();
            assert!(text.contains("(my_own2,") && text.contains("MY_OWN2_H"), "{text}");
            assert!(!text.to_lowercase().contains("placeholder"), "{text}");
        }
    }

    #[test]
    fn template__refuses_names() {
        for name in ["My", "2x", "", "a b", "../x"] {
            assert!(
                template(TemplateKind::Marker, name).unwrap_err().contains("allowed: lower-case"),
                "{name}"
            );
        }
        assert!(template(TemplateKind::Dropper, "red").unwrap_err().contains("shipped already"));
    }
}
