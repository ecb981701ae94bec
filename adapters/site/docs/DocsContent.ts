/**
 * A page of the documentation before it is laid out.
 */
import type { Html } from "../kit/Html.ts"
import type { Heading } from "./Markdown.ts"

export interface DocsContent {
  readonly title: string
  readonly description: string
  readonly headings: ReadonlyArray<Heading>
  /** Whether the page has a form that sends requests. */
  readonly tries?: boolean
  readonly body: Html
  /** Default: written from the body. */
  readonly markdown?: string
}

/** A page's address, and its content when it is first requested. */
export type DocsSource<Content> = readonly [path: `/${string}`, content: Content]
