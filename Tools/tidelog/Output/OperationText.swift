internal import Tidelog

/// The response to a change: the sequence number of the operation, and the current link of the entity.
struct OperationText {
    var sequence: SequenceNumber
    var readLink: String

    func line(json isJSON: Bool) -> String {
        guard isJSON else { return "\(sequence) \(readLink)" }
        var json = JSONWriter()
        json.beginObject()
        json.member("sequence", sequence)
        json.member("readLink", readLink)
        json.endObject()
        return json.text
    }

    /// Returns the line for an operation or a change set. A change set has the number and the entity of its first
    /// operation, and all operations in `operations`.
    static func line(_ answers: [OperationText], json isJSON: Bool) -> String {
        guard let first = answers.first, answers.count > 1 else { return answers.first?.line(json: isJSON) ?? "" }
        guard isJSON else { return answers.map { $0.line(json: false) }.joined(separator: ", ") }
        var json = JSONWriter()
        json.beginObject()
        json.member("sequence", first.sequence)
        json.member("readLink", first.readLink)
        json.name("operations")
        json.beginArray()
        for answer in answers { json.raw(answer.line(json: true)) }
        json.endArray()
        json.endObject()
        return json.text
    }
}
