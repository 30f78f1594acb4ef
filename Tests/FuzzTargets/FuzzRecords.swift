import Operations

/// The first byte is the kind, the rest the payload.
///
/// Promised: what decodes has an encoding, and that one decodes to the same and has no other.
func fuzzRecords(_ input: [UInt8]) throws(Finding) {
    guard let kind = input.first else { return }
    guard let record = try? RecordCodec.decode(kind: kind, payload: Array(input.dropFirst())) else { return }
    let encoded = RecordCodec.encode(record)
    guard let again = try? RecordCodec.decode(kind: encoded.kind, payload: encoded.payload) else {
        throw Finding("what was encoded does not decode: \(record)")
    }
    let twice = RecordCodec.encode(again)
    try require(
        encoded.kind == twice.kind && encoded.payload == twice.payload, "encoded differently: \(record), \(again)")
}
