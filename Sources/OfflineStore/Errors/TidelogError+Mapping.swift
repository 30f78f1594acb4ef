package import ODataQuery
package import OperationLog
package import SyncCore

/// The mapping of errors of the lower layers to the public error, with one initializer per layer.
extension TidelogError {
    package init(_ refused: OperationRefused) {
        self.init(.refused(refused.code), refused.message, recovery: refused.recovery, cause: refused)
    }

    init(_ error: StateError, views path: String) {
        switch error.code {
        case .damaged:
            self.init(
                .damaged, error.message, place: path,
                recovery: "Delete the file; the next open rebuilds it from the log.", cause: error)
        case .unavailable:
            self.init(
                .storage, error.message, place: path, recovery: "Check the free space and the permissions.",
                cause: error)
        case .noModel, .unsendable:
            self.init(.damaged, error.message, recovery: "Run 'tidelog verify' on the store.", cause: error)
        }
    }

    package init(_ error: LogError) {
        switch error {
        case .locked:
            self.init(.locked, error.description, cause: error)
        case .damaged:
            // The message contains the file and the offset.
            self.init(
                .damaged, error.description,
                recovery:
                    "Run 'tidelog repair' to see which records can be recovered; 'tidelog repair --in-place' recovers them.",
                cause: error)
        case .noLog(let path):
            self.init(.noStore, error.description, place: path, recovery: "Run 'tidelog init' first.", cause: error)
        case .keyRequired(let path):
            self.init(
                .keyRequired, error.description, place: path,
                recovery: "Open the store with its key; 'tidelog' reads it from TIDELOG_KEY.", cause: error)
        case .wrongKey(let path):
            self.init(
                .wrongKey, error.description, place: path,
                recovery: "Open the store with its key; after a change of keys, also with the earlier keys.",
                cause: error)
        case .notEncrypted(let path):
            self.init(
                .damaged, error.description, place: path,
                recovery: "Find out which program wrote the file, and restore the file of the store.", cause: error)
        case .unsupported(let path, _, _), .otherStore(let path, _, _):
            self.init(.damaged, error.description, place: path, cause: error)
        case .recordTooLarge: self.init(.invalidRequest, error.description, cause: error)
        default: self.init(.storage, error.description, cause: error)
        }
    }

    package init(_ error: URLSyntaxError) {
        self.init(.invalidRequest, error.description, cause: error)
    }
}
