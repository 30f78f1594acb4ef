import EDM
import ODataQuery
import ODataWire
import Testing

/// Requests to an editLink with query options of the service's own.
struct EditLinkOptionsTests {
    private func url(
        _ version: ODataVersion = .v4, _ action: (_ customer: ResourceReference) -> DataModification.Action
    ) -> String {
        let encoder = RequestEncoder(
            version: version, model: PayloadShop.model(version), serviceRoot: "http://h/s/")
        return encoder.encode(DataModification(action(.url("http://h/s/Customers(1)?client=100")))).url
    }

    @Test func `a request to the entity has the options`() {
        #expect(url { .delete($0) } == "Customers(1)?client=100")
    }

    @Test func `a longer path precedes the options`() {
        let order = ResourceReference.url("http://h/s/Orders(2)?client=100")
        #expect(
            url { .link(from: $0, navigation: PayloadShop.ordersOfCustomer, to: order) }
                == "Customers(1)/Orders/$ref?client=100")
        #expect(
            url(.v2) { .link(from: $0, navigation: PayloadShop.ordersOfCustomer, to: order) }
                == "Customers(1)/$links/Orders?client=100")
        #expect(
            url(.v2) { .unlink(from: $0, navigation: PayloadShop.ordersOfCustomer, to: order) }
                == "Customers(1)/$links/Orders(2)?client=100")
        let body = EntityBody(type: PayloadShop.order, values: [:])
        #expect(
            url { .createRelated(in: $0, navigation: PayloadShop.ordersOfCustomer, body) }
                == "Customers(1)/Orders?client=100")
    }

    @Test func `the identifier of a removed link has no options of the target`() {
        let order = ResourceReference.url("http://h/s/Orders(2)?client=100")
        let url = url { .unlink(from: $0, navigation: PayloadShop.ordersOfCustomer, to: order) }
        #expect(url.hasPrefix("Customers(1)/Orders/$ref?client=100&$id="))
        #expect(url.hasSuffix("Orders(2)") || url.hasSuffix("Orders%282%29"))
    }

    @Test func `options that identify the target stay`() {
        let order = ResourceReference.url("http://h/s/order?id=2")
        let url = url { .unlink(from: $0, navigation: PayloadShop.ordersOfCustomer, to: order) }
        #expect(url.hasSuffix("$id=http://h/s/order?id=2"))
    }
}
