//! SHA-256 in the spelling that transcripts use: 64 lower-case hexadecimal digits.

use serde::de::{Deserialize, Deserializer, Error as _};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Read};

/// Builds one digest from several pieces.
#[derive(Debug, Clone, Default)]
pub struct Digester(Sha256);

impl Digester {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes added.
    #[must_use]
    pub fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The digest of one piece.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The digest of everything that `source` gives, and how many bytes that was.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of(mut source: impl Read) -> io::Result<(String, u64)> {
    let (mut digester, mut bytes) = (Digester::default(), 0);
    let mut piece = vec![0; 1 << 20];
    loop {
        match source.read(&mut piece)? {
            0 => return Ok((digester.finish(), bytes)),
            read => {
                digester.update(&piece[..read]);
                bytes += read as u64;
            }
        }
    }
}

/// The digest of a token stream: its ids as 64-bit little-endian integers.
#[must_use]
pub fn stream_sha256(tokens: &[i64]) -> String {
    let mut digester = Digester::default();
    for token in tokens {
        digester.update(&token.to_le_bytes());
    }
    digester.finish()
}

/// True for 64 hexadecimal digits, in whichever case.
#[must_use]
pub fn is_sha256(text: &[u8]) -> bool {
    text.len() == 64 && text.iter().all(u8::is_ascii_hexdigit)
}

/// A key that may be absent; what is there has to be a digest. A text that is none would otherwise be left out of
/// every comparison, and a run of such rows be called equal in none of them.
///
/// # Errors
/// When the value is no string of 64 hexadecimal digits.
pub fn maybe<'de, D: Deserializer<'de>>(source: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(source)?;
    match text.as_deref().filter(|text| !is_sha256(text.as_bytes())) {
        None => Ok(text),
        Some(other) => Err(D::Error::custom(format!(
            "`{other}` is no SHA-256 (64 hexadecimal digits); leave the key out where there is none"
        ))),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::{sha256, sha256_of};

    #[test]
    fn published_vector() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), expected);
        assert_eq!(sha256_of(&b"abc"[..]).unwrap(), (expected.to_owned(), 3));
    }

    #[test]
    fn a_source_read_in_pieces_has_the_digest_of_the_whole() {
        let bytes = vec![7; (2 << 20) + 5];
        assert_eq!(sha256_of(&bytes[..]).unwrap(), (sha256(&bytes), bytes.len() as u64));
    }
}
