import { ReplayError } from '../recordedSession.ts'

export interface JsonLines {
  readonly values: readonly unknown[]
  /** True if the last line was cut off, as when the writer was killed; it is left out. */
  readonly isTorn: boolean
}

/** @throws ReplayError naming the line, when one before the last is not JSON. */
export function jsonLines(text: string, name: string): JsonLines {
  const values: unknown[] = []
  const lines = text.split('\n')
  const last = lines.findLastIndex((line) => line.trim() !== '')
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const value = parsed(line)
    if (value !== undefined) values.push(value)
    else if (index === last && values.length > 0) return { values, isTorn: true }
    else throw new ReplayError(`${name}, line ${index + 1} is not JSON: ${JSON.stringify(line.slice(0, 60))}`)
  }
  return { values, isTorn: false }
}

/** The value of a text that is JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
