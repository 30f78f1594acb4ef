public import OperationLog
import SyncEngine
public import Transport

/// How a store is opened. What is left out has a sensible default.
public struct OfflineODataParameters: Sendable {
    /// The store's directory. One store holds the data of one service and one user.
    public var storePath: String
    /// Sends requests; nil takes the platform's.
    public var transport: (any HTTPTransport)?
    /// Sent to the service, never stored. For tokens that expire, bring a transport whose options ask for them.
    public var credentials: Credentials

    /// Encrypts what is written from now on; nil, and the store is not encrypted. Keep the key where the system keeps
    /// secrets: without it the store cannot be read by anyone.
    ///
    /// In an encrypted store no file has values of entities: they are in the log, which is encrypted, and in views in
    /// memory, which are made at each opening. What was written before there was a key stays as it was until the store is
    /// compacted. `store.json` (the service's root) is not encrypted.
    public var storeEncryptionKey: LogKey?
    /// Keys that parts of the store were written with before ``storeEncryptionKey``; for reading only.
    public var formerEncryptionKeys: [LogKey]

    public init(
        storePath: String, transport: (any HTTPTransport)? = nil, credentials: Credentials = .none,
        storeEncryptionKey: LogKey? = nil, formerEncryptionKeys: [LogKey] = []
    ) {
        self.storePath = storePath
        self.transport = transport
        self.credentials = credentials
        self.storeEncryptionKey = storeEncryptionKey
        self.formerEncryptionKeys = formerEncryptionKeys
    }
}

extension OfflineODataParameters {
    var storeOptions: LocalStore.Options {
        let keys = storeEncryptionKey.map { [$0] + formerEncryptionKeys } ?? []
        return LocalStore.Options(log: OperationLog.Options(keys: keys))
    }
}
