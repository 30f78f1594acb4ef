import EDM
import ODataSandbox
import Testing

@Suite struct ShopTests {
    @Test func `the seeded shop holds the same in the same words each time`() throws {
        let shop = try Sandbox.shop()
        print(shop.stateText())
        #expect(shop.stateText() == (try Sandbox.shop()).stateText())
    }
}
