/// A set optimized for one element, which is stored inline without an allocation.
struct SmallSet<Element: Hashable> {
    private var first: Element?
    /// The elements that were added while ``first`` was present.
    private var others: Set<Element> = []

    init() {}

    var isEmpty: Bool { first == nil && others.isEmpty }

    /// The elements, in no particular order.
    var elements: [Element] { (first.map { [$0] } ?? []) + others }

    mutating func insert(_ element: Element) {
        if first == element { return }
        if first == nil, others.isEmpty { first = element } else { others.insert(element) }
    }

    mutating func remove(_ element: Element) {
        if first == element { first = nil } else { others.remove(element) }
    }
}
