import EDM
public import Operations
public import SyncCore

/// Dangling links. They are stored as one value, as in a snapshot, because they are few and read together.
extension SQLiteState {
    public func openLinks() throws(StateError) -> [OpenLink] {
        guard let state = try first("SELECT state FROM open_links")?.first?.blob else { return [] }
        do throws(CodecError) {
            if case .openLinks(let links) = try SnapshotCodec.decode(.openLinks, payload: state) { return links }
        } catch {
            throw StateError(.damaged, "The views contain dangling links that cannot be decoded. \(error)")
        }
        throw StateError(.damaged, "The views contain invalid dangling links.")
    }

    public func putOpenLinks(_ links: [OpenLink]) throws(StateError) {
        try run(
            "INSERT OR REPLACE INTO open_links VALUES (1, ?)", [.blob(SnapshotCodec.encode(.openLinks(links)).payload)])
    }
}
