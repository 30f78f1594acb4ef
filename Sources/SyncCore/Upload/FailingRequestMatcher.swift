import ODataQuery
import ODataWire

/// Finds the request of a change set that caused a service error, if the position of the response does not reveal it.
///
/// The error may name the Content-ID or a target (OData JSON 4.01, 21.1; SAP gateways: `ContentID` and `propertyref`).
struct FailingRequestMatcher {
    /// The requests, by Content-ID.
    private let requests: [(contentID: String, url: String)]

    /// Creates a finder.
    ///
    /// - Parameter requests: The requests of the change set, as sent.
    init(_ requests: [(contentID: String, request: WireRequest)]) {
        self.requests = requests.map { ($0.contentID, Self.path($0.request.url)) }
    }

    /// Returns the Content-ID of the failed request, or nil if the error names none, an unknown one, or several.
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

    /// Returns the request whose URL is a prefix of the target. The longest match wins, so that `Orders(1)/Items` is
    /// not mistaken for `Orders(1)`.
    private func find(_ target: String) -> String? {
        let target = Self.path(target)
        let matches = requests.filter { target == $0.url || target.hasPrefix($0.url + "/") || isInside(target, $0) }
        guard let longest = matches.map(\.url.utf8.count).max() else { return nil }
        let best = matches.filter { $0.url.utf8.count == longest }
        return best.count == 1 ? best[0].contentID : nil
    }

    /// Returns whether the target is within the entity that the request creates, such as `$2/Name` for Content-ID 2.
    private func isInside(_ target: String, _ request: (contentID: String, url: String)) -> Bool {
        let reference = "$" + request.contentID
        return target == reference || target.hasPrefix(reference + "/")
    }

    /// Returns the decoded path, without query and without leading or trailing slashes.
    private static func path(_ url: String) -> String {
        let path = url.prefix { $0 != "?" }
        let decoded = (try? PercentCoding.decode(path)) ?? String(path)
        let last = decoded.lastIndex { $0 != "/" }
        return last.map { String(decoded[...$0].drop { $0 == "/" }) } ?? ""
    }
}
