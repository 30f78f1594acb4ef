/// How one upload goes about its work. What the service can do is not here; see `ServiceOptions`.
public struct UploadOptions: Sendable {
    /// The most requests in one batch. What has to take effect together is never split.
    public var requestLimit: Int
    /// How long it waits for the answer to a batch that the service works on in its own time. What takes longer is taken up
    /// by the next upload.
    public var monitorPatience: Duration

    public init(requestLimit: Int = 500, monitorPatience: Duration = .seconds(600)) {
        self.requestLimit = requestLimit
        self.monitorPatience = monitorPatience
    }
}
