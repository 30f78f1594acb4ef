import EDM
package import ODataWire
package import OperationLog

/// The content of `store.json`: the service of a store and its capabilities. It can be read before the log is opened.
package struct StoreDescription: Sendable, Hashable {
    package static let formatVersion: Int64 = 1

    package var serviceRoot: String
    /// The service capabilities, or nil if they are derived from the metadata.
    package var service: ServiceOptions?
    /// The findings of uploads about the service.
    package var detected = DetectedOptions()
    /// The first record from which everything is encrypted. Nil in a store that is not encrypted, and in a description
    /// of an earlier version.
    package internal(set) var encryptedFrom: UInt64?
    /// The identifier that the service has assigned to this store as a client.
    package var clientID: String?

    package init(serviceRoot: String, service: ServiceOptions? = nil) {
        self.serviceRoot = serviceRoot
        self.service = service
    }

    /// Reads the description of a store, or returns nil if there is no store.
    ///
    /// - Parameter keys: The keys of an encrypted store. With them the description is authenticated; without them it is
    ///   used unchecked.
    /// - Throws: `damaged` if it is unreadable or not authentic, `wrongKey` if the log is encrypted with other keys.
    package static func read(_ files: StoreFiles, keys: [LogKey] = []) throws(TidelogError) -> StoreDescription? {
        guard let bytes = try StoreDirectory.read(files.description) else { return nil }
        let isAuthentic = try DescriptionSeal.check(bytes, files, keys)
        return try StoreDescription(bytes, isAuthentic: isAuthentic, path: files.description)
    }

    /// Parses a description.
    ///
    /// - Parameters:
    ///   - isAuthentic: Whether `bytes` are authenticated. Otherwise ``encryptedFrom`` is ignored.
    ///   - path: The file of the description, for errors.
    /// - Throws: `damaged` if it cannot be parsed.
    package init(_ bytes: [UInt8], isAuthentic: Bool, path: String) throws(TidelogError) {
        guard let json = try? JSONValue.parse(bytes), let root = json["serviceRoot"]?.string,
            let version = json["formatVersion"]?.integer
        else {
            throw TidelogError(
                .damaged, "The description of the store cannot be read.", place: path,
                recovery: "Run 'tidelog verify' on the store; the log is not affected.")
        }
        guard version == Self.formatVersion else {
            throw TidelogError(
                .damaged, "The store has format version \(version), which this version of Tidelog does not support.",
                place: path, recovery: "Use a newer version of Tidelog.")
        }
        self.init(serviceRoot: root)
        if isAuthentic { encryptedFrom = json["encryptedFrom"]?.integer.flatMap(UInt64.init(exactly:)) }
        clientID = json["clientID"]?.string
        if let service = json["service"] { self.service = try Self.options(service, path) }
        for member in json["learned"]?.object?.members ?? [] {
            detected.set(member.name, to: member.value.string ?? "")
        }
    }

    private static func options(_ json: JSONValue, _ path: String) throws(TidelogError) -> ServiceOptions {
        var options = ServiceOptions()
        for member in json.object?.members ?? [] {
            do throws(ServiceOptions.InvalidOption) {
                try options.set(member.name, to: member.value.string ?? "")
            } catch {
                throw TidelogError(
                    .damaged, "The description of the store contains an unknown service option: \(error)",
                    place: path, recovery: "Use a newer version of Tidelog, or remove the option.",
                    cause: error)
            }
        }
        return options
    }

    /// Writes the description atomically and durably.
    ///
    /// - Parameter keys: The keys of the store, of which the first is used for writing. If the log is encrypted, the
    ///   description is authenticated with it.
    package func write(_ files: StoreFiles, keys: [LogKey] = []) throws(TidelogError) {
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

    /// The JSON object, without an authentication.
    package var encoded: [UInt8] {
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
        if !detected.isEmpty {
            writer.name("learned")
            writer.beginObject()
            for (name, value) in detected.named {
                writer.name(name)
                writer.string(value)
            }
            writer.endObject()
        }
        if let clientID {
            writer.name("clientID")
            writer.string(clientID)
        }
        if let encryptedFrom {
            writer.name("encryptedFrom")
            writer.integer(Int64(clamping: encryptedFrom))
        }
        writer.endObject()
        return writer.bytes
    }
}
