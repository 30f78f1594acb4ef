public import ODataWire
public import Operations
public import SyncEngine
public import Transport

/// What may change while a store is open, and looking on.
extension OfflineODataProvider {
    /// Sent with every request to the service, from the next one on. Not stored, and never told in traces or errors. A header
    /// that a request has by itself is not sent twice.
    public var customHeaders: HTTPHeaders {
        get { sessionHeaders.headers }
        set { changeHeaders { $0.headers = newValue } }
    }

    /// Sent with every request to the service beside the service's own, from the next one on. Not stored.
    public var customCookies: [String: String] {
        get { sessionHeaders.cookies }
        set { changeHeaders { $0.cookies = newValue } }
    }

    /// Takes other credentials, from the next request on.
    public func use(_ credentials: Credentials) async throws(TidelogError) {
        await (try engine()).session.use(credentials)
    }

    // MARK: Cancelling

    /// Ends the upload that runs, and those that wait for their turn; their callers get `cancelled`.
    ///
    /// Nothing is lost: what was not sent is pending, what was on its way is in doubt at worst, and the next upload goes on
    /// from there.
    public func cancelUpload() async throws(TidelogError) { await (try engine()).cancelUpload() }

    /// Ends the download that runs, and those that wait for their turn; their callers get `cancelled`. What was read stays,
    /// nothing is removed, and the next download begins anew.
    public func cancelDownload() async throws(TidelogError) { await (try engine()).cancelDownload() }

    // MARK: Looking on

    /// How far uploads and downloads are, from now on. A reader that is slow misses some of it, never the last.
    public func progress() throws(TidelogError) -> AsyncStream<SyncProgress> { try engine().progress() }

    /// When the next upload may begin, and why, where one was put off: the service has asked for it, or it keeps failing. A
    /// download goes by it as well, unless it is operations that were put off.
    public var postponement: UploadPostponed? {
        get async throws(TidelogError) { try await engine().store.postponement?.upload }
    }

    func observe(_ engine: SyncEngine) {
        let metrics = SyncMetrics()
        let log = parameters.logger.map(SyncLog.init)
        engine.observe { event in
            metrics.count(event)
            log?.write(event)
        }
    }
}
