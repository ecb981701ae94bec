/**
 * All pages of the documentation, in the order of the navigation.
 */
import { Context } from "effect"
import { OpenApi, HttpApi } from "effect/http-api"
import { allEndpoints, Api } from "../../http/openapi/Api.ts"
import { ERRORS_PAGE } from "../../http/contract/Problem.ts"
import { guidePath, guideSections } from "./DocsMap.ts"
import { OPERATOR_PAGES, operatorPageNames } from "./OperatorPages.ts"

export interface NavigationLink {
  readonly path: string
  readonly title: string
  readonly below: ReadonlyArray<NavigationLink>
}

export interface NavigationSection {
  readonly title: string
  readonly links: ReadonlyArray<NavigationLink>
}

export interface DocsNavigation {
  readonly sections: ReadonlyArray<NavigationSection>
  /** Every page once, for the links to the previous and the next one. */
  readonly order: ReadonlyArray<NavigationLink>
}

export const API_PAGE = "/docs/api"

/** `receipts.find` is at `/docs/api/receipts/find`. */
export const operationPath = (operationId: string): string => {
  const [group = "", name = ""] = operationId.split(".")
  return `${resourcePath(group)}/${kebab(name)}`
}

export const resourcePath = (group: string): string => `${API_PAGE}/${kebab(group)}`

const kebab = (name: string): string => name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)

const link = (path: string, title: string, below: ReadonlyArray<NavigationLink> = []): NavigationLink => ({
  path,
  title,
  below
})

/** Pages of the site with a layout of their own. An app that mounts the API below a prefix does not have them. */
const ELSEWHERE = [link("/changelog", "Changelog"), link("/spec", "Specification")]

/** A group of the contract with a page for each of its operations. */
const resources = (): ReadonlyArray<NavigationLink> => {
  const groups: Array<NavigationLink> = []
  HttpApi.reflect(Api, {
    onGroup: ({ group }) => {
      const operations = allEndpoints().filter(({ operationId }) => operationId.startsWith(`${group.identifier}.`))
      groups.push(
        link(
          resourcePath(group.identifier),
          Context.getOrElse(group.annotations, OpenApi.Title, () => group.identifier),
          operations.map(({ operationId, summary }) => link(operationPath(operationId), summary))
        )
      )
    },
    onEndpoint: () => {}
  })
  return groups
}

export const docsNavigation = (prefix = ""): DocsNavigation => {
  const written = guideSections.map(({ guides, title }) => ({
    title,
    links: guides.map((guide) => link(guidePath(guide), guide.title))
  }))
  const [start, taught, ...others] = written
  const about = others.at(-1)!
  const sections: ReadonlyArray<NavigationSection> = [
    { title: start!.title, links: [link("/docs", "Overview"), ...start!.links] },
    taught!,
    { title: "API reference", links: [link(API_PAGE, "Conventions"), ...resources(), link(ERRORS_PAGE, "Errors")] },
    ...others.slice(0, -1),
    {
      title: about.title,
      links: [
        ...about.links,
        ...(prefix === "" ? ELSEWHERE : []),
        ...OPERATOR_PAGES.map((page) => link(`/docs/${page}`, operatorPageNames[page].title))
      ]
    }
  ]
  const flat = (links: ReadonlyArray<NavigationLink>): ReadonlyArray<NavigationLink> =>
    links.flatMap((one) => [one, ...flat(one.below)])
  return { sections, order: flat(sections.flatMap(({ links }) => links)).filter((one) => !ELSEWHERE.includes(one)) }
}
