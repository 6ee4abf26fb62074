//! By which words a dispatch table's kernels are known among the names that a tracer gives.

/// Whether `names`, of all that one call launched, have the kernel that a table calls `word`; nothing where the word
/// is no kernel's.
#[must_use]
pub fn shown(word: &str, names: &[&str]) -> Option<bool> {
    let any = |known: fn(&str) -> bool| Some(names.iter().any(|name| known(name)));
    match word {
        "qmv" => any(|name| name.contains("::qmv_kernel<")),
        "fp_qmv" => any(|name| name.contains("::fp_qmv_")),
        "qmm_sm80" => any(|name| name.contains("::qmm_sm80_kernel<")),
        "qmm_naive" => any(|name| name.contains("::qmm_naive_kernel<")),
        "gemv" => any(|name| name.contains("::gemv_")),
        "cublasLt" => any(vendors_product),
        "cuDNN" => any(cudnn),
        "sdpa_vector" => any(|name| name.contains("::kernel_sdpav_")),
        "sdpa_vector or cuDNN" => any(|name| name.contains("::kernel_sdpav_") || cudnn(name)),
        _ => None,
    }
}

fn cudnn(name: &str) -> bool {
    name.starts_with("cudnn_")
}

/// The vendor's library names its products by architecture, or by a family of its own, outside MLX's namespace.
fn vendors_product(name: &str) -> bool {
    !name.contains("mlx::core")
        && ["nvjet", "gemm", "gemv", "cutlass", "splitK"].iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::shown;

    /// Names as they were traced on an H200 with MLX 0.32.4.
    #[test]
    fn traced_names_are_known() {
        let qmv =
            "void mlx::core::cu::qmv_kernel<8, 16, 64, true, true, cutlass::bfloat16_t>(int, int, bool)";
        let sm80 = "void mlx::core::cu::qmm_sm80_kernel<64, cutlass::bfloat16_t>(int, bool)";
        let cudnn =
            "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_kernel0_0";
        let sdpav = "void mlx::core::cu::kernel_sdpav_1pass<__nv_bfloat16, false, 64>(__nv_bfloat16 const*)";
        assert_eq!(shown("qmv", &[qmv]), Some(true));
        assert_eq!(shown("qmv", &[sm80]), Some(false));
        assert_eq!(shown("qmm_sm80", &[sm80]), Some(true));
        assert_eq!(shown("cuDNN", &[cudnn]), Some(true));
        assert_eq!(shown("sdpa_vector or cuDNN", &[sdpav]), Some(true));
        assert_eq!(shown("cublasLt", &[qmv, sm80, cudnn]), Some(false));
        assert_eq!(shown("row by row", &[qmv]), None);
        assert_eq!(shown("cuDNN", &[]), Some(false));
    }
}
