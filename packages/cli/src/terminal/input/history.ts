/** Earlier entries, and the one that is shown. */
export interface HistoryState {
  /** The entries, the newest last. */
  readonly entries: readonly string[]
  /** Index of the shown entry; the length of `entries` while the typed line itself is shown. */
  readonly index: number
  /** The typed line, kept while entries are shown. */
  readonly draft: string
}

/** Maximum number of entries, in memory and in the file. */
export const mostEntries = 1_000

/** Returns a history that shows the typed line. */
export const historyOf = (entries: readonly string[]): HistoryState => ({ entries, index: entries.length, draft: '' })

/** Adds an entry, unless it is blank, begins with a space, or repeats the last one. Pure. */
export function withEntry({ entries }: HistoryState, entry: string): HistoryState {
  if (!isKept(entry) || entries.at(-1) === entry) return historyOf(entries)
  return historyOf([...entries.slice(1 - mostEntries), entry])
}

/** Returns true if an entry is kept. As in shells, an entry that begins with a space is not. */
export const isKept = (entry: string): boolean => entry.trim() !== '' && !entry.startsWith(' ')

/** Moves to the entry before (-1) or after (1) the shown one; `undefined` if there is none. `typed`: the text in the line. Pure. */
export function moveInHistory(
  state: HistoryState,
  step: -1 | 1,
  typed: string,
): { readonly state: HistoryState; readonly text: string } | undefined {
  const { entries, index } = state
  const to = index + step
  if (to < 0 || to > entries.length) return undefined
  const draft = index === entries.length ? typed : state.draft
  return { state: { ...state, index: to, draft }, text: entries[to] ?? draft }
}

/** Returns the index of the newest entry before `from` whose text contains `query`, ignoring case; -1 if none does. Pure. */
export function searchHistory(
  entries: readonly string[],
  query: string,
  from = entries.length,
  textOf: (entry: string) => string = (entry) => entry,
): number {
  const wanted = query.toLowerCase()
  return entries.findLastIndex((entry, index) => index < from && textOf(entry).toLowerCase().includes(wanted))
}
