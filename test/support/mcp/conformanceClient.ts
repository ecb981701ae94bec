/**
 * The upstream client as the official conformance suite runs a client: the address of its server is the last
 * argument, the scenario an environment variable. Calls the tools of the scenario, through ToolUpstream only.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { hmacOf } from "../../../adapters/crypto/Hmac.ts"
import { publicAndLoopback } from "../../../adapters/mcp/egress/AddressGuard.ts"
import * as McpUpstream from "../../../adapters/mcp/McpUpstream.ts"
import { ToolUpstream } from "../../../domain/upstream/ToolUpstream.ts"
import { upstreamCall } from "./UpstreamCalls.ts"

interface ToolUse {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

const usesOf = (scenario: string, context: string | undefined): ReadonlyArray<ToolUse> => {
  switch (scenario) {
    case "tools_call":
      return [{ name: "add_numbers", arguments: { a: 5, b: 3 } }]
    case "sse-retry":
      return [{ name: "test_reconnection", arguments: {} }]
    case "http-standard-headers":
      return [
        { name: "test_headers", arguments: {} },
        { name: "my-hyphenated-tool", arguments: {} }
      ]
    case "http-custom-headers":
      return (JSON.parse(context ?? "{}") as { toolCalls?: ReadonlyArray<ToolUse> }).toolCalls ?? []
    case "http-invalid-tool-headers":
      return invalidTools.map((name) => ({
        name,
        arguments: { region: "us-east1", value: "x", field1: "a", field2: "b" }
      }))
    default:
      return [{ name: "anything", arguments: {} }]
  }
}

const invalidTools = [
  "valid_tool",
  "invalid_empty_header",
  "invalid_object_header",
  "invalid_array_header",
  "invalid_null_header",
  "invalid_number_header",
  "invalid_duplicate_same_case",
  "invalid_duplicate_diff_case",
  "invalid_space_in_name",
  "invalid_colon_in_name",
  "invalid_non_ascii_name",
  "invalid_control_char_name"
]

const env = process.env
const endpointUrl = process.argv.at(-1) ?? ""

const program = Effect.gen(function* () {
  const upstream = yield* ToolUpstream
  for (const use of usesOf(env["MCP_CONFORMANCE_SCENARIO"] ?? "", env["MCP_CONFORMANCE_CONTEXT"])) {
    const answer = yield* upstream.call(upstreamCall(endpointUrl, { toolName: use.name, arguments: use.arguments }))
    yield* Effect.sync(() => process.stdout.write(`${use.name}: ${JSON.stringify(answer)}\n`))
  }
})

program.pipe(
  Effect.provide(McpUpstream.layer({ policy: publicAndLoopback, signerOf: () => hmacOf(Buffer.from("conformance")) })),
  NodeRuntime.runMain
)
