internal import CZstd

/// libzstd in memory: frames with or without a dictionary.
final class ZstdFrames {
    private let compressing: OpaquePointer
    private let decompressing: OpaquePointer
    private let dictionary: (compress: OpaquePointer, decompress: OpaquePointer)?

    init(level: Int, dictionary: [UInt8]? = nil) throws {
        guard let compressing = ZSTD_createCCtx(), let decompressing = ZSTD_createDCtx() else {
            throw Failure("zstd cannot allocate memory.")
        }
        self.compressing = compressing
        self.decompressing = decompressing
        self.dictionary = try dictionary.map { bytes in
            guard let compress = ZSTD_createCDict(bytes, bytes.count, Int32(level)),
                let decompress = ZSTD_createDDict(bytes, bytes.count)
            else { throw Failure("zstd rejected the dictionary.") }
            return (compress, decompress)
        }
        for (parameter, value) in [
            (ZSTD_c_compressionLevel, Int32(level)), (ZSTD_c_windowLog, 20), (ZSTD_c_contentSizeFlag, 0),
            (ZSTD_c_dictIDFlag, 0),
        ] {
            ZSTD_CCtx_setParameter(compressing, parameter, value)
        }
        if let dictionary = self.dictionary {
            ZSTD_CCtx_refCDict(compressing, dictionary.compress)
            ZSTD_DCtx_refDDict(decompressing, dictionary.decompress)
        }
    }

    deinit {
        ZSTD_freeCCtx(compressing)
        ZSTD_freeDCtx(decompressing)
        if let dictionary {
            ZSTD_freeCDict(dictionary.compress)
            ZSTD_freeDDict(dictionary.decompress)
        }
    }

    /// Trains a dictionary of at most `size` bytes with concatenated samples.
    static func train(_ samples: [UInt8], lengths: [Int], size: Int) throws -> [UInt8] {
        var failure: String?
        let dictionary = [UInt8](unsafeUninitializedCapacity: size) { target, count in
            let result = ZDICT_trainFromBuffer(target.baseAddress, size, samples, lengths, UInt32(lengths.count))
            if ZDICT_isError(result) != 0 {
                failure = String(cString: ZDICT_getErrorName(result))
            } else {
                count = result
            }
        }
        if let failure { throw Failure("zstd's dictionary training: \(failure).") }
        return dictionary
    }

    func startFrame() {
        ZSTD_CCtx_reset(compressing, ZSTD_reset_session_only)
        ZSTD_DCtx_reset(decompressing, ZSTD_reset_session_only)
    }

    /// Appends the compressed bytes, as the end of a frame or flushed so that the frame continues.
    func compress(_ raw: UnsafeRawBufferPointer, to output: inout [UInt8], endsFrame: Bool) throws {
        let start = output.count
        let room = ZSTD_compressBound(raw.count) + 64
        output.append(contentsOf: repeatElement(0, count: room))
        let written = try output.withUnsafeMutableBytes { target in
            var from = ZSTD_inBuffer(src: raw.baseAddress, size: raw.count, pos: 0)
            var to = ZSTD_outBuffer(dst: target.baseAddress! + start, size: room, pos: 0)
            let left = ZSTD_compressStream2(compressing, &to, &from, endsFrame ? ZSTD_e_end : ZSTD_e_flush)
            guard ZSTD_isError(left) == 0, left == 0 else { throw Failure("zstd did not compress.") }
            return to.pos
        }
        output.removeLast(room - written)
    }

    /// Decompresses as many bytes as the target can contain. Returns their number.
    func decompress(_ stored: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) throws -> Int {
        var from = ZSTD_inBuffer(src: stored.baseAddress, size: stored.count, pos: 0)
        var to = ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
        while from.pos < from.size {
            let before = (from.pos, to.pos)
            guard ZSTD_isError(ZSTD_decompressStream(decompressing, &to, &from)) == 0, before != (from.pos, to.pos)
            else {
                throw Failure("zstd did not decompress.")
            }
        }
        return to.pos
    }
}
