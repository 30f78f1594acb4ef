/// The response to a batch in the JSON format: responses in any order, identified by the ids of their requests.
package struct JSONBatchResponse: Sendable, Hashable {
    package struct Response: Sendable, Hashable {
        /// The id of the request, or the name of the group if one error represents the whole group.
        package var id: String
        package var atomicityGroup: String?
        package var response: WireResponse

        package init(id: String, atomicityGroup: String? = nil, response: WireResponse) {
            self.id = id
            self.atomicityGroup = atomicityGroup
            self.response = response
        }
    }

    package var responses: [Response]
    /// The URL of the remaining responses, if the response is incomplete.
    package var nextLink: String?

    package init(responses: [Response], nextLink: String? = nil) {
        self.responses = responses
        self.nextLink = nextLink
    }

    /// Returns one outcome for each part of the request, by the rules of `BatchMatcher`.
    ///
    /// Positions have no meaning here. A part without a response to its id is in doubt, or not processed if an earlier
    /// part, on which it depends, failed.
    package func outcomes(of request: BatchRequest) -> [BatchPartOutcome] {
        guard let names = try? JSONBatchNames(request) else {
            // Such a request cannot have been written.
            return request.parts.map { $0.inDoubt("The request has a Content-ID twice.") }
        }
        var hasFailed = false
        return zip(request.parts, names.parts).map { part, named in
            let outcome = outcome(of: part, named, hasFailed: hasFailed)
            if outcome.isFailure { hasFailed = true }
            return outcome
        }
    }

    private func outcome(
        of part: BatchPart, _ named: JSONBatchNames.RequestGroup, hasFailed: Bool
    ) -> BatchPartOutcome {
        let answers = responses.filter { answer in
            named.identifiers.contains(answer.id)
                || named.group.map { answer.id == $0 || answer.atomicityGroup == $0 } ?? false
        }
        // A failed dependency outside of the part: the part was not processed.
        if hasFailed, !answers.isEmpty, answers.allSatisfy({ $0.response.status == 424 }) { return part.notProcessed }
        guard !answers.isEmpty else {
            if nextLink != nil { return part.inDoubt(Self.isPartial) }
            return hasFailed
                ? part.notProcessed : part.inDoubt("The service sent no response with the id of the request.")
        }
        switch part {
        case .changeSet(let members):
            return .changeSet(outcome(of: members, named, answers))
        case .query:
            guard answers.count == 1 else { return part.inDoubt("The service sent two responses for one id.") }
            return .query(.answered(answers[0].response))
        }
    }

    private func outcome(
        of members: [BatchPart.Member], _ named: JSONBatchNames.RequestGroup, _ answers: [Response]
    ) -> ChangeSetOutcome {
        let isComplete = answers.count == members.count
        if !isComplete, answers.allSatisfy(\.response.isSuccess), nextLink != nil { return .inDoubt(Self.isPartial) }
        // Replaces the Content-IDs with the assigned names, so that members without a Content-ID are matched as well.
        let renamed = zip(members, named.identifiers).map { BatchPart.Member(contentID: $1, request: $0.request) }
        let matcher = BatchMatcher(
            request: BatchRequest(parts: [.changeSet(renamed)]),
            response: BatchResponse(parts: [
                .changeSet(answers.map { .init(contentID: $0.id, response: $0.response) })
            ]))
        guard case .changeSet(let outcome) = matcher.outcomes().first else { return .inDoubt(Self.isPartial) }
        guard case .failed(let response, _) = outcome else {
            // A response that only contains the group name does not belong to a member.
            let strangers = answers.contains { !named.identifiers.contains($0.id) }
            return strangers
                ? .inDoubt("The service sent responses with ids that are not in the change set.") : outcome
        }
        // The failed member is identified by its id only.
        let failed = answers.first { $0.response == response }
        let place = members.count == 1 ? 0 : named.identifiers.firstIndex { $0 == failed?.id }
        return .failed(response, culprit: place.flatMap { members[$0].contentID })
    }

    private static let isPartial = "The service sent only a part of the response, and a link to the rest."
}

extension BatchPart {
    fileprivate var notProcessed: BatchPartOutcome {
        switch self {
        case .changeSet: .changeSet(.notProcessed)
        case .query: .query(.notProcessed)
        }
    }

    fileprivate func inDoubt(_ reason: String) -> BatchPartOutcome {
        switch self {
        case .changeSet: .changeSet(.inDoubt(reason))
        case .query: .query(.inDoubt(reason))
        }
    }
}

extension BatchPartOutcome {
    fileprivate var isFailure: Bool {
        switch self {
        case .changeSet(.failed): true
        case .query(.answered(let response)): response.status >= 400
        default: false
        }
    }
}
