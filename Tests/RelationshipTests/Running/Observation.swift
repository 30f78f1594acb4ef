import ODataSandbox
import ODataWire

/// The observations made while a cell ran.
struct Observation: Sendable {
    struct Refusal: Sendable {
        let code: String
        let message: String
        let recovery: String
        /// Whether the state, the pending operations and the log were unchanged.
        let leftNoTrace: Bool
    }

    /// The results of an upload and a download.
    struct Synchronization: Sendable {
        let planned: WireRequest?
        /// Every batch that was sent.
        let batches: [WireRequest]
        /// Operations that were rejected, in doubt or not sent. Empty if there are none.
        let failures: [String]
        let afterUpload: View
        let afterDownload: View
        let server: View
    }

    var refusal: Refusal?
    /// The view immediately after the call.
    let local: View
    var synchronization: Synchronization?
}

/// A relationship as seen in each way of reading it, in the form of ``Outcome/allowed(links:batches:)``.
struct View: Sendable, Equatable {
    /// The links read through the navigation property of the first end.
    var first: String
    /// The links read through the navigation property of the second end.
    var second: String
    /// Differences found in a navigation property that was loaded separately, or in a constraint property.
    var contradictions: [String] = []

    /// Returns the text of a relationship.
    ///
    /// - Parameters:
    ///   - firsts: The labels of the entities of the first end.
    ///   - seconds: The labels of the entities of the second end.
    ///   - pairs: The labels of the linked entities.
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
    /// Reads the content of a service from its printed state.
    ///
    /// - Parameter label: Returns the label of an entity for its set and key.
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
