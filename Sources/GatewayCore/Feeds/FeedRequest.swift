/// A request that may be answered from a shared feed: a query, and the gateway's token if it continues a response.
package struct FeedRequest: Sendable, Hashable {
    /// The beginning of every token of the gateway, which no service is expected to use.
    package static let mark = "tidelog-gateway."

    package let query: CanonicalQuery
    package let token: String?

    /// Reads a URL relative to the service root.
    ///
    /// - Returns: `nil` if the request is not for a whole collection.
    package init?(_ rest: String) {
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var token: String?
        var kept: [Substring] = []
        for piece in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let pair = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2, let name = FeedURL.decoded(pair[0]), let value = FeedURL.decoded(pair[1]),
                ["$deltatoken", "!deltatoken", "$skiptoken"].contains(name), let own = Self.own(value)
            {
                guard token == nil else { return nil }
                token = own
            } else {
                kept.append(piece)
            }
        }
        let plain = kept.isEmpty ? String(parts[0]) : "\(parts[0])?\(kept.joined(separator: "&"))"
        guard let query = CanonicalQuery(plain) else { return nil }
        self.query = query
        self.token = token
    }

    /// Returns whether a URL contains a token of the gateway, which its service would not understand.
    package static func hasToken(_ rest: String) -> Bool {
        guard let question = rest.firstIndex(of: "?") else { return false }
        return rest[question...].utf8.split(separator: UInt8(ascii: "=")).contains { value in
            FeedURL.decoded(Substring(value).prefix { $0 != "&" }).flatMap(own) != nil
        }
    }

    private static func own(_ value: String) -> String? {
        let bare =
            value.hasPrefix("'") && value.hasSuffix("'") && value.utf8.count > 1
            ? value.dropFirst().dropLast() : value[...]
        guard bare.utf8.starts(with: mark.utf8) else { return nil }
        return String(bare.dropFirst(mark.count))
    }

    /// Returns the URL, relative to the service root, that continues a response.
    package static func link(_ query: CanonicalQuery, token: String, isDelta: Bool, isLegacy: Bool) -> String {
        let text = query.description
        let separator = text.contains("?") ? "&" : "?"
        let option =
            isDelta
            ? (isLegacy ? "!deltatoken='\(mark)\(token)'" : "$deltatoken=\(mark)\(token)")
            : isLegacy ? "$skiptoken='\(mark)\(token)'" : "$skiptoken=\(mark)\(token)"
        return text + separator + option
    }
}
