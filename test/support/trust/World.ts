/**
 * The servers for verifications: a mail server, a name server and web servers on loopback, and the adapters that use
 * them.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as PublishedProofs from "../../../adapters/dns/PublishedProofs.ts"
import * as SmtpMailer from "../../../adapters/mail/SmtpMailer.ts"
import { publicAndLoopback } from "../../../adapters/mcp/egress/AddressGuard.ts"
import { makeGuardedFetch, type Resolve } from "../../../adapters/mcp/egress/GuardedEgress.ts"
import type { Mailer } from "../../../domain/trust/Mailer.ts"
import type { ProofReader } from "../../../domain/trust/Verification.ts"
import { type MailServer, mailServer } from "./MailServer.ts"
import { nameServer, type Zone } from "./NameServer.ts"

export type Page = (response: ServerResponse) => void

export class World extends Context.Service<
  World,
  { readonly mail: MailServer; readonly zone: Zone; readonly pages: Map<string, Page> }
>()("agent-tool-billing/test/support/trust/World") {}

const world = Layer.effectContext(
  Effect.gen(function* () {
    const mail = yield* mailServer
    const zone: Zone = new Map()
    const pages = new Map<string, Page>()
    const web = yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((request, response) => {
          const page = pages.get(request.headers.host?.split(":")[0] ?? "")
          const known = ["/.well-known/mcp-billing-verify.txt", "/ada/tools/HEAD/.mcp-billing.json"]
          if (page === undefined || !known.includes(request.url ?? "")) {
            response.writeHead(404).end()
          } else page(response)
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => (server.close(), server.closeAllConnections()))
    )
    const { port } = web.address() as AddressInfo
    // Every name resolves to loopback, except one with a blocked address.
    const resolve: Resolve = (hostname, done) =>
      done(null, [{ address: hostname.startsWith("private.") ? "10.0.0.1" : "127.0.0.1", family: 4 }])
    const fetch = yield* makeGuardedFetch({ policy: publicAndLoopback, resolve, connectTimeoutMs: 10_000 })
    const evidence = yield* Layer.build(
      Layer.merge(
        SmtpMailer.layer({ url: Redacted.make(mail.url), from: "market@market.example" }),
        PublishedProofs.layer({
          // The hosts of repositories are not reachable: their files are here.
          fetch: (asked) =>
            fetch({
              ...asked,
              url: asked.url.replace("https://raw.githubusercontent.com/", `http://raw.example.org:${port}/`)
            }),
          dnsServers: [yield* nameServer(zone)],
          originOf: (domain) => `http://${domain}:${port}`
        })
      )
    )
    return Context.add(evidence, World, World.of({ mail, zone, pages }))
  })
)

export const evidence = world as Layer.Layer<Mailer | ProofReader | World>
