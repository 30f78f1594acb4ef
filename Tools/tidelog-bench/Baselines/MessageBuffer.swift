/// A buffer for the error message of a C function.
enum MessageBuffer {
    /// Calls a C function. If it returns nil, throws its message, prefixed with the library's name.
    static func call<Result>(
        _ library: String, _ body: (UnsafeMutablePointer<CChar>, Int) -> Result?
    ) throws -> Result {
        try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { text in
            text.initialize(repeating: 0)
            guard let start = text.baseAddress, let result = body(start, text.count) else {
                throw Failure(
                    "\(library): "
                        + String(decoding: text.map(UInt8.init(bitPattern:)).prefix { $0 != 0 }, as: UTF8.self))
            }
            return result
        }
    }
}
