import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// SV-04: calls with completion handlers.
@Suite struct CompletionHandlerTests {
    @Test(arguments: Client.all)
    func `SV-04: a completion handler receives the result of the calls`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let (results, result) = AsyncStream.makeStream(of: Int.self)
        shop.service.start { service throws(TidelogError) in
            try await service.executeQuery(DataQuery().withURL("Customers")).entityList().count
        } completionHandler: { answer in
            result.yield((try? answer.get()) ?? -1)
        }
        var iterator = results.makeAsyncIterator()
        let count = try #require(await iterator.next())
        #expect(count > 1)
    }

    @Test(arguments: Client.offline)
    func `SV-04: a completion handler receives the error of the calls`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let (results, result) = AsyncStream.makeStream(of: TidelogError.Code?.self)
        let task = shop.service.start { service throws(TidelogError) in
            try await service.executeQuery(DataQuery().withURL("Nowhere")).entityList().count
        } completionHandler: { answer in
            if case .failure(let error) = answer { result.yield(error.code) } else { result.yield(nil) }
        }
        await task.value
        var iterator = results.makeAsyncIterator()
        #expect(try #require(await iterator.next()) != nil)
    }
}
