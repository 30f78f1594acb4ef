/// What requests did that the service got when their device had given them up, or got twice, and could not know again.
///
/// Nobody at the device can keep a service from creating an entity a second time, or from doing what was taken back
/// meanwhile. What is guarded by an ETag or a key of the client's the service refuses by itself.
struct Stray {
    /// How often they brought an entity with a mark into being.
    private(set) var created: [String: Int] = [:]
    /// How often they wrote a value.
    private(set) var written: [String: Int] = [:]
    /// Marks of entities that they removed.
    private(set) var removed: Set<String> = []
    /// `mark navigation mark` of links that they made or removed.
    private(set) var links: Set<String> = []

    mutating func add(from before: Ledger, to after: Ledger) {
        created.merge(after.created.difference(from: before.created), uniquingKeysWith: +)
        written.merge(after.written.difference(from: before.written), uniquingKeysWith: +)
        removed.formUnion(before.present.subtracting(after.present))
        links.formUnion(before.links.symmetricDifference(after.links))
    }
}

extension [String: Int] {
    /// What has become more.
    fileprivate func difference(from before: Self) -> Self {
        var difference: Self = [:]
        for (name, count) in self where count > before[name] ?? 0 { difference[name] = count - (before[name] ?? 0) }
        return difference
    }
}
