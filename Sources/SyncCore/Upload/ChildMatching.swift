package import EDM
package import ODataWire

/// Matches the entities of a response with those that a deep insert sent for a navigation property.
///
/// A wrong match is worse than none: an ambiguous entity stays without a key until a download contains it.
package struct ChildMatching {
    let options: ServiceOptions

    package init(options: ServiceOptions) { self.options = options }

    /// A pair of indexes: of a sent body, and of its entity in the response.
    package typealias Pair = (sent: Int, answered: Int)

    /// Returns the matches.
    ///
    /// - Parameter isSingle: Whether the navigation property is to-one.
    package func pairs(_ sent: [EntityBody], _ answered: [EntityPayload], isSingle: Bool) -> [Pair] {
        if isSingle { return sent.count == 1 && answered.count == 1 ? [(0, 0)] : [] }
        if options.deepInsertToMany == .contentID, let pairs = byContentID(sent, answered) { return pairs }
        if let pairs = byKey(sent, answered) { return pairs }
        let values = sent.map(Self.valuesWithoutKey)
        // If the order contradicts the sent values, the response is not in the promised order.
        let isInOrder =
            sent.count == answered.count && zip(values, answered).allSatisfy { Self.canBe($1.values, $0) }
        if isInOrder, options.deepInsertToMany == .inOrder || sent.count == 1 {
            return sent.indices.map { ($0, $0) }
        }
        return Self.byValues(values, answered.map(\.values)) { sent[$0] == sent[$1] }
    }

    /// Matches by Content-ID. Returns nil if the service does not repeat the Content-ID of each entity.
    private func byContentID(_ sent: [EntityBody], _ answered: [EntityPayload]) -> [Pair]? {
        onlyPairs(sent, answered) { body, payload in body.contentID != nil && body.contentID == payload.contentID }
    }

    /// Matches by key. Returns nil if an entity does not have the key that was sent, because the service generates
    /// keys.
    private func byKey(_ sent: [EntityBody], _ answered: [EntityPayload]) -> [Pair]? {
        onlyPairs(sent, answered) { body, payload in
            body.type.keyParts.allSatisfy { part in
                let value = body.values.value(at: part.path) ?? .null
                return value != .null && payload.values.value(at: part.path) == value
            }
        }
    }

    /// Returns the pairs, or nil if a sent entity does not have exactly one match.
    private func onlyPairs(
        _ sent: [EntityBody], _ answered: [EntityPayload], by isPair: (EntityBody, EntityPayload) -> Bool
    ) -> [Pair]? {
        var pairs: [Pair] = []
        for (index, body) in sent.enumerated() {
            let found = answered.indices.filter { isPair(body, answered[$0]) }
            guard found.count == 1, !pairs.contains(where: { $0.answered == found[0] }) else { return nil }
            pairs.append((index, found[0]))
        }
        return pairs
    }

    /// Returns the values without the key, which the service may have replaced.
    private static func valuesWithoutKey(_ body: EntityBody) -> PropertyValues {
        var values = body.values
        for key in body.type.keyProperties { values[key.name] = nil }
        return values
    }

    /// Matches by value.
    ///
    /// Unique matches are assigned; entities that were sent with equal values are interchangeable. Each sent entity has
    /// to be in the response, which may contain more.
    package static func byValues(
        _ sent: [PropertyValues], _ answered: [PropertyValues], areAlike: (Int, Int) -> Bool
    ) -> [Pair] {
        guard sent.count <= answered.count else { return [] }
        var candidates = sent.map { values in Set(answered.indices.filter { canBe(answered[$0], values) }) }
        var left = Array(sent.indices)
        var pairs: [Pair] = []
        while let index = left.first(where: { isCertain($0, left, candidates, areAlike) }) {
            guard let place = candidates[index].min() else { break }
            pairs.append((index, place))
            left.removeAll { $0 == index }
            for other in left { candidates[other].remove(place) }
        }
        return pairs.sorted { $0.sent < $1.sent }
    }

    /// Returns whether an entity can be assigned: it has only one candidate, or it shares its candidates only with
    /// equal entities.
    private static func isCertain(
        _ index: Int, _ left: [Int], _ candidates: [Set<Int>], _ areAlike: (Int, Int) -> Bool
    ) -> Bool {
        let own = candidates[index]
        let like = left.filter { areAlike($0, index) }
        guard !own.isEmpty, own.count <= like.count else { return false }
        // If two different entities have only the same candidate, the values in the response differ from the sent
        // ones.
        return !left.contains { !areAlike($0, index) && candidates[$0].isSubset(of: own) && !candidates[$0].isEmpty }
    }

    /// Returns whether an entity of the response is compatible with the sent values. A missing value is compatible.
    static func canBe(_ answered: PropertyValues, _ sent: PropertyValues) -> Bool {
        sent.allSatisfy { name, value in answered[name].map { $0 == value } ?? true }
    }
}
