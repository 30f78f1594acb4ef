import EDM

/// The encoded values of rows that one statement inserts. SQLite reads them in place.
final class RowBlock {
    private static let capacity = 1 << 18
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private var used = 0
    /// Memory for texts that are created while the rows are bound.
    private let texts = UnsafeMutableBufferPointer<UInt8>.allocate(
        capacity: BlockInsertion.parameterLimit * ShortText.capacity)
    private var rows: [(plan: ColumnPlan, values: UnsafeRawBufferPointer)] = []

    deinit {
        bytes.deallocate()
        texts.deallocate()
    }

    func removeAll() {
        used = 0
        rows.removeAll(keepingCapacity: true)
    }

    /// Copies the encoded values of the next row. Returns false if the block is full.
    func append(_ values: UnsafeRawBufferPointer, by plan: ColumnPlan) -> Bool {
        guard values.count <= Self.capacity - used else { return false }
        let copy = UnsafeMutableRawBufferPointer(rebasing: bytes[used..<used + values.count])
        copy.copyMemory(from: values)
        used += values.count
        rows.append((plan, UnsafeRawBufferPointer(copy)))
        return true
    }

    func shape(of row: Int) -> Int64 { rows[row].plan.shape }

    /// Binds the encoded values of a row and, to the columns, the values; see ``ColumnPlan/bind(_:_:memory:)``.
    ///
    /// - Parameter columns: The number of the columns for values.
    func bind(_ row: Int, columns: Int, _ binding: inout Binding) {
        let size = columns * ShortText.capacity
        let memory = UnsafeMutableBufferPointer(rebasing: texts[row * size..<(row + 1) * size])
        binding.blob(inPlace: rows[row].values)
        rows[row].plan.bind(rows[row].values, &binding, memory: memory)
    }
}
