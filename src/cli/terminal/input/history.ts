/** What was said before, and which of it is shown. */
export interface HistoryState {
  /** The newest last. */
  readonly entries: readonly string[]
  /** Of the entry that is shown; as long as `entries`, it is what is typed. */
  readonly index: number
  /** What was typed when the first entry was shown. */
  readonly draft: string
}

/** Entries kept, in memory and in the file. */
export const mostEntries = 1_000

/** A history that shows what is typed. */
export const historyOf = (entries: readonly string[]): HistoryState => ({ entries, index: entries.length, draft: '' })

/** Adds an entry, unless it is blank, begins with a space or is the last one again. Pure. */
export function withEntry({ entries }: HistoryState, entry: string): HistoryState {
  if (!isKept(entry) || entries.at(-1) === entry) return historyOf(entries)
  return historyOf([...entries.slice(1 - mostEntries), entry])
}

/** Whether an entry is kept: one that begins with a space is not, as in shells. */
export const isKept = (entry: string): boolean => entry.trim() !== '' && !entry.startsWith(' ')

/** The entry before (-1) or after (1) the one that is shown; `undefined` where there is none. `typed`: what is in the line. Pure. */
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

/** The index of the newest entry before `from` whose text holds `query`, whatever its case; -1 if none does. Pure. */
export function searchHistory(
  entries: readonly string[],
  query: string,
  from = entries.length,
  textOf: (entry: string) => string = (entry) => entry,
): number {
  const wanted = query.toLowerCase()
  return entries.findLastIndex((entry, index) => index < from && textOf(entry).toLowerCase().includes(wanted))
}
