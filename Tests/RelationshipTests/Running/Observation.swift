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
