//! Lines of `authorized_keys`: options, if any, the name of an algorithm, the key, and a comment (sshd(8),
//! "AUTHORIZED_KEYS FILE FORMAT").

use super::{
    annotations::Annotations,
    armour::{BEGIN, find},
    input::{Limits, Place},
    refusal::{refused, unsupported},
    restrictions::Restrictions,
};
use crate::{PublicKey, Result};

/// A line that is neither empty nor a comment.
pub(super) struct Line<'a> {
    options: Vec<&'static str>,
    /// The algorithm in words; none where there is no key.
    algorithm: Option<&'static str>,
    body: &'a [u8],
    comment: &'a [u8],
}

/// The algorithm of this crate's keys, in words.
const RSA: &str = "an RSA";
/// A certificate on such a key.
const CERTIFIED: &str = "a certified RSA";

/// Returns whether a text is in this format: its first line that is no comment has a key; or any line, if there is
/// nothing of PEM.
pub(super) fn is(text: &[u8]) -> bool {
    let mut all = lines(text).map(|(_, line)| line.algorithm.is_some());
    let is_first = all.next().unwrap_or(false);
    let is_pem = || find(text, BEGIN).is_some();
    is_first || (all.any(|has_key| has_key) && !is_pem())
}

/// The lines that are to hold keys, each with its place.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (Place, Line<'_>)> {
    let numbered = text.split(|&byte| byte == b'\n').zip(1..);
    numbered.filter_map(|(line, number)| {
        let line = line.trim_ascii();
        let is_key = !line.is_empty() && line[0] != b'#';
        is_key.then(|| (Place::Line(number), Line::of(line)))
    })
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Self {
        let (algorithm, body, comment) = fields(line);
        // Nothing follows a word alone, such as a line of a PEM block.
        if algorithm.is_some() || body.is_empty() {
            return Line {
                options: Vec::new(),
                algorithm,
                body,
                comment,
            };
        }
        let (names, rest) = options(line);
        let (algorithm, body, comment) = fields(rest);
        // What is called options may be any word. A key begins with the length of its algorithm's name.
        let algorithm = algorithm.filter(|_| body.starts_with(b"AAAA"));
        Line {
            options: algorithm.map_or_else(Vec::new, |_| named(&names)),
            algorithm,
            body,
            comment,
        }
    }

    /// The key's algorithm is another than RSA, or it is not read for itself.
    pub(super) fn is_foreign(&self) -> bool {
        self.algorithm.is_some_and(|algorithm| algorithm != RSA)
    }

    pub(super) fn restrictions(&self) -> Restrictions {
        Restrictions {
            login: (!self.options.is_empty()).then(|| self.options.clone()),
            ..Restrictions::default()
        }
    }

    pub(super) fn annotations(&self) -> Annotations {
        Annotations::with_comment(self.comment)
    }

    pub(super) fn key(&self, limits: Limits) -> Result<PublicKey> {
        match self.algorithm {
            Some(RSA) => {}
            Some(CERTIFIED) => {
                return Err(unsupported(
                    "this is a certified public key in OpenSSH's form, which rsalab does not read; give the key alone",
                ));
            }
            Some(other) => {
                return Err(unsupported(format!(
                    "this is {other} public key in OpenSSH's form; rsalab works with RSA keys only"
                )));
            }
            None => {
                return Err(refused(
                    "this line has no public key of OpenSSH's: it names no algorithm that is known",
                ));
            }
        }
        #[cfg(feature = "openssh")]
        return super::openssh::decode_public(self.body, limits);
        #[cfg(not(feature = "openssh"))]
        {
            let _ = (self.body, limits);
            Err(super::refusal::left_out(super::content::Content::OpensshPublic))
        }
    }
}

/// The algorithm, the key and the comment; no algorithm if there is none that is known.
fn fields(text: &[u8]) -> (Option<&'static str>, &[u8], &[u8]) {
    let (name, rest) = field(text);
    let (body, comment) = field(rest);
    (algorithm(name), body, comment)
}

