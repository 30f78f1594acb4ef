/// A set optimized for few elements: one is stored inline without an allocation, and some are searched without hashing.
struct SmallSet<Element: Hashable> {
    private var first: Element?
    /// The elements that were added while ``first`` was present; empty if there are many.
    private var few: [Element] = []
    private var many: Set<Element> = []
    /// A search of so many elements costs less than a hash and the growth of a hash table.
    private static var mostFew: Int { 48 }

    init() {}

    var isEmpty: Bool { first == nil && few.isEmpty && many.isEmpty }

    /// The elements, in no particular order.
    var elements: [Element] { (first.map { [$0] } ?? []) + few + many }

    mutating func insert(_ element: Element) {
        if first == element { return }
        if isEmpty {
            first = element
        } else if !many.isEmpty {
            many.insert(element)
        } else if !few.contains(element) {
            few.append(element)
            if few.count > Self.mostFew { (many, few) = (Set(few), []) }
        }
    }

    mutating func remove(_ element: Element) {
        if first == element {
            first = nil
        } else if !many.isEmpty {
            many.remove(element)
        } else if let place = few.firstIndex(of: element) {
            few.swapAt(place, few.count - 1)
            few.removeLast()
        }
    }
}
