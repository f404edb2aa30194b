//! Texts that hold a key, and are not the file of one.

/// Whether a text has the marks of a key, public or private, in any form that keys are written in: such a text belongs into no message.
pub fn is_key_text(text: &[u8]) -> bool {
    const MARKS: [&[u8]; 9] = [
        b"-----BEGIN ",
        b"-----END ",
        b"---- BEGIN SSH2 ",
        b"PRIVATE KEY",
        b"PuTTY-User-Key-File",
        b"\"kty\"",
        b"\\\"kty\\\"",
        b"ssh-rsa AAAA",
        b"b3BlbnNzaC1rZXktdjE",
    ];
    let has = |mark: &&[u8]| text.windows(mark.len()).any(|window| window == *mark);
    MARKS.iter().any(has) || is_long(text, b"MI", is_base64) || is_long(text, b"30", is_hex)
}

/// Whether a text begins with the characters of a DER structure, and goes on as such text for longer than a name does.
fn is_long(text: &[u8], start: &[u8], is_digit: fn(u8) -> bool) -> bool {
    const LEAST: usize = 100;
    let is_around = |byte: &u8| byte.is_ascii_whitespace() || b"\"'".contains(byte);
    let digits = text.iter().filter(|byte| !is_around(byte));
    let digits = digits
        .copied()
        .take_while(|&byte| is_digit(byte))
        .take(LEAST);
    let digits: Vec<u8> = digits.collect();
    digits.len() == LEAST && digits.starts_with(start)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte)
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_keys_are_known_and_names_are_none() {
        let base64 = format!(
            "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDI{}",
            "yTfTl+/".repeat(9)
        );
        for key in [
            "-----BEGIN RSA PRIVATE KEY----- MIIE",
            "KEY=\"-----BEGIN PUBLIC KEY-----\\nMIIB",
            "{\"kty\":\"RSA\",\"n\":\"\"}",
            "\"{\\\"kty\\\":\\\"RSA\\\"}\"",
            "ssh-rsa AAAAB3NzaC1yc2E",
            &base64,
            &format!("'{base64}'"),
            &base64.replace('T', " \n"),
            &"3082".repeat(25),
        ] {
            assert!(is_key_text(key.as_bytes()), "{key}");
        }
        for name in [
            "key.pem",
            "/home/somebody/keys/MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDI.pem",
            "keys/ssh-rsa",
            "308201",
            &"x".repeat(4000),
            &"30".repeat(32),
        ] {
            assert!(!is_key_text(name.as_bytes()), "{name}");
        }
    }
}
