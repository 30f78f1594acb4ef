private import CZlib

/// Raw DEFLATE (RFC 1951), which a browser decompresses with `DecompressionStream('deflate-raw')`.
enum RawDeflate {
    /// The size of the buffer between zlib and the result, in bytes.
    private static let chunk = 1 << 16

    /// Returns the compressed form of `input`. The same version of zlib returns the same bytes.
    ///
    /// - Precondition: There is memory for zlib's state, less than 300 KB.
    static func compress(_ input: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        precondition(czlib_deflate_init_raw(&stream, Z_DEFAULT_COMPRESSION) == Z_OK, "zlib has no memory")
        defer { deflateEnd(&stream) }
        return run(&stream, input) { deflate($0, $1 ? Z_FINISH : Z_NO_FLUSH) } ?? []
    }

    /// Returns the bytes that ``compress(_:)`` compressed, or `nil` if `input` is not exactly one complete stream.
    static func decompress(_ input: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        guard czlib_inflate_init_raw(&stream) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        return run(&stream, input) { stream, _ in inflate(stream, Z_NO_FLUSH) }
    }

    /// Feeds `input` to zlib in parts, because zlib counts with 32 bits, and collects its output.
    ///
    /// - Parameter step: Runs zlib once; the second argument is whether the input is complete.
    private static func run(
        _ stream: inout z_stream, _ input: [UInt8], _ step: (UnsafeMutablePointer<z_stream>, Bool) -> Int32
    ) -> [UInt8]? {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: chunk)
        // zlib does not write to its input, but older declarations lack `const`.
        var input = input
        return input.withUnsafeMutableBufferPointer { input -> [UInt8]? in
            var offset = 0
            while true {
                let part = min(input.count - offset, chunk)
                stream.next_in = input.baseAddress.map { $0 + offset }
                stream.avail_in = UInt32(part)
                offset += part
                let isLast = offset == input.count
                repeat {
                    let status = buffer.withUnsafeMutableBufferPointer { buffer -> Int32 in
                        stream.next_out = buffer.baseAddress
                        stream.avail_out = UInt32(chunk)
                        return step(&stream, isLast)
                    }
                    output += buffer[..<(chunk - Int(stream.avail_out))]
                    if status == Z_STREAM_END { return isLast && stream.avail_in == 0 ? output : nil }
                    guard status == Z_OK || status == Z_BUF_ERROR else { return nil }
                } while stream.avail_out == 0
                if isLast { return nil }
            }
        }
    }
}
