//! Which of MLX's dispatch tables holds on a machine: the backend and the chip's generation, from their names.

/// A backend and what its tables ask about the chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// The Linux CPU wheel on x86.
    Cpu,
    /// CUDA, with the compute capability's major number.
    Cuda {
        /// 9 on an H100 or H200.
        capability: u32,
    },
    /// Metal: 13 is M1, 17 is M5.
    Metal {
        /// Generation of the architecture.
        generation: u32,
        /// `g` base, `s` Pro and Max, `d` Ultra.
        class: char,
    },
    /// No table was read for it.
    Unknown,
}

/// Chips whose name does not carry their compute capability.
const CHIPS: [(&str, u32); 9] = [
    ("V100", 7),
    ("T4", 7),
    ("A100", 8),
    ("L40", 8),
    ("H100", 9),
    ("H200", 9),
    ("GB10", 12),
    ("B200", 10),
    ("B300", 10),
];

impl Machine {
    /// From the backend's name and version and the device's text, as in a transcript's header.
    #[must_use]
    pub fn named(backend: &str, version: &str, device: &str) -> Self {
        if !super::VERSIONS.contains(&version) {
            return Self::Unknown;
        }
        match backend {
            "mlx-cpu" if cfg!(all(target_os = "linux", target_arch = "x86_64")) => Self::Cpu,
            "mlx-cuda" => capability(device).map_or(Self::Unknown, |capability| Self::Cuda { capability }),
            "mlx-metal" => metal(device).unwrap_or(Self::Unknown),
            _ => Self::Unknown,
        }
    }
}

/// From `sm_90` (the last digit is the minor number), else from the chip's name.
fn capability(device: &str) -> Option<u32> {
    let after = device.split_once("sm_").map(|(_, rest)| digits(rest));
    let told = after.and_then(|digits| digits.parse::<u32>().ok()).map(|number| number / 10);
    told.or_else(|| CHIPS.iter().find(|(name, _)| device.contains(name)).map(|(_, major)| *major))
}

/// From `applegpu_g16s`.
fn metal(device: &str) -> Option<Machine> {
    let (_, rest) = device.split_once("applegpu_g")?;
    let number = digits(rest);
    let class = rest[number.len()..].chars().next()?;
    Some(Machine::Metal { generation: number.parse().ok()?, class })
}

fn digits(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::Machine;

    #[test]
    fn names_of_chips() {
        let cuda = |device| Machine::named("mlx-cuda", "0.32.4", device);
        assert_eq!(cuda("NVIDIA H200, sm_90"), Machine::Cuda { capability: 9 });
        assert_eq!(cuda("sm_120"), Machine::Cuda { capability: 12 });
        assert_eq!(cuda("NVIDIA H200"), Machine::Cuda { capability: 9 });
        assert_eq!(cuda("something else"), Machine::Unknown);
        let metal = Machine::named("mlx-metal", "0.32.4", "Apple M4 Pro, applegpu_g16s");
        assert_eq!(metal, Machine::Metal { generation: 16, class: 's' });
        assert_eq!(Machine::named("mlx-cuda", "0.40.0", "sm_90"), Machine::Unknown);
    }
}
