import ODataWire

/// `store.json`: which service a directory holds, for whoever looks at it, and before its log is opened.
public struct StoreDescription: Sendable, Hashable {
    public static let formatVersion: Int64 = 1

    public var serviceRoot: String

    public init(serviceRoot: String) { self.serviceRoot = serviceRoot }

    /// Nil where there is no store.
    public static func read(_ files: StoreFiles) throws(TidelogError) -> StoreDescription? {
        guard let bytes = StoreDirectory.read(files.description) else { return nil }
        guard let json = try? JSONValue.parse(bytes), let root = json["serviceRoot"]?.string,
            let version = json["formatVersion"]?.integer
        else {
            throw TidelogError(
                .damaged, "The store's description cannot be read.", place: files.description,
                recovery: "Run 'tidelog verify' on the store; the log is not touched by this.")
        }
        guard version == formatVersion else {
            throw TidelogError(
                .damaged, "The store has format version \(version), which this version of Tidelog does not know.",
                place: files.description, recovery: "Use a newer Tidelog.")
        }
        return StoreDescription(serviceRoot: root)
    }

    public func write(_ files: StoreFiles) throws(TidelogError) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("formatVersion")
        writer.integer(Self.formatVersion)
        writer.name("serviceRoot")
        writer.string(serviceRoot)
        writer.endObject()
        try StoreDirectory.write(writer.bytes + [0x0A], to: files.description)
    }
}
