/**
 * Copy buttons. Without clipboard access they select the text instead.
 */
const FEEDBACK_MS = 1_500

export const copy = async (source: HTMLElement, button: HTMLButtonElement): Promise<void> => {
  const label = button.textContent
  try {
    await navigator.clipboard.writeText(source.textContent)
    button.textContent = "Copied"
  } catch {
    getSelection()?.selectAllChildren(source)
    button.textContent = "Selected"
  }
  setTimeout(() => {
    button.textContent = label
  }, FEEDBACK_MS)
}

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  button.hidden = false
  button.addEventListener("click", () => {
    const text = button.parentElement?.querySelector<HTMLElement>("code")
    if (text !== null && text !== undefined) void copy(text, button)
  })
}
