/**
 * MCP servers of providers in memory: what each address lists, or why it does not answer, is set by the test.
 */
import { Context, Effect, Layer } from "effect"
import {
  type ListedTool,
  ProviderServers,
  ServerFailed,
  type ServerProfile,
  type ToolList
} from "../../../domain/upstream/ProviderServers.ts"

export type Definition = Readonly<Record<string, unknown>>

export const tool = (name: string, more: Definition = {}): Definition => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: "object" },
  ...more
})

export class FakeServers extends Context.Service<
  FakeServers,
  {
    /** From now on. */
    lists(url: string, tools: ReadonlyArray<Definition>, truncated?: boolean): void
    fails(url: string, message: string): void
    never(url: string): void
    /** How often the tools of the address were read. */
    reads(url: string): number
  }
>()("agent-tool-billing/test/FakeServers") {}

export const listedTool = (definition: Definition): ListedTool => ({
  name: String(definition["name"]),
  text: JSON.stringify(definition),
  definition
})

export const toolList = (definitions: ReadonlyArray<Definition>, truncated = false): ToolList => ({
  tools: definitions.map(listedTool),
  truncated
})

const failure = (message: string) => new ServerFailed({ problem: { kind: "connection", message }, sessionLost: false })

export const fakeServers: Layer.Layer<FakeServers | ProviderServers> = Layer.effectContext(
  Effect.sync(() => {
    const servers = new Map<string, ToolList | string | "never">()
    const reads = new Map<string, number>()

    const at = <A>(url: string, answer: (list: ToolList) => A): Effect.Effect<A, ServerFailed> =>
      Effect.suspend((): Effect.Effect<A, ServerFailed> => {
        const known = servers.get(url) ?? "no server listens here"
        if (known === "never") return Effect.never
        return typeof known === "string" ? Effect.fail(failure(known)) : Effect.sync(() => answer(known))
      })

    const profile: ServerProfile = {
      sessions: false,
      version: "2026-07-28",
      capabilities: '{"tools":{}}',
      serverInfo: '{"name":"fake","version":"1.0"}',
      instructions: undefined
    }
    const notScripted = () => Effect.die(new Error("This server only lists tools"))

    return Context.make(ProviderServers, {
      profile: ({ endpointUrl }) => at(endpointUrl, () => profile),
      tools: ({ endpointUrl }) =>
        at(endpointUrl, (list) => {
          reads.set(endpointUrl, (reads.get(endpointUrl) ?? 0) + 1)
          return list
        }),
      initialize: notScripted,
      ask: notScripted,
      tell: notScripted,
      listen: notScripted,
      end: () => Effect.void
    }).pipe(
      Context.add(FakeServers, {
        lists: (url, tools, truncated) => void servers.set(url, toolList(tools, truncated)),
        fails: (url, message) => void servers.set(url, message),
        never: (url) => void servers.set(url, "never"),
        reads: (url) => reads.get(url) ?? 0
      })
    )
  })
)
