/// Directories as far as the log moves them about. Their names become durable with those of the files in them.
extension SimulatedDisk.State {
    func hasDirectory(_ path: String) -> Bool {
        directories.contains(path) || names.keys.contains { $0.hasPrefix(path + "/") }
    }

    /// All files move at once. That the directory is there shows by them.
    mutating func renameDirectory(_ path: String, to target: String) {
        var step: [String: Int?] = [:]
        for (name, index) in names where name.hasPrefix(path + "/") {
            let moved = target + name.dropFirst(path.count)
            step.updateValue(nil, forKey: name)
            step[moved] = index
            names[name] = nil
            names[moved] = index
        }
        directories.remove(path)
        pendingNames.append(step)
    }
}
