extension LogRepair {
    /// Makes of a damaged log, in memory, what ``inPlace(lockPath:beforeSwap:)`` makes of it on disk: a log of what can be
    /// read, under the same paths. No file is changed and no lock taken. Takes as much memory as the new log has bytes.
    ///
    /// - Returns: Where the log is as a repair leaves it, and what became of it; nil where nothing had to be saved.
    public func inMemory() throws(LogError) -> (fileSystem: OverlayFileSystem, salvage: RepairPlan.Salvage?) {
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
