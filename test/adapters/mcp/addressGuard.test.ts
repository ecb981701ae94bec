/**
 * Which addresses may be dialed, in every form of an address, and that the checked address is the one which is
 * dialed.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import {
  type EgressPolicy,
  mayDial,
  parsePolicy,
  publicAndLoopback,
  publicOnly
} from "../../../adapters/mcp/egress/AddressGuard.ts"
import { checkUrl, type Resolve, type ResolvedAddress } from "../../../adapters/mcp/egress/GuardedEgress.ts"
import { json, result, scriptedServer, text } from "../../../testing/mcp/ScriptedServer.ts"
import { makeUpstream } from "../../support/mcp/McpClient.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"

const policy = (text: string): EgressPolicy => Result.getOrThrow(parsePolicy(text))

const never = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "100.64.0.1",
  "100.100.100.200",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "168.63.129.16",
  "192.0.0.192",
  "192.0.2.1",
  "192.168.1.1",
  "198.18.0.1",
  "203.0.113.9",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::7f00:1",
  "::ffff:10.0.0.1",
  "::ffff:a9fe:a9fe",
  "::ffff:0:127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b::10.0.0.1",
  "64:ff9b:1::8.8.8.8",
  "100::1",
  "2001::1",
  "2001:0:4136:e378:8000:63bf:3fff:fdd2",
  "2001:db8::1",
  "2002:7f00:1::",
  "2002:a00:1::1",
  "3fff::1",
  "5f00::1",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
  "4000::1",
  "",
  "localhost",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "127.1"
]
const loopback = ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"]
const publicOnes = [
  "8.8.8.8",
  "93.184.216.34",
  "::ffff:8.8.8.8",
  "2606:4700::1111",
  "2a00:1450:4001:80e::200e",
  "64:ff9b::808:808"
]

describe("the policy", () => {
  it("public permits public addresses only", () => {
    for (const address of publicOnes) assert.isTrue(mayDial(publicOnly, "a.example", address), address)
    for (const address of [...never, ...loopback]) assert.isFalse(mayDial(publicOnly, "a.example", address), address)
  })

  it("loopback adds this machine, and nothing else", () => {
    for (const address of [...publicOnes, ...loopback]) assert.isTrue(mayDial(publicAndLoopback, "a", address), address)
    for (const address of never) assert.isFalse(mayDial(publicAndLoopback, "a.example", address), address)
    assert.deepStrictEqual(policy("loopback"), publicAndLoopback)
  })

  it("a list of ranges permits what it names, in IPv4-mapped form too", () => {
    const office = policy("10.1.0.0/16, fd12::/16, 192.168.7.7")
    for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "fd12::9", "192.168.7.7"]) {
      assert.isTrue(mayDial(office, "a", address), address)
    }
    for (const address of ["10.2.0.1", "fd13::1", "192.168.7.8", "8.8.8.8", "127.0.0.1"]) {
      assert.isFalse(mayDial(office, "a", address), address)
    }
    assert.isTrue(mayDial(policy("public,10.1.0.0/16"), "a", "8.8.8.8"))
    assert.isTrue(mayDial(policy("::ffff:10.1.0.0/112"), "a", "10.1.255.1"))
  })

  it("a host name on the list may be private, but never a metadata service", () => {
    const inside = policy("mcp.internal, *.tools.internal")
    assert.isTrue(mayDial(inside, "mcp.internal", "10.0.0.1"))
    assert.isTrue(mayDial(inside, "MCP.internal.", "127.0.0.1"))
    assert.isTrue(mayDial(inside, "a.tools.internal", "192.168.1.1"))
    assert.isFalse(mayDial(inside, "tools.internal", "192.168.1.1"))
    assert.isFalse(mayDial(inside, "evilmcp.internal", "10.0.0.1"))
    assert.isFalse(mayDial(inside, "mcp.internal", "169.254.169.254"))
    assert.isFalse(mayDial(inside, "mcp.internal", "0.0.0.0"))
  })

  it("an invalid entry is named", () => {
    for (const bad of ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "http://a", "a b", "::/129"]) {
      assert.isTrue(Result.isFailure(parsePolicy(bad)), bad)
    }
    assert.include(Result.getOrThrow(Result.flip(parsePolicy("public, what?"))).message, '"what?"')
  })
})

/** A resolver that returns the next of its answers to each query, and repeats the last. */
const answering = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  const asked: Array<string> = []
  const resolve: Resolve = (hostname, callback) => {
    const answer = answers[Math.min(asked.push(hostname), answers.length) - 1] ?? []
    const addresses: ReadonlyArray<ResolvedAddress> = answer.map((address) => ({
      address,
      family: address.includes(":") ? 6 : 4
    }))
    setImmediate(() => callback(null, addresses))
  }
  return { asked, resolve }
}

const okServer = (host?: string) =>
  scriptedServer({
    era: "modern",
    onCall: (seen, response) => json(response, result(seen, text("reached"))),
    ...(host === undefined ? {} : { host })
  })

const named = (port: number, name = "provider.example") => `http://${name}:${port}/mcp`

