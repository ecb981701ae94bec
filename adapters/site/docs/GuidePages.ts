/**
 * The pages that are written as Markdown: guides and the operator's pages.
 */
import { Effect, Option } from "effect"
import { DEMO_PROVIDER_ID } from "../../../domain/providers/BuiltInProvider.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { isOffered } from "../../../domain/catalog/CatalogStore.ts"
import { DefaultFeeBasisPoints } from "../../../domain/ledger/PlatformFee.ts"
import { BaseUrl } from "../../http/contract/BaseUrl.ts"
import type { DocsContent } from "./DocsContent.ts"
import { type Guide, guidePath, guides, hasSamples } from "./DocsMap.ts"
import { Documents } from "./Documents.ts"
import { glossaryMarkdown } from "./GlossaryPage.ts"
import { pageLink, withPageLinks } from "./GuideLinks.ts"
import { renderMarkdown, type Rendered } from "./Markdown.ts"
import { OPERATOR_PAGES, operatorPageNames, OperatorTexts, unpublished } from "./OperatorPages.ts"

export interface WrittenPage {
  readonly path: `/${string}`
  readonly rendered: Rendered
  readonly content: DocsContent
  /** For a service whose catalog does not have the tools of the samples. */
  readonly withoutDemo: DocsContent
}

/** In the Markdown; on the page it is this service's address. */
const SAMPLE_URL = "http://127.0.0.1:3000"

const NO_DEMO =
  "> This service does not list the demo provider. Use a tool of the [catalog](/catalog) where a sample calls `demo/…`."

/** The Markdown parser is loaded with the first page. */
export const writtenPages = Effect.gen(function* () {
  const documents = yield* Documents
  const baseUrl = yield* BaseUrl
  const operatorTexts = yield* OperatorTexts
  const feeBasisPoints = yield* DefaultFeeBasisPoints

  const textOf = (guide: Guide): string => {
    const text = documents.get(guide.file) ?? ""
    if (guide.slug === "glossary") return glossaryMarkdown(text)
    return hasSamples(guide) ? text.replaceAll(SAMPLE_URL, baseUrl) : text
  }
  return yield* Effect.cached(
    Effect.map(
      Effect.promise(() => import("marked")),
      ({ lexer }): ReadonlyArray<WrittenPage> => {
        const render = (file: string, text: string) =>
          renderMarkdown(lexer, text, { linkOf: (href) => pageLink(file, href) })
        const contentOf = (guide: Guide, text: string): DocsContent => {
          const { body, headings, title } = render(guide.file, text)
          return { title, description: guide.summary, headings, body, markdown: withPageLinks(guide, text) }
        }
        return [
          ...guides.map((guide): WrittenPage => {
            const text = textOf(guide)
            const content = contentOf(guide, text)
            return {
              path: guidePath(guide) as `/${string}`,
              rendered: render(guide.file, text),
              content,
              withoutDemo: text.includes('"demo/') && hasSamples(guide) ? contentOf(guide, withNote(text)) : content
            }
          }),
          ...OPERATOR_PAGES.map((page): WrittenPage => {
            const text = operatorTexts.get(page) ?? unpublished(page, feeBasisPoints)
            const rendered = render("", text)
            const { summary, title } = operatorPageNames[page]
            const { body, headings } = rendered
            const content = { title, description: summary, headings, body, markdown: text }
            return { path: `/docs/${page}`, rendered, content, withoutDemo: content }
          })
        ]
      }
    )
  )
})

/** Below the title. */
const withNote = (text: string): string => text.replace("\n\n", `\n\n${NO_DEMO}\n\n`)

/** Whether the samples work as they are. */
export const demoListed = Effect.map(Catalog, (catalog) =>
  catalog.findOf(DEMO_PROVIDER_ID, "echo").pipe(
    Effect.map((found) => Option.exists(found, isOffered)),
    Effect.orElseSucceed(() => false)
  )
)

/** Addresses of all of them, which routes need before any is rendered. */
export const writtenPaths: ReadonlyArray<`/${string}`> = [
  ...guides.map((guide) => guidePath(guide) as `/${string}`),
  ...OPERATOR_PAGES.map((page): `/${string}` => `/docs/${page}`)
]
