/** The arguments of a call as JSON; the text itself when it is not JSON, so that the tool layer can tell the model. */
export function parseInput(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
