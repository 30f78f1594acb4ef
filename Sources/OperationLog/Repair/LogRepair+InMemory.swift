extension LogRepair {
    /// Repairs a damaged log in memory, with the same result as ``inPlace(lockPath:beforeSwap:)`` has on disk.
    ///
    /// The repaired log contains the readable records under the same paths. No file is changed and no lock taken. Takes
    /// as much memory as the new log has bytes.
    ///
    /// - Returns: The file system with the repaired log, and the result of the salvage, which is nil if nothing had to
    ///   be salvaged.
    package func inMemory() throws(LogError) -> (fileSystem: OverlayFileSystem, salvage: RepairPlan.Salvage?) {
        let overlay = OverlayFileSystem(fileSystem)
        try Self.finishSwap(directory, overlay)
        let repair = LogRepair(directory: directory, keys: keys, check: check, fileSystem: overlay)
        guard case .salvage = try repair.plan() else { return (overlay, nil) }
        let repaired = directory + Self.repairedSuffix
        try repair.removeFiles(in: repaired)
        let salvage = try repair.salvage(to: repaired)
        _ = try repair.swap(with: repaired)
        return (overlay, salvage)
    }
}
