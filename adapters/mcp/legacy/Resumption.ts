/**
 * Sends a request and waits for its response, also on resumed streams: a legacy server may close a stream before its
 * response, and says how to resume it.
 */
import { Effect } from "effect"
import type { Message, ProviderEndpoint } from "../client/ProviderEndpoint.ts"
import { sessionHeaders } from "../client/Dialect.ts"
import { fault, type Reply } from "../client/Reply.ts"

/** Each request has a later timestamp than the one before: a provider rejects a repeated signature. */
const RESUMPTION_MS_MIN = 20

/** `count` gets the bytes of each resumed stream. */
export const resumed = Effect.fnUntraced(function* (
  endpoint: ProviderEndpoint,
  message: Message,
  first: Reply,
  nowMs: () => number,
  untilMs: number,
  count: (bytes: number) => void
): Effect.fn.Return<Reply> {
  const extraMs = () => message.extraMs?.() ?? 0
  const leftMs = () => Math.max(1, Math.ceil(untilMs + extraMs() - nowMs()))
  const link = message.link
  let reply = first
  for (let n = 0; n < endpoint.options.resumptionsMax && reply.kind === "resumable"; n++) {
    if (link?.era !== "legacy") return interrupted
    const waitMs = Math.max(RESUMPTION_MS_MIN, reply.retryMs ?? endpoint.options.resumptionDelayMs)
    const { lastEventId } = reply
    if (waitMs >= leftMs()) {
      yield* Effect.sleep(leftMs()).pipe(
        Effect.onExit(() => Effect.sync(() => endpoint.tellCanceled(message, "The response did not arrive in time")))
      )
      return fault("timeout", "The provider did not respond in time")
    }
    yield* Effect.sleep(waitMs).pipe(
      Effect.onInterrupt(() => Effect.sync(() => endpoint.tellCanceled(message, "The caller disconnected")))
    )
    const given = extraMs()
    reply = yield* endpoint.ask({
      ...message,
      extraMs: () => extraMs() - given,
      http: "GET",
      headers: sessionHeaders(link, lastEventId),
      body: "",
      timeoutMs: leftMs()
    })
    count(reply.bytes)
  }
  // The tool may have run: a rejected reconnection is not a response to the call.
  return reply.kind === "status" ||
    reply.kind === "accepted" ||
    reply.kind === "resumable" ||
    (reply.kind === "rpc_error" && reply.status >= 400)
    ? interrupted
    : reply
})

const interrupted = fault("connection", "The provider's response was interrupted")
