//! Inputs of an audit, as of a folder: files of keys, and lines and tables that have some.

use rsalab_rsa::format::{Encoding, PublicFormat, encode_public, openssh};

use super::{base64, key_sets, private_keys, public_keys, short, tables::tables, texts};

/// Anything in a folder.
pub fn audits() -> Vec<Vec<u8>> {
    let n = short().public().n();
    let digits: String = n.iter().map(|byte| format!("{byte:02x}")).collect();
    let coloned: String = n.iter().map(|byte| format!(":{byte:02x}")).collect();
    let line = openssh::public(short().public(), "somebody");
    let spki = encode_public(short().public(), PublicFormat::Spki, Encoding::Der);
    let (text, record) = (base64(&spki), base64(&[&[3, 1, 0, 1][..], n].concat()));
    let mut seeds = [private_keys(), public_keys(), key_sets(), tables()].concat();
    seeds.extend([
        format!("Modulus={digits}\n0x{digits}\n{coloned}\nn={}\n", "7".repeat(200)).into_bytes(),
        format!("{}\n{}\n", "f".repeat(300), "f".repeat(5001)).into_bytes(),
        format!("id,modulus\n1,{digits}\n2,\"{digits}\"\n3,x\n4\n").into_bytes(),
        format!("n;\"id\"\n{digits};1\n").into_bytes(),
        format!("\u{feff}N\tid\n{digits}\t1\n").into_bytes(),
        format!("modulus\n{digits}\n").into_bytes(),
        format!("a,b\n{digits},1\n").into_bytes(),
        format!("modulus,x\n{}", format!("{digits},1\n").repeat(70)).into_bytes(),
        format!("host.example,10.0.0.1 {line}\n@revoked * {line}\n@cert-authority\n").into_bytes(),
        format!("ssh-ed25519 AAAA x\n{line}\nssh-rsa short\nssh-rsa AAAA damaged\n").into_bytes(),
        format!("{}\n", line.replacen("ssh-rsa", "sk-ssh-x", 1)).into_bytes(),
        format!("example. IN TXT ( \"v=DKIM1; p={}\"\n \"{}\" )\n", &text[..40], &text[40..]).into_bytes(),
        format!("v=DKIM1; k=rsa; p={text}\nv=DKIM1; p=\nk=ed25519; p=AAAA\nv=DKIM1; p=!\nk=rsa; q=1\n").into_bytes(),
        format!("x. TXT \"v=DKIM1\\; p={text}\"\n").into_bytes(),
        format!("example. 3600 IN DNSKEY 256 3 8 (\n{record} ; comment\n)\n").into_bytes(),
        format!("256 3 8 {record}\n257 3 13 {record}\nx KEY 1 2 8 AAAA\nx DNSKEY 256 3 5 !\nx DNSKEY 256 3 8 AA==\n").into_bytes(),
        format!("x CDNSKEY 256 3 10 {}\n256 3 8 AA\n", base64(&[&[0, 0, 3, 1, 0, 1][..], n].concat())).into_bytes(),
        format!("x DNSKEY 256 3 8 {}\n", base64(&[&[3, 1, 0, 1][..], &[0xff; 2100]].concat())).into_bytes(),
        format!("{text}\n{}\nMInone\n", &text[..50]).into_bytes(),
        format!("\n# comment\n; comment\n// comment\n$ORIGIN x\nx IN A 10.0.0.1\nnothing\n{}", "line\n".repeat(70)).into_bytes(),
        format!("{{\"rsalab_keys\":1,\"bits\":2048}}\n{{\"number\":1,\"file\":\"a.pem\",\"public\":\"a.pub\",\"sha256\":\"{}\"}}\n{{}}\n{{\"file\":\"b\",\"sha256\":\"00\"}}\n", "5a".repeat(32)).into_bytes(),
        archive(&[("a.pem", &private_keys()[0]), ("b", line.as_bytes()), ("c", b"")]),
        archive(&[("a.pem", &private_keys()[0])])[..700].to_vec(),
        archive(&[("a.parquet", &tables()[0])]),
    ]);
    // Two keys that share a prime, and a modulus that is a square.
    let square = "3".repeat(2) + &"0".repeat(62);
    seeds.push(format!("Modulus={digits}\nModulus={square}\n").into_bytes());
    seeds.extend([
        b"\x1f\x8b\x08\0".to_vec(),
        b"\xfd7zXZ\0".to_vec(),
        b"BZh9".to_vec(),
        b"\x28\xb5\x2f\xfd".to_vec(),
        b"PK\x03\x04".to_vec(),
        vec![0x30, 0x82, 1, 0, 7],
        vec![b'x'; (1 << 20) + 7],
    ]);
    seeds.extend(texts(&[
        "{\"modulus\": 1,\n\"n\": 2}\n",
        "{\"a\":1}\n{\"b\":2}\n",
        "{\n\"keys\": []}\n",
        "x DNSKEY (\n(\n(\n",
    ]));
    seeds
}

/// A tar archive (POSIX, ustar) of these files.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        let mut field = |at: usize, text: String| header[at..at + text.len()].copy_from_slice(text.as_bytes());
        field(100, "0000600\0".to_owned());
        field(108, "0000000\0".to_owned());
        field(116, "0000000\0".to_owned());
        field(124, format!("{:011o}\0", content.len()));
        field(136, "00000000000\0".to_owned());
        field(148, " ".repeat(8));
        field(156, "0".to_owned());
        field(257, "ustar\x0000".to_owned());
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend(header);
        archive.extend(*content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}
