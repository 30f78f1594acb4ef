/// What is looked for in blocks whose records are in columns.
///
/// It leans on the layout that the records were taken apart by: a record begins with a field, which is a number; what is
/// looked for is in no field's middle, and the numbers are fields of their own.
package struct ColumnSearch: Sendable {
    /// Numbers of which one stands in the record.
    package var numbers: IdentifierSet
    /// Names with values of which one stands in the record.
    package var values: [NamedValue]
    /// Whether a record of the kind, taken apart, is to be had whatever it says.
    package var isWanted: @Sendable (_ kind: UInt8) -> Bool
    /// Whether one that was not taken apart into fields is to be had.
    package var isWantedWhole: @Sendable (_ kind: UInt8, _ payload: UnsafeRawBufferPointer) -> Bool

    /// Bytes that are in no field, with the fields behind them.
    package struct NamedValue: Sendable, Hashable {
        package let name: [UInt8]
        package let value: [UInt8]

        package init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    package init(
        numbers: IdentifierSet, values: [NamedValue], isWanted: @escaping @Sendable (_ kind: UInt8) -> Bool,
        isWantedWhole: @escaping @Sendable (_ kind: UInt8, _ payload: UnsafeRawBufferPointer) -> Bool
    ) {
        self.numbers = numbers
        self.values = values
        self.isWanted = isWanted
        self.isWantedWhole = isWantedWhole
    }

    /// Which of a step's places in a block's row belong to records that are to be had.
    struct Hits {
        /// Counted from 0, ascending, each once.
        var places: [Int32] = []
        var areAll = false
        /// Where a record begins with the step.
        var areAllFirst = false

        var isEmpty: Bool { places.isEmpty && !areAll && !areAllFirst }
    }

    func hits(of step: ColumnStep, _ numbers: ColumnNumbers, in form: UnsafeRawBufferPointer) -> Hits {
        var hits = Hits()
        // A record begins with its kind.
        if step.literal.count == 1, step.ending == .number {
            hits.areAllFirst = isWanted(form[step.literal.lowerBound])
        }
        switch step.ending {
        case .end: break
        case .number: add(numbers, step, form, &hits)
        case .rest: addWhole(step, form, &hits)
        // Numbers are fields of their own.
        case .text, .fixed: break
        }
        for value in values { add(value, step, form, &hits) }
        return hits
    }

    private func add(
        _ known: ColumnNumbers, _ step: ColumnStep, _ form: UnsafeRawBufferPointer, _ hits: inout Hits
    ) {
        guard known.mayHave(numbers) else { return }
        if known.find(numbers, { hits.places.append(Int32($0)) }) { return }
        var place: Int32 = 0
        step.forEachNumber(form) { number in
            if numbers.contains(number) { hits.places.append(place) }
            place += 1
        }
    }

    private func addWhole(_ step: ColumnStep, _ form: UnsafeRawBufferPointer, _ hits: inout Hits) {
        // What stands behind other fields is not all of the record.
        guard step.literal.count == 1 else {
            hits.areAll = true
            return
        }
        let kind = form[step.literal.lowerBound]
        var step = step
        var place: Int32 = 0
        while let payload = step.nextBytes(form) {
            if isWantedWhole(kind, UnsafeRawBufferPointer(rebasing: form[payload])) { hits.places.append(place) }
            place += 1
        }
    }

    /// Where the literal has the name, and what follows it is not otherwise than wanted.
    private func add(_ named: NamedValue, _ step: ColumnStep, _ form: UnsafeRawBufferPointer, _ hits: inout Hits) {
        let literal = form[step.literal]
        guard let first = named.name.first, literal.count >= named.name.count else { return }
        for start in literal.startIndex...literal.endIndex - named.name.count where literal[start] == first {
            if literal[start...].starts(with: named.name) {
                let behind = literal[(start + named.name.count)...]
                if behind.count >= named.value.count {
                    if behind.starts(with: named.value) { hits.areAll = true }
                } else if named.value.starts(with: behind) {
                    add(named.value.dropFirst(behind.count), step, form, &hits)
                }
            }
        }
    }

    /// The places whose value begins as the bytes do. What comes behind the value is not looked at.
    private func add(
        _ bytes: ArraySlice<UInt8>, _ step: ColumnStep, _ form: UnsafeRawBufferPointer, _ hits: inout Hits
    ) {
        var step = step
        var places: [Int32] = []
        var place: Int32 = 0
        switch step.ending {
        case .end: return
        case .number:
            let number = bytes.withUnsafeBytes { bytes in
                var at = 0
                return LEB128.read(bytes, at: &at, end: bytes.count)
            }
            guard let number else { return }
            while let found = step.nextNumber(form) {
                if found == number { places.append(place) }
                place += 1
            }
        case .text, .fixed, .rest:
            while let found = step.nextBytes(form) {
                let length = min(found.count, bytes.count)
                if form[found].prefix(length).elementsEqual(bytes.prefix(length)) { places.append(place) }
                place += 1
            }
        }
        hits.places = hits.places.isEmpty ? places : Set(hits.places + places).sorted()
    }
}
