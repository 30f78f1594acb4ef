import Operations

/// Sequence numbers in ascending order.
///
/// Numbers are usually added at the end and removed at the start. Removing the first one does not move the others.
struct SequenceOrder {
    /// The numbers in ascending order. The first ``start`` of them are removed.
    private var numbers: [SequenceNumber] = []
    private var start = 0

    var count: Int { numbers.count - start }
    var last: SequenceNumber? { numbers.count > start ? numbers.last : nil }

    func from(_ first: SequenceNumber, limit: Int) -> ArraySlice<SequenceNumber> {
        numbers[place(of: first)...].prefix(limit)
    }

    /// - Precondition: The number is not contained.
    mutating func insert(_ sequence: SequenceNumber) { numbers.insert(sequence, at: place(of: sequence)) }

    /// - Precondition: The number is contained.
    mutating func remove(_ sequence: SequenceNumber) {
        let place = place(of: sequence)
        guard place == start else {
            numbers.remove(at: place)
            return
        }
        start += 1
        if start > numbers.count / 2 {
            numbers.removeFirst(start)
            start = 0
        }
    }

    /// Returns the index of the number, or the index at which to insert it.
    private func place(of sequence: SequenceNumber) -> Int {
        guard let last = numbers.last, sequence <= last else { return numbers.count }
        var (low, high) = (start, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
