/**
 * A market with one provider behind an MCP server, and a developer with funds: what an MCP client needs to connect.
 */
import { Effect } from "effect"
import { createClient } from "../../../client/Client.ts"

export interface DoorMarket {
  /** The door of the provider. */
  readonly door: string
  /** The door of the whole market. */
  readonly market: string
  readonly key: string
  readonly client: ReturnType<typeof createClient>
}

export interface Offer {
  readonly upstream: string
  readonly tools: ReadonlyArray<string>
  readonly priceMicrocents?: number
  readonly funds?: number
  readonly onCancel?: "finish" | "pass"
}

let made = 0

/** At a service whose origin is given, and whose upstreams may be on loopback. */
export const doorMarket = (
  origin: string,
  { funds, onCancel = "finish", priceMicrocents = 500, tools, upstream }: Offer
) =>
  Effect.promise(async (): Promise<DoorMarket> => {
    const handle = `strangers-${String.fromCharCode(97 + (made++ % 26)).repeat(3)}-tools`
    await createClient({ baseUrl: origin }).accounts.registerProvider({
      payload: {
        name: "Strangers",
        email: "strangers@example.org",
        handle,
        endpoint_url: upstream,
        tools: tools.map((tool_name) => ({ tool_name, price_microcents: priceMicrocents, on_cancel: onCancel }))
      }
    })
    const registered = await createClient({ baseUrl: origin }).accounts.registerConsumer({
      payload: { name: "A stranger", email: "stranger@example.org" }
    })
    const client = createClient({ baseUrl: origin, key: registered.api_key })
    if (funds !== 0) await client.money.load({ payload: { amount_cents: funds ?? 10_000 } })
    return { door: `${origin}/mcp/${handle}`, market: `${origin}/mcp`, key: registered.api_key, client }
  })
