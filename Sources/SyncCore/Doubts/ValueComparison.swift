package import EDM
import ODataQuery

/// The comparison of a value on the service with the sent one.
enum ValueComparison {
    /// The values are equal.
    case same
    /// The value may be a normalized form of the sent one: trimmed, rounded, or in another case.
    case alike
    /// The comparison is inconclusive: the service did not return the value, or replaced null by a default.
    case silent
    case other

    init(sent: Value, found: Value?) {
        guard let found else {
            self = .silent
            return
        }
        self = sent == found ? .same : sent == .null ? .silent : Self.isAlike(sent, found) ? .alike : .other
    }

    private static func isAlike(_ sent: Value, _ found: Value) -> Bool {
        if let sent = number(sent), let found = number(found) { return abs(sent - found) <= 0.5 }
        if let sent = milliseconds(sent), let found = milliseconds(found) {
            let (distance, overflow) = sent.subtractingReportingOverflow(found)
            return !overflow && distance.magnitude <= 1_000
        }
        switch (sent, found) {
        case (.string(let sent), .string(let found)):
            let (sent, found) = (folded(sent), folded(found))
            return sent == found || found.count >= 20 && sent.hasPrefix(found)
        case (.complex(let sent), .complex(let found)):
            return sent.properties.allSatisfy { name, value in
                if case .other = ValueComparison(sent: value, found: found.properties[name]) { false } else { true }
            }
        default: return false
        }
    }

    /// Returns whether a key value may be the sent one: a normalized form of it, or the same without leading zeros.
    fileprivate static func isNotation(_ found: Value, of sent: Value) -> Bool {
        guard case .string(let sent) = sent, case .string(let found) = found else {
            let texts = [sent, found].map { KeyText.of(KeyPredicate([(name: "", value: $0)])) }
            return texts[0] == texts[1] || number(sent) == nil && isAlike(sent, found)
        }
        return folded(sent).drop { $0 == "0" } == folded(found).drop { $0 == "0" }
    }

    /// Returns the text in lower case with single spaces between words.
    static func folded(_ text: String) -> String {
        text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func number(_ value: Value) -> Double? {
        switch value {
        case .decimal(let number): number.isFinite ? number.doubleValue : nil
        case .single(let number): number.isFinite ? Double(number) : nil
        case .double(let number): number.isFinite ? number : nil
        default: nil
        }
    }

    private static func milliseconds(_ value: Value) -> Int64? {
        switch value {
        case .timeOfDay(let time): time.picoseconds / 1_000_000_000
        case .dateTime(let time): time.millisecondsSince1970
        case .dateTimeOffset(let time): time.millisecondsSince1970
        default: nil
        }
    }
}

extension PropertyValues {
    /// Returns whether an entity that the service returned for the key of these values is the one that was created with
    /// them: all values are the sent ones, normalized forms of them, or missing, and together they are distinctive.
    ///
    /// The service has found the entity by the key, so the key may have a different notation, with leading zeros or in
    /// upper case. It proves nothing, because a different client may have used it too.
    package func areStored(as found: PropertyValues, of type: EntityType) -> Bool {
        for part in type.keyParts {
            guard let sent = value(at: part.path), let found = found.value(at: part.path) else { continue }
            guard ValueComparison.isNotation(part.identity(of: found), of: part.identity(of: sent)) else {
                return false
            }
        }
        var bits = 0.0
        for (name, value) in self where !type.keyParts.contains(where: { $0.path == name }) {
            switch ValueComparison(sent: value, found: found[name]) {
            case .same, .alike: bits += ValueInformation.bits(value)
            case .silent: continue
            case .other: return false
            }
        }
        return bits >= DoubtEvidence.tellingBits
    }
}
