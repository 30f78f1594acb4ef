package import EDM

/// Checks that a page is well-formed up to its end before any of it takes effect.
///
/// A service that fails while it writes a page has already sent the status 200. It adds an `error` after the items or
/// leaves the page malformed, and clients must treat the entire response as being in error (OData 4.01 Part 1, section
/// 9.5). Therefore no part of a page may be applied before its last byte was read. Items are only checked to be valid
/// JSON without duplicate names: errors in a single entity do not affect the page.
package struct PageValidator: Sendable {
    private var scanner: FeedScanner

    package init(version: ODataVersion, limits: JSONScanner.Limits = .init()) {
        scanner = FeedScanner(version: version, limits: limits)
        scanner.onlyChecks = true
    }

    /// The context URL of V4, if it has been read.
    package var context: String? { scanner.context }

    /// Checks the next bytes of the page.
    package mutating func append(_ chunk: [UInt8]) throws(PayloadError) {
        scanner.append(chunk)
        while try scanner.nextItem() != nil {}
    }

    /// Declares the page complete.
    ///
    /// - Throws: An error if the page is incomplete.
    package mutating func finish() throws(PayloadError) {
        scanner.finish()
        while try scanner.nextItem() != nil {}
    }
}
