import EDM
public import OfflineStore

/// The stores of several users of one device, one of whom works at a time.
///
/// Each user has an own directory, and with ``OfflineODataParameters/storeEncryptionKey`` an own key, so that no user
/// reads data of a different user. The pending changes of a user are sent with the credentials of this user only.
/// Switching closes one store and opens the other; it downloads nothing.
public actor UserStores {
    /// The treatment of the pending operations of the user who leaves.
    public enum PendingChanges: Sendable, Hashable {
        /// They are kept, and sent when the user works again.
        case keep
        /// They are uploaded before the switch. The switch is refused while operations remain that the next upload
        /// would send.
        case upload
        /// They are undone before the switch. Operations in flight or in doubt are kept.
        case discard
        /// The switch is refused while there are operations to send.
        case refuse
    }

    /// The directory that contains a directory for each user.
    public nonisolated let directory: String
    private let serviceRoot: String
    private let queries: [OfflineODataDefiningQuery]
    private let parameters: @Sendable (_ user: String, _ storePath: String) -> OfflineODataParameters
    private var current: (user: String, provider: OfflineODataProvider)?
    /// Whether a switch is running. Calls do not wait for each other, so a second one is refused.
    private var isSwitching = false

    /// Creates the stores of a directory, of which none is open.
    ///
    /// - Parameters:
    ///   - directory: the directory that contains a directory for each user. It is created with the first store.
    ///   - serviceRoot: the service root, an absolute URL.
    ///   - definingQueries: the defining queries of each store.
    ///   - parameters: returns the parameters of a user's store: its key, the credentials of the user, and the path
    ///     that it receives.
    public init(
        directory: String, serviceRoot: String, definingQueries: [OfflineODataDefiningQuery] = [],
        parameters: @escaping @Sendable (_ user: String, _ storePath: String) -> OfflineODataParameters
    ) {
        self.directory = directory
        self.serviceRoot = serviceRoot
        queries = definingQueries
        self.parameters = parameters
    }

    /// The user whose store is open, or `nil`.
    public var currentUser: String? { current?.user }

    /// The open store, or `nil`.
    public var provider: OfflineODataProvider? { current?.provider }

    /// The users who have a store, sorted.
    public var users: [String] {
        StoreFiles.stores(in: directory).compactMap(UserDirectory.user).sorted()
    }

    /// Opens the store of a user, or creates it, after the store of the current user is closed.
    ///
    /// Does nothing if the user is the current one.
    ///
    /// - Parameters:
    ///   - user: the name of the user, at most 80 bytes of UTF-8.
    ///   - pending: the treatment of the current user's pending operations.
    /// - Returns: The open store.
    /// - Throws: `invalidRequest` if the parameters of the user have another path or are those of a store in memory;
    ///   `refused(.notAllowed)` if `pending` does not permit the switch; the errors of the upload and of
    ///   ``OfflineODataProvider/open()``. If the current user's changes could not be uploaded, the user stays the
    ///   current one; if the store of the new user could not be opened, there is no current user.
    @discardableResult
    public func switchUser(
        to user: String, pendingChanges pending: PendingChanges = .keep
    ) async throws(TidelogError) -> OfflineODataProvider {
        let path = try path(of: user)
        try begin()
        defer { isSwitching = false }
        // By path, because equal texts can have different bytes, and then different stores.
        if let current, current.provider.parameters.storePath == path { return current.provider }
        let provider = OfflineODataProvider(serviceRoot: serviceRoot, parameters: try parameters(of: user, path))
        for query in queries { try await provider.add(definingQuery: query) }
        try await leave(pending)
        try StoreFiles.create(directory)
        try await provider.open()
        current = (user, provider)
        return provider
    }

    /// Closes the store of the current user.
    ///
    /// - Throws: Like ``switchUser(to:pendingChanges:)``.
    public func logOut(pendingChanges pending: PendingChanges = .keep) async throws(TidelogError) {
        try begin()
        defer { isSwitching = false }
        try await leave(pending)
    }

    /// Deletes the store of a user, who may be the current one.
    ///
    /// - Parameter force: deletes the store even if operations are pending, which would be lost.
    /// - Throws: `refused(.notAllowed)` if operations are pending; `noStore` if the user has no store.
    public func remove(_ user: String, force: Bool = false) async throws(TidelogError) {
        let path = try path(of: user)
        try begin()
        defer { isSwitching = false }
        if let current, current.provider.parameters.storePath == path {
            try await current.provider.clear(force: force)
            self.current = nil
        } else {
            try await OfflineODataProvider(parameters: try parameters(of: user, path)).clear(force: force)
        }
    }

    // MARK: Parts

    private func begin() throws(TidelogError) {
        guard !isSwitching else {
            throw TidelogError(
                .refused(.notAllowed), "Another switch of the user is running.", recovery: "Wait for its end.")
        }
        isSwitching = true
    }

    private func leave(_ pending: PendingChanges) async throws(TidelogError) {
        guard let current else { return }
        let provider = current.provider
        switch pending {
        case .keep: break
        case .discard: try await provider.undoAllPendingChanges()
        case .upload:
            if try await provider.hasPendingUpload { try await provider.upload() }
            try await refusePending(of: current.user, provider, "after the upload")
        case .refuse: try await refusePending(of: current.user, provider, "that were not uploaded")
        }
        await provider.close()
        self.current = nil
    }

    private func refusePending(
        of user: String, _ provider: OfflineODataProvider, _ reason: String
    ) async throws(TidelogError) {
        guard try await provider.hasPendingUpload else { return }
        throw TidelogError(
            .refused(.notAllowed), "\(user) has pending operations \(reason).", place: provider.parameters.storePath,
            recovery: "Upload or undo them, or switch with another treatment of pending changes.")
    }

    private func parameters(of user: String, _ path: String) throws(TidelogError) -> OfflineODataParameters {
        let found = parameters(user, path)
        // Otherwise another user's store could be opened or deleted.
        guard found.storePath == path else {
            throw TidelogError(
                .invalidRequest, "The parameters of \(user) have another path than the one of this user's store.",
                place: found.storePath, recovery: "Use the path that the closure receives.")
        }
        guard !found.isInMemory else {
            throw TidelogError(
                .invalidRequest, "The store of \(user) is in memory, and a switch of the user would lose it.",
                place: found.storePath, recovery: "Use a directory.")
        }
        return found
    }

    private func path(of user: String) throws(TidelogError) -> String {
        guard let name = UserDirectory.name(of: user) else {
            throw TidelogError(
                .invalidRequest, "The name of a user has between 1 and 80 bytes, not \(user.utf8.count).")
        }
        return directory + "/" + name
    }
}

/// The name of a user's directory. It is different for different users also on a file system that ignores case, and
/// never leads out of its parent.
enum UserDirectory {
    static func name(of user: String) -> String? {
        guard (1...80).contains(user.utf8.count) else { return nil }
        return user.utf8.reduce(into: "") { name, byte in
            if isPlain(byte) {
                name.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }

    /// Returns the user of a directory, or nil if the name is none that ``name(of:)`` returns.
    static func user(_ name: String) -> String? {
        var bytes: [UInt8] = []
        var rest = name.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest.removeFirst(2)
        }
        let user = String(decoding: bytes, as: UTF8.self)
        return self.name(of: user) == name ? user : nil
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
