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
        // Where the order contradicts what was sent, it is not the order that was promised.
        let isInOrder =
            sent.count == answered.count && zip(sent, answered).allSatisfy { Self.canBe($1, $0) }
        if isInOrder, options.deepInsertToMany == .inOrder || sent.count == 1 {
            return sent.indices.map { ($0, $0) }
        }
        return Self.byValues(sent, answered)
    }

    /// Nil where the service does not repeat what each entity was marked with.
    private func byContentID(_ sent: [EntityBody], _ answered: [EntityPayload]) -> [Pair]? {
        var pairs: [Pair] = []
        for (index, body) in sent.enumerated() {
            guard let id = body.contentID else { return nil }
            let found = answered.indices.filter { answered[$0].contentID == id }
            guard found.count == 1 else { return nil }
            pairs.append((index, found[0]))
        }
        return pairs
    }

    /// Pairs of which neither could be in another pair; entities that were sent alike may stand for each other.
    static func byValues(_ sent: [EntityBody], _ answered: [EntityPayload]) -> [Pair] {
        var open = Set(answered.indices)
        var left = Array(sent.indices)
        var pairs: [Pair] = []
        var hasFound = true
        while hasFound {
            hasFound = false
            for index in left {
                let candidates = open.filter { canBe(answered[$0], sent[index]) }.sorted()
                let rivals = left.filter { other in
                    other != index && candidates.contains { canBe(answered[$0], sent[other]) }
                }
                let areAlike = rivals.allSatisfy { sent[$0] == sent[index] }
                guard let candidate = candidates.first, areAlike, candidates.count <= rivals.count + 1 else { continue }
                pairs.append((index, candidate))
                open.remove(candidate)
                left.removeAll { $0 == index }
                hasFound = true
                break
            }
        }
        return pairs.sorted { $0.sent < $1.sent }
    }

    /// Keys that were sent may have been replaced, so they say nothing.
    private static func canBe(_ answered: EntityPayload, _ sent: EntityBody) -> Bool {
        var values = sent.values
        for key in sent.type.keyProperties { values[key.name] = nil }
        return canBe(answered.values, values)
    }

    /// Whether the service's entity has all that was sent; what it leaves out says nothing.
    static func canBe(_ answered: PropertyValues, _ sent: PropertyValues) -> Bool {
        sent.allSatisfy { name, value in answered[name].map { $0 == value } ?? true }
    }
}
