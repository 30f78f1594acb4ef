import ODataSandbox
import ODataWire

/// What was seen while a cell ran.
struct Observation: Sendable {
    struct Refusal: Sendable {
        let code: String
        let message: String
        let recovery: String
        /// Whether state, pending operations and log were the same as before.
        let leftNoTrace: Bool
    }

    /// What an upload and a download came to.
    struct Synchronization: Sendable {
        let planned: WireRequest?
        /// Every batch that was sent.
        let batches: [WireRequest]
        /// Refused, in doubt or left behind; empty if all went well.
        let failures: [String]
        let afterUpload: View
        let afterDownload: View
        let server: View
    }

    var refusal: Refusal?
    /// Right after the call.
    let local: View
    var synchronization: Synchronization?
}

/// A relationship as each way to look at it shows it, in the form of ``Outcome/allowed(links:batches:)``.
struct View: Sendable, Equatable {
    /// Read through the first end's navigation property.
    var first: String
    /// Read through the second end's.
    var second: String
    /// Where a navigation property that is loaded by itself, or a constraint property, says something else.
    var contradictions: [String] = []

    /// - Parameters:
    ///   - firsts: the labels of the entities of the first end.
    ///   - pairs: as labels.
    static func text(_ firsts: [String], _ seconds: [String], _ pairs: [(String, String)]) -> String {
        var parts: [String] = []
        for first in firsts.sorted() {
            let partners = pairs.filter { $0.0 == first }.map(\.1).sorted()
            parts += partners.isEmpty ? ["\(first)-"] : partners.map { "\(first)-\($0)" }
        }
        for second in seconds.sorted() where !pairs.contains(where: { $0.1 == second }) { parts.append("-\(second)") }
        return parts.joined(separator: " ")
    }
}

extension View {
    /// What a service holds, read from its printed state.
    ///
    /// - Parameter label: that of an entity from its set and key.
    init(_ service: Sandbox, _ combination: Combination, label: (_ set: String, _ key: String) -> String) {
        var seen: [[(label: String, partners: [String])]] = []
        for set in [combination.first.set, combination.second.set] {
            var entries: [(label: String, partners: [String])] = []
            for line in service.stateText(of: [set], values: false).split(separator: "\n") {
                let names = line.split(whereSeparator: { " ,:".contains($0) }).filter { $0.hasSuffix(")") }
                    .map { Call.Name(stringLiteral: String($0)) }
                if line.hasPrefix("  ") {
                    entries[entries.count - 1].partners = names.map { label($0.set, $0.label) }
                } else {
                    entries.append((label(set, names[0].label), []))
                }
            }
            seen.append(entries)
        }
        let (firsts, seconds) = (seen[0].map(\.label), seen[1].map(\.label))
        first = View.text(firsts, seconds, seen[0].flatMap { entry in entry.partners.map { (entry.label, $0) } })
        second = View.text(firsts, seconds, seen[1].flatMap { entry in entry.partners.map { ($0, entry.label) } })
    }
}
