/// The numbers of faults that the parts of an explored system may still have.
///
/// Each part has faults of its own, so that a fault of one device does not take one away from another: steps of
/// different devices are then independent. The runs of all distributions together are all runs with that many faults.
struct FaultBudget: Hashable, Sendable {
    /// The faults of each device and of its requests.
    private(set) var devices: [Int]
    /// The faults of the gateway's process.
    private(set) var gateway = 0

    /// Returns all distributions of faults to the devices and the gateway, if there is one. Those of the gateway, which
    /// leave the most orders, are last.
    static func all(_ faults: Int, devices: Int, hasGateway: Bool) -> [FaultBudget] {
        var all = [FaultBudget(devices: [])]
        for _ in 0..<devices {
            all = all.flatMap { budget in
                (0...(faults - budget.total)).reversed().map { FaultBudget(devices: budget.devices + [$0]) }
            }
        }
        return all.compactMap { budget in
            let rest = faults - budget.total
            if rest > 0, !hasGateway { return nil }
            return FaultBudget(devices: budget.devices, gateway: rest)
        }
    }

    private var total: Int { devices.reduce(gateway, +) }

    /// Takes a fault from the device, or from the gateway if it is nil.
    mutating func spend(of device: Int?) {
        if let device { devices[device] -= 1 } else { gateway -= 1 }
    }
}
