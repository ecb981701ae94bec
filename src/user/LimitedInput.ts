/**
 * Text from a file or from stdin, up to a limit.
 */
import { Effect, FileSystem, Stdio, Stream } from "effect"
import { failed } from "./CommandFailure.ts"

/** What the API accepts as a body. */
const BYTES_MAX = 5_242_880

export const readInput = Effect.fnUntraced(function* (stream: Stream.Stream<Uint8Array, Error>, name: string) {
  const decoder = new TextDecoder()
  let bytes = 0
  let text = ""
  yield* stream.pipe(
    Stream.mapError((error) => failed("invalid", `${name} cannot be read: ${reasonOf(error.message)}.`)),
    Stream.runForEach((chunk) => {
      bytes += chunk.byteLength
      if (bytes > BYTES_MAX) return Effect.fail(failed("invalid", `${name} is larger than ${BYTES_MAX} bytes.`))
      text += decoder.decode(chunk, { stream: true })
      return Effect.void
    })
  )
  return text + decoder.decode()
})

export const fromStdin = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  return yield* readInput(stdin, "stdin")
})

export const fromFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* readInput(fs.stream(path), path)
})

const reasonOf = (message: string): string => (message.startsWith("NotFound") ? "the file does not exist" : message)
