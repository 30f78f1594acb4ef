public import EDM

/// Checks that a page is well-formed to its end before any of it takes effect.
///
/// A service that fails while it writes a page has sent its 200 already: it puts an `error` behind the items or leaves the page
/// malformed, and clients must treat the entire response as being in error (OData 4.01 Part 1, section 9.5). So nothing of a
/// page may be taken before its last byte was seen. Items are checked to be JSON, without repeated names, and no more: what a
/// single entity has wrong is no matter of the others.
public struct PageCheck: Sendable {
    private var scanner: FeedScanner

    public init(version: ODataVersion, limits: JSONScanner.Limits = .init()) {
        scanner = FeedScanner(version: version, limits: limits)
        scanner.onlyChecks = true
    }

    /// The context URL of V4, as far as the page was read.
    public var context: String? { scanner.context }

    /// Looks at the bytes that follow those already given.
    public mutating func append(_ chunk: [UInt8]) throws(PayloadError) {
        scanner.append(chunk)
        while try scanner.nextItem() != nil {}
    }

    /// Says that no more bytes follow.
    ///
    /// - Throws: where the page is not whole.
    public mutating func finish() throws(PayloadError) {
        scanner.finish()
        while try scanner.nextItem() != nil {}
    }
}
