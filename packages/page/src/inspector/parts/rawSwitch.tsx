import { isRaw } from '../model/words/rawText.ts'

/** Switch that shows the messages of the page as Markdown, or as they were written. */
export const RawSwitch = () => (
  <button
    type="button"
    class="button quiet"
    aria-pressed={isRaw.value}
    title="Show messages as plain text, without Markdown"
    onClick={() => (isRaw.value = !isRaw.value)}
  >
    Raw
  </button>
)
