/**
 * Flags that several commands have, and text from a file or from stdin, up to a limit.
 */
import { Effect, FileSystem, Option, Stdio, Stream } from "effect"
import { Flag } from "effect/cli"
import { parseDollars } from "../../domain/shared/Microcents.ts"
import { failed } from "./CommandFailure.ts"

export const switchFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false), Flag.withoutNegation)

export const textFlag = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

export const json = switchFlag("json", "Print the API's response as JSON, and failures as JSON on stderr")

export const limit = Flag.Int("limit").pipe(Flag.withDescription("Items per page, at most 100"), Flag.withDefault(20))

export const cursor = textFlag("cursor", "Where the next page begins")

export const given = <A>(option: Option.Option<A>): A | undefined => Option.getOrUndefined(option)

/** Without what was not given. */
export const present = <A extends object>(values: A): { [K in keyof A]: Exclude<A[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never

export const dollars = (name: string, text: string) => {
  const amount = parseDollars(text)
  return amount === undefined
    ? Effect.fail(failed("invalid", `${name} must be an amount in dollars, such as 0.25; "${text}" was given.`))
    : Effect.succeed(Number(amount))
}

/** The API accepts as much as a body. */
const BYTES_MAX = 5_242_880

const textOf = Effect.fnUntraced(function* (stream: Stream.Stream<Uint8Array, Error>, name: string) {
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

const reasonOf = (message: string): string => (message.startsWith("NotFound") ? "the file does not exist" : message)

export const fromStdin = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  return yield* textOf(stdin, "stdin")
})

export const fromFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* textOf(fs.stream(path), path)
})

/** A key contains `+`, which file names rarely do: text with the form of a key is one, and other text names its file. */
export const vkeyIn = (text: string) =>
  /^\S+\+[0-9a-f]{8}\+\S+$/u.test(text) ? Effect.succeed(text) : Effect.map(fromFile(text), (key) => key.trim())
