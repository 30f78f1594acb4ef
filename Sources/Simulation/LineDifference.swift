/// The difference between the entities of a store and those of the service, each as a line.
struct LineDifference {
    /// The lines that only the service has, in ascending order.
    let missing: [String]
    /// The lines that the store has more often than the service, in ascending order. The same entity twice has one line
    /// twice.
    let additional: [String]

    init(_ local: [String], _ remote: [String]) {
        let (own, others) = (Self.counts(local), Self.counts(remote))
        missing = others.keys.filter { own[$0] == nil }.sorted()
        additional = own.filter { $1 > max(1, others[$0] ?? 0) || others[$0] == nil }.keys.sorted()
    }

    private static func counts(_ lines: [String]) -> [String: Int] {
        Dictionary(lines.map { ($0, 1) }, uniquingKeysWith: +)
    }
}
