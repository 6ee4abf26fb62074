//! Writes small GGUF files, well formed or not, and the same model as safetensors.
#![expect(clippy::unwrap_used, reason = "a panic in a helper fails the test that called it")]

use exactness::engine::checkpoint::Checkpoint;
use exactness::transcript::files::write_whole;
use half::f16;
use tempfile::TempDir;

/// A metadata value, as much of the format as models use.
#[derive(Debug, Clone)]
pub(crate) enum Meta {
    U32(u32),
    F32(f32),
    Bool(u8),
    Text(String),
    Texts(Vec<String>),
    I32s(Vec<i32>),
    /// A type and bytes that are whatever a test says.
    Raw(u32, Vec<u8>),
}

pub(crate) fn text(text: &str) -> Meta {
    Meta::Text(text.to_owned())
}

fn string(text: &str) -> Vec<u8> {
    [&u64::try_from(text.len()).unwrap().to_le_bytes()[..], text.as_bytes()].concat()
}

fn list(kind: u32, values: &[Vec<u8>]) -> Vec<u8> {
    let count = u64::try_from(values.len()).unwrap();
    [&kind.to_le_bytes()[..], &count.to_le_bytes(), &values.concat()].concat()
}

impl Meta {
    fn bytes(&self) -> Vec<u8> {
        let (kind, value) = match self {
            Self::U32(value) => (4_u32, value.to_le_bytes().to_vec()),
            Self::F32(value) => (6, value.to_le_bytes().to_vec()),
            Self::Bool(value) => (7, vec![*value]),
            Self::Text(value) => (8, string(value)),
            Self::Texts(values) => {
                (9, list(8, &values.iter().map(|value| string(value)).collect::<Vec<_>>()))
            }
            Self::I32s(values) => {
                (9, list(5, &values.iter().map(|value| value.to_le_bytes().to_vec()).collect::<Vec<_>>()))
            }
            Self::Raw(kind, bytes) => (*kind, bytes.clone()),
        };
        [&kind.to_le_bytes()[..], &value].concat()
    }
}

/// One tensor of a file; `sides` as the format has them, innermost first.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) name: String,
    pub(crate) sides: Vec<u64>,
    pub(crate) kind: u32,
    pub(crate) data: Vec<u8>,
    /// Where the entry says that the bytes begin, when that is not where they do.
    pub(crate) place: Option<u64>,
}

/// A file to be written.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) version: u32,
    pub(crate) metadata: Vec<(String, Meta)>,
    pub(crate) tensors: Vec<Stored>,
}

impl File {
    pub(crate) fn set(&mut self, key: &str, value: Meta) {
        self.metadata.retain(|(known, _)| known != key);
        self.metadata.push((key.to_owned(), value));
    }

    pub(crate) fn unset(&mut self, key: &str) {
        self.metadata.retain(|(known, _)| known != key);
    }

    pub(crate) fn tensor(&mut self, name: &str) -> &mut Stored {
        self.tensors.iter_mut().find(|tensor| tensor.name == name).unwrap()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let count = |count: usize| u64::try_from(count).unwrap().to_le_bytes();
        let mut file = [&b"GGUF"[..], &self.version.to_le_bytes()].concat();
        file.extend(count(self.tensors.len()));
        file.extend(count(self.metadata.len()));
        for (key, value) in &self.metadata {
            file.extend([string(key), value.bytes()].concat());
        }
        let mut data: Vec<u8> = Vec::new();
        for tensor in &self.tensors {
            data.resize(data.len().next_multiple_of(32), 0);
            file.extend(string(&tensor.name));
            file.extend(u32::try_from(tensor.sides.len()).unwrap().to_le_bytes());
            tensor.sides.iter().for_each(|side| file.extend(side.to_le_bytes()));
            file.extend(tensor.kind.to_le_bytes());
            file.extend(tensor.place.unwrap_or(u64::try_from(data.len()).unwrap()).to_le_bytes());
            data.extend(&tensor.data);
        }
        file.resize(file.len().next_multiple_of(32), 0);
        file.extend(data);
        file
    }
}

