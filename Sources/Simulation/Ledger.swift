import EDM
import ODataSandbox

/// The complete history of the service, read from its state: the oracle against which the devices are checked.
struct Ledger {
    /// The properties that updates write.
    static let texts = ["Note", "Remark"]

    /// A change of an entity's `Note` or `Remark`.
    struct Write {
        let mark: String
        let property: String
        let before: String?
        let after: String?
    }

    private struct Observation: Hashable {
        var mark: String
        var texts: [String?]
    }

    /// The number of creations of entities with each mark.
    private(set) var created: [String: Int] = [:]
    /// The number of times that `Note` or `Remark` of any entity changed to each value.
    private(set) var written: [String: Int] = [:]
    /// All changes of values of existing entities, in order.
    private(set) var writes: [Write] = []
    /// The marks of existing entities.
    private(set) var present: Set<String> = []
    /// The current values of `Note` and `Remark`, by `mark property`.
    private(set) var values: [String: String] = [:]
    /// The existing links as `mark navigation mark`.
    private(set) var links: Set<String> = []
    private var seen: [Int: Observation] = [:]

    /// Records the changes since the last call.
    mutating func observe(at sandbox: Sandbox) {
        var marks: [Int: String] = [:]
        var all: [Sandbox.StoredEntity] = []
        values = [:]
        for set in FieldService.sets {
            for content in sandbox.contents(of: set) {
                let now = Observation(
                    mark: content.values["Mark"]?.stringValue ?? "",
                    texts: Self.texts.map { content.values[$0]?.stringValue })
                count(now, seen[content.number])
                for (name, text) in zip(Self.texts, now.texts) { values["\(now.mark) \(name)"] = text }
                seen[content.number] = now
                marks[content.number] = now.mark
                all.append(content)
            }
        }
        present = Set(marks.values)
        links = []
        for content in all {
            for navigation in FieldService.navigations(of: content.set) {
                for target in sandbox.targets(of: content, navigation) {
                    links.insert("\(marks[content.number] ?? "") \(navigation) \(marks[target] ?? "")")
                }
            }
        }
    }

    private mutating func count(_ now: Observation, _ before: Observation?) {
        if before == nil { created[now.mark, default: 0] += 1 }
        for (index, text) in now.texts.enumerated() where text != before?.texts[index] {
            if let text { written[text, default: 0] += 1 }
            guard let before else { continue }
            writes.append(
                Write(mark: now.mark, property: Self.texts[index], before: before.texts[index], after: text))
        }
    }
}
