internal import CZstd

/// libzstd alone: bytes compressed in memory, as one frame that is flushed on request.
final class ZstdStream {
    private let context: OpaquePointer
    private var output: [UInt8]
    /// The size of the output so far.
    private(set) var bytes = 0

    init(level: Int) throws {
        guard let context = ZSTD_createCCtx() else { throw Failure("zstd cannot allocate memory.") }
        self.context = context
        output = [UInt8](repeating: 0, count: 1 << 22)
        try Self.check(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Int32(level)))
    }

    deinit { ZSTD_freeCCtx(context) }

    /// Compresses the payloads of some records, and flushes at their end.
    func compress(_ records: EncodedRecords, _ range: Range<Int>) throws {
        let total = records.lengths[range].reduce(0) { $0 + Int($1) }
        try records.withRaw(range) { raw, _ in
            try output.withUnsafeMutableBytes { target in
                var from = ZSTD_inBuffer(src: raw, size: total, pos: 0)
                var to = ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
                guard try Self.check(ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush)) == 0 else {
                    throw Failure("zstd returned more than \(target.count) bytes at once.")
                }
                bytes += to.pos
            }
        }
    }

    @discardableResult
    private static func check(_ result: Int) throws -> Int {
        guard ZSTD_isError(result) == 0 else { throw Failure("zstd: \(String(cString: ZSTD_getErrorName(result)))") }
        return result
    }
}
