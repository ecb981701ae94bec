/**
 * The transparency log over HTTP: texts and bytes in the formats of C2SP, JSON for everything else.
 */
import { Effect, Schema } from "effect"
import { ReceiptLog, type ReceiptProof } from "../../../domain/log/ReceiptLog.ts"
import { formatProof } from "../../../domain/log/Commitment.ts"
import { toBase64 } from "../../../domain/log/SignedNote.ts"
import { Receipt } from "../../../domain/receipts/Receipts.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { invalidField, notFound, type ProblemsOf, unavailableFor } from "../pipeline/Problems.ts"
import { type Route, routesWith } from "../pipeline/Route.ts"
import { header, type WebRequest } from "../pipeline/WebRequest.ts"
import { LogApi } from "./LogApi.ts"

const logProblems = {
  LogUnknown: notFound(),
  NotLoggedYet: () => unavailableFor(1),
  ReceiptUnknown: notFound(),
  TreeSizeUnknown: invalidField("tree_size")
} satisfies ProblemsOf<ReceiptLog>

const { encodedRoute, route } = routesWith(logProblems)

const { endpoints } = LogApi

const PREFIX = "/api/v1/market/log"
const TEXT = "text/plain; charset=utf-8"
/** A cached checkpoint is at most one second old. */
const CHECKPOINT = { "content-type": TEXT, "cache-control": "public, max-age=1" }
const TILE = {
  "content-type": "application/octet-stream",
  "cache-control": "public, max-age=31536000, immutable"
}

const encodeReceipt = Schema.encodeSync(Receipt)

export const logRoutes = Effect.gen(function* () {
  const log = yield* ReceiptLog
  const baseUrl = yield* BaseUrl

  const note = (number: number | undefined) =>
    Effect.map(log.checkpoint(number), (body) => ({ status: 200, headers: CHECKPOINT, body }))

  const tile = (number: number | undefined, { path }: WebRequest) =>
    Effect.map(log.tile(number, path.slice(path.indexOf("/tile/") + "/tile/".length)), (body) => ({
      status: 200,
      headers: TILE,
      body
    }))

  return [
    encodedRoute(endpoints.proof, function* ({ params, query, request }) {
      const proven = yield* log.prove(params.id, query.tree_size)
      return wantsJson(request)
        ? { status: 200, headers: { vary: "Accept" }, body: JSON.stringify(asJson(proven)) }
        : { status: 200, headers: { "content-type": TEXT, vary: "Accept" }, body: formatProof(proven) }
    }),
    route(endpoints.logs, function* () {
      const all = yield* log.logs
      return {
        logs: all.map((one, at) => ({
          log: one.number,
          origin: one.origin,
          vkey: one.key,
          open: at === all.length - 1 && one.stopped === undefined,
          ...(one.stopped === undefined ? {} : { stopped: one.stopped }),
          ...(one.statement === undefined ? {} : { statement: one.statement }),
          tree_size: one.size,
          root_hash: toBase64(one.root),
          checkpoint_url: `${baseUrl}${PREFIX}/${one.number}/checkpoint`,
          tiles_url: `${baseUrl}${PREFIX}/${one.number}/tile/`
        }))
      }
    }),
    encodedRoute(endpoints.checkpoint, () => note(undefined)),
    encodedRoute(endpoints.checkpointOf, ({ params }) => note(params.log)),
    anyDepth(encodedRoute(endpoints.tile, ({ request }) => tile(undefined, request))),
    anyDepth(encodedRoute(endpoints.tileOf, ({ params, request }) => tile(params.log, request))),
    route(endpoints.consistency, function* ({ query: { from, log: number, to } }) {
      const { hashes, origin } = yield* log.consistency(number, from, to)
      return { origin, from, to, hashes: hashes.map(toBase64) }
    }),
    route(endpoints.keys, function* () {
      const all = yield* log.logs
      return {
        keys: all.toReversed().map((one) => ({
          kty: "OKP" as const,
          crv: "Ed25519" as const,
          x: urlSafe(toBase64(one.publicKey)),
          kid: one.key.split("+")[1]!,
          use: "sig" as const,
          alg: "EdDSA" as const,
          origin: one.origin,
          vkey: one.key
        }))
      }
    })
  ]
})

/** A tile's number is written in groups of three digits: the number of path segments varies. */
const anyDepth = <R extends Route>(tiles: R): R => ({
  ...tiles,
  shownPath: tiles.path,
  path: tiles.path.replace(":level/:tile", "*"),
  decodeParams: (params) => tiles.decodeParams!({ level: "0", tile: "0", ...(params as object) })
})

const asJson = (proven: ReceiptProof) => ({
  receipt: encodeReceipt(proven.receipt),
  log: proven.log.number,
  origin: proven.log.origin,
  vkey: proven.key,
  leaf_index: proven.index,
  tree_size: proven.size,
  root_hash: toBase64(proven.root),
  salt: toBase64(proven.salt),
  commitment: toBase64(proven.commitment),
  leaf_hash: toBase64(proven.leaf),
  hashes: proven.path.map(toBase64),
  checkpoint: proven.checkpoint
})

/** JSON is sent only if the client names it in `Accept`: other clients get the file. */
const wantsJson = (request: WebRequest): boolean => /\bapplication\/json\b/u.test(header(request, "accept") ?? "")

const urlSafe = (base64: string): string => base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
