/// A set that has one element as a rule: that one takes no memory of its own.
struct SmallSet<Element: Hashable> {
    private var first: Element?
    /// Those that came while there was a first one.
    private var others: Set<Element> = []

    init() {}

    var isEmpty: Bool { first == nil && others.isEmpty }

    /// In no order.
    var elements: [Element] { (first.map { [$0] } ?? []) + others }

    mutating func insert(_ element: Element) {
        if first == element { return }
        if first == nil, others.isEmpty { first = element } else { others.insert(element) }
    }

    mutating func remove(_ element: Element) {
        if first == element { first = nil } else { others.remove(element) }
    }
}
