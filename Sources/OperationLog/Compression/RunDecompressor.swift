#if BundledZstd
    import libzstd
#elseif canImport(CZstd)
    import CZstd
#else
    #error("This platform has no libzstd: enable the trait BundledZstd of the package tidelog.")
#endif

/// Decompresses the blocks of a run in order.
///
/// Memory is bounded by the window and by the block's raw length, whatever the bytes contain. The format limits both.
final class RunDecompressor {
    private let context: OpaquePointer

    init() throws(LogError) {
        guard let context = ZSTD_createDCtx() else { throw .compression(reason: "out of memory") }
        self.context = context
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Int32(LogFormat.windowLog))
    }

    deinit { ZSTD_freeDCtx(context) }

    func startRun() {
        ZSTD_DCtx_reset(context, ZSTD_reset_session_only)
    }

    enum Outcome {
        case raw([UInt8])
        case undecodable(reason: String)
    }

    /// Decompresses the stored bytes to exactly `rawLength` bytes, or returns the reason for the failure.
    func decompress(_ stored: ArraySlice<UInt8>, rawLength: Int) -> Outcome {
        let outcome = decompress(stored, atMost: rawLength)
        guard case .raw(let raw) = outcome, raw.count != rawLength else { return outcome }
        return .undecodable(reason: "the length differs from the header")
    }

    /// Decompresses the stored bytes completely, or fails if the result exceeds the limit.
    func decompress(_ stored: ArraySlice<UInt8>, atMost limit: Int) -> Outcome {
        var failure: String?
        // One byte more than allowed, to detect an excess.
        let room = limit + 1
        let raw = [UInt8](unsafeUninitializedCapacity: room) { target, count in
            stored.withUnsafeBytes { source in
                var from = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
                var to = ZSTD_outBuffer(dst: target.baseAddress, size: room, pos: 0)
                while from.pos < from.size, to.pos < to.size {
                    let before = (from.pos, to.pos)
                    let result = ZSTD_decompressStream(context, &to, &from)
                    if ZSTD_isError(result) != 0 {
                        failure = String(cString: ZSTD_getErrorName(result))
                        break
                    }
                    if before == (from.pos, to.pos) { break }
                }
                if failure == nil, from.pos < from.size { failure = "there are bytes after the end" }
                count = to.pos
            }
        }
        if let failure { return .undecodable(reason: failure) }
        guard raw.count <= limit else { return .undecodable(reason: "the length differs from the header") }
        return .raw(raw)
    }
}
