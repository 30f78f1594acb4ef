/// Room for the sentence that a function in C leaves where it fails.
enum MessageBuffer {
    /// Throws the sentence, behind the library's name, where the call gives nothing.
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