/// The codes and the f16 scales and biases of a matrix: numbers that a test chose, in no packing.
#[derive(Debug, Clone)]
pub(crate) struct Codes {
    pub(crate) inputs: usize,
    pub(crate) bits: u32,
    /// `[outputs, inputs]`.
    pub(crate) values: Vec<u8>,
    /// `[outputs, inputs / 32]`.
    pub(crate) scales: Vec<f16>,
    pub(crate) biases: Vec<f16>,
}

impl Codes {
    /// Codes that follow no pattern; a bias that is a given multiple of the scale, or free.
    pub(crate) fn new(seed: u64, [outputs, inputs]: [usize; 2], bits: u32, middle: Option<f32>) -> Self {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            u8::try_from(state >> 40 & 0xff).unwrap()
        };
        let values = (0..outputs * inputs).map(|_| next() >> (8 - bits)).collect();
        let steps = f32::from(1_u16 << bits);
        let scales: Vec<f16> = (0..outputs * inputs / 32)
            .map(|_| f16::from_f32((0.5 + f32::from(next()) / 256.0) * 0.4 / steps))
            .collect();
        let free = |scale: &f16| f16::from_f32(-scale.to_f32() * (steps / 2.0 - 0.3));
        let biases = scales.iter().map(|scale| {
            middle.map_or_else(|| free(scale), |middle| f16::from_f32(-middle * scale.to_f32()))
        });
        let biases = biases.collect();
        Self { inputs, bits, values, scales, biases }
    }

    /// Packed as MLX packs them: the first code in the lowest bits of a word.
    pub(crate) fn words(&self) -> Vec<u8> {
        let per_word = usize::try_from(32 / self.bits).unwrap();
        let word = |codes: &[u8]| {
            let shifted = codes.iter().zip(0..).map(|(code, index)| u32::from(*code) << (index * self.bits));
            shifted.fold(0, |word, code| word | code).to_le_bytes()
        };
        self.values.chunks(per_word).flat_map(word).collect()
    }

    /// The blocks of a row as the format has them: 2 is `Q4_0`, 3 is `Q4_1`, 8 is `Q8_0`.
    fn row(&self, row: usize, kind: u32) -> Vec<u8> {
        let groups = self.inputs / 32;
        let block = |group: usize| {
            let place = row * groups + group;
            let codes = &self.values[place * 32..place * 32 + 32];
            let mut block = self.scales[place].to_le_bytes().to_vec();
            if kind == 3 {
                block.extend(self.biases[place].to_le_bytes());
            }
            match kind {
                8 => block.extend(codes.iter().map(|code| code.wrapping_sub(128))),
                _ => block.extend((0..16).map(|index| codes[index] + 16 * codes[index + 16])),
            }
            block
        };
        (0..groups).flat_map(block).collect()
    }

    /// All rows, in the format's order where `heads` says that they are turned in pairs.
    pub(crate) fn blocks(&self, kind: u32, heads: Option<usize>) -> Vec<u8> {
        let rows = self.values.len() / self.inputs;
        permuted(rows, heads).into_iter().flat_map(|row| self.row(row, kind)).collect()
    }
}

/// For each row of the file, the row of the model: of a head's halves, first one of the first, then one of the second.
pub(crate) fn permuted(rows: usize, heads: Option<usize>) -> Vec<usize> {
    let Some(heads) = heads else { return (0..rows).collect() };
    let width = rows / heads;
    let mut order = Vec::new();
    for head in 0..heads {
        for pair in 0..width / 2 {
            order.push(head * width + pair);
            order.push(head * width + width / 2 + pair);
        }
    }
    order
}

/// A folder with the file `m.gguf`.
pub(crate) fn written(bytes: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_whole(&folder.path().join("m.gguf"), bytes).unwrap();
    folder
}

/// What opening a file says, without its folder's path.
pub(crate) fn refusal(bytes: &[u8]) -> String {
    let folder = written(bytes);
    let error = Checkpoint::open(&folder.path().join("m.gguf")).unwrap_err().to_string();
    assert!(!error.contains('\n'), "more than one line: {error}");
    error.replace(&folder.path().display().to_string(), "DIR")
}
