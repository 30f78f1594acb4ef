/// The outcome of one part of a batch.
package enum BatchPartOutcome: Sendable, Hashable {
    case changeSet(ChangeSetOutcome)
    case query(QueryOutcome)
}

package enum ChangeSetOutcome: Sendable, Hashable {
    /// Every member succeeded. The responses are in the order of the request's members.
    case members([WireResponse])
    /// The change set failed as a whole: none of its members had an effect. `culprit` is the Content-ID of the member
    /// that caused the error, if the response identifies it.
    case failed(WireResponse, culprit: String?)
    /// The service stopped at an earlier error.
    case notProcessed
    /// The response does not show whether the change set was applied. The reason is a sentence.
    case inDoubt(String)
}

package enum QueryOutcome: Sendable, Hashable {
    /// The service answered, possibly with an error status.
    case answered(WireResponse)
    /// The service stopped at an earlier error.
    case notProcessed
    /// The response is inconclusive. A query can be sent again; a modification outside of a change set cannot.
    case inDoubt(String)
}
