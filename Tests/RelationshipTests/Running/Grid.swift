/// The observations of all cells. Each combination runs once for each version, at the first request.
actor Grid {
    static let shared = Grid()

    private struct Part: Hashable {
        let row: String
        let version: Wanted.Version
    }

    private var templates: [Part: Task<Template, any Error>] = [:]
    private var parts: [Part: Task<[Observation], any Error>] = [:]

    /// Returns an observation for each cell of the combination, in order.
    func observations(of combination: Combination, _ version: Wanted.Version) async throws -> [Observation] {
        let part = Part(row: combination.row, version: version)
        if let task = parts[part] { return try await task.value }
        let task = Task {
            let template = try await self.template(of: combination, version)
            var observations: [Observation] = []
            for cell in combination.cells { observations.append(try await CellRun.observe(cell, on: template)) }
            return observations
        }
        parts[part] = task
        return try await task.value
    }

    func template(of combination: Combination, _ version: Wanted.Version) async throws -> Template {
        let part = Part(row: combination.row, version: version)
        if let task = templates[part] { return try await task.value }
        let task = Task { try await Template(combination, version) }
        templates[part] = task
        return try await task.value
    }
}
