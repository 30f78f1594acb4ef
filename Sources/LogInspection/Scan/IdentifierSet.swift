/// A set of entity IDs or sequence numbers that very many are compared with: mostly one or two, sometimes thousands.
struct IdentifierSet: Sendable {
    private let few: [UInt64]
    private let many: Set<UInt64>

    init(_ identifiers: some Sequence<UInt64>) {
        let all = Set(identifiers)
        few = all.count <= 4 ? Array(all) : []
        many = all.count <= 4 ? [] : all
    }

    var isEmpty: Bool { few.isEmpty && many.isEmpty }

    @inline(__always)
    func contains(_ identifier: UInt64) -> Bool {
        for known in few where known == identifier { return true }
        return !many.isEmpty && many.contains(identifier)
    }
}
