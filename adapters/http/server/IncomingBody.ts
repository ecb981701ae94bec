/**
 * Reads the body of a request, up to the limit of its endpoint.
 */
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { PayloadTooLarge } from "../pipeline/Failures.ts"

export const readBody = (incoming: IncomingMessage, bytesMax: number): Effect.Effect<Uint8Array, PayloadTooLarge> =>
  Effect.callback((resume) => {
    if (Number(incoming.headers["content-length"] ?? 0) > bytesMax) {
      return resume(Effect.fail(new PayloadTooLarge({ bytesMax })))
    }
    const chunks: Array<Buffer> = []
    let byteCount = 0
    const onData = (chunk: Buffer) => {
      byteCount += chunk.length
      if (byteCount <= bytesMax) return void chunks.push(chunk)
      stop()
      incoming.pause()
      resume(Effect.fail(new PayloadTooLarge({ bytesMax })))
    }
    // No event follows the end: removing the listeners would only cost time.
    const onEnd = () => {
      resume(Effect.succeed(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    }
    const onGone = () => {
      stop()
      resume(Effect.interrupt)
    }
    const stop = () => {
      incoming.off("data", onData).off("end", onEnd).off("error", onGone).off("aborted", onGone)
    }
    incoming.on("data", onData).on("end", onEnd).on("error", onGone).on("aborted", onGone)
    return Effect.sync(stop)
  })

export const hasBody = (incoming: IncomingMessage): boolean =>
  incoming.headers["transfer-encoding"] !== undefined || Number(incoming.headers["content-length"] ?? 0) > 0
