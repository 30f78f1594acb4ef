/// The names of one scope of the generated code. Which name one gets depends on nothing but those that came before.
struct NameScope {
    /// Names that mean something else there already; they get an underscore.
    private let reserved: Set<String>
    /// Names around the scope, that must not be hidden.
    private let alsoTaken: Set<String>
    private let ignoresCase: Bool
    private var taken: Set<String> = []
    /// The number that a name was last given, so that a thousand equal names don't take a million steps.
    private var numbers: [String: Int] = [:]

    init(reserved: Set<String>, alsoTaken: Set<String> = [], ignoresCase: Bool = false) {
        self.reserved = reserved
        self.alsoTaken = alsoTaken
        self.ignoresCase = ignoresCase
    }

    /// The name itself where it is free, otherwise with an underscore, or an underscore and a number.
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
