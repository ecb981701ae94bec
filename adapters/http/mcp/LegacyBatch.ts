/**
 * A batch of a client of 2025-03-26, the only version with batches. It has one connection and one clock. Its call of a tool
 * runs last and alone, so that only the call decides whether the work goes on without the client, and nothing that was paid
 * for waits for another request.
 */
import { Effect, Fiber } from "effect"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { EncodedReply } from "../pipeline/Route.ts"
import type { makeLegacyNotices } from "./LegacyNotices.ts"
import type { LegacyRequest } from "./LegacyRequest.ts"
import type { LegacyContext } from "./LegacySessions.ts"
import type { Outgoing } from "./Outgoing.ts"
import { invalidRequest, RpcFault } from "./RpcFault.ts"
import type { RpcBatch, RpcRequest } from "./RpcMessage.ts"
import { ACCEPTED, faultReply, textOf } from "./RpcReply.ts"

const BATCH_VERSION = "2025-03-26"
const AT_ONCE_MAX = 4

/** `requestId`: undefined for a batch. */
export type MakeOutgoing = (context: LegacyContext, requestId: string | undefined) => Outgoing

type Message = RpcBatch["messages"][number]
/** Undefined: none. */
type Answer = EncodedReply | undefined

export const makeLegacyBatch = (
  request: LegacyRequest,
  tell: Effect.Success<typeof makeLegacyNotices>,
  outgoing: MakeOutgoing
) => {
  /** In a fiber of its own, because a cancellation ends one request of the batch. */
  const requested = (context: LegacyContext, rpc: RpcRequest, out: Outgoing): Effect.Effect<Answer, HandlerError> =>
    Effect.withFiber(({ context: services }) =>
      Effect.callback<Answer, HandlerError>((resume) => {
        const { clock } = context.input
        let continues: (() => boolean) | undefined
        const registerDisconnect = (isContinued: () => boolean) => {
          continues = isContinued
          clock.registerDisconnect(isContinued)
        }
        const own = { ...context, input: { ...context.input, clock: { ...clock, registerDisconnect } } }
        const leave = Effect.suspend(() => (continues?.() === true ? Effect.void : Fiber.interrupt(fiber)))
        const fiber = Effect.runForkWith(services)(request(own, rpc, out, () => resume(Effect.as(leave, undefined))))
        fiber.addObserver(resume)
        return leave
      })
    )

  return Effect.fnUntraced(function* (
    context: LegacyContext,
    { messages }: RpcBatch
  ): Effect.fn.Return<EncodedReply, HandlerError | RpcFault> {
    if (context.session.version !== BATCH_VERSION) {
      return yield* invalidRequest(
        `Batches are part of protocol version ${BATCH_VERSION} only. Send one message per request.`
      )
    }
    const out = outgoing(context, undefined)
    const call = messages.find(isCall)
    const answered = (message: Message): Effect.Effect<Answer, HandlerError> => {
      if (message instanceof RpcFault) return Effect.succeed(faultReply(message))
      if (message._tag === "Request") return requested(context, message, out)
      return Effect.match(tell(context, message), { onFailure: () => undefined, onSuccess: () => undefined })
    }
    const answers = yield* Effect.gen(function* () {
      const others = yield* Effect.forEach(
        messages,
        (message): Effect.Effect<Answer, HandlerError> => {
          if (message === call) return Effect.undefined
          return answered(isCall(message) ? notAlone(message) : message)
        },
        { concurrency: AT_ONCE_MAX }
      )
      if (call === undefined) return others
      out.expectLong()
      return others.with(messages.indexOf(call), yield* answered(call))
    }).pipe(Effect.onError(() => Effect.sync(() => out.end(undefined, []))))
    const responses = answers.flatMap((reply) => (reply === undefined ? [] : [textOf(reply)]))
    return out.end(
      responses.length === 0 ? ACCEPTED : { status: 200, headers: {}, body: `[${responses.join(",")}]` },
      responses
    )
  })
}

const notAlone = ({ id }: RpcRequest): RpcFault =>
  invalidRequest("Send calls of tools one at a time: a batch may have one. Nothing was charged.", undefined, id)

const isCall = (message: Message): message is RpcRequest =>
  !(message instanceof RpcFault) && message._tag === "Request" && message.method === "tools/call"
