#if BundledZstd
    import libzstd
#elseif canImport(CZstd)
    import CZstd
#else
    #error("This platform has no libzstd: enable the trait BundledZstd of the package tidelog.")
#endif

/// Compresses the blocks of runs in order.
///
/// A run is one zstd frame that is flushed at the end of each block, so that a small commit benefits from the content
/// written shortly before it.
final class RunCompressor {
    private let context: OpaquePointer
    /// Memory for the compressed form of a block, which need not be cleared for the next one.
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    init(level: Int) throws(LogError) {
        guard let context = ZSTD_createCCtx() else { throw .compression(reason: "out of memory") }
        self.context = context
        let bounds = ZSTD_cParam_getBounds(ZSTD_c_compressionLevel)
        let level = min(max(Int32(clamping: level), bounds.lowerBound), bounds.upperBound)
        for (parameter, value) in [
            (ZSTD_c_compressionLevel, level), (ZSTD_c_windowLog, Int32(LogFormat.windowLog)),
            // The block's own checksum and length replace the frame's, because they can be checked before
            // decompression.
            (ZSTD_c_checksumFlag, 0), (ZSTD_c_contentSizeFlag, 0),
        ] {
            try check(ZSTD_CCtx_setParameter(context, parameter, value))
        }
    }

    deinit {
        memory.deallocate()
        ZSTD_freeCCtx(context)
    }

    /// Starts a run with the next block. Also valid after a failure.
    func startRun() {
        ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
    }

    /// Appends the compressed form of a block to `output`. After an error the run is unusable; start another run.
    func compress(_ raw: ArraySlice<UInt8>, into output: inout [UInt8]) throws(LogError) {
        // Enough for a flush in one call, so the loop below usually runs once.
        let bound = ZSTD_compressBound(raw.count) + 64
        if memory.count < bound {
            memory.deallocate()
            memory = .allocate(byteCount: bound, alignment: 1)
        }
        var done = 0
        while true {
            var to = ZSTD_outBuffer(dst: memory.baseAddress, size: memory.count, pos: 0)
            let left = raw.withUnsafeBytes { source in
                var from = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: done)
                defer { done = from.pos }
                return ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush)
            }
            try check(left)
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: memory[..<to.pos]))
            if left == 0 { break }
        }
    }

    private func check(_ result: Int) throws(LogError) {
        if ZSTD_isError(result) != 0 { throw .compression(reason: String(cString: ZSTD_getErrorName(result))) }
    }
}
