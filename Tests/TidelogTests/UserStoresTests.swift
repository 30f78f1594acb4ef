import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// SE-04, SE-05, CF-07: several users on one device, each with an own store, key and credentials.
@Suite struct UserStoresTests {
    private final class Device {
        let directory: TemporaryDirectory
        let transport: SandboxTransport
        let users: UserStores

        init() throws {
            let directory = try TemporaryDirectory()
            self.directory = directory
            var sandbox = try Sandbox.shop()
            sandbox.origin = "http://shop.test"
            let transport = SandboxTransport(sandbox)
            self.transport = transport
            users = UserStores(
                directory: directory.path + "/users", serviceRoot: "http://shop.test/v4/",
                definingQueries: [OfflineODataDefiningQuery(name: "Orders", query: "/Orders")]
            ) { user, path in
                OfflineODataParameters(
                    storePath: path, transport: transport, credentials: .basic(user: user, password: "secret"),
                    storeEncryptionKey: LogKey([UInt8](repeating: UInt8(user.utf8.count), count: 32)),
                    durability: .none)
            }
        }

        func change(_ provider: OfflineODataProvider, _ note: String) async throws {
            let service = DataService(provider: provider)
            let order = try await service.executeQuery(DataQuery().withURL("Orders(1)")).requiredEntity()
            order["Note"] = .string(note)
            try await service.updateEntity(order)
        }

        func note(_ provider: OfflineODataProvider) async throws -> Value? {
            try await DataService(provider: provider).executeQuery(DataQuery().withURL("Orders(1)")).optionalEntity()?[
                "Note"]
        }
    }

    @Test func `users have separate stores, and pending changes wait for their author`() async throws {
        let device = try Device()
        let ada = try await device.users.switchUser(to: "ada")
        try await ada.download()
        try await device.change(ada, "by ada")
        let bob = try await device.users.switchUser(to: "Bob/../ada")
        #expect(await device.users.currentUser == "Bob/../ada")
        #expect(await device.users.users == ["Bob/../ada", "ada"])
        try await bob.download()
        #expect(try await device.note(bob) == .string("engine parts"))
        #expect(try await bob.hasPendingUpload == false)

        let again = try await device.users.switchUser(to: "ada")
        #expect(try await device.note(again) == .string("by ada"))
        #expect(try await again.upload().rejected.isEmpty)
    }

    @Test func `a switch uploads the changes of the previous user with this user's credentials`() async throws {
        let device = try Device()
        let ada = try await device.users.switchUser(to: "ada")
        try await ada.download()
        try await device.change(ada, "by ada")
        try await device.users.switchUser(to: "bob", pendingChanges: .upload)
        let batch = try #require(device.transport.requests.last { $0.method == "POST" })
        let credentials = Data("ada:secret".utf8).base64EncodedString()
        #expect(batch.headers["Authorization"] == "Basic \(credentials)")
    }

    @Test func `a switch is refused while operations remain, and the user stays the current one`() async throws {
        let device = try Device()
        let ada = try await device.users.switchUser(to: "ada")
        try await ada.download()
        try await device.change(ada, "by ada")
        let error = await #expect(throws: TidelogError.self) {
            try await device.users.switchUser(to: "bob", pendingChanges: .refuse)
        }
        #expect(error?.code == .refused(.notAllowed))
        #expect(await device.users.currentUser == "ada")
        #expect(try await device.note(ada) == .string("by ada"))
    }

    @Test func `a switch can discard the changes of the previous user, who can redo them`() async throws {
        let device = try Device()
        let ada = try await device.users.switchUser(to: "ada")
        try await ada.download()
        try await device.change(ada, "by ada")
        try await device.users.logOut(pendingChanges: .discard)
        #expect(await device.users.provider == nil)
        let again = try await device.users.switchUser(to: "ada")
        #expect(try await device.note(again) == .string("engine parts"))
        try await again.redoLastUndo()
        #expect(try await device.note(again) == .string("by ada"))
    }

    @Test func `the store of a user is encrypted with this user's key only`() async throws {
        let device = try Device()
        try await device.users.switchUser(to: "ada").download()
        try await device.users.logOut()
        let path = device.directory.path + "/users/ada"
        let other = OfflineODataProvider(
            parameters: OfflineODataParameters(
                storePath: path, transport: device.transport,
                storeEncryptionKey: LogKey([UInt8](repeating: 7, count: 32))))
        await #expect(throws: TidelogError.self) { try await other.open() }
    }

    @Test func `a user's store can be removed, with force while operations are pending`() async throws {
        let device = try Device()
        let ada = try await device.users.switchUser(to: "ada")
        try await ada.download()
        try await device.change(ada, "by ada")
        let error = await #expect(throws: TidelogError.self) { try await device.users.remove("ada") }
        #expect(error?.code == .refused(.notAllowed))
        try await device.users.remove("ada", force: true)
        #expect(await device.users.users.isEmpty)
        #expect(await device.users.currentUser == nil)
    }

    @Test(arguments: ["", String(repeating: "a", count: 81)])
    func `a name that is empty or too long is refused`(_ name: String) async throws {
        let device = try Device()
        let error = await #expect(throws: TidelogError.self) { try await device.users.switchUser(to: name) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `parameters with the path of another user are refused, and no store is opened or deleted`() async throws
    {
        let device = try Device()
        try await device.users.switchUser(to: "ada")
        try await device.users.logOut()
        let (path, root) = (device.directory.path + "/users", "http://shop.test/v4/")
        let transport = device.transport
        let users = UserStores(directory: path, serviceRoot: root) { _, _ in
            OfflineODataParameters(storePath: path + "/ada", transport: transport)
        }
        let opening = await #expect(throws: TidelogError.self) { try await users.switchUser(to: "bob") }
        #expect(opening?.code == .invalidRequest)
        let removal = await #expect(throws: TidelogError.self) { try await users.remove("bob", force: true) }
        #expect(removal?.code == .invalidRequest)
        #expect(await device.users.users == ["ada"])
    }

    @Test func `stores in memory are refused, because a switch would lose them`() async throws {
        let device = try Device()
        let transport = device.transport
        let users = UserStores(directory: "memory:", serviceRoot: "http://shop.test/v4/") { _, path in
            OfflineODataParameters(storePath: path, transport: transport)
        }
        let error = await #expect(throws: TidelogError.self) { try await users.switchUser(to: "ada") }
        #expect(error?.code == .invalidRequest)
    }
}
