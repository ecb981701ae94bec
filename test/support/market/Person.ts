/**
 * A person at a page that they see for the first time, who finds everything by its visible name. A clock adds what each
 * action takes people on average, by the keystroke-level model (Card, Moran and Newell, 1983), and not what the machine takes.
 */
import { Effect } from "effect"
import type { Page } from "playwright-core"

const SECONDS = { key: 0.28, point: 1.1, press: 0.2, toKeyboard: 0.4, decide: 1.35, read: 5 } as const

export class Person {
  readonly page: Page
  seconds = 0

  constructor(page: Page) {
    this.page = page
  }

  /** Looks at a page or panel until it says `words`. */
  sees(words: string | RegExp) {
    this.seconds += SECONDS.read
    return Effect.promise(() => this.page.getByText(words).filter({ visible: true }).first().waitFor())
  }

  follows(name: string | RegExp) {
    return this.#presses("link", name)
  }

  presses(name: string | RegExp) {
    return this.#presses("button", name)
  }

  types(label: string | RegExp, text: string) {
    this.seconds += SECONDS.decide + SECONDS.point + SECONDS.press + SECONDS.toKeyboard + text.length * SECONDS.key
    return Effect.promise(() => this.page.getByLabel(label, { exact: true }).filter({ visible: true }).fill(text))
  }

  /** What was copied before, such as a key. */
  pastes(label: string | RegExp, text: string) {
    this.seconds += SECONDS.decide + SECONDS.point + SECONDS.press + SECONDS.toKeyboard + 2 * SECONDS.key
    return Effect.promise(() => this.page.getByLabel(label, { exact: true }).filter({ visible: true }).fill(text))
  }

  chooses(label: string | RegExp, option: string) {
    this.seconds += SECONDS.decide + 2 * (SECONDS.point + SECONDS.press)
    return Effect.promise(() =>
      this.page.getByLabel(label, { exact: true }).filter({ visible: true }).selectOption({ label: option })
    )
  }

  #presses(role: "button" | "link", name: string | RegExp) {
    this.seconds += SECONDS.decide + SECONDS.point + SECONDS.press
    return Effect.promise(() => this.page.getByRole(role, { name }).filter({ visible: true }).first().click())
  }
}
