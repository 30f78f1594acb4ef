import EDM
public import OfflineStore
import Operations

extension Provenance {
    /// Returns the reason for the value of a property or navigation property in complete sentences, beginning with the
    /// conclusion.
    ///
    /// - Throws: `notFound` if the log contains no such property.
    public func why(_ name: String) throws(TidelogError) -> [String] {
        let own = changes.filter { $0.aspect.name == name }
        let lines = lines.filter { $0.aspect.name == name }
        guard !own.isEmpty || !lines.isEmpty else {
            throw TidelogError(
                .notFound, "The log contains no value of \(RecordSummary.oneLine(name)) of \(reference).",
                recovery: "Run 'tidelog history' to see the recorded values.")
        }
        guard exists else { return gone() }
        let place = "\(reference)/\(RecordSummary.oneLine(name))"
        var sentences =
            lines.isEmpty
            ? [
                "\(place) is not set"
                    + (own.last { $0.isVisible }.map { ": " + because($0.cause, $0.sequence, $0.time) } ?? "") + "."
            ]
            : lines.map { line in
                "\(place) is \(Self.words(of: line.content))"
                    + (line.cause.map { ": " + because($0, line.sequence, line.time) } ?? "") + "."
            }
        if let last = own.last(where: \.isVisible), last.before != .absent {
            let isAnswer = lines.contains { $0.sequence == last.sequence }
            sentences.append(
                (isAnswer ? "" : "Record \(last.sequence) restored this value: \(words(of: last.cause)). ")
                    + "Before record \(last.sequence) it was \(Self.words(of: last.before)).")
        }
        // A hidden value may have become visible since.
        if let below = own.last(where: { !$0.isVisible }), differing.contains(below.aspect),
            below.sequence >= own.last(where: \.isVisible)?.sequence ?? 0
        {
            sentences.append(
                "The value at the service is \(Self.words(of: below.after)) (\(words(of: below.cause)), record \(below.sequence))."
            )
        }
        return sentences
    }

    /// Returns the reason why the entity does not exist.
    public func gone() -> [String] {
        guard let last = changes.last(where: { $0.aspect == .existence && $0.isVisible }) else {
            return ["\(reference) has never been in the store."]
        }
        return ["\(reference) is not in the store: \(because(last.cause, last.sequence, last.time))."]
    }

    private func because(_ cause: Cause, _ sequence: SequenceNumber?, _ time: Timestamp?) -> String {
        var place: [String] = []
        if let sequence {
            if case .edit = cause { place.append("operation \(sequence)") } else { place.append("record \(sequence)") }
        }
        if let time, let text = iso8601(time) { place.append(text) }
        return words(of: cause) + (place.isEmpty ? "" : " (\(place.joined(separator: ", ")))")
    }
}
