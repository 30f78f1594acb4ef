import ODataWire

/// The evidence in responses to repeatable requests about whether the service recognizes repetitions.
///
/// A service that does returns `Repeatability-Result` in each response. Without it, a client must assume that the request
/// did not reach such a service (OASIS Repeatable Requests 1.0, section 4).
package enum RepeatabilityEvidence: Sendable, Hashable {
    case supported
    case unsupported
    /// There is no response that was to contain the header.
    case none

    /// Interprets the responses to change sets whose requests were marked as repeatable.
    package init(_ changeSets: [UploadedChangeSet]) {
        let responses = changeSets.flatMap { changeSet -> [WireResponse] in
            switch changeSet.outcome {
            case .members(let responses): responses
            // An error may come from a component before the service.
            case .failed(let response, _): response.acceptsRepetition == nil ? [] : [response]
            case .inDoubt, .notProcessed, nil: []
            }
        }
        if responses.isEmpty {
            self = .none
        } else {
            self = responses.contains { $0.acceptsRepetition != nil } ? .supported : .unsupported
        }
    }
}