/// The text before the first blank, and what follows the blanks.
fn field(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| is_blank(*byte));
    let (field, rest) = text.split_at(end.unwrap_or(text.len()));
    (field, rest.trim_ascii_start())
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn algorithm(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"ssh-rsa" => RSA,
        b"ssh-rsa-cert-v01@openssh.com" => CERTIFIED,
        b"ssh-ed25519" => "an Ed25519",
        b"ssh-ed448" => "an Ed448",
        b"ssh-dss" => "a DSA",
        b"sk-ssh-ed25519@openssh.com" => "an Ed25519 security key's",
        b"sk-ecdsa-sha2-nistp256@openssh.com" => "an EC security key's",
        name if name.ends_with(b"-cert-v01@openssh.com") => "a certified",
        name if name.starts_with(b"ecdsa-sha2-") => "an EC",
        _ => return None,
    })
}

/// The options at the start of a line, and what follows them. Blanks and commas may stand between quotation marks.
fn options(line: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut options = Vec::new();
    let (mut start, mut is_quoted, mut place) = (0, false, 0);
    while place < line.len() && (is_quoted || !is_blank(line[place])) {
        match line[place] {
            b'\\' if line.get(place + 1) == Some(&b'"') => place += 1,
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => {
                options.push(&line[start..place]);
                start = place + 1;
            }
            _ => {}
        }
        place += 1;
    }
    let place = place.min(line.len());
    options.push(&line[start..place]);
    (options, line[place..].trim_ascii_start())
}

/// The names of options, each once, in order.
fn named(options: &[&[u8]]) -> Vec<&'static str> {
    let mut names: Vec<&str> = options.iter().map(|option| name(option)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The name of an option, out of those that there are.
fn name(option: &[u8]) -> &'static str {
    const NAMES: &str = "\
        agent-forwarding cert-authority command environment expiry-time from no-agent-forwarding no-port-forwarding \
        no-pty no-touch-required no-user-rc no-X11-forwarding permitlisten permitopen port-forwarding principals pty \
        restrict tunnel user-rc verify-required X11-forwarding";
    let end = option.iter().position(|&byte| byte == b'=');
    let name = &option[..end.unwrap_or(option.len())];
    let mut known = NAMES.split(' ');
    known
        .find(|known| known.as_bytes().eq_ignore_ascii_case(name))
        .unwrap_or("another")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> (Vec<&'static str>, String) {
        let (options, rest) = options(line.as_bytes());
        (named(&options), String::from_utf8_lossy(rest).into_owned())
    }

    #[test]
    fn options_end_at_the_first_blank_outside_of_quotation_marks() {
        assert_eq!(
            names("from=\"a,b c\",command=\"x \\\" y\",No-Pty \t ssh-rsa AAAA"),
            (vec!["command", "from", "no-pty"], "ssh-rsa AAAA".to_owned())
        );
        assert_eq!(
            names("nonsense,cert-authority\tssh-rsa"),
            (vec!["another", "cert-authority"], "ssh-rsa".to_owned())
        );
        assert_eq!(names("command=\"open"), (vec!["command"], String::new()));
        assert_eq!(names("x=\"\\"), (vec!["another"], String::new()));
    }

    #[test]
    fn a_text_is_recognised_by_its_lines() {
        for (text, is_one) in [
            ("ssh-rsa AAAA", true),
            ("# laptop\r\n\r\nssh-rsa\tAAAA me\r\n", true),
            ("command=\"a b\" ssh-ed25519 AAAA", true),
            ("garbage\nssh-rsa AAAA\n", true),
            ("garbage\nssh-rsa AAAA\n-----BEGIN PRIVATE KEY-----\n", false),
            ("garbage", false),
            ("", false),
            ("ssh-rsax AAAA", false),
        ] {
            assert_eq!(is(text.as_bytes()), is_one, "{text}");
        }
    }
}
