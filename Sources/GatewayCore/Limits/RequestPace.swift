/// The progress of a request that arrives on a connection: it must arrive with a minimum speed, so that clients cannot
/// occupy places and memory by sending slowly.
///
/// A request has a credit of bytes, which each second reduces and each received byte raises up to the credit at the
/// beginning. So it may pause for ``GatewayLimits/arrivalGrace`` seconds, also after it has arrived quickly.
package struct RequestPace: Sendable {
    private let limits: GatewayLimits
    private var seconds = 0
    private var credit: Int

    package init(_ limits: GatewayLimits) {
        self.limits = limits
        credit = limits.arrivalGrace * limits.arrivalSpeed
    }

    /// Counts received bytes.
    package mutating func receive(_ count: Int) {
        credit = min(credit + count, max(limits.arrivalGrace, 1) * limits.arrivalSpeed)
    }

    /// Counts a second in which the connection was read. Do not call it for a second in which the gateway did not read,
    /// because the service was slower than the client.
    ///
    /// - Returns: Whether the request arrives too slowly.
    package mutating func tick() -> Bool {
        seconds += 1
        credit -= limits.arrivalSpeed
        return credit < 0 || seconds > limits.arrivalSeconds
    }
}
