import EDM
import ODataWire

/// Finds out which of the entities in an answer is which of those that a deep insert sent below a navigation property.
///
/// Wrong is worse than unknown: what cannot be told stays without a key, until a download brings it.
struct ChildMatching {
    let options: ServiceOptions

    /// A pair of places: of a body that was sent, and of its entity in the answer.
    typealias Pair = (sent: Int, answered: Int)

    /// - Parameter isSingle: whether the navigation property has room for one entity only.
    func pairs(_ sent: [EntityBody], _ answered: [EntityPayload], isSingle: Bool) -> [Pair] {
        if isSingle { return sent.count == 1 && answered.count == 1 ? [(0, 0)] : [] }
        if options.deepInsertToMany == .contentID, let pairs = byContentID(sent, answered) { return pairs }
        if let pairs = byKey(sent, answered) { return pairs }
        let values = sent.map(Self.valuesWithoutKey)
        // Where the order contradicts what was sent, it is not the order that was promised.
        let isInOrder =
            sent.count == answered.count && zip(values, answered).allSatisfy { Self.canBe($1.values, $0) }
        if isInOrder, options.deepInsertToMany == .inOrder || sent.count == 1 {
            return sent.indices.map { ($0, $0) }
        }
        return Self.byValues(values, answered.map(\.values)) { sent[$0] == sent[$1] }
    }

    /// Nil where the service does not repeat what each entity was marked with.
    private func byContentID(_ sent: [EntityBody], _ answered: [EntityPayload]) -> [Pair]? {
        onlyPairs(sent, answered) { body, payload in body.contentID != nil && body.contentID == payload.contentID }
    }

    /// Nil where not every entity has the key that it was sent with: the service gives keys of its own.
    private func byKey(_ sent: [EntityBody], _ answered: [EntityPayload]) -> [Pair]? {
        onlyPairs(sent, answered) { body, payload in
            body.type.keyParts.allSatisfy { part in
                let value = body.values.value(at: part.path) ?? .null
                return value != .null && payload.values.value(at: part.path) == value
            }
        }
    }

    /// Nil where not every entity that was sent has exactly one partner.
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

    /// Keys that were sent may have been replaced, so they say nothing against a pair.
    private static func valuesWithoutKey(_ body: EntityBody) -> PropertyValues {
        var values = body.values
        for key in body.type.keyProperties { values[key.name] = nil }
        return values
    }

    /// Who can only be one, is that one; those that were sent alike may stand for each other. Each that was sent is among the
    /// answered, which may be more.
    static func byValues(
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

    /// Whether no other than this one, and those that are like it, can be what it can be, or it can be one thing only.
    private static func isCertain(
        _ index: Int, _ left: [Int], _ candidates: [Set<Int>], _ areAlike: (Int, Int) -> Bool
    ) -> Bool {
        let own = candidates[index]
        let like = left.filter { areAlike($0, index) }
        guard !own.isEmpty, own.count <= like.count else { return false }
        // Two that differ and can both only be the same: something is not as it was sent.
        return !left.contains { !areAlike($0, index) && candidates[$0].isSubset(of: own) && !candidates[$0].isEmpty }
    }

    /// Whether the service's entity has all that was sent; what it leaves out says nothing.
    static func canBe(_ answered: PropertyValues, _ sent: PropertyValues) -> Bool {
        sent.allSatisfy { name, value in answered[name].map { $0 == value } ?? true }
    }
}
