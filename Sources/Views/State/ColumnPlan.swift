import EDM

/// The columns of a set's table for the values of rows with the same property names.
///
/// Values are bound in place, within the encoded bytes. Only values that SQLite stores as text but that are encoded
/// otherwise, such as dates and GUIDs, are written, into memory that the table provides.
struct ColumnPlan {
    let names: PropertyNames
    /// The number of the list of names in the views.
    let shape: Int64
    /// The targets, by index of the name.
    private let targets: [Target]

    private enum Target {
        case none
        case column(Int)
        /// Columns for components of the value, each with its path.
        case parts([(path: ArraySlice<String>, column: Int)])
    }

    init(_ names: PropertyNames, shape: Int64, _ layout: TableLayout) {
        self.names = names
        self.shape = shape
        var parts = [[(path: ArraySlice<String>, column: Int)]](repeating: [], count: names.count)
        for (index, column) in layout.columns.enumerated() {
            if let place = names.place(of: column.path[0]) { parts[place].append((column.path.dropFirst(), index)) }
        }
        targets = parts.map { parts in
            switch parts.count {
            case 0: .none
            case 1 where parts[0].path.isEmpty: .column(parts[0].column)
            default: .parts(parts)
            }
        }
    }

    /// Binds the values to their columns, the first of which is the next parameter. Does not bind columns without a
    /// value.
    ///
    /// - Parameter memory: ``ShortText/capacity`` bytes for each column. They and `bytes` must stay valid until the
    ///   statement has run.
    func bind(
        _ bytes: UnsafeRawBufferPointer, _ binding: inout Binding, memory: UnsafeMutableBufferPointer<UInt8>
    ) {
        let first = binding.index
        var cursor = PackedCursor(bytes)
        for target in targets {
            switch target {
            case .none: cursor.skip()
            case .column(let column):
                binding.index = first + Int32(column)
                if let value = cursor.next() { binding.value(value, Self.slot(column, memory)) }
            case .parts(let parts):
                for (path, column) in parts {
                    var inner = cursor
                    guard path.allSatisfy({ inner.enter($0) }), let value = inner.next() else { continue }
                    binding.index = first + Int32(column)
                    binding.value(value, Self.slot(column, memory))
                }
                cursor.skip()
            }
        }
    }

    private static func slot(
        _ column: Int, _ memory: UnsafeMutableBufferPointer<UInt8>
    ) -> UnsafeMutableBufferPointer<UInt8> {
        let start = column * ShortText.capacity
        return UnsafeMutableBufferPointer(rebasing: memory[start..<start + ShortText.capacity])
    }
}

extension Binding {
    /// Binds the value as ``SQLValue/init(_:)`` converts it. Does not bind null.
    fileprivate mutating func value(_ value: PackedValue, _ memory: UnsafeMutableBufferPointer<UInt8>) {
        switch value {
        case .null, .complex, .collection: return
        case .boolean(let flag): integer(flag ? 1 : 0)
        case .integer(let number): integer(number)
        case .single(let number): self.value(.floating(Double(number)))
        case .double(let number): self.value(.floating(number))
        case .decimal(let text), .string(let text), .enumeration(let text), .raw(let text): self.text(inPlace: text)
        case .binary(let bytes): blob(inPlace: bytes)
        case .guid(let guid): short(memory, guid.write)
        case .date(let date): short(memory, date.write)
        case .timeOfDay(let time): short(memory) { time.write(&$0, isCanonical: true) }
        case .duration(let duration): short(memory) { duration.write(&$0) }
        case .dateTime(let dateTime): short(memory) { dateTime.write(&$0, isCanonical: true) }
        case .dateTimeOffset(let dateTime): short(memory) { dateTime.write(&$0, isCanonical: true) }
        }
    }

    private mutating func short(_ memory: UnsafeMutableBufferPointer<UInt8>, _ write: (inout ShortText) -> Void) {
        var text = ShortText(memory)
        write(&text)
        self.text(inPlace: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<text.count]))
    }
}
