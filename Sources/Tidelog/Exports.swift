// An app sees the public declarations of these modules with `import Tidelog` alone: the model, its values, and the
// parameter and result types of calls. Everything else in them is `package`; see the test `PublicSurfaceTests`.
@_exported public import EDM
@_exported public import ODataQuery
@_exported public import ODataWire
@_exported public import OfflineStore
@_exported public import OperationLog
@_exported public import Operations
@_exported public import SyncCore
@_exported public import SyncEngine
@_exported public import Transport
@_exported public import Views
