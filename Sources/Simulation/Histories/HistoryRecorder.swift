/// Records the calls and observations of all devices and the states of the service, one JSON object on each line.
///
/// A checker that shares no code with the engine judges the history; `Docs/Verification.md` describes the lines.
struct HistoryRecorder {
    /// The entities whose lists and links are recorded, by mark, with their set and the navigation property.
    static let registers = [("s1", "Customers", "Orders"), ("s2", "Customers", "Orders"), ("s4", "Orders", "Items")]

    /// The content of an entity: the tokens of its text, and the marks of the entities linked to it.
    struct EntityContent: Equatable {
        var list: [String]
        var children: [String]
    }

    private(set) var lines: [String] = []
    private var served: [String: EntityContent] = [:]

    /// Returns the tokens of a text to which tokens are appended.
    static func tokens(_ text: String?) -> [String] { (text ?? "").split(separator: " ").map(String.init) }

    /// Begins the history of a run with the state of the service.
    init(_ seed: UInt64, _ devices: Int, _ version: String, _ ledger: Ledger) {
        add("init", ["seed": .number(Int(seed)), "devices": .number(devices), "version": .text(version)])
        observe(ledger)
    }

    /// Records the state of the service, as far as it has changed.
    mutating func observe(_ ledger: Ledger) {
        var children: [String: [String]] = [:]
        for link in ledger.links.sorted() {
            let parts = link.split(separator: " ").map(String.init)
            guard parts.count == 3 else { continue }
            children["\(parts[0]) \(parts[1])", default: []].append(parts[2])
        }
        for (mark, _, navigation) in Self.registers {
            let now = EntityContent(
                list: Self.tokens(ledger.values["\(mark) Note"]), children: children["\(mark) \(navigation)"] ?? [])
            guard served[mark] != now else { continue }
            served[mark] = now
            add("service", ["entity": .text(mark), "list": .list(now.list), "children": .list(now.children)])
        }
        // Entities with equal marks are duplicates, which the links as a set would hide.
        let repeated = ledger.created.filter { $0.value > 1 }.keys.sorted()
        if !repeated.isEmpty { add("duplicates", ["marks": .list(repeated)]) }
    }

    /// Records what the app of a device sees.
    mutating func read(_ device: Int, _ entity: String, _ content: EntityContent, doubts: [String], isFinal: Bool) {
        add(
            isFinal ? "final" : "read",
            [
                "device": .number(device), "entity": .text(entity), "list": .list(content.list),
                "children": .list(content.children), "doubts": .list(doubts),
            ])
    }

    enum Outcome: String {
        case ok, fail
        /// The call failed, and may have had an effect.
        case info
    }

    /// Records a call that appends a token to a list, or adds a linked entity.
    mutating func call(_ kind: String, _ device: Int, _ entity: String, _ token: String, _ outcome: Outcome) {
        add(
            kind,
            [
                "device": .number(device), "entity": .text(entity), "token": .text(token),
                "outcome": .text(outcome.rawValue),
            ])
    }

    /// Records that the user has given up changes, or that changes have not ended.
    mutating func changes(_ kind: String, _ device: Int, _ tokens: [String]) {
        guard !tokens.isEmpty else { return }
        add(kind, ["device": .number(device), "tokens": .list(tokens)])
    }

    mutating func end() { add("end", [:]) }

    private enum Member {
        case number(Int)
        case text(String)
        case list([String])

        /// The names and tokens of a history are ASCII without quotes.
        var json: String {
            switch self {
            case .number(let number): "\(number)"
            case .text(let text): "\"\(text)\""
            case .list(let items): "[\(items.map { "\"\($0)\"" }.joined(separator: ","))]"
            }
        }
    }

    private mutating func add(_ type: String, _ members: [String: Member]) {
        let rest = members.sorted { $0.key < $1.key }.map { ",\"\($0.key)\":\($0.value.json)" }.joined()
        lines.append("{\"type\":\"\(type)\"\(rest)}")
    }
}
