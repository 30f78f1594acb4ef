/// The search criteria for blocks in column form.
///
/// The search depends on the layout that was used for encoding: each record begins with a field that is a number, a
/// searched value never begins in the middle of a field, and searched numbers are whole fields.
package struct ColumnSearch: Sendable {
    /// Numbers, one of which the record contains.
    package var numbers: SearchedIdentifiers
    /// Named values, one of which the record contains.
    package var values: [NamedValue]
    /// Returns whether every record of the kind that was split into fields matches, whatever its content.
    package var isWanted: @Sendable (_ kind: UInt8) -> Bool
    /// Returns whether a record that was not split into fields matches.
    package var isWantedWhole: @Sendable (_ kind: UInt8, _ payload: UnsafeRawBufferPointer) -> Bool

    /// A name, which is bytes outside of all fields, and the encoded fields that follow it.
    package struct NamedValue: Sendable, Hashable {
        package let name: [UInt8]
        package let value: [UInt8]

        package init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    package init(
        numbers: SearchedIdentifiers, values: [NamedValue], isWanted: @escaping @Sendable (_ kind: UInt8) -> Bool,
        isWantedWhole: @escaping @Sendable (_ kind: UInt8, _ payload: UnsafeRawBufferPointer) -> Bool
    ) {
        self.numbers = numbers
        self.values = values
        self.isWanted = isWanted
        self.isWantedWhole = isWantedWhole
    }

    /// The positions in a step's column that belong to matching records.
    struct MatchingPositions {
        /// Indexes counted from 0, ascending and unique.
        var places: [Int32] = []
        var areAll = false
        /// Whether every record that begins with this step matches.
        var areAllFirst = false

        var isEmpty: Bool { places.isEmpty && !areAll && !areAllFirst }
    }

    func hits(of step: ColumnStep, _ numbers: ColumnNumbers, in form: UnsafeRawBufferPointer) -> MatchingPositions {
        var hits = MatchingPositions()
        // A record begins with its kind.
        if step.literal.count == 1, step.ending == .number {
            hits.areAllFirst = isWanted(form[step.literal.lowerBound])
        }
        switch step.ending {
        case .end: break
        case .number: add(numbers, step, form, &hits)
        case .rest: addWhole(step, form, &hits)
        // Searched numbers are always fields of their own.
        case .text, .fixed: break
        }
        for value in values { add(value, numbers, step, form, &hits) }
        return hits
    }

    private func add(
        _ known: ColumnNumbers, _ step: ColumnStep, _ form: UnsafeRawBufferPointer, _ hits: inout MatchingPositions
    ) {
        guard known.mayHave(numbers) else { return }
        if known.find(numbers, { hits.places.append(Int32($0)) }) { return }
        var place: Int32 = 0
        step.forEachNumber(form) { number in
            if numbers.contains(number) { hits.places.append(place) }
            place += 1
        }
    }

    private func addWhole(_ step: ColumnStep, _ form: UnsafeRawBufferPointer, _ hits: inout MatchingPositions) {
        // After other fields, the rest is only a part of the record, so the record cannot be judged here.
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

    /// Adds hits if the step's literal contains the name and the following bytes do not contradict the value.
    private func add(
        _ named: NamedValue, _ known: ColumnNumbers, _ step: ColumnStep, _ form: UnsafeRawBufferPointer,
        _ hits: inout MatchingPositions
    ) {
        let literal = form[step.literal]
        guard let first = named.name.first, literal.count >= named.name.count else { return }
        for start in literal.startIndex...literal.endIndex - named.name.count where literal[start] == first {
            if literal[start...].starts(with: named.name) {
                let behind = literal[(start + named.name.count)...]
                if behind.count >= named.value.count {
                    if behind.starts(with: named.value) { hits.areAll = true }
                } else if named.value.starts(with: behind) {
                    add(named.value.dropFirst(behind.count), known, step, form, &hits)
                }
            }
        }
    }

    /// Adds the positions of values that agree with the first bytes of `bytes`. Ignores anything after the value.
    private func add(
        _ bytes: ArraySlice<UInt8>, _ known: ColumnNumbers, _ step: ColumnStep, _ form: UnsafeRawBufferPointer,
        _ hits: inout MatchingPositions
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
            if known.find(number, { places.append(Int32($0)) }) { break }
            step.forEachNumber(form) { found in
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
        guard !places.isEmpty else { return }
        hits.places = hits.places.isEmpty ? places : Set(hits.places + places).sorted()
    }
}
