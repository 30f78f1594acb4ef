/// The names of one scope of the generated code. An assigned name depends only on the names that were assigned before
/// it.
struct NameScope {
    /// Names that have a different meaning in the scope. They receive an underscore.
    private let reserved: Set<String>
    /// Names of the surrounding scope that must not be hidden.
    private let alsoTaken: Set<String>
    private let ignoresCase: Bool
    private var taken: Set<String> = []
    /// The last number that was assigned for each name, so that assigning many equal names does not take quadratic
    /// time.
    private var numbers: [String: Int] = [:]

    init(reserved: Set<String>, alsoTaken: Set<String> = [], ignoresCase: Bool = false) {
        self.reserved = reserved
        self.alsoTaken = alsoTaken
        self.ignoresCase = ignoresCase
    }

    /// Returns the name if it is free, and otherwise the name with an underscore or with an underscore and a number.
    mutating func claim(_ wanted: String) -> String {
        let name = reserved.contains(wanted) ? wanted + "_" : wanted
        var candidate = name
        while alsoTaken.contains(candidate) || !taken.insert(folded(candidate)).inserted {
            let number = numbers[name, default: 1] + 1
            numbers[name] = number
            candidate = "\(name)_\(number)"
        }
        return candidate
    }

    private func folded(_ name: String) -> String { ignoresCase ? name.lowercased() : name }
}
