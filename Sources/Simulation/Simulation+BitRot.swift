import DiskSimulation
import OperationLog
import SyncEngine

extension Simulation {
    /// Opens a copy of the device's store in which one bit of the log is changed.
    ///
    /// The store must open with every acknowledged operation, or opening or reading it must report damage. In the
    /// latter case a repair must restore all operations, because a single bit can be corrected. The device itself
    /// continues with the unchanged image, so that the run does not end with the first changed bit.
    ///
    /// - Parameter image: A disk that contains everything that was written. In a torn write, a changed bit cannot be
    ///   distinguished from the tear.
    func checkBitRot(of device: Device, _ image: SimulatedDisk) async {
        let paths = image.paths.filter { $0.hasSuffix(".segment") && !image[$0].isEmpty }
        guard !paths.isEmpty, random.chance(30), happens(.bitRot) else { return }
        let path = paths[random.below(paths.count)]
        let bit = random.below(image[path].count * 8)
        let rotten = image.copy()
        rotten[path][bit / 8] ^= 1 << UInt8(bit % 8)
        let place = "d\(device.number): with bit \(bit) of \(path) changed"
        addTrace(place)
        do {
            let lost = try await lostOperations(of: device, on: rotten)
            if !lost.isEmpty { violated("\(place) the store opens without \(lost)") }
            return
        } catch {
            guard Self.isDamage(error) else { return violated("\(place) the store fails with \(error)") }
        }
        do {
            let repair = LogRepair(directory: Device.files.log, keys: device.keys, fileSystem: rotten)
            _ = try repair.inPlace(lockPath: Device.files.lock) {}
            let lost = try await lostOperations(of: device, on: rotten)
            if !lost.isEmpty { violated("\(place) the repaired store has lost \(lost)") }
        } catch {
            violated("\(place) the store cannot be repaired: \(error)")
        }
    }

    /// Opens the store on the disk, and returns the acknowledged operations that its log does not contain.
    private func lostOperations(of device: Device, on disk: SimulatedDisk) async throws -> [String] {
        let (store, _) = try await open(disk, device.number)
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
