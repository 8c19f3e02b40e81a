//! Flow tables of nft, which forward established flows past programs or rules, from nft's JSON.

use serde_json::Value;

/// A flow table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowTable {
    /// Its own name.
    pub name: String,
    /// Family, table and name with blanks between them, as nft(8) takes them; `?` for a missing one.
    pub title: String,
    /// The devices whose flows it forwards.
    pub devices: Vec<String>,
    /// Whether the JSON says that the hardware forwards them; older versions of nft omit it.
    pub is_hardware: bool,
}

impl FlowTable {
    /// Returns the flow table that an item of nft's JSON describes; `None` for other items.
    pub fn parse(item: &Value) -> Option<FlowTable> {
        let table = item.get("flowtable")?;
        let word = |key: &str| table[key].as_str().unwrap_or("?");
        Some(FlowTable {
            name: table["name"].as_str()?.to_string(),
            title: [word("family"), word("table"), word("name")].join(" "),
            devices: list_words(&table["dev"]),
            is_hardware: list_words(&table["flags"]).iter().any(|flag| flag == "offload"),
        })
    }

    /// Returns whether it forwards the flows of a device.
    pub fn has_device(&self, device: &str) -> bool {
        self.devices.iter().any(|name| name == device)
    }
}

/// Returns the items of nft's JSON, such as `nft -j list ruleset` prints; none for other text.
pub fn parse_items(text: &str) -> Vec<Value> {
    let mut document: Value = serde_json::from_str(text).unwrap_or_default();
    match document["nftables"].take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    }
}

/// Returns the words of a value of nft's JSON, which is one word or a list of them; none for others.
fn list_words(value: &Value) -> Vec<String> {
    let several = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    several.iter().filter_map(Value::as_str).map(String::from).collect()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn flow_tables__are_found_by_their_devices() {
        let text = r#"{"nftables": [{"metainfo": {}},
            {"flowtable": {"family": "inet", "name": "ft", "table": "fw4", "dev": ["wan", "lan"]}},
            {"flowtable": {"family": "ip", "name": "one", "table": "x", "dev": "wan", "flags": "offload"}}]}"#;
        let tables: Vec<FlowTable> = parse_items(text).iter().filter_map(FlowTable::parse).collect();
        let of = |device: &str| -> Vec<(&str, bool)> {
            let own = tables.iter().filter(|table| table.has_device(device));
            own.map(|table| (table.title.as_str(), table.is_hardware)).collect()
        };
        assert_eq!(of("wan"), [("inet fw4 ft", false), ("ip x one", true)]);
        assert_eq!(of("lan"), [("inet fw4 ft", false)]);
        assert!(of("wan0").is_empty() && parse_items("").is_empty() && parse_items("{}").is_empty());
    }
}
