/**
 * Tools of MCP servers in both eras, and tools that are functions of the process, behind one port.
 */
import { Effect, Layer } from "effect"
import * as FunctionUpstream from "../../../adapters/memory/metering/FunctionUpstream.ts"
import { ToolUpstream } from "../../../domain/upstream/ToolUpstream.ts"
import { toolUpstreamContract } from "../../../testing/contracts/upstream/ToolUpstreamContract.ts"
import { json, result, scriptedServer, text } from "../../../testing/mcp/ScriptedServer.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { makeUpstream } from "../../support/mcp/McpClient.ts"

type Ending = "succeeds" | "fails" | "breaks" | "hangs"

const failure = { ...text("no weather today"), isError: true }

const byName = FunctionUpstream.layer(({ toolName }) => {
  if (toolName === "succeeds") return Effect.succeed(text("sunny"))
  if (toolName === "fails") return Effect.succeed(failure)
  return toolName === "breaks" ? Effect.die(new Error("a secret of the tool")) : Effect.never
})

const contract = toolUpstreamContract({
  succeeds: { toolName: "succeeds" },
  fails: { toolName: "fails" },
  breaks: { toolName: "breaks" },
  hangs: { toolName: "hangs" }
})

contractOver("ToolUpstream over functions", contract, byName)

for (const era of ["modern", "stateful", "stateless"] as const) {
  const server = (ending: Ending) =>
    Effect.map(
      scriptedServer({
        era,
        onCall: (seen, response) => {
          const complete = era === "modern" ? { resultType: "complete" } : {}
          if (ending === "succeeds") json(response, result(seen, { ...complete, ...text("sunny") }))
          if (ending === "fails") json(response, result(seen, { ...complete, ...failure }))
          if (ending === "breaks") response.destroy()
        }
      }),
      ({ url }) => url
    )
  /** The URLs of the servers are known once they run: each tool is called by the name of its ending. */
  const servers = Layer.effect(
    ToolUpstream,
    Effect.gen(function* () {
      const urls = {
        succeeds: yield* server("succeeds"),
        fails: yield* server("fails"),
        breaks: yield* server("breaks"),
        hangs: yield* server("hangs")
      }
      const upstream = yield* makeUpstream()
      return ToolUpstream.of({
        call: (call) => upstream.call({ ...call, endpointUrl: urls[call.toolName as Ending] })
      })
    })
  )
  contractOver(`ToolUpstream over a ${era} MCP server`, contract, servers)
}
