package import EDM

extension PropertyValues {
    /// Returns whether these values of an update are stored in an entity that was read, possibly as normalized forms.
    ///
    /// A normalized form proves that the update took effect only if the entity did not have it before, and if the
    /// changed values together are distinctive. Otherwise the service may have had the value already, or a different
    /// client may have chosen it.
    ///
    /// - Parameter former: The values before the update.
    package func areNormalized(in found: PropertyValues, former: PropertyValues, of type: EntityType) -> Bool {
        var bits = 0.0
        for (name, value) in self {
            let stored = found[name]
            if stored != value, !(value == .null && stored == nil) {
                guard let stored, let before = former[name], before != stored,
                    value.isNormalized(as: stored, type.findProperty(name)?.facets)
                else { return false }
            }
            // A value that the entity had before is no evidence.
            if former[name] != value { bits += ValueInformation.bits(value) }
        }
        return bits >= DoubtEvidence.tellingBits
    }
}

extension Value {
    /// Returns whether a service that stores this value may return `found`: a text without spaces at its ends, in upper or
    /// lower case, or a number in a text with leading zeros; a decimal with fewer digits after the point; or a time with
    /// fewer digits of the second or another offset.
    ///
    /// Digits that the metadata declare are not removed, because a value with more digits is not accepted locally.
    package func isNormalized(as found: Value, _ facets: Facets?) -> Bool {
        switch (self, found) {
        case (.string(let sent), .string(let found)):
            let kept = sent.drop(while: \.isWhitespace)
            guard let end = kept.lastIndex(where: { !$0.isWhitespace }) else { return false }
            let (trimmed, ended) = (String(kept[...end]), String(sent[...end]))
            if trimmed.isExactly(found) || ended.isExactly(found) { return true }
            if trimmed.uppercased().isExactly(found) || trimmed.lowercased().isExactly(found) { return true }
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            return trimmed.utf8.allSatisfy(digits.contains) && found.utf8.count > trimmed.utf8.count
                && found.drop { $0 == "0" } == trimmed.drop { $0 == "0" }
        case (.decimal(let sent), .decimal(let found)):
            guard facets?.scale == nil, sent.isFinite, found.isFinite, found.scale < sent.scale else { return false }
            return sent.rounded(toScale: found.scale) == found
                || sent.rounded(toScale: found.scale, .towardZero) == found
        case (.timeOfDay(let sent), .timeOfDay(let found)):
            return facets?.precision == nil
                && Self.isShortened(
                    sent.picoseconds, sent.significantDigits, to: found.picoseconds, found.significantDigits)
        case (.dateTime(let sent), .dateTime(let found)):
            return Self.isNormalized(sent.instant, as: found.instant, sent.time, found.time, facets)
        case (.dateTimeOffset(let sent), .dateTimeOffset(let found)):
            return Self.isNormalized(sent.instant, as: found.instant, sent.local.time, found.local.time, facets)
        default: return false
        }
    }

    private static func isNormalized(
        _ sent: Instant, as found: Instant, _ sentTime: LocalTime, _ foundTime: LocalTime, _ facets: Facets?
    ) -> Bool {
        if sent == found { return true }
        let (seconds, overflows) = sent.secondsSince1970.subtractingReportingOverflow(found.secondsSince1970)
        guard facets?.precision == nil, !overflows, seconds.magnitude <= 1 else { return false }
        return isShortened(
            seconds * LocalTime.picosecondsPerSecond + sent.picoseconds, sentTime.significantDigits,
            to: found.picoseconds, foundTime.significantDigits)
    }

    /// Returns whether picoseconds were truncated or rounded to the digits of the second that are left.
    private static func isShortened(_ sent: Int64, _ digits: Int, to found: Int64, _ left: Int) -> Bool {
        guard left < digits else { return false }
        var unit = LocalTime.picosecondsPerSecond
        for _ in 0..<left { unit /= 10 }
        let distance = sent - found
        return distance >= -(unit / 2) && distance < unit
    }
}
