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

    deinit { ZSTD_freeCCtx(context) }

    /// Starts a run with the next block. Also valid after a failure.
    func startRun() {
        ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
    }

    /// Appends the compressed form of a block to `output`. After an error the run is unusable; start another run.
    func compress(_ raw: ArraySlice<UInt8>, into output: inout [UInt8]) throws(LogError) {
        let start = output.count
        // Enough for a flush in one call, so the loop below usually runs once.
        output.append(contentsOf: repeatElement(0, count: ZSTD_compressBound(raw.count) + 64))
        var input = (done: 0, all: raw.count)
        var written = 0
        while true {
            let room = output.count - start - written
            let left = raw.withUnsafeBytes { source in
                output.withUnsafeMutableBytes { target in
                    var from = ZSTD_inBuffer(src: source.baseAddress, size: input.all, pos: input.done)
                    var to = ZSTD_outBuffer(dst: target.baseAddress! + start + written, size: room, pos: 0)
                    let left = ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush)
                    input.done = from.pos
                    written += to.pos
                    return left
                }
            }
            try check(left)
            if left == 0 { break }
            output.append(contentsOf: repeatElement(0, count: left))
        }
        output.removeLast(output.count - start - written)
    }

    private func check(_ result: Int) throws(LogError) {
        if ZSTD_isError(result) != 0 { throw .compression(reason: String(cString: ZSTD_getErrorName(result))) }
    }
}
