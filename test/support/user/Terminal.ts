/**
 * A command in a pseudo-terminal: what it shows is awaited and answered as a person does, key by key.
 */
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { eventually } from "../mcp/McpClient.ts"
import { serviceBundle } from "../servers/ServiceBundle.ts"

/** `script` of util-linux gives a command a terminal. That of other systems has other options. */
export const isTerminalHere = (): boolean =>
  spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false

export const KEYS = { enter: "\r", clear: "\u0015", interrupt: "\u0003", end: "\u0004" } as const

/** Colors, and moves of the cursor. */
// oxlint-disable-next-line no-control-regex
const CONTROL_SEQUENCES = /\u001B\[[\d;?]*[A-Za-z]|\u0007/gu

export interface Terminal {
  /** Waits for text that was not shown before the last keys, then types. */
  readonly answer: (shown: string, ...keys: ReadonlyArray<string>) => Effect.Effect<void>
  /** All that it showed, without control sequences. */
  readonly output: () => string
  readonly exit: Effect.Effect<number | null>
}

export const inTerminal = (args: ReadonlyArray<string>, home: string) =>
  Effect.gen(function* () {
    const { compiled, main } = yield* Effect.promise(serviceBundle)
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn("script", ["-qfec", [process.execPath, main, ...args].map(quoted).join(" "), "/dev/null"], {
          cwd: home,
          env: {
            PATH: process.env["PATH"],
            HOME: home,
            XDG_CONFIG_HOME: home,
            TERM: "xterm",
            SHELL: "/bin/sh",
            NODE_COMPILE_CACHE: compiled
          }
        })
      ),
      (running) => Effect.sync(() => void running.kill("SIGKILL"))
    )
    let output = ""
    let answered = 0
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")))
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
    const shown = () => output.replaceAll(CONTROL_SEQUENCES, "")
    return {
      answer: Effect.fnUntraced(function* (text, ...keys) {
        yield* eventually(() => shown().slice(answered).includes(text))
        answered = shown().length
        yield* Effect.sync(() => child.stdin.write(keys.join("")))
      }),
      output: shown,
      exit: Effect.promise(() => ended)
    } satisfies Terminal
  })

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
