import EDM
import ODataSandbox

/// What the service has ever done, seen from behind it: the truth that the devices are held to.
struct Ledger {
    /// The properties that updates write to.
    static let texts = ["Note", "Remark"]

    /// `Note` or `Remark` of an entity became another value.
    struct Write {
        let mark: String
        let property: String
        let before: String?
        let after: String?
    }

    private struct Seen: Hashable {
        var mark: String
        var texts: [String?]
    }

    /// How often an entity with a mark came into being.
    private(set) var created: [String: Int] = [:]
    /// How often `Note` or `Remark` became a value, anywhere.
    private(set) var written: [String: Int] = [:]
    /// All changes of values of entities that were there, in order.
    private(set) var writes: [Write] = []
    /// Marks of entities that are there.
    private(set) var present: Set<String> = []
    /// What `Note` and `Remark` are, by `mark property`.
    private(set) var values: [String: String] = [:]
    /// `mark navigation mark` of links that are there.
    private(set) var links: Set<String> = []
    private var seen: [Int: Seen] = [:]

    /// Takes note of what has changed since the last time.
    mutating func look(at sandbox: Sandbox) {
        var marks: [Int: String] = [:]
        var all: [Sandbox.Content] = []
        values = [:]
        for set in FieldService.sets {
            for content in sandbox.contents(of: set) {
                let now = Seen(
                    mark: content.values["Mark"]?.stringValue ?? "",
                    texts: Self.texts.map { content.values[$0]?.stringValue })
                note(now, seen[content.number])
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

    private mutating func note(_ now: Seen, _ before: Seen?) {
        if before == nil { created[now.mark, default: 0] += 1 }
        for (index, text) in now.texts.enumerated() where text != before?.texts[index] {
            if let text { written[text, default: 0] += 1 }
            guard let before else { continue }
            writes.append(
                Write(mark: now.mark, property: Self.texts[index], before: before.texts[index], after: text))
        }
    }
}
