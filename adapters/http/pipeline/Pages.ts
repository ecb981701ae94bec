/**
 * The web pages that this service serves beside its API. Pages are another adapter: the composition combines the two.
 */
import { Context } from "effect"
import type { Invoice } from "../../../domain/invoices/Invoice.ts"
import type { EncodedReply, Route } from "./Route.ts"

/** A page as Markdown. */
export interface DocumentLink {
  readonly path: string
  readonly title: string
  readonly summary: string
}

export class Pages extends Context.Service<
  Pages,
  {
    readonly routes: ReadonlyArray<Route>
    /** For a browser that requests a path without a route. Other clients get a problem; all of them if it is undefined. */
    readonly notFound: EncodedReply | undefined
    /** What llms.txt links to. */
    readonly documents: ReadonlyArray<DocumentLink>
    readonly invoice: (invoice: Invoice) => EncodedReply
  }
>()("agent-tool-billing/adapters/http/Pages") {}
