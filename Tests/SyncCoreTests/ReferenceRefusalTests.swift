import EDM
import ODataWire
import SyncCore
import Testing

/// Rejections that show that a service does not support Content-ID references.
struct ReferenceRefusalTests {
    private enum Request {
        case create, inBody, inURL, inURLBesidesOther
    }

    private func refusal(
        _ kinds: [Request], _ status: Int, _ body: String = "", culprit: String? = nil
    ) throws -> ServiceOptions.ContentIDReferences? {
        let model = try TestStore().model
        let set = try #require(model.findEntitySet("Orders"))
        let customers = try #require(model.findEntitySet("Customers"))
        let orders = try #require(customers.entityType.findProperty("Orders"))
        let customer = try #require(set.entityType.findProperty("Customer"))
        let plain = EntityBody(type: set.entityType, values: [:])
        var bound = plain
        bound.bindings = [EntityBody.Binding(navigation: customer, targets: [.contentID("1")])]
        let requests = kinds.enumerated().map { index, kind in
            let action: DataModification.Action =
                switch kind {
                case .create: .create(in: set, plain)
                case .inBody: .create(in: set, bound)
                case .inURL: .createRelated(in: .contentID("1"), navigation: orders, plain)
                case .inURLBesidesOther: .link(from: .contentID("1"), navigation: orders, to: .url("Orders(4)"))
                }
            return PlannedRequest(
                contentID: String(index + 1), operation: UInt64(index + 1), modification: DataModification(action),
                creates: nil)
        }
        let sent = requests.map { UploadedRequest($0, WireRequest(method: "POST", url: "Orders")) }
        return ReferenceRefusal(
            UploadedChangeSet(requests: sent), WireResponse(status: status, body: Array(body.utf8)),
            culprit: culprit)?.understood
    }

    private func error(_ message: String, target: String = "") -> String {
        #"{"error":{"code":"c","message":"\#(message)","target":"\#(target)"}}"#
    }

    @Test(arguments: [400, 404, 501])
    func `a rejected request with a reference in its body suggests references in URLs only`(_ status: Int) throws {
        #expect(try refusal([.create, .inBody], status) == .urlsOnly)
        #expect(try refusal([.create, .inBody], status, culprit: "2") == .urlsOnly)
        #expect(try refusal([.create, .inBody], status, culprit: "1") == nil)
    }

    @Test(arguments: [401, 403, 405, 409, 412, 422, 429, 500, 503])
    func `other rejections suggest no missing capability`(_ status: Int) throws {
        #expect(try refusal([.create, .inBody, .inURL], status, error("$1")) == nil)
    }

    @Test func `a reference in a URL that is not found or quoted in the error suggests no references`()
        throws
    {
        #expect(try refusal([.create, .inURL], 404) == ServiceOptions.ContentIDReferences.none)
        #expect(try refusal([.create, .inURL], 501) == ServiceOptions.ContentIDReferences.none)
        #expect(try refusal([.create, .inURL], 400) == nil)
        #expect(
            try refusal([.create, .inURL], 400, error("Resource not found for the segment '$1'."))
                == ServiceOptions.ContentIDReferences.none)
        #expect(
            try refusal([.create, .inURL], 400, "<html>$1/Orders</html>") == ServiceOptions.ContentIDReferences.none)
        // The message must contain the reference itself; a target that identifies the request does not count.
        #expect(try refusal([.create, .inURL], 400, error("It costs $10.")) == nil)
        #expect(try refusal([.create, .inURL], 400, error("Too long.", target: "$1/Note")) == nil)
    }

    @Test func `another entity of the request may be the missing one`() throws {
        #expect(try refusal([.create, .inURLBesidesOther], 404) == nil)
        #expect(
            try refusal([.create, .inURLBesidesOther], 404, error("No $1.")) == ServiceOptions.ContentIDReferences.none)
    }

    @Test func `a single request contains no reference`() throws {
        #expect(try refusal([.inBody], 400) == nil)
    }
}
