/**
 * The search of the documentation. Its index is a file, loaded when the search is first used.
 */
/** Page and heading, address, words of the text, first words of it as written. */
type IndexEntry = readonly [title: string, address: string, words: string, excerpt: string]

const RESULTS_MAX = 12
const QUERY_CHARS_MAX = 100

const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .slice(0, QUERY_CHARS_MAX)
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== "")

/** Words match from their start, and from the start of their parts: `cost` finds `max_cost_microcents`. */
const matches = (text: string, word: string): boolean =>
  text.startsWith(word) || text.includes(` ${word}`) || text.includes(`_${word}`)

/** All words must be found. Those in the title count most. */
const scoreOf = ([title, , words]: IndexEntry, query: ReadonlyArray<string>): number => {
  const name = wordsOf(title).join(" ")
  let score = 0
  for (const word of query) {
    if (name.split(" ").includes(word)) score += 12
    else if (matches(name, word)) score += 8
    else if (matches(words, word)) score += 1
    else return 0
  }
  return score
}

export const search = (index: ReadonlyArray<IndexEntry>, text: string): ReadonlyArray<IndexEntry> => {
  const query = wordsOf(text)
  if (query.length === 0) return []
  return index
    .map((entry) => ({ entry, score: scoreOf(entry, query) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => entry)
}

export const startSearch = (): void => {
  const form = document.querySelector<HTMLFormElement>("form.search")
  const input = form?.querySelector("input")
  const results = form?.querySelector<HTMLElement>(".results")
  if (form === null || input === null || input === undefined || results === null || results === undefined) return
  const { index: address = "" } = form.dataset
  // Addresses in the index begin at the service's own root.
  const base = address.slice(0, address.lastIndexOf("/docs/"))
  let loaded: Promise<ReadonlyArray<IndexEntry>> | undefined

  const index = (): Promise<ReadonlyArray<IndexEntry>> => {
    loaded ??= fetch(address).then((response) => {
      if (!response.ok) throw new Error(`The search index is not available (${response.status}).`)
      return response.json() as Promise<ReadonlyArray<IndexEntry>>
    })
    return loaded
  }

  const linkTo = ([title, path, , excerpt]: IndexEntry): HTMLElement => {
    const link = document.createElement("a")
    link.href = `${base}${path}`
    const name = document.createElement("strong")
    name.textContent = title
    const text = document.createElement("span")
    text.textContent = excerpt
    link.append(name, text)
    return link
  }

  const update = async (): Promise<void> => {
    const query = input.value
    if (query.trim() === "") {
      results.hidden = true
      return
    }
    try {
      const found = search(await index(), query)
      if (input.value !== query) return
      const none = document.createElement("p")
      none.textContent = `No results for "${query.trim()}".`
      results.replaceChildren(...(found.length === 0 ? [none] : found.map(linkTo)))
    } catch (error) {
      loaded = undefined
      results.textContent = error instanceof Error ? error.message : String(error)
    }
    results.hidden = false
  }

  const move = (step: number): void => {
    const links = [...results.querySelectorAll("a")]
    const at = links.indexOf(document.activeElement as HTMLAnchorElement) + step
    if (at < 0) input.focus()
    else links[Math.min(at, links.length - 1)]?.focus()
  }

  form.hidden = false
  input.addEventListener("focus", () => void index().catch(() => (loaded = undefined)))
  input.addEventListener("input", () => void update())
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    results.querySelector("a")?.click()
  })
  form.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      move(event.key === "ArrowDown" ? 1 : -1)
    } else if (event.key === "Escape") {
      results.hidden = true
      input.focus()
    }
  })
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.matches("input, textarea, select")
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    input.focus()
  })
  addEventListener("click", (event) => {
    if (event.target instanceof Node && !form.contains(event.target)) results.hidden = true
  })
}
