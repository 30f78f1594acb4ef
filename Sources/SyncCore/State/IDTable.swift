package import Operations

/// A hash table from entity IDs, sequence numbers, or other numbers that are counted up or are hashes.
///
/// The values are stored contiguously in order of insertion; a removal moves the last value into the gap. Consecutive
/// numbers are found by their distance from the first one. In another table, a number is found by linear probing from a
/// multiplicative hash, so that near numbers do not cluster, or by a linear search if the table is small.
package struct IDTable<Value> {
    package private(set) var values: [Value] = []
    /// Whether each number follows the one before it.
    private var isConsecutive = true
    /// The first number, while the numbers are consecutive.
    private var first: UInt64 = 0
    /// The numbers in order of insertion; empty while they are consecutive.
    private var numbers: [UInt64] = []
    /// Indexes into ``numbers``, or -1 for none; empty while the table is small or its numbers are consecutive.
    private var slots: [Int32] = []
    /// The shift that reduces a hash to the number of bits of a slot index.
    private var shift: UInt64 = 63
    private static var fewest: Int { 16 }

    package init() {}

    /// Creates a table whose array of values has room for so many.
    package init(minimumCapacity: Int) { values.reserveCapacity(minimumCapacity) }

    package var count: Int { values.count }
    package var isEmpty: Bool { values.isEmpty }

    /// The numbers of a table, in order of insertion.
    package struct Numbers: RandomAccessCollection {
        fileprivate let first: UInt64
        /// Empty if the numbers are consecutive.
        fileprivate let list: [UInt64]
        package let endIndex: Int

        package var startIndex: Int { 0 }
        package subscript(place: Int) -> UInt64 { list.isEmpty ? first &+ UInt64(place) : list[place] }
    }

    package var ids: Numbers { Numbers(first: first, list: numbers, endIndex: count) }

    private func home(of id: UInt64) -> Int {
        Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> shift)
    }

    /// Returns the index of the number's value, or nil if it has none.
    @inline(__always)
    package func place(of id: UInt64) -> Int? {
        if isConsecutive {
            let distance = id &- first
            return distance < UInt64(values.count) ? Int(distance) : nil
        }
        // Numbers that were counted up are usually at their distance from the first one.
        let distance = id &- numbers[0]
        if distance < UInt64(numbers.count), numbers[Int(distance)] == id { return Int(distance) }
        if slots.isEmpty { return numbers.firstIndex(of: id) }
        var slot = home(of: id)
        while true {
            let place = Int(slots[slot])
            if place < 0 { return nil }
            if numbers[place] == id { return place }
            slot = (slot + 1) & (slots.count - 1)
        }
    }

    package func contains(_ id: UInt64) -> Bool { place(of: id) != nil }

    package subscript(id: UInt64) -> Value? { place(of: id).map { values[$0] } }

    /// Accesses the value at an index that ``place(of:)`` returned.
    package subscript(at place: Int) -> Value {
        get { values[place] }
        _modify { yield &values[place] }
    }

    /// Returns the index of the number's value. Inserts `initial` if it has none.
    package mutating func place(of id: UInt64, inserting initial: @autoclosure () -> Value) -> Int {
        if let place = place(of: id) { return place }
        return append(id, initial())
    }

    /// Sets the number's value. Returns the former value.
    @discardableResult
    package mutating func updateValue(_ value: consuming Value, for id: UInt64) -> Value? {
        guard let place = place(of: id) else {
            _ = append(id, value)
            return nil
        }
        swap(&value, &values[place])
        return value
    }

    /// - Precondition: The number has no value.
    private mutating func append(_ id: UInt64, _ value: consuming Value) -> Int {
        let place = count
        if place == 0 { first = id }
        if isConsecutive, id != first &+ UInt64(place) { listNumbers() }
        values.append(value)
        if isConsecutive { return place }
        numbers.append(id)
        if slots.isEmpty ? place >= Self.fewest : numbers.count * 2 > slots.count {
            rehash()
        } else if !slots.isEmpty {
            occupy(Int32(place), for: id)
        }
        return place
    }

    /// Stores the consecutive numbers, because they do not remain so.
    private mutating func listNumbers() {
        numbers.reserveCapacity(2 * count)
        for place in 0..<count { numbers.append(first &+ UInt64(place)) }
        isConsecutive = false
    }

    private mutating func rehash() {
        var size = 32
        while size < numbers.count * 4 { size *= 2 }
        shift = UInt64(64 - size.trailingZeroBitCount)
        slots = [Int32](repeating: -1, count: size)
        for (place, id) in numbers.enumerated() { occupy(Int32(place), for: id) }
    }

    private mutating func occupy(_ place: Int32, for id: UInt64) {
        var slot = home(of: id)
        while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = place
    }

    /// Removes and returns the number's value.
    @discardableResult
    package mutating func removeValue(for id: UInt64) -> Value? {
        guard let place = place(of: id) else { return nil }
        if isConsecutive, place < count - 1 {
            listNumbers()
            if numbers.count > Self.fewest { rehash() }
        }
        if !slots.isEmpty {
            vacate(slot(of: place, id))
            let last = count - 1
            if place != last { slots[slot(of: last, numbers[last])] = Int32(place) }
        }
        // Moved, because an exchange of two elements copies them.
        var removed = values.removeLast()
        if isConsecutive { return removed }
        let lastID = numbers.removeLast()
        if isEmpty { (slots, isConsecutive) = ([], true) }
        guard place < count else { return removed }
        numbers[place] = lastID
        swap(&removed, &values[place])
        return removed
    }

    private func slot(of place: Int, _ id: UInt64) -> Int {
        var slot = home(of: id)
        while slots[slot] != Int32(place) { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    /// Empties a slot, and moves later entries that can be closer to their home slot.
    private mutating func vacate(_ slot: Int) {
        let mask = slots.count - 1
        var (hole, next) = (slot, (slot + 1) & mask)
        while slots[next] >= 0 {
            let home = home(of: numbers[Int(slots[next])])
            if (next - home) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = -1
    }

    /// Removes all values. Keeps the capacity if it is small.
    package mutating func removeAll() {
        let keeps = count <= 1 << 16
        numbers.removeAll(keepingCapacity: keeps)
        values.removeAll(keepingCapacity: keeps)
        slots = []
        isConsecutive = true
    }
}

extension IDTable: Sendable where Value: Sendable {}

extension IDTable {
    package subscript(id: EntityID) -> Value? { self[id.rawValue] }
    package func contains(_ id: EntityID) -> Bool { contains(id.rawValue) }
    package func place(of id: EntityID) -> Int? { place(of: id.rawValue) }
    package mutating func place(of id: EntityID, inserting initial: @autoclosure () -> Value) -> Int {
        place(of: id.rawValue, inserting: initial())
    }
    @discardableResult
    package mutating func updateValue(_ value: consuming Value, for id: EntityID) -> Value? {
        updateValue(value, for: id.rawValue)
    }
    @discardableResult
    package mutating func removeValue(for id: EntityID) -> Value? { removeValue(for: id.rawValue) }

    /// The numbers as entity IDs.
    package var entities: some Collection<EntityID> { ids.lazy.map(EntityID.init(rawValue:)) }
}

extension IDTable<Void> {
    /// Inserts a number, if the table does not contain it.
    mutating func insert(_ id: UInt64) { _ = place(of: id, inserting: ()) }

    /// Returns the index of an entity. Inserts it at the end if the table does not contain it.
    ///
    /// A call of the generic function from another module is not specialized.
    package mutating func insert(_ id: EntityID) -> Int { place(of: id.rawValue, inserting: ()) }
}
