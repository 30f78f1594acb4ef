import DiskSimulation
import OperationLog
import Testing

@Suite struct OverlayTests {
    @Test func `a directory exists as soon as a file in it does`() throws {
        let overlay = OverlayFileSystem(SimulatedDisk())
        try overlay.open("/new/a", .create).close()
        #expect(try overlay.list("/new") == ["a"])
    }

    @Test func `a directory that exists nowhere is not found`() {
        let overlay = OverlayFileSystem(SimulatedDisk())
        let failure = #expect(throws: FileSystemError.self) { try overlay.list("/none") }
        #expect(failure?.isNotFound == true)
    }
}