describe("a connection", () => {
  for (const [what, addresses] of [
    ["a private address", ["10.0.0.1"]],
    ["loopback", ["127.0.0.1"]],
    ["loopback in IPv4-mapped form", ["::ffff:127.0.0.1"]],
    ["a metadata service", ["169.254.169.254"]],
    ["a public and a private address", ["93.184.216.34", "127.0.0.1"]],
    ["a public and a private address of the other family", ["2606:4700::1111", "127.0.0.1"]]
  ] as const) {
    it.live(`is not made to a name that resolves to ${what}`, () =>
      Effect.gen(function* () {
        const server = yield* okServer()
        const { resolve } = answering(addresses)
        const upstream = yield* makeUpstream({ policy: publicOnly, resolve })
        const answer = yield* upstream.call(upstreamCall(named(server.port)))
        assert.deepStrictEqual([answer.status, answer.problem?.kind, answer.attempts], ["error", "blocked_endpoint", 0])
        assert.notMatch(answer.problem?.message ?? "", /\d+\.\d+/u)
        assert.strictEqual(server.connections(), 0)
      })
    )
  }

  it.live("is not made to a literal address in any spelling", () =>
    Effect.gen(function* () {
      const server = yield* okServer()
      const { asked, resolve } = answering(["93.184.216.34"])
      const upstream = yield* makeUpstream({ policy: publicOnly, resolve })
      const spellings = [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "0",
        "[::]"
      ]
      for (const spelling of spellings) {
        const answer = yield* upstream.call(upstreamCall(named(server.port, spelling)))
        assert.strictEqual(answer.problem?.kind, "blocked_endpoint", spelling)
      }
      assert.strictEqual(server.connections(), 0)
      assert.deepStrictEqual(asked, [])
    })
  )

  it.live("is made to the address that was checked, though the name resolves to another a moment later", () =>
    Effect.gen(function* () {
      const server = yield* okServer()
      const inward = answering(["127.0.0.1"], ["10.0.0.1"])
      const upstream = yield* makeUpstream({ resolve: inward.resolve, socketsMax: 1 })
      const answer = yield* upstream.call(upstreamCall(named(server.port)))
      assert.strictEqual(answer.status, "success")
      assert.deepStrictEqual(inward.asked, ["provider.example"])
      assert.strictEqual(server.seen[0]?.headers.host, `provider.example:${server.port}`)
    })
  )

  it.live("does not follow a name that changes to loopback after its check", () =>
    Effect.gen(function* () {
      const server = yield* okServer()
      // The first address is in a range that routes nowhere, so only a second lookup could reach the server.
      const turning = answering(["10.255.255.1"], ["127.0.0.1"])
      const upstream = yield* makeUpstream({ policy: policy("10.255.0.0/16"), resolve: turning.resolve })
      const answer = yield* upstream.call(upstreamCall(named(server.port), { timeoutMs: 500 }))
      assert.include(["connection", "timeout"], answer.problem?.kind)
      assert.deepStrictEqual(turning.asked, ["provider.example"])
      assert.strictEqual(server.connections(), 0)
    })
  )

  it.live("falls back to the next address where one is dead, in either family", () =>
    Effect.gen(function* () {
      const server = yield* okServer()
      const { resolve } = answering(["::1", "127.0.0.2", "127.0.0.1"])
      const upstream = yield* makeUpstream({ resolve })
      const answer = yield* upstream.call(upstreamCall(named(server.port)))
      assert.strictEqual(answer.status, "success")
    })
  )

  it.live("is made over IPv6", () =>
    Effect.gen(function* () {
      const server = yield* okServer("::1")
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(server.url))
      assert.strictEqual(answer.status, "success")
    })
  )

  it.live("is not made to the target of a redirect", () =>
    Effect.gen(function* () {
      const inner = yield* okServer()
      const outer = yield* scriptedServer({
        era: "modern",
        onCall: (_seen, response) => void response.writeHead(307, { location: inner.url }).end(),
        onOther: (_seen, response) => {
          response.writeHead(308, { location: inner.url }).end()
          return true
        }
      })
      const upstream = yield* makeUpstream()
      const answer = yield* upstream.call(upstreamCall(outer.url))
      assert.deepStrictEqual([answer.problem?.kind, answer.problem?.httpStatus], ["http_status", 308])
      assert.strictEqual(inner.seen.length, 0)
    })
  )

  it.live("is not made to anything except http and https", () =>
    Effect.gen(function* () {
      const upstream = yield* makeUpstream()
      for (const url of ["ftp://127.0.0.1/", "file:///etc/passwd", "not a url", "javascript:alert(1)"]) {
        const answer = yield* upstream.call(upstreamCall(url))
        assert.deepStrictEqual([answer.problem?.kind, answer.attempts], ["blocked_endpoint", 0], url)
      }
    })
  )

  it.live("a name without an address is a network fault", () =>
    Effect.gen(function* () {
      const { resolve } = answering([])
      const upstream = yield* makeUpstream({ resolve })
      const answer = yield* upstream.call(upstreamCall(named(80)))
      assert.deepStrictEqual([answer.status, answer.problem?.kind], ["error", "connection"])
    })
  )
})

describe("an endpoint's address at registration", () => {
  const tagOf = (url: string, resolve: Resolve, allowed: EgressPolicy = publicOnly) =>
    checkUrl({ policy: allowed, resolve, connectTimeoutMs: 200 })(url).pipe(
      Effect.match({ onFailure: (error) => error._tag, onSuccess: () => "allowed" as const })
    )

  it.live("is checked by the same rule", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* tagOf("https://a.example/mcp", answering(["93.184.216.34"]).resolve), "allowed")
      assert.strictEqual(yield* tagOf("https://a.example/mcp", answering(["10.0.0.1"]).resolve), "AddressRejected")
      assert.strictEqual(yield* tagOf("https://a.example/mcp", answering([]).resolve), "NameUnresolved")
      assert.strictEqual(yield* tagOf("http://[::1]/", answering([]).resolve), "AddressRejected")
      assert.strictEqual(yield* tagOf("http://[::1]/", answering([]).resolve, publicAndLoopback), "allowed")
      assert.strictEqual(yield* tagOf("http://a.example/", () => {}), "NameUnresolved")
    })
  )
})
