import EDM
import ODataSandbox

/// What the service has ever done, seen from behind it: the truth that the devices are held to.
struct Ledger {
    private struct Seen: Hashable {
        var mark: String
        var texts: [String?]
    }

    /// How often an entity with a mark came into being.
    private(set) var created: [String: Int] = [:]
    /// How often `Note` or `Remark` became a value, anywhere.
    private(set) var written: [String: Int] = [:]
    /// Marks of entities that are there.
    private(set) var present: Set<String> = []
    /// `mark navigation mark` of links that ever were.
    private(set) var linked: Set<String> = []
    private var seen: [Int: Seen] = [:]

    /// Takes note of what has changed since the last time.
    mutating func look(at sandbox: Sandbox) {
        var marks: [Int: String] = [:]
        var all: [Sandbox.Content] = []
        for set in FieldService.sets {
            for content in sandbox.contents(of: set) {
                let now = Seen(
                    mark: content.values["Mark"]?.stringValue ?? "",
                    texts: [content.values["Note"]?.stringValue, content.values["Remark"]?.stringValue])
                let before = seen[content.number]
                if before == nil { created[now.mark, default: 0] += 1 }
                for (index, text) in now.texts.enumerated() {
                    if let text, text != before?.texts[index] { written[text, default: 0] += 1 }
                }
                seen[content.number] = now
                marks[content.number] = now.mark
                all.append(content)
            }
        }
        present = Set(marks.values)
        for content in all {
            for navigation in FieldService.navigations(of: content.set) {
                for target in sandbox.targets(of: content, navigation) {
                    linked.insert("\(marks[content.number] ?? "") \(navigation) \(marks[target] ?? "")")
                }
            }
        }
    }
}
