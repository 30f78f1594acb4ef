package import ODataWire
import Operations

/// The conclusion from the rejection of a change set that the service may not support its `$<Content-ID>` references.
///
/// Services use different errors: `Requested entity could not be found`, `malformed`, `Resource not found for the
/// segment '$1'`. Each of them may have another cause, so the conclusion is only a reason to try another form. If the
/// service accepts that form, the conclusion is proven.
///
/// It is pure: the same requests and response always give the same conclusion.
package struct ReferenceRefusal: Sendable, Hashable {
    /// The most capable form of references that the service seems to support.
    package let understood: ServiceOptions.ContentIDReferences

    /// Interprets a rejection. Returns nil if it appears to have another cause.
    ///
    /// - Parameter culprit: The Content-ID of the failed request, if the position of the response reveals it.
    package init?(_ changeSet: UploadedChangeSet, _ response: WireResponse, culprit: String?) {
        // Not found; malformed; not implemented. Any other status concerns the content, the state or the caller.
        guard [400, 404, 501].contains(response.status), changeSet.requests.count > 1 else { return nil }
        let error = ServiceErrorReader.read(response.body)
        let blamed = changeSet.culprit(response, culprit)
        let suspects = changeSet.requests.filter { blamed == nil || $0.contentID == blamed }
        if suspects.contains(where: \.references.hasContentIDInBody) {
            understood = .urlsOnly
            return
        }
        let referring = suspects.filter { $0.references.contentIDInURL != nil }
        guard !referring.isEmpty else { return nil }
        let isQuoted = referring.compactMap(\.references.contentIDInURL).contains {
            Self.quotes($0, response, error)
        }
        // Another entity that the request refers to may be missing instead.
        let namesOthers = referring.contains { $0.references.hasOthers }
        guard isQuoted || response.status == 501 || response.status == 404 && !namesOthers else { return nil }
        understood = .none
    }

    /// Returns whether the error messages contain the reference, as `$1` and not in `$10`. The error's target does not
    /// count: a service that understands the reference uses it there (OData 4.01 JSON, 21.1).
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
