import DiskSimulation
import OfflineStore
import OperationLog

/// A check that a changed bit of the log of a device is noticed and corrected.
struct BitRotCheck {
    let device: Device

    /// Opens a copy of the device's store in which one bit of the log is changed.
    ///
    /// The store must open with every acknowledged operation, or opening or reading it must report damage. In the
    /// latter case a repair must restore all operations, because a single bit can be corrected. The device itself
    /// continues with the unchanged image, so that the run does not end with the first changed bit.
    ///
    /// - Parameter image: A disk that contains everything that was written. In a torn write, a changed bit cannot be
    ///   distinguished from the tear.
    func run(on image: SimulatedDisk, in run: isolated Simulation) async {
        let paths = image.paths.filter { $0.hasSuffix(".segment") && !image[$0].isEmpty }
        guard !paths.isEmpty, run.random.chance(30), run.happens(.bitRot) else { return }
        let path = paths[run.random.below(paths.count)]
        let bit = run.random.below(image[path].count * 8)
        let rotten = image.copy()
        rotten[path][bit / 8] ^= 1 << UInt8(bit % 8)
        let place = "d\(device.number): with bit \(bit) of \(path) changed"
        run.addTrace(place)
        do {
            let lost = try await lostOperations(on: rotten, in: run)
            if !lost.isEmpty { run.violated("\(place) the store opens without \(lost)") }
            return
        } catch {
            guard Self.isDamage(error) else { return run.violated("\(place) the store fails with \(error)") }
        }
        do {
            let repair = LogRepair(directory: Device.files.log, keys: device.keys, fileSystem: rotten)
            _ = try repair.inPlace(lockPath: Device.files.lock) {}
            let lost = try await lostOperations(on: rotten, in: run)
            if !lost.isEmpty { run.violated("\(place) the repaired store has lost \(lost)") }
        } catch {
            run.violated("\(place) the store cannot be repaired: \(error)")
        }
    }

    /// Opens the store on the disk, and returns the acknowledged operations that its log does not contain.
    private func lostOperations(
        on disk: SimulatedDisk, in run: isolated Simulation
    ) async throws -> [String] {
        let (store, _) = try await DeviceSetup(number: device.number).open(disk, in: run)
        let tags: Set<String>
        do { tags = try device.customTags(on: disk) } catch {
            await store.close()
            throw error
        }
        await store.close()
        return device.acknowledged.subtracting(tags).sorted()
    }

    private static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case let error as TidelogError: error.code == .damaged
        case LogError.damaged: true
        default: false
        }
    }
}
