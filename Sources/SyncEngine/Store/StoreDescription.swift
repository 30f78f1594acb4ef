public import ODataWire
public import OperationLog

/// `store.json`: which service a directory holds and what it lacks, for whoever looks at it, and before its log is opened.
public struct StoreDescription: Sendable, Hashable {
    public static let formatVersion: Int64 = 1

    public var serviceRoot: String
    /// What the service lacks; nil where nobody has said it, so that the metadata do.
    public var service: ServiceOptions?
    /// What uploads have found out about the service.
    public var learned = LearnedOptions()
    /// In an encrypted store, the first record from which on everything is encrypted; nil in any other, and where an earlier
    /// version wrote the description.
    public internal(set) var encryptedFrom: UInt64?

    public init(serviceRoot: String, service: ServiceOptions? = nil) {
        self.serviceRoot = serviceRoot
        self.service = service
    }

    /// Returns the description of the store; nil if there is no store.
    ///
    /// - Parameter keys: those of an encrypted store. With them the description is checked to be what an owner of the keys
    ///   wrote; without them it is taken as it is.
    /// - Throws: `damaged` if it cannot be read or is not authentic, `wrongKey` if the log is encrypted with other keys.
    public static func read(_ files: StoreFiles, keys: [LogKey] = []) throws(TidelogError) -> StoreDescription? {
        guard let bytes = try StoreDirectory.read(files.description) else { return nil }
        let isAuthentic = try DescriptionSeal.check(bytes, files, keys)
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
        if isAuthentic { description.encryptedFrom = json["encryptedFrom"]?.integer.flatMap(UInt64.init(exactly:)) }
        if let service = json["service"] { description.service = try options(service, files) }
        for member in json["learned"]?.object?.members ?? [] {
            description.learned.set(member.name, to: member.value.string ?? "")
        }
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

    /// Writes the description, durably and as a whole or not at all.
    ///
    /// - Parameter keys: those of the store, the first of which writes. Where its log is encrypted, the description is
    ///   authenticated with it.
    public func write(_ files: StoreFiles, keys: [LogKey] = []) throws(TidelogError) {
        var description = self
        if let key = keys.first {
            description.encryptedFrom =
                encryptedFrom ?? LogReader.firstEncrypted(directory: files.log, fileSystem: PosixFileSystem())
            if description.encryptedFrom != nil {
                let bytes = DescriptionSeal.sealed(description.encoded, key)
                return try StoreDirectory.write(bytes + [0x0A], to: files.description)
            }
        }
        description.encryptedFrom = nil
        try StoreDirectory.write(description.encoded + [0x0A], to: files.description)
    }

    private var encoded: [UInt8] {
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
        if !learned.isEmpty {
            writer.name("learned")
            writer.beginObject()
            for (name, value) in learned.named {
                writer.name(name)
                writer.string(value)
            }
            writer.endObject()
        }
        if let encryptedFrom {
            writer.name("encryptedFrom")
            writer.integer(Int64(clamping: encryptedFrom))
        }
        writer.endObject()
        return writer.bytes
    }
}
