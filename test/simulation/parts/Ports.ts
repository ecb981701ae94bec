/**
 * The ports of a process. Every request to a port passes the switchboard.
 */
import { Context, Effect, type Layer } from "effect"
import { PaymentFailed, PaymentGateway } from "../../../domain/ledger/PaymentGateway.ts"
import { ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { ToolUpstream } from "../../../domain/upstream/ToolUpstream.ts"
import { Books } from "../../../src/layers/Books.ts"
import type { memoryProfile } from "../../../src/layers/MemoryStores.ts"
import { type Process, storeFailed, type Switchboard } from "../world/Switchboard.ts"
import { unreachable } from "./Providers.ts"

export type Stores = Layer.Success<typeof memoryProfile>
export type Ports = Stores | PaymentGateway | ToolUpstream

/** Told of every question that was carried out, whether or not the process lives to hear the answer. */
export type Listener = (port: string, method: string, args: ReadonlyArray<unknown>, answer: unknown) => void

type Members = Readonly<Record<string, unknown>>
type Failing = (asked: boolean) => Effect.Effect<unknown, unknown>

export const portsThrough = (
  ports: Context.Context<Ports>,
  board: Switchboard,
  process: Process,
  listener: Listener
): Context.Context<Ports> => {
  const wrap = (port: string, members: Members, failing: Failing): Members => {
    const question = (method: string, args: ReadonlyArray<unknown>, ask: Effect.Effect<unknown, unknown>) =>
      board.ask({
        name: `${port}.${method}`,
        process,
        ask,
        takesTime: port === "ToolUpstream",
        failing,
        onDone: (answer) => listener(port, method, args, answer)
      })
    return Object.fromEntries(
      Object.entries(members).map(([method, member]) => {
        if (Effect.isEffect(member)) return [method, question(method, [], member as Effect.Effect<unknown>)]
        if (typeof member !== "function" || method === "readEvent") return [method, member]
        const asking = (...args: ReadonlyArray<unknown>) =>
          question(
            method,
            args,
            Effect.suspend(() => member(...args) as Effect.Effect<unknown>)
          )
        return [method, asking]
      })
    )
  }
  const { atomically } = Context.get(ports, UnitOfWork)
  const services = new Map<string, unknown>(ports.mapUnsafe)
  for (const [key, service] of ports.mapUnsafe) {
    if (!key.startsWith(DOMAIN) || key === ChangeFeed.key || key === UnitOfWork.key) continue
    services.set(key, wrap(key.slice(key.lastIndexOf("/") + 1), service as Members, failures[key] ?? failingStore))
  }
  services.set(UnitOfWork.key, UnitOfWork.of({ atomically: (effect) => board.atomically(process, atomically, effect) }))
  const wrapped = Context.makeUnsafe<Ports>(services)
  return Context.add(wrapped, Books, { stores: wrapped, wrapped: new WeakSet() })
}

const DOMAIN = "agent-tool-billing/domain/"

const failingStore: Failing = (asked) =>
  storeFailed(asked ? "The store's answer was lost" : "The store did not take the question")

/** Of the outer world's ports failures are a part: they say so, and do not die. */
const failures: Readonly<Record<string, Failing>> = {
  [ToolUpstream.key]: (asked) => Effect.succeed({ ...unreachable, attempts: asked ? 1 : 0 }),
  [PaymentGateway.key]: () =>
    Effect.fail(new PaymentFailed({ operation: "order", definite: false, reason: "no answer came" }))
}
