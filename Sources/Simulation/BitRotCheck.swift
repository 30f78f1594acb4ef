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
            let lost = try await device.lostOperations(on: rotten, in: run)
            if !lost.isEmpty { run.violated("\(place) the store opens without \(lost)") }
            return
        } catch {
            guard Self.isDamage(error) else { return run.violated("\(place) the store fails with \(error)") }
        }
        do {
            let repair = LogRepair(directory: Device.files.log, keys: device.keys, fileSystem: rotten)
            _ = try repair.inPlace(lockPath: Device.files.lock) {}
            let lost = try await device.lostOperations(on: rotten, in: run)
            if !lost.isEmpty { run.violated("\(place) the repaired store has lost \(lost)") }
        } catch {
            run.violated("\(place) the store cannot be repaired: \(error)")
        }
    }

    private static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case let error as TidelogError: error.code == .damaged
        case LogError.damaged: true
        default: false
        }
    }
}

/// A check that a closed log with a misplaced or lost write is not opened without its operations.
struct MisplacedWriteCheck {
    let device: Device

    private static let sector = 512

    /// Opens a copy of the device's store in which a sector of the log has the content of another sector, or zeros.
    ///
    /// The store must open with every acknowledged operation, or opening or reading it must fail. Only a log that was
    /// synced and closed contains its extent; in another one, damage at the end cannot be distinguished from a write that
    /// the end of the process interrupted.
    func run(on image: SimulatedDisk, in run: isolated Simulation) async {
        let paths = image.paths.filter { $0.hasSuffix(".segment") && image[$0].count > Self.sector }
        guard !paths.isEmpty, run.durability != .none, run.permits(.misplacedWrite), device.diskRandom.chance(50)
        else { return }
        let path = paths[device.diskRandom.below(paths.count)]
        let target = sector(of: path, on: image)
        var content = [UInt8](repeating: 0, count: target.count)
        if device.diskRandom.chance(50) {
            let source = paths[device.diskRandom.below(paths.count)]
            let bytes = image[source][sector(of: source, on: image)]
            content.replaceSubrange(0..<min(bytes.count, content.count), with: bytes.prefix(content.count))
        }
        guard image[path][target] != content[...] else { return }
        run.counts.add(.misplacedWrite)
        let wrong = image.copy()
        wrong[path].replaceSubrange(target, with: content)
        if run.options.plants.contains(.forgottenExtents) { wrong.erase(Device.files.log + "/END") }
        let place = "d\(device.number): with other bytes \(target) of \(path)"
        run.addTrace(place)
        guard let lost = try? await device.lostOperations(on: wrong, in: run), !lost.isEmpty else { return }
        run.violated("\(place) the store opens without \(lost)")
    }

    private func sector(of path: String, on image: SimulatedDisk) -> Range<Int> {
        let size = image[path].count
        let start = device.diskRandom.below((size + Self.sector - 1) / Self.sector) * Self.sector
        return start..<min(start + Self.sector, size)
    }
}

extension Device {
    /// Opens the store on the disk, and returns the acknowledged operations that its log does not contain.
    fileprivate func lostOperations(
        on disk: SimulatedDisk, in run: isolated Simulation
    ) async throws -> [String] {
        let (store, _) = try await DeviceSetup(number: number).open(disk, in: run)
        let tags: Set<String>
        do { tags = try customTags(on: disk) } catch {
            await store.close()
            throw error
        }
        await store.close()
        return acknowledged.subtracting(tags).sorted()
    }
}
