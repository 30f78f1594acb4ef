/// Small numbers for the names of relationships, so that links are hashed and compared by numbers.
struct RelationshipNumbers {
    private var names: [String] = []
    private var numbers: [String: Int32] = [:]

    /// Returns the number of a name, or nil if it has none.
    subscript(name: String) -> Int32? {
        // A model has few relationships, and comparing a few names takes less time than hashing one.
        if names.count <= 8 { return names.firstIndex(of: name).map(Int32.init) }
        return numbers[name]
    }

    /// - Precondition: The number was returned by this value.
    subscript(number: Int32) -> String { names[Int(number)] }

    /// Returns the number of a name, a new one if it has none.
    mutating func number(of name: String) -> Int32 {
        if let known = self[name] { return known }
        let number = Int32(names.count)
        names.append(name)
        numbers[name] = number
        return number
    }
}
