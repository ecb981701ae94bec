/**
 * The frame of every page of the documentation: search, navigation, contents of the page, previous and next page.
 */
import { Effect } from "effect"
import { BaseUrl, prefixOf } from "../../http/contract/BaseUrl.ts"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import { Assets, assetsVersion, importsOf } from "../kit/Assets.ts"
import { Html, html } from "../kit/Html.ts"
import { pageReply } from "../kit/PageDocument.ts"
import { siteFooter, siteHeader } from "../kit/Site.ts"
import type { DocsContent } from "./DocsContent.ts"
import type { DocsNavigation, NavigationLink } from "./DocsNavigation.ts"
import { docsStyle } from "./DocsStyle.ts"
import type { Heading } from "./Markdown.ts"

export interface DocsPage extends DocsContent {
  readonly path: string
}

export type DocsLayout = (page: DocsPage) => EncodedReply

/** On every page: `/docs/search.json` is loaded when the search is first used. */
export const SEARCH_PATH = "/docs/search.json"

export const makeDocsLayout = (navigation: DocsNavigation) =>
  Effect.gen(function* () {
    const prefix = prefixOf(yield* BaseUrl)
    const version = yield* assetsVersion
    const assets = yield* Assets
    const address = (name: string) => `${prefix}/assets/${version}/${name}`
    const layout: DocsLayout = ({ body, description, headings, path, title, tries = false }) => {
      const modules = ["kit/CopyButtons.js", "docs/DocsPage.js", ...(tries ? ["docs/TryIt.js"] : [])]
      return pageReply({
        title: `${title} · Agent Tool Billing`,
        description,
        style: docsStyle,
        modules: modules.map(address),
        preloads: [...new Set(modules.flatMap((name) => importsOf(assets, name)))].map(address),
        connects: true,
        body: below(
          prefix,
          html`
            <a class="skip" href="#main">Skip to content</a>
            ${prefix === "" ? siteHeader("/docs") : undefined}
            <div class="bar">
              <a class="menu" href="#contents">Contents</a>
              <form class="search" role="search" data-index="${SEARCH_PATH}" hidden>
                <label class="sr" for="search">Search the documentation</label>
                <input id="search" type="search" autocomplete="off" spellcheck="false" placeholder="Search the docs" />
                <div class="results" id="results" aria-live="polite" hidden></div>
              </form>
            </div>
            <div class="frame">
              ${contents(navigation, path)} ${onThisPage(headings)}
              <main id="main" tabindex="-1">
                ${body} ${turn(navigation, path)}
                <p class="small muted"><a href="${path}.md">View as Markdown</a></p>
              </main>
            </div>
            ${prefix === "" ? siteFooter : undefined}
          `
        )
      })
    }
    return layout
  })

/** Links to this service's pages, under the path at which it is mounted. */
const below = (prefix: string, content: Html): Html =>
  prefix === "" ? content : new Html(content.markup.replaceAll(/ (href|data-index)="\/(?!\/)/gu, ` $1="${prefix}/`))

const contents = ({ sections }: DocsNavigation, path: string): Html =>
  html`<nav class="contents" id="contents" aria-label="Documentation">
    <p class="close"><a href="#main">Close</a></p>
    ${sections.map(
      ({ links, title }) =>
        html`<p class="label">${title}</p>
          <ul>
            ${links.map((link) => entry(link, path))}
          </ul>`
    )}
  </nav>`

/** The pages below a page are listed while one of them is open. */
const entry = (link: NavigationLink, path: string): Html =>
  html`<li>
    ${linkTo(link, path)}${
      link.below.length > 0 && (path === link.path || path.startsWith(`${link.path}/`))
        ? html`<ul>
            ${link.below.map((inner) => html`<li>${linkTo(inner, path)}</li>`)}
          </ul>`
        : undefined
    }
  </li>`

const linkTo = (link: NavigationLink, path: string): Html =>
  html`<a href="${link.path}" ${link.path === path ? html`aria-current="page"` : undefined}>${link.title}</a>`

const HEADINGS_MIN = 2

const onThisPage = (headings: ReadonlyArray<Heading>): Html | undefined =>
  headings.length < HEADINGS_MIN
    ? undefined
    : html`<details class="toc">
        <summary>On this page</summary>
        <nav aria-label="On this page">
          <ul>
            ${headings.map(({ id, level, title }) =>
              level > 3 ? undefined : html`<li class="level${level}"><a href="#${id}">${title}</a></li>`
            )}
          </ul>
        </nav>
      </details>`

const turn = ({ order }: DocsNavigation, path: string): Html | undefined => {
  const at = order.findIndex((link) => link.path === path)
  const [previous, next] = at < 0 ? [] : [order[at - 1], order[at + 1]]
  return previous === undefined && next === undefined
    ? undefined
    : html`<nav class="turn" aria-label="Previous and next page">
        ${previous === undefined ? undefined : html`<a rel="prev" href="${previous.path}"><span>Previous</span> ${previous.title}</a>`}
        ${next === undefined ? undefined : html`<a rel="next" href="${next.path}"><span>Next</span> ${next.title}</a>`}
      </nav>`
}
