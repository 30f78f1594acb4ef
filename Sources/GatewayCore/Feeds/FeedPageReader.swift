import EDM
internal import ODataWire

/// Reads a page of a feed while it arrives.
package struct FeedPageReader: Sendable {
    /// A row of the page. Its text is made only if it is needed.
    package struct Row: Sendable {
        package let key: String
        package let digest: RowDigest
        private let value: JSONValue

        init(key: String, digest: RowDigest, value: JSONValue) {
            self.key = key
            self.digest = digest
            self.value = value
        }

        /// The row in JSON.
        package var body: [UInt8] { FeedSource.bytes(value) }
    }

    private let source: FeedSource
    private let digest: @Sendable ([UInt8]) -> RowDigest
    private var scanner: FeedScanner

    /// - Parameter digest: The hash function for the content of rows.
    package init(_ source: FeedSource, digest: @escaping @Sendable ([UInt8]) -> RowDigest) {
        self.source = source
        self.digest = digest
        scanner = FeedScanner(version: source.model.version)
    }

    /// The context URL, after the page was read.
    package var context: String? { scanner.context }
    /// The link to the next page, after the page was read.
    package var nextLink: String? { scanner.nextLink }

    /// Returns the rows that are complete after the next bytes of the page.
    package mutating func rows(_ chunk: [UInt8]) throws(FeedError) -> [Row] {
        scanner.append(chunk)
        return try rows()
    }

    /// Returns the remaining rows at the end of the page. Throws if the page is truncated.
    package mutating func end() throws(FeedError) -> [Row] {
        scanner.finish()
        return try rows()
    }

    private mutating func rows() throws(FeedError) -> [Row] {
        var rows: [Row] = []
        while true {
            let item: JSONValue?
            do throws(PayloadError) { item = try scanner.next() } catch {
                throw FeedError("A page of the service cannot be read: \(error.message)")
            }
            // The texts of Atom are not the values of a row in JSON.
            guard !scanner.isMarkup else { throw FeedError("The service responds in Atom. Shared feeds require JSON.") }
            guard let item else { return rows }
            guard let object = item.object else { throw FeedError("A row of the service is no object.") }
            guard !RowContent.isIncomplete(item) else {
                throw FeedError("An expanded collection has several pages.")
            }
            rows.append(
                Row(key: try source.key(of: object), digest: digest(RowContent.bytes(of: item)), value: item))
        }
    }
}
