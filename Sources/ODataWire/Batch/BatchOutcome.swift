/// What became of one part of a batch.
public enum BatchPartOutcome: Sendable, Hashable {
    case changeSet(ChangeSetOutcome)
    case query(QueryOutcome)
}

public enum ChangeSetOutcome: Sendable, Hashable {
    /// Every member succeeded. The responses are in the order of the request's members.
    case members([WireResponse])
    /// The change set failed as a whole: none of its members had an effect. `culprit` is the Content-ID of the member
    /// that the error is about, where the response tells.
    case failed(WireResponse, culprit: String?)
    /// The service stopped at an earlier error.
    case notProcessed
    /// The answer does not tell whether the change set was applied. The reason is a sentence.
    case inDoubt(String)
}

public enum QueryOutcome: Sendable, Hashable {
    /// By the service, with an error status perhaps.
    case answered(WireResponse)
    /// The service stopped at an earlier error.
    case notProcessed
    /// The answer does not tell. A query can be sent again, a modification outside a change set cannot.
    case inDoubt(String)
}
