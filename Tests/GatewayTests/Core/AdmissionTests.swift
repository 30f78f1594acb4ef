import GatewayCore
import ODataWire
import SeededRandom
import Testing

/// The places of requests in a gateway.
struct AdmissionTests {
    private func admission(_ change: (inout GatewayLimits) -> Void) -> Admission {
        var limits = GatewayLimits()
        change(&limits)
        return Admission(limits)
    }

    @Test func `requests of one user are limited`() {
        var admission = admission { $0.requestsPerUser = 2 }
        #expect(admission.enter(user: [1]) == .admitted)
        #expect(admission.enter(user: [1]) == .admitted)
        #expect(admission.enter(user: [1]) == .tooManyOfUser)
        #expect(admission.enter(user: [2]) == .admitted)
        admission.leave(user: [1])
        #expect(admission.enter(user: [1]) == .admitted)
    }

    @Test func `requests to one service are limited, also with those whose bodies are forwarded`() {
        var admission = admission { $0.requestsPerEndpoint = 3 }
        #expect(admission.begin(.service("a")))
        #expect(admission.begin(.transfer("a")))
        #expect(admission.begin(.service("a")))
        #expect(!admission.begin(.service("a")))
        #expect(admission.begin(.service("b")))
        admission.end(.transfer("a"))
        #expect(admission.begin(.service("a")))
    }

    @Test func `forwarded bodies occupy at most half of the places of a service`() {
        var admission = admission { $0.requestsPerEndpoint = 4 }
        #expect(admission.begin(.transfer("a")))
        #expect(admission.begin(.transfer("a")))
        #expect(!admission.begin(.transfer("a")))
        #expect(admission.begin(.service("a")))
    }

    @Test func `responses from the feeds of one service occupy at most half of the gateway`() {
        var admission = admission { $0.requests = 4 }
        #expect(admission.begin(.feed("a")))
        #expect(admission.begin(.feed("a")))
        #expect(!admission.begin(.feed("a")))
        #expect(admission.begin(.feed("b")))
    }

    @Test func `the smallest limits admit one request of each kind`() {
        var admission = admission {
            $0.requests = 1
            $0.requestsPerEndpoint = 1
        }
        #expect(admission.begin(.feed("a")))
        #expect(admission.begin(.transfer("a")))
        #expect(!admission.begin(.service("a")))
    }

    @Test func `memory for bodies is limited, and available again after its release`() {
        var admission = admission { $0.bodyMemory = 100 }
        #expect(admission.reserve(60))
        #expect(!admission.reserve(41))
        #expect(!admission.reserve(.max))
        #expect(admission.reserve(40))
        admission.release(60)
        #expect(admission.reserve(60))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `after all requests have ended, all places are free`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var limits = GatewayLimits()
        (limits.requests, limits.requestsPerUser, limits.requestsPerEndpoint) = (6, 3, 4)
        var admission = Admission(limits)
        let uses = ["a", "b"].flatMap { [Admission.Use.service($0), .transfer($0), .feed($0)] }
        var users: [[UInt8]] = []
        var begun: [Admission.Use] = []
        for _ in 0..<500 {
            switch random.number(0...3) {
            case 0:
                let user = [UInt8(random.number(0...2))]
                if admission.enter(user: user) == .admitted { users.append(user) }
            case 1:
                if let use = random.pick(uses), admission.begin(use) { begun.append(use) }
            case 2: if !users.isEmpty { admission.leave(user: users.remove(at: random.number(0...users.count - 1))) }
            default: if !begun.isEmpty { admission.end(begun.remove(at: random.number(0...begun.count - 1))) }
            }
            #expect(admission.total == users.count && users.count <= 6, "seed \(seed)")
            for name in ["a", "b"] {
                let count = begun.count { $0 == .service(name) || $0 == .transfer(name) }
                #expect(count <= 4, "seed \(seed)")
            }
        }
        for user in users { admission.leave(user: user) }
        for use in begun { admission.end(use) }
        #expect(admission.total == 0)
        for _ in 0..<4 { #expect(admission.begin(.service("a")), "seed \(seed)") }
        for user in 0..<6 { #expect(admission.enter(user: [UInt8(user)]) == .admitted, "seed \(seed)") }
    }

    @Test func `a request may arrive at any speed at first, and then has a minimum average speed`() {
        var limits = GatewayLimits()
        (limits.arrivalGrace, limits.arrivalSpeed) = (2, 10)
        var pace = RequestPace(limits)
        #expect(!pace.tick())
        #expect(!pace.tick())
        pace.receive(10)
        #expect(!pace.tick())
        #expect(pace.tick())
        pace.receive(10)
        #expect(pace.tick() == true)
        pace.receive(100)
        #expect(!pace.tick())
    }

    @Test func `users are distinguished by login, cookie, key or address`() {
        func user(_ fields: HTTPHeaders, _ peer: String = "p", trusts: Bool = false) -> String {
            RequestCredentials.limited(fields, peer: peer, trustsForwarded: trusts)
        }
        #expect(user(["Authorization": "a"]) != user(["Authorization": "b"]))
        #expect(user(["Authorization": "a"]) == user(["Authorization": "a", "X": "1"], "q"))
        #expect(user(["Cookie": "a"]) != user(["Cookie": "b"]))
        #expect(user(["X-API-Key": "a"]) != user(["X-API-Key": "b"]))
        #expect(user(["X": "a"]) == user(["X": "b"]))
        #expect(user([:], "p") != user([:], "q"))
        #expect(user(["X-Forwarded-For": "1"]) == user(["X-Forwarded-For": "2"]))
        #expect(user(["X-Forwarded-For": "9, 1"], trusts: true) != user(["X-Forwarded-For": "9, 2"], trusts: true))
        #expect(user(["X-Forwarded-For": "8, 1"], trusts: true) == user(["X-Forwarded-For": "9, 1"], trusts: true))
    }
}
