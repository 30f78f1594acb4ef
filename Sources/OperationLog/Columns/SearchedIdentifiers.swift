/// A set of numbers, optimized for very many lookups. It usually contains one or two numbers, sometimes thousands.
package struct SearchedIdentifiers: Sendable {
    /// The numbers, ascending and unique.
    package let all: [UInt64]
    private let many: Set<UInt64>
    /// A bit for each remainder that occurs. Excludes most numbers outside the set without hashing.
    private let filter: [UInt64]

    package init(_ identifiers: some Sequence<UInt64>) {
        let set = Set(identifiers)
        all = set.sorted()
        many = set.count <= 4 ? [] : set
        var filter = [UInt64](repeating: 0, count: 64)
        for identifier in set { filter[Int(identifier >> 6 & 63)] |= 1 << (identifier & 63) }
        self.filter = filter
    }

    package var isEmpty: Bool { all.isEmpty }

    @inline(__always)
    package func contains(_ identifier: UInt64) -> Bool {
        guard filter[Int(identifier >> 6 & 63)] >> (identifier & 63) & 1 == 1 else { return false }
        return many.isEmpty ? all.contains(identifier) : many.contains(identifier)
    }
}
