package import ODataWire

/// The response of a service to a batch, matched with the parts that were sent.
package struct BatchAnswer: Sendable {
    /// One outcome for each part that was sent, by part.
    package let outcomes: [Int: BatchPartOutcome]
    private let multipart: Multipart?

    fileprivate struct Multipart {
        let document: MultipartDocument
        let response: BatchResponse
        /// The parts of the response by part of the request.
        let answers: [Int: Range<Int>]
    }

    /// Creates the response that is written in JSON.
    init(_ sent: [Int], _ outcomes: [BatchPartOutcome]) {
        self.outcomes = Dictionary(uniqueKeysWithValues: zip(sent, outcomes))
        multipart = nil
    }

    /// Creates the response that is written as multipart.
    init(_ sent: [Int], _ matches: [BatchMatcher.Match], _ response: BatchResponse, _ document: MultipartDocument) {
        outcomes = Dictionary(uniqueKeysWithValues: zip(sent, matches.map(\.outcome)))
        multipart = Multipart(
            document: document, response: response,
            answers: Dictionary(uniqueKeysWithValues: zip(sent, matches.map(\.answers))))
    }

    /// Returns the body as the service wrote it, with the links of the gateway, and with `accepted` in the header of
    /// the dialect in each response to some parts.
    ///
    /// - Parameter dialects: The dialects by part.
    /// - Returns: `nil` if the response has to be composed anew: it is JSON, or the header field cannot be added to a
    ///   response, because the response has the field with another value for instance.
    package func body(
        _ roots: ServiceRoots, accepting dialects: [Int: RepeatabilityIdentifier.Dialect]
    ) -> [UInt8]? {
        guard let multipart, let fields = multipart.fields(dialects) else { return nil }
        return BatchLinks.rewrite(multipart.document, roots, .response, adding: fields)
    }
}

extension BatchAnswer.Multipart {
    /// Returns the header fields to add, by the first byte of the response. Returns `nil` if one cannot be added.
    fileprivate func fields(_ dialects: [Int: RepeatabilityIdentifier.Dialect]) -> [Int: String]? {
        var fields: [Int: String] = [:]
        for (part, dialect) in dialects {
            guard let found = responses(to: part), !found.isEmpty else { return nil }
            for (start, response) in found {
                let values = response.headers.values(dialect.resultHeader)
                if values.isEmpty { fields[start] = "\(dialect.resultHeader): accepted" }
                guard values.allSatisfy({ $0 == "accepted" }) else { return nil }
            }
        }
        return fields
    }

    /// Returns the responses to a part of the request, with their first bytes.
    private func responses(to part: Int) -> [(start: Int, WireResponse)]? {
        var found: [(Int, WireResponse)] = []
        for index in answers[part] ?? 0..<0 {
            guard index < response.parts.count, index < document.parts.count else { return nil }
            switch (document.parts[index].content, response.parts[index]) {
            case (.operation(let range), .single(_, let response)): found.append((range.lowerBound, response))
            case (.changeSet(let parts, _), .changeSet(let members)):
                guard parts.count == members.count else { return nil }
                for (part, member) in zip(parts, members) {
                    guard case .operation(let range) = part.content else { return nil }
                    found.append((range.lowerBound, member.response))
                }
            default: return nil
            }
        }
        return found
    }
}
