package import ODataWire

/// Finds the request of a change set that a service's error is about, where its place in the answer does not tell: by the
/// Content-ID that the error names, or by its target (OData JSON 4.01, 21.1; SAP gateways: `ContentID` and `propertyref`).
struct Culprit {
    /// By Content-ID.
    private let requests: [(contentID: String, url: String)]

    /// - Parameter requests: those of the change set, as they were sent.
    init(_ requests: [(contentID: String, request: WireRequest)]) {
        self.requests = requests.map { ($0.contentID, Self.path($0.request.url)) }
    }

    /// The Content-ID of the request to blame; nil where the error names none, or none of these, or several.
    func find(_ error: ServiceError) -> String? {
        let named = ([error.contentID] + error.details.map(\.contentID)).compactMap { $0 }
        if let first = named.first {
            let isOne = named.allSatisfy { $0 == first } && requests.contains { $0.contentID == first }
            return isOne ? first : nil
        }
        let targets = error.target.map { [$0] } ?? error.details.compactMap(\.target)
        let found = Set(targets.compactMap(find))
        return found.count == 1 ? found.first : nil
    }

    /// The request whose URL the target begins with. Of several the longest, so that `Orders(1)/Items` is not taken for
    /// `Orders(1)`.
    private func find(_ target: String) -> String? {
        let target = Self.path(target)
        let matches = requests.filter { target == $0.url || target.hasPrefix($0.url + "/") || isInside(target, $0) }
        guard let longest = matches.map(\.url.utf8.count).max() else { return nil }
        let best = matches.filter { $0.url.utf8.count == longest }
        return best.count == 1 ? best[0].contentID : nil
    }

    /// `$2/Name` is inside of what the request with the Content-ID 2 creates.
    private func isInside(_ target: String, _ request: (contentID: String, url: String)) -> Bool {
        let reference = "$" + request.contentID
        return target == reference || target.hasPrefix(reference + "/")
    }

    /// Decoded, without query and without a slash at either end.
    private static func path(_ url: String) -> String {
        let path = url.prefix { $0 != "?" }
        var decoded = (try? PercentCoding.decode(path)) ?? String(path)
        while decoded.hasPrefix("/") { decoded.removeFirst() }
        while decoded.hasSuffix("/") { decoded.removeLast() }
        return decoded
    }
}

extension PlannedChangeSet {
    /// The Content-ID of the request that a refusal of the change set is about; nil if nothing tells.
    ///
    /// - Parameters:
    ///   - requests: those of the change set, as they were sent.
    ///   - culprit: what the place of the refusal in the answer tells.
    package func culprit(_ requests: [WireRequest], _ response: WireResponse, _ culprit: String?) -> String? {
        if let culprit { return culprit }
        let sent = Array(zip(self.requests.map(\.contentID), requests))
        return ServiceErrorReader.read(response.body).flatMap { Culprit(sent).find($0) }
    }
}
