/**
 * Configurations of MCP clients: in the form that each client reads, and with the key only in text to copy.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  type ClientId,
  clientConfig,
  clientConfigs,
  CLIENTS,
  isPlainKey,
  marketDoor,
  providerDoor
} from "../../../adapters/site/connect/ClientConfigs.ts"
import { finished } from "../../support/servers/ServiceProcess.ts"
import { CONSUMER_KEY } from "../../../adapters/http/contract/SampleValues.ts"

const BASE = "https://market.example"
const door = providerDoor(BASE, "ada-tools")
const codesOf = (id: ClientId, key?: string) => clientConfig(id, door, key).snippets.map(({ code }) => code)
const parsed = (id: ClientId, key?: string) => JSON.parse(codesOf(id, key)[0]!) as unknown

describe("the configuration of", () => {
  it("Claude Code is a command, with the header last because it takes several values", () => {
    assert.deepStrictEqual(codesOf("claude-code", "atb_c_1"), [
      "claude mcp add --transport http ada-tools https://market.example/mcp/ada-tools \\\n" +
        '  --header "Authorization: Bearer atb_c_1"'
    ])
    assert.include(
      clientConfig("claude-code", marketDoor(BASE)).snippets[0]!.code,
      " market https://market.example/mcp "
    )
  })

  it("Claude Desktop runs mcp-remote, without spaces in its arguments", () => {
    const expected = (url: string, ...more: ReadonlyArray<string>) => ({
      command: "npx",
      args: ["-y", "mcp-remote", url, ...more, "--header", "Authorization:${AUTH_HEADER}"],
      env: { AUTH_HEADER: "Bearer atb_c_1" }
    })
    assert.deepStrictEqual(parsed("claude-desktop", "atb_c_1"), { mcpServers: { "ada-tools": expected(door.url) } })
    for (const [base, more] of [
      ["http://127.0.0.1:3000", []],
      ["http://localhost:3000", []],
      ["http://10.0.0.1:3000", ["--allow-http"]],
      ["http://localhost.example", ["--allow-http"]]
    ] as const) {
      const { code } = clientConfig("claude-desktop", marketDoor(base), "atb_c_1").snippets[0]!
      assert.deepStrictEqual(JSON.parse(code), { mcpServers: { market: expected(`${base}/mcp`, ...more) } })
    }
  })

  it("Cursor is an entry of mcp.json, and a link that reads the key from the environment", () => {
    assert.deepStrictEqual(parsed("cursor", "atb_c_1"), {
      mcpServers: { "ada-tools": { url: door.url, headers: { Authorization: "Bearer atb_c_1" } } }
    })
    const { href } = clientConfig("cursor", door, "atb_c_1").link!
    const link = new URL(href)
    assert.strictEqual(
      `${link.protocol}//${link.host}${link.pathname}`,
      "cursor://anysphere.cursor-deeplink/mcp/install"
    )
    assert.strictEqual(link.searchParams.get("name"), "ada-tools")
    assert.deepStrictEqual(JSON.parse(atob(link.searchParams.get("config")!)), {
      url: door.url,
      headers: { Authorization: "Bearer ${env:AGENT_TOOL_BILLING_KEY}" }
    })
  })

  it("VS Code asks for the key in its file and its link; the command contains it", () => {
    const headers = { Authorization: "Bearer ${input:agent-tool-billing-key}" }
    const inputs = [
      { type: "promptString", id: "agent-tool-billing-key", description: "Agent Tool Billing API key", password: true }
    ]
    const server = { type: "http", url: door.url, headers }
    assert.deepStrictEqual(parsed("vscode", "atb_c_1"), { inputs, servers: { "ada-tools": server } })
    const [, command] = codesOf("vscode", "atb_c_1")
    const added = /^code --add-mcp '(?<json>[^']*)'$/u.exec(command!)!.groups!["json"]!
    assert.deepStrictEqual(JSON.parse(added), {
      ...server,
      name: "ada-tools",
      headers: { Authorization: "Bearer atb_c_1" }
    })
    const { href } = clientConfig("vscode", door, "atb_c_1").link!
    assert.isTrue(href.startsWith("vscode:mcp/install?"))
    const linked = JSON.parse(decodeURIComponent(href.slice("vscode:mcp/install?".length))) as unknown
    assert.deepStrictEqual(linked, { name: "ada-tools", ...server, inputs })
  })

  it("other clients names the transport", () => {
    assert.deepStrictEqual(parsed("json", "atb_c_1"), {
      mcpServers: { "ada-tools": { type: "http", url: door.url, headers: { Authorization: "Bearer atb_c_1" } } }
    })
  })

  it("every client has a placeholder without a key, and never a key in a link", () => {
    for (const config of clientConfigs(door, undefined)) {
      assert.match(config.snippets.map(({ code }) => code).join("\n"), /YOUR_API_KEY/u)
    }
    for (const { link } of clientConfigs(door, CONSUMER_KEY)) {
      if (link === undefined) continue
      const decoded = decodeURIComponent(link.href) + atob(new URL(link.href).searchParams.get("config") ?? "")
      assert.notInclude(decoded, CONSUMER_KEY)
      assert.notInclude(decoded, "atb_c_")
    }
  })

  it("names stay short enough for the limits of clients", () => {
    // Claude Code: mcp__{server}__{tool}, at most 64; Cursor: 60 for both. A tool of the market has at most 40.
    const { name } = marketDoor(BASE)
    assert.isAtMost(`mcp__${name}__`.length + 40, 64)
    assert.isAtMost(name.length + 40, 60)
  })

  it("takes no key that a shell or JSON would interpret", () => {
    assert.isTrue(isPlainKey(CONSUMER_KEY))
    for (const key of ["", "a b", 'a"', "a'", "a`b`", "$(x)", "a\\", "a\n", "ä", "x".repeat(513)]) {
      assert.isFalse(isPlainKey(key), key)
    }
  })
})

describe("mcp config", () => {
  it.live(
    "prints on stdout what the pages show, for each client",
    () =>
      Effect.gen(function* () {
        for (const [id] of CLIENTS) {
          const args = ["mcp", "config", id, "--provider", "ada-tools", "--url", BASE, "--key", CONSUMER_KEY]
          const { code, output, problem } = yield* finished(args)
          assert.strictEqual(code, 0, problem)
          assert.strictEqual(output, `${codesOf(id, CONSUMER_KEY)[0]}\n`)
          assert.include(problem, clientConfig(id, door).snippets[0]!.place)
        }
      }),
    180_000
  )

  it.live(
    "is for this configuration's service and all providers unless told otherwise",
    () =>
      Effect.gen(function* () {
        const local = yield* finished(["mcp", "config", "json"], { settings: { PORT: "4000" } })
        assert.include(local.output, '"url": "http://127.0.0.1:4000/mcp"')
        assert.include(local.output, "YOUR_API_KEY")
        const named = yield* finished(["mcp", "config", "json"], { settings: { BASE_URL: BASE } })
        assert.include(named.output, `"url": "${BASE}/mcp"`)
      }),
    180_000
  )

  it.live(
    "rejects what it does not know in one sentence, and shows no key",
    () =>
      Effect.gen(function* () {
        for (const [args, says] of [
          [["configure", "cursor"], 'Unknown command "configure"'],
          [["config"], "Missing required argument: client"],
          [["config", "cursor", "vscode"], '"vscode"'],
          [["config", "cursor", "--colour"], 'Unknown flag "--colour"'],
          [["config", "curser"], 'Unknown client "curser". Did you mean "cursor"?'],
          [["config", "emacs"], "Known clients: claude-code"],
          [["config", "cursor", "--provider", "Ada Tools"], "--provider must be"],
          [["config", "cursor", "--url", "market.example"], "--url=market.example"],
          [["config", "cursor", "--key", "hunter2 '"], "--key is not an API key"]
        ] as const) {
          const { code, output, problem } = yield* finished(["mcp", ...args])
          assert.strictEqual(code, 1, args.join(" "))
          assert.strictEqual(output, "")
          assert.include(problem, says)
          assert.notInclude(problem, "hunter2")
        }
      }),
    180_000
  )
})
