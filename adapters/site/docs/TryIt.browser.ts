/**
 * Sends the request of an endpoint's page and shows its response. The key stays in this page; a key of a dashboard that is
 * open in this browser tab is filled in.
 */
import { parseShown } from "../kit/HiddenText.browser.ts"

const TEXT_CHARS_MAX = 20_000

const fieldOf = <E extends Element>(form: HTMLFormElement, selector: string): E | undefined =>
  form.querySelector<E>(selector) ?? undefined

const requestOf = (form: HTMLFormElement): { readonly url: string; readonly init: RequestInit } => {
  const { method = "GET", path = "", url = "" } = form.dataset
  const query = new URLSearchParams()
  let filled = path
  for (const input of form.querySelectorAll<HTMLInputElement>("input[data-in]")) {
    if (input.dataset["in"] === "path") filled = filled.replace(`{${input.name}}`, encodeURIComponent(input.value))
    else if (input.value !== "") query.set(input.name, input.value)
  }
  const key = fieldOf<HTMLInputElement>(form, "[name=key]")?.value.trim()
  const body = fieldOf<HTMLTextAreaElement>(form, "[name=body]")?.value
  return {
    url: `${new URL(url).pathname.replace(/\/$/u, "")}${filled}${query.size === 0 ? "" : `?${query}`}`,
    init: {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body }),
      credentials: "omit",
      redirect: "error"
    }
  }
}

const readable = (text: string): string => {
  try {
    return JSON.stringify(parseShown(text), null, 2)
  } catch {
    return text
  }
}

const show = (place: HTMLElement, title: string, text: string): void => {
  const heading = document.createElement("h3")
  heading.textContent = title
  const code = document.createElement("code")
  code.textContent = text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}\n…` : text
  const pre = document.createElement("pre")
  pre.append(code)
  place.replaceChildren(heading, ...(text === "" ? [] : [pre]))
  place.hidden = false
}

const send = async (form: HTMLFormElement, place: HTMLElement): Promise<void> => {
  const { init, url } = requestOf(form)
  try {
    const response = await fetch(url, init)
    show(place, `${response.status} ${response.statusText}`.trim(), readable(await response.text()))
  } catch (error) {
    show(place, "The request was not sent", error instanceof Error ? error.message : String(error))
  }
}

for (const form of document.querySelectorAll<HTMLFormElement>("form.try")) {
  const place = form.querySelector<HTMLElement>(".outcome")!
  const submit = form.querySelector<HTMLButtonElement>("button[type=submit]")!
  const key = fieldOf<HTMLInputElement>(form, "[name=key]")
  // The dashboards keep the key of the signed-in account here.
  if (key !== undefined) key.value = sessionStorage.getItem(`agent-tool-billing.${form.dataset["role"]}`) ?? ""
  form.hidden = false
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    submit.disabled = true
    void send(form, place).finally(() => {
      submit.disabled = false
    })
  })
}
