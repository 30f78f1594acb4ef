public import ODataWire

/// `store.json`: which service a directory holds and what it lacks, for whoever looks at it, and before its log is opened.
public struct StoreDescription: Sendable, Hashable {
    public static let formatVersion: Int64 = 1

    public var serviceRoot: String
    /// What the service lacks; nil where nobody has said it, so that the metadata do.
    public var service: ServiceOptions?

    public init(serviceRoot: String, service: ServiceOptions? = nil) {
        self.serviceRoot = serviceRoot
        self.service = service
    }

    /// Nil where there is no store.
    public static func read(_ files: StoreFiles) throws(TidelogError) -> StoreDescription? {
        guard let bytes = try StoreDirectory.read(files.description) else { return nil }
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
        var description = StoreDescription(serviceRoot: root)
        if let service = json["service"] { description.service = try options(service, files) }
        return description
    }

    private static func options(_ json: JSONValue, _ files: StoreFiles) throws(TidelogError) -> ServiceOptions {
        var options = ServiceOptions()
        for member in json.object?.members ?? [] {
            do throws(ServiceOptions.InvalidOption) {
                try options.set(member.name, to: member.value.string ?? "")
            } catch {
                throw TidelogError(
                    .damaged, "The store's description holds an option of the service that is not known: \(error)",
                    place: files.description, recovery: "Use a newer Tidelog, or take the option out.", cause: error)
            }
        }
        return options
    }

    public func write(_ files: StoreFiles) throws(TidelogError) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("formatVersion")
        writer.integer(Self.formatVersion)
        writer.name("serviceRoot")
        writer.string(serviceRoot)
        if let service {
            writer.name("service")
            writer.beginObject()
            for (name, value) in service.named {
                writer.name(name)
                writer.string(value)
            }
            writer.endObject()
        }
        writer.endObject()
        try StoreDirectory.write(writer.bytes + [0x0A], to: files.description)
    }
}
