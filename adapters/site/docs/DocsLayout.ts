/**
 * The frame of every page of the documentation: search, navigation, contents of the page, previous and next page.
 */
import { Effect } from "effect"
import { BaseUrl, prefixOf } from "../../http/contract/BaseUrl.ts"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import { Assets, assetsVersion, importsOf } from "../kit/Assets.ts"
import { Html, html } from "../kit/Html.ts"
import { pageReply, siteFooter, siteHeader } from "../kit/Site.ts"
import { siteStyle } from "../kit/SiteStyle.ts"
import type { DocsNavigation, NavigationLink } from "./DocsNavigation.ts"
import type { Heading } from "./Markdown.ts"

/** A page of the documentation before it is laid out. */
export interface DocsContent {
  readonly title: string
  readonly description: string
  readonly headings: ReadonlyArray<Heading>
  readonly tries?: boolean
  readonly body: Html
  /** Default: written from the body. */
  readonly markdown?: string
}

/** A page's address, and its content when it is first requested. */
export type DocsSource<Content> = readonly [path: `/${string}`, content: Content]

const MONO = `ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace`

/** Search, navigation, list of headings, previous and next page. */
const frame = `
.site nav,.foot,.bar,.frame{max-width:96rem;margin:0 auto;padding-left:1.25rem;padding-right:1.25rem}
.bar{display:flex;gap:1rem;align-items:center;justify-content:space-between;padding-top:.7rem;padding-bottom:.7rem;min-height:3.6rem}
.menu{font-weight:600;padding:.3rem 0}
.search{position:relative;flex:1;max-width:26rem;margin-left:auto}
.search input{padding:.4rem .8rem;border-color:var(--line)}
.results{position:absolute;right:0;top:calc(100% + .4rem);width:min(34rem,calc(100vw - 2.5rem));max-height:70vh;overflow:auto;background:var(--ground);border:1px solid var(--line);border-radius:12px;padding:.4rem;z-index:2;box-shadow:0 12px 32px #0003}
.results p{margin:.5rem .7rem}
.results a{display:block;padding:.45rem .7rem;border-radius:8px;color:var(--ink);text-decoration:none;overflow-wrap:anywhere}
.results a:hover,.results a:focus-visible{background:var(--tint)}
.results strong,.results span{display:block}
.results span{color:var(--muted);font-size:.875rem;line-height:1.4}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.frame main{max-width:none;margin:0;padding:1rem 0 3rem;min-width:0}
.contents{display:none;font-size:.9375rem;border:1px solid var(--line);border-radius:12px;padding:1rem 1.25rem;margin-bottom:1rem}
.contents:target{display:block}
.contents ul{list-style:none;margin:0 0 .8rem;padding:0}
.contents ul ul{margin:.1rem 0 .4rem;padding-left:.8rem;border-left:1px solid var(--line)}
.contents li{margin:0}
.contents a{display:block;padding:.25rem .5rem;border-radius:6px;color:var(--ink);text-decoration:none;overflow-wrap:anywhere;line-height:1.35}
.contents a:hover{background:var(--tint)}
.contents a[aria-current]{background:var(--tint);color:var(--accent);font-weight:650}
.contents .label{margin:1rem 0 .2rem;padding:0 .5rem;font-size:.8125rem;font-weight:650;color:var(--muted)}
.close{float:right;margin:0}
.toc{border:1px solid var(--line);border-radius:10px;padding:.4rem .9rem;margin-bottom:1rem;font-size:.875rem}
.toc summary{font-weight:600;color:var(--ink)}
.toc ul{list-style:none;margin:0;padding:0}
.toc li{margin:0}
.toc a{display:block;padding:.2rem 0;color:var(--muted);text-decoration:none;overflow-wrap:anywhere;line-height:1.35}
.toc a:hover{color:var(--accent)}
.toc .level3{padding-left:.8rem}
.turn{display:flex;flex-wrap:wrap;gap:.8rem;justify-content:space-between;border-top:1px solid var(--line);margin:3rem 0 1rem;padding-top:1.2rem}
.turn a{border:1px solid var(--line);border-radius:10px;padding:.6rem 1rem;text-decoration:none;font-weight:600;max-width:100%;overflow-wrap:anywhere}
.turn a:hover{border-color:var(--accent)}
.turn [rel=next]{margin-left:auto;text-align:right}
.turn span{display:block;font-size:.8125rem;font-weight:400;color:var(--muted)}
@media (min-width:60rem){
.menu,.close{display:none}
.frame{display:grid;grid-template-columns:15.5rem minmax(0,1fr);gap:0 2.5rem;align-items:start}
.contents{display:block;position:sticky;top:0;max-height:100vh;overflow:auto;border:0;border-radius:0;margin:0;padding:.2rem .25rem 2rem 0;font-size:.875rem;scrollbar-width:thin}
.contents .label:first-of-type{margin-top:.4rem}
.contents{grid-row:1/span 2}
.toc,.frame main{grid-column:2}
}
@media (min-width:75rem){
.frame:has(.toc){grid-template-columns:15.5rem minmax(0,1fr) 13.5rem}
.toc{grid-column:3;grid-row:1;position:sticky;top:0;max-height:100vh;overflow:auto;border:0;padding:1.2rem 0 2rem;margin:0;scrollbar-width:thin}
.frame:has(.toc) main{grid-row:1}
}
`

