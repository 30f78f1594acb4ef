/// Matches the parts of a batch response with the parts of the request.
///
/// Parts are answered in the order of the request. Responses inside a change set may have any order and are
/// distinguished by Content-ID. Services differ in how they report a failed change set: as one error response instead
/// of the multipart, inside it, or after an empty one; each form is accepted. If more than one interpretation is
/// possible, the outcome is `inDoubt`: treating an applied change set as failed would apply it twice, and assigning the
/// wrong response would give an entity the key of a different one.
package struct BatchMatcher: Sendable {
    package var request: BatchRequest
    package var response: BatchResponse

    package init(request: BatchRequest, response: BatchResponse) {
        self.request = request
        self.response = response
    }

    /// The outcome of a part of the request, and the parts of the response that determine it.
    package struct Match: Sendable {
        package let outcome: BatchPartOutcome
        package let answers: Range<Int>
    }

    /// Returns one outcome for each part of the request.
    package func outcomes() -> [BatchPartOutcome] { matches().map(\.outcome) }

    /// Returns one outcome for each part of the request, with the parts of the response that determine it.
    package func matches() -> [Match] {
        var matches: [Match] = []
        var next = 0
        var hasFailed = false
        let identifiers = Set(request.parts.flatMap(\.identifiers))
        for (index, part) in request.parts.enumerated() {
            let position = Position(
                next: next, requestsLeft: request.parts.count - index, identifiers: identifiers)
            switch part {
            case .changeSet(let members):
                let (outcome, consumed) = changeSet(members, at: position, hasFailed: hasFailed)
                if case .failed = outcome { hasFailed = true }
                matches.append(Match(outcome: .changeSet(outcome), answers: next..<next + consumed))
                next += consumed
            case .query:
                let (outcome, consumed) = query(at: position, hasFailed: hasFailed)
                if case .answered(let response) = outcome, response.status >= 400 { hasFailed = true }
                matches.append(Match(outcome: .query(outcome), answers: next..<next + consumed))
                next += consumed
            }
        }
        return matches
    }
}

extension BatchMatcher {
    private struct Position {
        /// The index of the first part of the response that is not matched yet.
        var next: Int
        /// The number of parts of the request that are not matched yet.
        var requestsLeft: Int
        /// The Content-IDs of the whole batch.
        var identifiers: Set<String>
    }

    /// Returns whether as many responses as requests are left, so that the position determines the match.
    private func isAligned(_ position: Position) -> Bool {
        response.parts.count - position.next == position.requestsLeft
    }

    private func query(at position: Position, hasFailed: Bool) -> (QueryOutcome, consumed: Int) {
        guard position.next < response.parts.count else {
            return (hasFailed && response.isClosed ? .notProcessed : .inDoubt(missing), 0)
        }
        guard case .single(_, let answer) = response.parts[position.next] else {
            return (.inDoubt("The service responded to a query with the responses of a change set."), 0)
        }
        return (.answered(answer), 1)
    }

    private func changeSet(
        _ members: [BatchPart.Member], at position: Position, hasFailed: Bool
    ) -> (ChangeSetOutcome, consumed: Int) {
        guard position.next < response.parts.count else {
            return (hasFailed && response.isClosed ? .notProcessed : .inDoubt(missing), 0)
        }
        switch response.parts[position.next] {
        case .changeSet(let answers):
            if answers.contains(where: { isForeign($0.contentID, members, position) }) { return (.inDoubt(foreign), 1) }
            if answers.isEmpty, !members.isEmpty { return emptyChangeSet(members, at: position) }
            return (outcome(of: members, answers), 1)
        case .single(let contentID, let answer):
            if isForeign(contentID, members, position) { return (.inDoubt(foreign), 1) }
            let flat = flattened(members, from: position.next)
            if !flat.isEmpty { return (outcome(of: members, flat), flat.count) }
            if !answer.isSuccess { return (.failed(answer, culprit: culprit(members, contentID, nil)), 1) }
            guard isAligned(position) else {
                return (.inDoubt("The service sent no response for the change set."), 0)
            }
            if members.count == 1 { return (.members([answer]), 1) }
            return (.inDoubt("The service sent one response for \(members.count) requests."), 1)
        }
    }

