// What an app sees with `import Tidelog` alone: the model and its values, and the values that calls take and return.
@_exported public import EDM
@_exported public import struct Logging.Logger
@_exported public import struct ODataWire.HTTPHeaders
@_exported public import struct ODataWire.KeyPredicate
@_exported public import struct ODataWire.ServiceOptions
@_exported public import struct OperationLog.LogKey
@_exported public import enum Operations.Delivery
@_exported public import enum Operations.UploadCategory
@_exported public import struct Operations.EntityID
@_exported public import struct Operations.Refusal
@_exported public import typealias Operations.SequenceNumber
@_exported public import struct SyncCore.Conflict
@_exported public import enum SyncCore.ConflictPolicy
@_exported public import struct SyncCore.ConflictResolution
@_exported public import struct Operations.UploadPostponed
@_exported public import struct SyncCore.OperationRefused
@_exported public import struct SyncCore.RetryPolicy
@_exported public import enum SyncEngine.AuditWindow
@_exported public import struct SyncEngine.ConflictHandling
@_exported public import enum SyncEngine.SnapshotPolicy
@_exported public import typealias SyncEngine.AuthenticationHook
@_exported public import struct SyncEngine.AuthenticationChallenge
@_exported public import enum SyncEngine.DoubtSettlement
@_exported public import struct SyncEngine.AwaitedBatch
@_exported public import struct SyncEngine.DownloadOptions
@_exported public import struct SyncEngine.DownloadReport
@_exported public import struct SyncEngine.ErrorArchiveEntry
@_exported public import enum SyncEngine.ErrorClass
@_exported public import struct SyncEngine.StoreCompaction
@_exported public import struct SyncEngine.StoreSnapshot
@_exported public import struct SyncEngine.TidelogError
@_exported public import struct SyncEngine.UndoReport
@_exported public import enum SyncEngine.UndoTarget
@_exported public import struct SyncEngine.SyncProgress
@_exported public import struct SyncEngine.UploadOptions
@_exported public import struct SyncEngine.UploadReport
@_exported public import Transport