const text = `
.frame h1{font-size:clamp(1.8rem,1.4rem + 1.6vw,2.4rem)}
.frame h2{font-size:1.5rem;margin:2.5rem 0 .8rem;padding-top:.2rem}
.frame h3{font-size:1.15rem;margin:1.8rem 0 .6rem}
.frame main>p,.frame main>ul,.frame main>ol,.frame main>.copyable,.frame main section>p,.frame main section>ul{max-width:48rem}
.anchor{color:inherit;text-decoration:none}
.anchor::after{content:" #";color:var(--muted);opacity:0}
.anchor:hover::after,.anchor:focus-visible::after{opacity:1}
:target>.anchor::after,:target>h2>.anchor::after{opacity:1;color:var(--accent)}
.frame td,.frame tbody th{min-width:7rem;white-space:normal;overflow-wrap:break-word}
.cards{list-style:none;padding:0;display:grid;gap:.8rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr));max-width:none!important}
.cards li{margin:0;border:1px solid var(--line);border-radius:12px;padding:.8rem 1rem}
.cards a{font-weight:650}
.cards span{display:block;color:var(--muted);font-size:.9375rem}
.flow{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;max-width:none!important}
.flow li{margin:0}
.flow a{display:inline-block;padding:.15rem 0}
[data-moved]:target{background:var(--tint)}
.error{padding-top:.1rem}
.error:target{background:var(--panel);border-radius:10px;box-shadow:0 0 0 .8rem var(--panel)}
`

const reference = `
.method{display:inline-block;font:650 .75rem/1.5 ${MONO};border-radius:5px;padding:.05rem .4rem;letter-spacing:.02em;background:var(--tint);color:var(--ink)}
.method.get{background:var(--get-ground);color:var(--get)}
.method.post,.method.put{background:var(--post-ground);color:var(--post)}
.method.delete{background:var(--delete-ground);color:var(--delete)}
.index{list-style:none;padding:0;max-width:none!important}
.index li{margin:0;padding:.7rem 0;border-top:1px solid var(--line)}
.index a{font-weight:600}
.line{display:flex;gap:.6rem;align-items:baseline}
.line code{font-weight:600}
.index .line{margin-top:.15rem;color:var(--muted)}
.who{display:inline-block;background:var(--tint);border-radius:999px;padding:.15rem .8rem;font-size:.875rem}
.columns{display:grid;gap:.5rem 2.25rem;grid-template-columns:minmax(0,1fr)}
.fields code{font-size:.875em}
.fields tbody th{width:46%;min-width:0;padding-right:1.25rem}
.fields td{min-width:0}
.fields th>code{background:none;padding:0;font-weight:650}
.required{color:var(--accent);font-size:.8125rem;font-weight:600;white-space:nowrap}
.type{display:block;font-size:.8125rem;font-weight:400;color:var(--muted);line-height:1.5}
.type code{font-size:inherit}
.problems{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.35rem .9rem;font-size:.9375rem}
.problems li{margin:0}
.problems a{text-decoration:none}
.problems a:hover{text-decoration:underline}
.problems a code{background:none;padding:0;color:var(--ink)}
.status{font:650 .875rem/1.5 ${MONO};border-radius:5px;padding:.05rem .4rem;background:var(--tint)}
.status.s2{background:var(--get-ground);color:var(--get)}
.status.s4,.status.s5{background:var(--delete-ground);color:var(--delete)}
.answer{border-top:1px solid var(--line);padding:.3rem 0}
.answer summary{padding:.3rem 0;color:var(--ink)}
summary code{background:var(--tint);border-radius:4px;padding:.1em .3em}
.answer>.fields:only-of-type caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
figure{border-radius:10px;overflow:hidden;background:var(--code-ground);color:var(--code-ink)}
figure pre{margin:0;border-radius:0;font-size:.875rem}
figcaption,[role=tablist]{font-size:.8125rem;font-weight:600;padding:.55rem 1.1rem;color:var(--code-ink);background:var(--code-ground);border-bottom:1px solid color-mix(in srgb,var(--code-muted) 30%,transparent)}
[role=tablist]{display:flex;gap:.4rem;padding:.35rem .7rem;border-radius:10px 10px 0 0}
[role=tablist]~figure{border-radius:0 0 10px 10px}
[role=tab]{background:transparent;border:0;color:var(--code-muted);padding:.2rem .5rem;border-radius:6px;font-size:.8125rem}
[role=tab][aria-selected=true]{color:var(--code-ink);background:color-mix(in srgb,var(--code-muted) 30%,transparent)}
.tall{max-height:26rem;overflow:auto;color-scheme:dark;scrollbar-width:thin}
.tall:focus-visible{outline-offset:-3px;outline-color:var(--code-key)}
.key{color:var(--code-key)}.str{color:var(--code-text)}.lit{color:var(--code-literal)}
.try{border:1px solid var(--line);border-radius:12px;padding:1rem 1.1rem;margin-top:2rem;display:grid;gap:.9rem;grid-template-columns:minmax(0,1fr)}
.try h2{margin:0;font-size:1.25rem}
.try p{margin:0}
.outcome pre{max-height:26rem;overflow:auto;margin:0}
@media (max-width:40rem){
.fields,.fields :is(caption,tbody,tr,th,td){display:block;width:auto}
.fields thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.fields tbody th{width:auto}
.fields tbody tr{border-top:1px solid var(--line);padding:.6rem 0}
.fields :is(th,td){border:0;padding:.1rem 0}
}
@media (min-width:75rem){
.columns{grid-template-columns:minmax(0,1fr) minmax(0,26rem)}
.aside{position:sticky;top:1rem;align-self:start}
}
@media print{.contents,.skip,.bar,.toc,.turn{display:none!important}.tall{max-height:none}pre,figure{break-inside:avoid}}
`

const docsStyle = `${siteStyle}${frame}${text}${reference}`

interface DocsPage extends DocsContent {
  readonly path: string
}

/** Styles of the documentation: navigation, text and list of headings side by side, in one column on narrow screens. */
export type DocsLayout = (page: DocsPage) => EncodedReply

/** `/docs/search.json` is loaded when the search of any page is first used. */
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
