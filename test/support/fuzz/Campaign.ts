/**
 * Many requests against a running service, some of them concurrent, and the faults of the responses. The order of the
 * requests follows from the seed; their ids follow from earlier responses.
 */
import type { Schema } from "effect"
import { Agent } from "node:http"
import { openApiDocument } from "../../../adapters/http/openapi/OpenApiDocument.ts"
import { operationsOf } from "../../../adapters/http/openapi/OpenApiModel.ts"
import { chanceOf } from "./Chance.ts"
import { valueAt } from "../market/Market.ts"
import { exchange, type FuzzAnswer } from "./Client.ts"
import type { Crowd } from "./Accounts.ts"
import { Pool } from "./Pool.ts"
import { noise } from "./RawNoise.ts"
import { type FuzzRequest, requestOf } from "./Requests.ts"
import { faultsOf, jsonOf } from "./Verdict.ts"

export interface Campaign {
  readonly port: number
  readonly seed: number
  readonly requests: number
  readonly urls: ReadonlyArray<string>
  readonly crowd: Crowd
  readonly register: (role: "consumer" | "provider") => Promise<string>
  /** Called now and then, with how many are done. */
  readonly onProgress: (done: number) => Promise<void>
}

export interface Campaigned {
  readonly done: number
  readonly refused: number
  readonly statuses: ReadonlyMap<number, number>
  /** By operation: how often it was requested, and how often it succeeded. */
  readonly asked: ReadonlyMap<string, { asked: number; succeeded: number }>
  readonly faults: ReadonlyArray<string>
  readonly slowestMs: number
}

const KNOWN = { level: ["0", "entries"], tile: ["000", "000.p/1"], from: ["1", "2"], to: ["2", "3"], tree_size: ["1"] }

const AT_ONCE = 16
const FAULTS_KEPT_MAX = 10
const PROGRESS_EVERY = 500
const NOISE_EVERY = 20

export const campaign = async (plan: Campaign): Promise<Campaigned> => {
  const document = openApiDocument("http://127.0.0.1")
  const operations = operationsOf(document)
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const chance = chanceOf(plan.seed)
  const pool = new Pool(KNOWN)
  const making = { document, chance, pool, urls: plan.urls }
  const statuses = new Map<number, number>()
  const asked = new Map(operations.map((one) => [titleOf(one), { asked: 0, succeeded: 0 }]))
  const faults: Array<string> = []
  let begun = 0
  let done = 0
  let refused = 0
  let slowestMs = 0

  const note = (sent: FuzzRequest, answer: FuzzAnswer): void => {
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const wrong = faultsOf(sent, answer)
    if (wrong.length > 0 && faults.length < FAULTS_KEPT_MAX) faults.push(description(sent, answer, wrong))
    const key = sent.headers["authorization"]?.slice(7)
    if (key !== undefined && (answer.status === 401 || hasShutShop(sent, answer))) plan.crowd.leave(key)
    if (answer.status < 300) learn(jsonOf(answer))
  }

  const learn = (json: Schema.Json | undefined): void => {
    pool.harvest(json)
    const key = valueAt(json, "api_key")
    // New accounts own nothing: few of them replace an account with data.
    if (typeof key === "string" && (valueAt(json, "registered") !== true || chance.percent(5))) plan.crowd.join(key)
  }

  const work = async (): Promise<void> => {
    while (begun < plan.requests && faults.length < FAULTS_KEPT_MAX) {
      const n = begun++
      for (const role of plan.crowd.lacks()) plan.crowd.join(await plan.register(role))
      if (n % NOISE_EVERY === 0) {
        const wrong = await noise(plan.port, chance)
        if (wrong !== undefined) faults.push(wrong)
      }
      // Each in its turn: an operation that rarely succeeds is requested as often as any other.
      const located = operations[n % operations.length]!
      const sent = requestOf(located, making, plan.crowd)
      const startedMs = performance.now()
      const answer = await exchange(plan.port, agent, sent)
      slowestMs = Math.max(slowestMs, performance.now() - startedMs)
      done++
      if (answer === "refused") refused++
      else if (answer === "no answer") faults.push(`No answer to ${shown(sent)}`)
      else {
        note(sent, answer)
        const count = asked.get(titleOf(located))!
        count.asked++
        if (sent.kind === "fitting" && answer.status < 300) count.succeeded++
      }
      if (done % PROGRESS_EVERY === 0) await plan.onProgress(done)
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, work))
  agent.destroy()
  return { done, refused, statuses, asked, faults, slowestMs }
}

/** A provider that has withdrawn a tool may have none left: another one replaces it. */
const hasShutShop = ({ method, path }: FuzzRequest, { status }: FuzzAnswer): boolean =>
  method === "DELETE" && path.startsWith("/api/v1/market/tools/") && status < 300

const titleOf = ({ method, path }: { readonly method: string; readonly path: string }): string => `${method} ${path}`

const shown = ({ body, headers, kind, method, path }: FuzzRequest): string =>
  `${kind} ${method} ${path.slice(0, 1_000)}\n${JSON.stringify(headers).slice(0, 1_000)}\n${(body ?? "").toString("utf8").slice(0, 2_000)}`

const description = (sent: FuzzRequest, answer: FuzzAnswer, wrong: ReadonlyArray<string>): string =>
  [shown(sent), `was answered with ${answer.status} ${answer.bytes.toString("utf8").slice(0, 1_000)}`, ...wrong].join(
    "\n"
  )
