export interface JsonLines {
  readonly values: readonly unknown[]
  /** True if the last line was cut off, as when the writer was killed; it is left out. */
  readonly isTorn: boolean
  /** Lines before the last that are not JSON, with their numbers. */
  readonly bad: readonly string[]
}

/** Splits a text into the values of its lines. */
export function jsonLines(text: string): JsonLines {
  const values: unknown[] = []
  const bad: string[] = []
  const lines = text.split('\n')
  const last = lines.findLastIndex((line) => line.trim() !== '')
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const value = parsed(line)
    if (value !== undefined) values.push(value)
    else if (index === last && values.length > 0) return { values, isTorn: true, bad }
    else bad.push(`line ${index + 1} is not JSON: ${JSON.stringify(line.slice(0, 60))}`)
  }
  return { values, isTorn: false, bad }
}

/** The value of a text that is JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
