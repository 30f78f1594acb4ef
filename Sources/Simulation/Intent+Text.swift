import EDM
import ODataWire
import OfflineStore
import Operations

extension Intent {
    /// The intent as a line of the trace.
    var text: String {
        switch self {
        case .create(let draft, let parent):
            "create \(draft.set) \(draft.text)" + (parent.map { " in \($0.entity) \($0.navigation)" } ?? "")
        case .update(let entity, let changes, _, _):
            "update \(entity) " + changes.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
        case .delete(let entity): "delete \(entity)"
        case .createLink(let from, let navigation, let to): "link \(from) \(navigation) \(to)"
        case .updateLink(let from, let navigation, let to): "relink \(from) \(navigation) \(to)"
        case .deleteLink(let from, let navigation, let to): "unlink \(from) \(navigation) \(String(describing: to))"
        case .invoke(let draft): "call \(draft.operation.name)"
        }
    }
}

extension IntentOptions {
    /// The options that differ from the defaults.
    var text: String {
        var words: [String] = []
        if delivery != .queued { words.append("\(delivery)") }
        if isUnmodifiable { words.append("unmodifiable") }
        if let transactionID { words.append("in \(transactionID)") }
        if case .named(let category)? = uploadCategory { words.append("category \(category)") }
        return words.isEmpty ? "" : " (" + words.joined(separator: ", ") + ")"
    }
}

extension EntityDraft {
    var text: String {
        values.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
            + bindings.map { " \($0.navigation)→\($0.targets)" }.joined()
            + inline.map { " \($0.navigation)+[\($0.entities.map(\.text).joined(separator: ", "))]" }.joined()
    }
}
