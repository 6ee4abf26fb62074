//! The header of a safetensors file, checked strictly before any tensor is lent.
//!
//! The format promises that tensors follow each other without gaps up to the end of the file. Everything is
//! checked here against the file's true length, so that later code cannot be led outside by a header that lies.
//! The published crate gives the entry's types; the checks are ours, because its errors do not name the tensor.

use super::bytes::Bytes;
use super::error::{CheckpointError, Result};
use super::tensor::TensorView;
use safetensors::tensor::TensorInfo;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The format's own bound on the header.
const LARGEST_HEADER: usize = 100_000_000;
/// Bytes of the length that the file starts with.
const LENGTH_BYTES: usize = 8;

/// The tensors of a file in the order of their bytes. `file` is the name for messages.
pub(super) fn tensors(file: &Arc<str>, bytes: &Bytes) -> Result<Vec<TensorView>> {
    let end = header_end(file, bytes)?;
    let header: Header = serde_json::from_slice(&bytes[LENGTH_BYTES..end])
        .map_err(|error| wrong(file, format!("its header is not a table of tensors: {error}")))?;
    let mut entries = header.0;
    entries.sort_by_key(|(_, info)| info.data_offsets);
    check_coverage(file, &entries, bytes.len() - end)?;
    let lend = |(name, info): (String, TensorInfo)| {
        let (from, to) = info.data_offsets;
        let Some(bytes) = bytes.slice(end + from..end + to) else {
            return Err(wrong_tensor(file, &name, "its bytes lie outside the file".to_owned()));
        };
        let (file, dtype, shape) = (Arc::clone(file), info.dtype, info.shape);
        Ok(TensorView { file, name_in_file: name, dtype, shape, bytes })
    };
    entries.into_iter().map(lend).collect()
}

/// Where the header ends and the data begins.
fn header_end(file: &str, bytes: &[u8]) -> Result<usize> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else {
        return Err(wrong(
            file,
            format!("the file has {} bytes, less than a header's length field", bytes.len()),
        ));
    };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > LARGEST_HEADER || rest.first().is_some_and(|first| *first != b'{') {
        return Err(wrong(file, "it does not begin with a safetensors header".to_owned()));
    }
    if length > rest.len() {
        let says =
            format!("the header has {length} bytes, the file holds {} of them (truncated?)", rest.len());
        return Err(wrong(file, says));
    }
    Ok(LENGTH_BYTES + length)
}

/// Every entry claims just the bytes that its shape needs, and together they claim each data byte once.
fn check_coverage(file: &str, entries: &[(String, TensorInfo)], data: usize) -> Result<()> {
    let mut claimed = 0;
    for (name, info) in entries {
        let (from, to) = info.data_offsets;
        let says = if to < from {
            format!("data_offsets [{from}, {to}] run backwards")
        } else if to > data {
            format!("its bytes {from}..{to} reach outside the file's {data} data bytes (truncated?)")
        } else if from < claimed {
            format!("its bytes {from}..{to} overlap the tensor before, which ends at {claimed}")
        } else if from > claimed {
            format!("the {} bytes before its first, {from}, belong to no tensor", from - claimed)
        } else if byte_length(info) != Some(to - from) {
            format!("shape {:?} of {} does not fit its {} bytes", info.shape, info.dtype, to - from)
        } else {
            claimed = to;
            continue;
        };
        return Err(wrong_tensor(file, name, says));
    }
    if claimed != data {
        return Err(wrong(
            file,
            format!("the last {} of {data} data bytes belong to no tensor", data - claimed),
        ));
    }
    Ok(())
}

/// Bytes that shape and type need; `None` for a number that does not fit or a broken byte.
fn byte_length(info: &TensorInfo) -> Option<usize> {
    let elements = info.shape.iter().try_fold(1_usize, |product, side| product.checked_mul(*side))?;
    let bits = elements.checked_mul(info.dtype.bitsize())?;
    bits.is_multiple_of(8).then_some(bits / 8)
}

fn wrong(file: &str, says: String) -> CheckpointError {
    CheckpointError::File { file: file.to_owned(), says }
}

fn wrong_tensor(file: &str, tensor: &str, says: String) -> CheckpointError {
    CheckpointError::Tensor { file: file.to_owned(), tensor: tensor.to_owned(), says }
}

/// The entries as written, in file order. A map would keep the last of two entries with one name.
struct Header(Vec<(String, TensorInfo)>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(HeaderVisitor)
    }
}

struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = Header;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Header, A::Error> {
        let (mut entries, mut names) = (Vec::new(), BTreeSet::new());
        while let Some(name) = map.next_key::<String>()? {
            if name == "__metadata__" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let info =
                map.next_value().map_err(|error| A::Error::custom(format!("tensor {name}: {error}")))?;
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format!("tensor {name} stands there twice")));
            }
            entries.push((name, info));
        }
        Ok(Header(entries))
    }
}
