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

private struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func number(_ value: Int) {
        let value = UInt32(clamping: value)
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
    }

    mutating func string(_ value: some Collection<UInt8>) {
        number(value.count)
        bytes.append(contentsOf: value)
    }

    mutating func response(_ response: WireResponse) {
        number(response.status)
        number(response.headers.fields.count)
        for field in response.headers.fields {
            string(Array(field.name.utf8))
            string(Array(field.value.utf8))
        }
        string(response.body)
    }
}

private struct ByteReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func number() -> Int? {
        guard bytes.count - offset >= 4 else { return nil }
        defer { offset += 4 }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func string() -> ArraySlice<UInt8>? {
        guard let count = number(), bytes.count - offset >= count else { return nil }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    mutating func response() -> WireResponse? {
        guard let status = number(), (100...999).contains(status), let count = number() else { return nil }
        var headers = HTTPHeaders()
        for _ in 0..<count {
            guard let name = string(), let value = string() else { return nil }
            headers.add(name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
        }
        guard let body = string() else { return nil }
        return WireResponse(status: status, headers: headers, body: Array(body))
    }
}
