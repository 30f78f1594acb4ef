package import ODataWire

/// The outcome of a unit, as it is stored and answers repetitions.
package enum UnitOutcome: Sendable, Hashable {
    /// The responses to all members, in their order.
    case members([WireResponse])
    /// The response that rejects the unit, and the index of the member at fault, if it is known.
    case failed(WireResponse, culprit: Int?)

    // MARK: Stored form

    /// The stored form: a format number, then counts and byte strings with their lengths.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.number(1)
        switch self {
        case .members(let responses):
            writer.number(0)
            writer.number(responses.count)
            for response in responses { writer.response(response) }
        case .failed(let response, let culprit):
            writer.number(1)
            writer.number(culprit.map { $0 + 1 } ?? 0)
            writer.response(response)
        }
        return writer.bytes
    }

    /// Decodes the stored form. Returns `nil` for any other bytes.
    package init?(encoded bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.number() == 1, let form = reader.number(), let count = reader.number() else { return nil }
        if form == 0 {
            var responses: [WireResponse] = []
            for _ in 0..<count {
                guard let response = reader.response() else { return nil }
                responses.append(response)
            }
            self = .members(responses)
        } else {
            guard form == 1, let response = reader.response() else { return nil }
            self = .failed(response, culprit: count == 0 ? nil : count - 1)
        }
        guard reader.isAtEnd else { return nil }
    }
}
