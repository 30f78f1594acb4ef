internal import EDM

/// The text of a response from a feed, with links that lead to the gateway.
package struct FeedAnswer: Sendable {
    private let description: FeedDescription
    private let roots: ServiceRoots
    private let query: CanonicalQuery
    /// Whether removed rows are written in the form of OData 4.01.
    private let isNested: Bool
    private let isDelta: Bool

    /// - Parameters:
    ///   - maxVersion: The value of `OData-MaxVersion` in the request.
    package init(_ head: FeedHead, _ query: CanonicalQuery, roots: ServiceRoots, isDelta: Bool, maxVersion: String?) {
        description = head.description
        self.roots = roots
        self.query = query
        self.isDelta = isDelta
        isNested = description.version == "4.01" && maxVersion != "4.0"
    }

    /// Returns the body.
    ///
    /// - Parameters:
    ///   - token: The sealed token of the link at the end.
    ///   - isLast: Whether the link is a delta link. Otherwise it leads to the next page.
    package func body(_ items: [FeedItem], token: String, isLast: Bool) -> [UInt8] {
        let link = Self.quoted(
            root + FeedRequest.link(query, token: token, isDelta: isLast, isLegacy: description.isLegacy))
        var output: [UInt8] = []
        output.reserveCapacity(items.reduce(256) { $0 + Self.size($1) + 1 })
        if description.isLegacy {
            output += #"{"d":{"results":["#.utf8
            append(items, &output)
            output += "],\"\(isLast ? "__delta" : "__next")\":\(link)}}".utf8
        } else {
            output += "{\"@odata.context\":\(Self.quoted(context)),\"value\":[".utf8
            append(items, &output)
            output += "],\"@odata.\(isLast ? "deltaLink" : "nextLink")\":\(link)}".utf8
        }
        return output
    }

    /// The approximate number of bytes of an item in the body.
    package static func size(_ item: FeedItem) -> Int {
        if case .row(let row) = item.change { row.body.count } else { item.key.utf8.count + 80 }
    }

    private var root: String { roots.published.description }

    private var context: String {
        let full = description.context.map { roots.rewritten($0, .response) } ?? "\(root)$metadata#\(query.set)"
        guard isDelta else { return full }
        return full + "/$delta"
    }

    private func append(_ items: [FeedItem], _ output: inout [UInt8]) {
        for (index, item) in items.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            switch item.change {
            case .row(let row): output += LinkRewriter.rewrite(row.body, roots, .response)
            case .removed(let key, let reason): output += removed(key, reason).utf8
            }
        }
    }

    private func removed(_ key: String, _ reason: RemovalReason) -> String {
        let id = Self.quoted(root + FeedURL.encoded(query.set) + key)
        if description.isLegacy {
            return "{\"@odata.context\":\(Self.quoted("$metadata#\(query.set)/$deletedEntity")),\"id\":\(id)}"
        }
        if isNested { return "{\"@removed\":{\"reason\":\"\(reason.name)\"},\"@id\":\(id)}" }
        let context = Self.quoted("#\(query.set)/$deletedEntity")
        return "{\"@odata.context\":\(context),\"id\":\(id),\"reason\":\"\(reason.name)\"}"
    }

    private static func quoted(_ text: String) -> String { JSONValue.string(text).text }
}
