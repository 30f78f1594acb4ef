import EDM

/// Where the values of rows that have the same names go: to which columns of a set's table.
///
/// They are bound where they lie among the encoded bytes; only what SQLite wants as a text that is none there, a date or a GUID,
/// is written, into memory that the table lends.
struct ColumnPlan {
    let names: PropertyNames
    /// The number of the names in the views.
    let shape: Int64
    /// By place of the name.
    private let targets: [Target]

    private enum Target {
        case none
        case column(Int)
        /// Columns for what is in the value, each with the path to it.
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

    /// Gives the values to their columns, of which the first is the next parameter. What has no value is left as it is.
    ///
    /// - Parameter memory: ``ShortText/capacity`` bytes for each column. They and the bytes have to stay until the statement
    ///   has run.
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
    /// As ``SQLValue/init(_:)`` stores the value; null is not bound.
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
        case .timeOfDay(let time): short(memory, time.write)
        case .duration(let duration): short(memory) { duration.write(&$0) }
        case .dateTime(let dateTime): short(memory, dateTime.write)
        case .dateTimeOffset(let dateTime): short(memory, dateTime.write)
        }
    }

    private mutating func short(_ memory: UnsafeMutableBufferPointer<UInt8>, _ write: (inout ShortText) -> Void) {
        var text = ShortText(memory)
        write(&text)
        self.text(inPlace: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<text.count]))
    }
}
