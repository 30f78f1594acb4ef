/// A selection of properties, applied to rows that mostly have the same names.
package final class PropertySubset {
    private let isChosen: (String) -> Bool
    private var last: ChosenNames?

    /// The selection of the names of a row.
    private final class ChosenNames {
        let all: PropertyNames
        let chosen: PropertyNames?
        let places: [Int]
        var isAll: Bool { chosen != nil && places.count == all.count }

        init(of all: PropertyNames, where isChosen: (String) -> Bool) {
            self.all = all
            places = all.names.indices.filter { isChosen(all.names[$0]) }
            chosen = PropertyNames(places.map { all.names[$0] })
        }
    }

    package init(where isChosen: @escaping (String) -> Bool) { self.isChosen = isChosen }

    /// Returns whether the values are encoded and all of their properties are chosen.
    package func isAll(of values: borrowing PropertyValues) -> Bool {
        if last.map({ !values.hasNames($0.all) }) ?? true {
            guard let packed = values.packed else { return false }
            last = choice(from: packed.names)
        }
        return last?.isAll == true
    }

    /// Returns the chosen properties in their encoded form; nil if the values are not encoded.
    package func callAsFunction(_ values: PropertyValues) -> PropertyValues? {
        guard let packed = values.packed else { return nil }
        let choice = choice(from: packed.names)
        guard let chosen = choice.chosen else { return nil }
        if choice.isAll { return values }
        return packed.subset(choice.places, named: chosen).map { PropertyValues($0) }
    }

    /// Copies the chosen values of untrusted bytes to a page. Returns nil if the bytes do not have the structure of one
    /// encoded value per name.
    package func copy(
        of bytes: UnsafeRawBufferPointer, named names: PropertyNames, to page: inout PackedPage
    ) -> PackedProperties? {
        let choice = choice(from: names)
        guard let chosen = choice.chosen else { return nil }
        return page.copy(bytes, named: names, only: choice.places, named: chosen)
    }

    private func choice(from names: PropertyNames) -> ChosenNames {
        if let last, last.all === names { return last }
        let choice = ChosenNames(of: names, where: isChosen)
        last = choice
        return choice
    }
}
