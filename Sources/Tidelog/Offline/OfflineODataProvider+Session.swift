public import ODataWire
public import OfflineStore
public import Operations
public import SyncEngine
public import Transport

/// Settings that can change while a store is open, and observation of its work.
extension OfflineODataProvider {
    /// Headers that are sent with every request to the service, starting with the next one.
    ///
    /// They are not stored and never appear in traces or errors. If a request sets a header itself, the custom value
    /// is not added.
    public var customHeaders: HTTPHeaders {
        get { sessionHeaders.headers }
        set { changeHeaders { $0.headers = newValue } }
    }

    /// Cookies that are sent with every request to the service in addition to the service's own, starting with the
    /// next request. Not stored.
    public var customCookies: [String: String] {
        get { sessionHeaders.cookies }
        set { changeHeaders { $0.cookies = newValue } }
    }

    /// Replaces the credentials, starting with the next request.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func use(_ credentials: Credentials) async throws(TidelogError) {
        await (try engine()).session.use(credentials)
    }

    // MARK: Cancelling

    /// Cancels the running upload and the waiting ones. Their callers receive `cancelled`.
    ///
    /// No operation is lost: operations that were not sent stay pending, those being sent are in doubt at worst, and
    /// the next upload continues with them.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func cancelUpload() async throws(TidelogError) { await (try engine()).cancelUpload() }

    /// Cancels the running download and the waiting ones. Their callers receive `cancelled`.
    ///
    /// Downloaded entities are kept, nothing is removed, and the next download starts again.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func cancelDownload() async throws(TidelogError) { await (try engine()).cancelDownload() }

    // MARK: Looking on

    /// Returns the progress of uploads and downloads from now on. A slow reader misses intermediate values but never
    /// the last one.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func progress() throws(TidelogError) -> AsyncStream<SyncProgress> { try engine().progress() }

    /// The earliest time of the next upload, with the reason, if the service has requested a delay or fails
    /// repeatedly; otherwise `nil`.
    ///
    /// Downloads observe it too, unless only operations were postponed.
    ///
    /// - Throws: `noStore` if the store is not open.
    public var postponement: UploadPostponed? {
        get async throws(TidelogError) { try await engine().store.postponement?.upload }
    }

}
