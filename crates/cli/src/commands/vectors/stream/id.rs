//! The id of a request, which comes back as it is: a number of any length, a text, anything. Reading it as a value
//! would round it.

/// The bytes of the member `id` of an object, which is known to be JSON; none if it has no such member.
pub(super) fn raw(object: &[u8]) -> Option<String> {
    let mut rest = object.trim_ascii().strip_prefix(b"{")?;
    loop {
        rest = rest.trim_ascii_start();
        let (name, after) = rest.split_at(end_of_value(rest)?);
        let value = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        let (value, after) = value.split_at(end_of_value(value)?);
        if serde_json::from_slice::<String>(name).ok()? == "id" {
            return String::from_utf8(value.trim_ascii_end().to_vec()).ok();
        }
        rest = after.trim_ascii_start().strip_prefix(b",")?;
    }
}

/// Where the value ends that JSON begins with.
fn end_of_value(json: &[u8]) -> Option<usize> {
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for (place, byte) in json.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => {
                in_text = !in_text;
                if !in_text && depth == 0 {
                    return Some(place + 1);
                }
            }
            _ if in_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Some(place + 1);
                }
            }
            b',' | b':' | b'}' if depth == 0 => return Some(place),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::raw;

    #[test]
    fn ids_come_back_letter_by_letter() {
        for id in [
            "1",
            "1267650600228229401496703205376",
            "-0.10e+005",
            "\"a\\\"b,:}\\u00e9\"",
            "{\"a\":[1,{\"id\":2}],\"b\":\"]}\"}",
            "[]",
            "null",
            "true",
        ] {
            for object in [
                format!("{{\"id\":{id},\"op\":\"x\"}}"),
                format!(" {{ \"op\" : \"id\" , \"more\":[{{\"id\":3}},4], \"id\" : {id} }} \n"),
                format!("{{\"\\u0069d\":{id}}}"),
            ] {
                assert!(serde_json::from_str::<serde_json::Value>(&object).is_ok(), "{object}");
                assert_eq!(raw(object.as_bytes()).as_deref(), Some(id), "{object}");
            }
        }
        for object in ["{}", "{\"op\":\"id\"}", "{\"a\":{\"id\":1}}"] {
            assert_eq!(raw(object.as_bytes()), None, "{object}");
        }
    }
}
