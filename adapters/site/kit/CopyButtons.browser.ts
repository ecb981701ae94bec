/**
 * Buttons that copy the text beside them. Without a clipboard they select it, so that the keyboard can.
 */
const SHOWN_MS = 1_500

export const copy = async (from: HTMLElement, button: HTMLButtonElement): Promise<void> => {
  const label = button.textContent
  try {
    await navigator.clipboard.writeText(from.textContent)
    button.textContent = "Copied"
  } catch {
    getSelection()?.selectAllChildren(from)
    button.textContent = "Selected"
  }
  setTimeout(() => {
    button.textContent = label
  }, SHOWN_MS)
}

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  button.hidden = false
  button.addEventListener("click", () => {
    const text = button.parentElement?.querySelector<HTMLElement>("code")
    if (text !== null && text !== undefined) void copy(text, button)
  })
}
