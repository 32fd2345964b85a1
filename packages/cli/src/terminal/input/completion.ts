/** A completion of the typed text. */
export interface Completion {
  /** The text that replaces the typed part. */
  readonly text: string
  /** Words beside the completion in the list. */
  readonly detail?: string
  /** True if the completion makes the line complete, so that Enter sends it. */
  readonly isWhole?: boolean
}

/** Completions of the part of a text from `start` to `end`; the best first. */
export interface Completions {
  readonly start: number
  readonly end: number
  readonly items: readonly Completion[]
}

/**
 * Completes a text at a position; `undefined` if there is nothing to complete. Contract: returns at once, since it is called at every key.
 */
export type Completer = (text: string, at: number) => Completions | undefined

/** Combines several completers. The first that finds a completion answers. */
export const firstCompleter =
  (...completers: readonly Completer[]): Completer =>
  (text, at) => {
    for (const complete of completers) {
      const found = complete(text, at)
      if (found !== undefined && found.items.length > 0) return found
    }
    return undefined
  }

/** Completes the command at the beginning of a line. `commands`: by name, with its slash. */
export const commandCompleter =
  (commands: readonly Completion[]): Completer =>
  (text, at) => {
    const typed = /^\/[a-z]*$/.exec(text)?.[0]
    if (typed === undefined || at === 0) return undefined
    const begin = commands.filter(({ text: name }) => name.trimEnd().startsWith(typed))
    const within = commands.filter((item) => !begin.includes(item) && item.text.includes(typed.slice(1)))
    const exact = begin.findIndex(({ text: name }) => name.trimEnd() === typed)
    // Enter means what is typed, if that is a command.
    const first = exact === -1 ? [] : begin.splice(exact, 1)
    return { start: 0, end: text.length, items: [...first, ...begin, ...(typed.length < 3 ? [] : within)] }
  }

const mostFiles = 50

/** Completes `@` and a file path. `paths` returns the paths known so far. */
export const pathCompleter =
  (paths: () => readonly string[]): Completer =>
  (text, at) => {
    const found = /(?:^|\s)@([^\s@"]*)$/.exec(text.slice(0, at))
    if (found === null) return undefined
    const [, typed = ''] = found
    const rest = /^[^\s@"]*/.exec(text.slice(at))![0]
    const items = bestPaths(paths(), typed).map((path) => ({ text: /\s/.test(path) ? `@"${path}" ` : `@${path} ` }))
    return { start: at - typed.length - 1, end: at + rest.length, items }
  }

/** Returns paths that match a text, by rank: the path begins with it, the name does, the path contains it, or has its letters in order. Pure. */
export function bestPaths(paths: readonly string[], typed: string): string[] {
  const wanted = typed.toLowerCase()
  const ranks: string[][] = [[], [], [], []]
  for (const path of paths) {
    const lower = path.toLowerCase()
    const name = lower.slice(lower.lastIndexOf('/') + 1)
    const rank = lower.startsWith(wanted) ? 0 : name.startsWith(wanted) ? 1 : lower.includes(wanted) ? 2 : 3
    if (rank < 3 || holdsInOrder(lower, wanted)) ranks[rank]!.push(path)
  }
  return ranks.flat().slice(0, mostFiles)
}

function holdsInOrder(text: string, letters: string): boolean {
  let at = -1
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1)
    if (at === -1) return false
  }
  return true
}
