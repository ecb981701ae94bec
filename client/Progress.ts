/**
 * Reads the server-sent events of a call: progress events, then the result or a problem.
 */

/** Progress of a call, in the tool's own unit. Without `total` the end is not known. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

const EVENT_CHARS_MAX = 16_777_216

/** The text of the last event. Undefined if the stream ended before it. */
export const readEvents = async (
  body: ReadableStream<Uint8Array>,
  onProgress: (progress: Progress) => void
): Promise<string | undefined> => {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader()
  let buffer = ""
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      buffer += value
      const events = buffer.split("\n\n")
      buffer = events.pop()!
      if (buffer.length > EVENT_CHARS_MAX) throw new Error("An event of the stream is longer than 16 MiB.")
      for (const event of events) {
        const lines = event.split("\n")
        const data = lines
          .filter((line) => line.startsWith("data: "))
          .map((line) => line.slice(6))
          .join("\n")
        if (lines.includes("event: progress")) report(onProgress, JSON.parse(data) as Progress)
        else if (lines.includes("event: result") || lines.includes("event: problem")) return data
      }
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

/** An error of the callback must not lose the result of a call that is paid for. */
const report = (onProgress: (progress: Progress) => void, progress: Progress): void => {
  try {
    onProgress(progress)
  } catch {
    // The callback is the caller's code: its error does not end the call.
  }
}
