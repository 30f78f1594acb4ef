public import ODataWire

/// What the refusal of a change set says of the `$<Content-ID>` references in it: whether the service may not have known
/// what a reference means.
///
/// Services say it in many ways: `Requested entity could not be found`, `malformed`, `Resource not found for the segment
/// '$1'`. None of them proves it, and each may mean something else, so the finding is a reason to try another form. If the
/// service takes that, it is proven.
///
/// Pure: the same requests and answer give the same finding.
public struct ReferenceRefusal: Sendable, Hashable {
    /// The most that the service seems to understand.
    public let understood: ServiceOptions.ContentIDReferences

    /// Nil if the refusal is about something else, as far as it shows.
    ///
    /// - Parameters:
    ///   - requests: those of the change set, as they were sent.
    ///   - culprit: the Content-ID of the request to blame, if its place in the answer tells.
    public init?(_ changeSet: PlannedChangeSet, _ requests: [WireRequest], _ response: WireResponse, culprit: String?) {
        // Not found; malformed; not implemented. Any other status is about the content, the state or the caller.
        guard [400, 404, 501].contains(response.status), changeSet.requests.count > 1 else { return nil }
        let error = ServiceErrorReader.read(response.body)
        let blamed = changeSet.culprit(requests, response, culprit)
        let suspects = changeSet.requests.filter { blamed == nil || $0.contentID == blamed }.map(\.modification.action)
        if suspects.contains(where: { $0.bodyReferences.contains(where: \.isBelowContentID) }) {
            understood = .urlsOnly
            return
        }
        let referring = suspects.filter { $0.urlReferences.contains(where: \.isBelowContentID) }
        guard !referring.isEmpty else { return nil }
        let isQuoted = referring.contains { action in
            action.urlReferences.compactMap(\.contentID).contains { Self.quotes($0, response, error) }
        }
        // What else may be missing is an entity that the request names besides.
        let namesOthers = referring.contains {
            ($0.urlReferences + $0.bodyReferences).contains { !$0.isBelowContentID }
        }
        guard isQuoted || response.status == 501 || response.status == 404 && !namesOthers else { return nil }
        understood = .none
    }

    /// Whether the error's sentences have the reference in them, as `$1` and not in `$10`. Its target does not count: that
    /// names what the error is about by the reference if the service has understood it (OData 4.01 JSON, 21.1).
    private static func quotes(_ contentID: String, _ response: WireResponse, _ error: ServiceError?) -> Bool {
        let texts =
            error.map { [$0.message] + $0.details.map(\.message) } ?? [String(decoding: response.body, as: UTF8.self)]
        let reference = Array("$\(contentID)".utf8)
        return texts.contains { text in
            var rest = Array(text.utf8)[...]
            while let found = rest.firstRange(of: reference) {
                rest = rest[found.upperBound...]
                guard let next = rest.first else { return true }
                if !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) { return true }
            }
            return false
        }
    }
}
