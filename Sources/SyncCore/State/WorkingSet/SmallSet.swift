/// A set optimized for few elements: one is stored inline without an allocation, and some are searched without hashing.
struct SmallSet<Element: Hashable & Comparable> {
    private var first: Element?
    /// The elements that were added while ``first`` was present, in ascending order; empty if there are many.
    private var few: [Element] = []
    private var many: Set<Element> = []
    /// A search of so many elements costs less than a hash and the growth of a hash table.
    private static var mostFew: Int { 48 }

    init() {}

    var isEmpty: Bool { first == nil && few.isEmpty && many.isEmpty }

    /// The elements, in no particular order.
    var elements: [Element] {
        guard let first else { return few + many }
        return few.isEmpty && many.isEmpty ? [first] : [first] + few + many
    }

    /// The elements in ascending order.
    var sorted: [Element] {
        if isEmpty { return [] }
        guard many.isEmpty, let first else { return elements.sorted() }
        if few.isEmpty { return [first] }
        return first < few[0] ? [first] + few : elements.sorted()
    }

    func contains(_ element: Element) -> Bool {
        first == element || (many.isEmpty ? few.contains(element) : many.contains(element))
    }

    mutating func insert(_ element: Element) {
        if first == element { return }
        if isEmpty {
            first = element
        } else if !many.isEmpty {
            many.insert(element)
        } else {
            if let last = few.last, last >= element {
                guard let place = few.firstIndex(where: { $0 >= element }), few[place] != element else { return }
                few.insert(element, at: place)
            } else {
                // The usual case: numbers are counted up.
                few.append(element)
            }
            if few.count > Self.mostFew { (many, few) = (Set(few), []) }
        }
    }

    mutating func remove(_ element: Element) {
        if first == element {
            first = nil
        } else if !many.isEmpty {
            many.remove(element)
        } else if let place = few.firstIndex(of: element) {
            few.remove(at: place)
        }
    }
}
