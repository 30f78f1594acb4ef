/// The progress of a request that arrives on a connection: it must arrive with a minimum average speed after a period of
/// grace, so that clients cannot occupy places by sending slowly.
package struct RequestPace: Sendable {
    private let limits: GatewayLimits
    private var seconds = 0
    private var bytes = 0

    package init(_ limits: GatewayLimits) { self.limits = limits }

    /// Counts received bytes.
    package mutating func receive(_ count: Int) { bytes += count }

    /// Counts a second in which the connection was read. Do not call it for a second in which the gateway did not read,
    /// because the service was slower than the client.
    ///
    /// - Returns: Whether the request arrives too slowly.
    package mutating func tick() -> Bool {
        seconds += 1
        let overtime = seconds - limits.arrivalGrace
        return overtime > 0 && bytes < overtime * limits.arrivalSpeed
    }
}