    /// Returns whether the Content-ID belongs to a different part of the batch.
    private func isForeign(_ contentID: String?, _ members: [BatchPart.Member], _ position: Position) -> Bool {
        guard let contentID, position.identifiers.contains(contentID) else { return false }
        return !members.contains { $0.contentID == contentID }
    }

    /// Matches an empty change set. Some services send the error after it as a separate part.
    private func emptyChangeSet(
        _ members: [BatchPart.Member], at position: Position
    ) -> (ChangeSetOutcome, consumed: Int) {
        let after = position.next + 1
        guard after < response.parts.count, !isAligned(position),
            case .single(let contentID, let answer) = response.parts[after], !answer.isSuccess
        else { return (.inDoubt("The service sent no response for the requests of the change set."), 1) }
        return (.failed(answer, culprit: culprit(members, contentID, nil)), 2)
    }

    /// Returns the responses of the change set's members that were sent without a multipart, identified by Content-ID.
    private func flattened(
        _ members: [BatchPart.Member], from start: Int
    ) -> [BatchResponsePart.MemberResponse] {
        let identifiers = Set(members.compactMap(\.contentID))
        var found: [BatchResponsePart.MemberResponse] = []
        for part in response.parts[start...].prefix(members.count) {
            guard case .single(let contentID?, let answer) = part, identifiers.contains(contentID) else { break }
            found.append(.init(contentID: contentID, response: answer))
        }
        return found
    }

    private func outcome(
        of members: [BatchPart.Member], _ answers: [BatchResponsePart.MemberResponse]
    ) -> ChangeSetOutcome {
        let failures = answers.indices.filter { !answers[$0].response.isSuccess }
        // One request cannot have succeeded and failed. Content-IDs of the service's own do not identify a request.
        let failed = Set(failures.compactMap { answers[$0].contentID })
        let succeeded = answers.lazy.filter(\.response.isSuccess).compactMap(\.contentID)
        if let id = succeeded.first(where: { id in failed.contains(id) && members.contains { $0.contentID == id } }) {
            return .inDoubt("The service sent two responses for Content-ID \(id).")
        }
        // A failed dependency (424) only states that a different member failed.
        if let failure = failures.first(where: { answers[$0].response.status != 424 }) ?? failures.first {
            let place = answers.count == members.count ? failure : nil
            return .failed(answers[failure].response, culprit: culprit(members, answers[failure].contentID, place))
        }
        return inRequestOrder(members, answers)
    }

    private func inRequestOrder(
        _ members: [BatchPart.Member], _ answers: [BatchResponsePart.MemberResponse]
    ) -> ChangeSetOutcome {
        // One response to one request needs no table.
        if members.count == 1, answers.count == 1 { return .members([answers[0].response]) }
        var places: [String: Int] = [:]
        for (index, member) in members.enumerated() { if let id = member.contentID { places[id] = index } }
        var ordered: [WireResponse?] = Array(repeating: nil, count: members.count)
        var rest: [WireResponse] = []
        for answer in answers {
            guard let id = answer.contentID, let place = places[id] else {
                rest.append(answer.response)
                continue
            }
            guard ordered[place] == nil else { return .inDoubt("The service sent two responses for Content-ID \(id).") }
            ordered[place] = answer.response
        }
        let open = ordered.indices.filter { ordered[$0] == nil }
        if !open.isEmpty {
            guard answers.count == members.count else {
                return .inDoubt("The service sent \(answers.count) responses for \(members.count) requests.")
            }
            for (place, answer) in zip(open, rest) { ordered[place] = answer }
        }
        return .members(ordered.compactMap { $0 })
    }

    private func culprit(_ members: [BatchPart.Member], _ contentID: String?, _ place: Int?) -> String? {
        if let contentID, members.contains(where: { $0.contentID == contentID }) { return contentID }
        if members.count == 1 { return members[0].contentID }
        return place.flatMap { members[$0].contentID }
    }

    private var foreign: String { "The response at this position belongs to another part of the batch." }

    private var missing: String {
        response.isClosed
            ? "The service sent fewer responses than requests, and no error."
            : "The response ended before the responses to all requests."
    }
}

extension BatchPart {
    fileprivate var identifiers: [String] {
        switch self {
        case .changeSet(let members): members.compactMap(\.contentID)
        case .query(let request): request.headers["Content-ID"].map { [$0] } ?? []
        }
    }
}
