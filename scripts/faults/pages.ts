import type { Fault } from '../mutate.ts'

const contract = ['contracts/stores.']
const bridge = ['server/bridge/session']

/** Slips in lists of logs. */
export const faults: readonly Fault[] = [
  {
    id: 'pages-1',
    file: 'src/stores/sqlite/sqlitePages.ts',
    what: 'a page goes on with the other logs of the same moment left out',
    from: "sql: 'written_at <= ? AND (written_at < ? OR id > ?)'",
    to: "sql: 'written_at <= ? AND (written_at < ? OR id > ? AND 0)'",
    tests: contract,
  },
  {
    id: 'pages-2',
    file: 'src/stores/labels.ts',
    what: 'a number and its text are the same metadata',
    from: 'Object.entries(metadata).map(([key, value]) => [key, JSON.stringify(value)])',
    to: 'Object.entries(metadata).map(([key, value]) => [key, String(value)])',
    tests: contract,
  },
  {
    id: 'pages-3',
    file: 'src/stores/sqlite/sqliteStore.ts',
    what: 'what was deleted leaves its labels to the agent that gets its number',
    from: 'for (const label of labelsIn(row))',
    to: 'for (const label of labelsIn(row).slice(1))',
    tests: contract,
  },
  {
    id: 'pages-4',
    file: 'src/stores/logPages.ts',
    what: 'a token for an agent lists what is not below it',
    from: '(within === undefined || within.has(id) || (origin?.path.some((above) => within.has(above)) ?? false))',
    to: '(within === undefined || within.has(id) || origin !== undefined)',
    tests: contract,
  },
  {
    id: 'pages-5',
    file: 'src/stores/readPages.ts',
    what: 'the first record of every log is read for a page that asks for nothing it says',
    from: 'const needsOrigins = asksForOrigins(query)',
    to: 'const needsOrigins = asksForOrigins(query) || true',
    tests: bridge,
  },
  {
    id: 'pages-7',
    file: 'src/server/bridge/agentAccess.ts',
    what: 'a user who asks for the metadata of another is shown their own',
    from: '...(hasMetadata(both, metadata ?? {}) ? {} : { ids: [] }),',
    to: '',
    tests: bridge,
  },
  {
    id: 'pages-8',
    file: 'src/server/bridge/sessionIndex.ts',
    what: 'a page after a session that the token does not reach is given',
    from: 'if (from === undefined && after !== undefined) return undefined',
    to: '',
    tests: bridge,
  },
  {
    id: 'pages-9',
    file: 'src/sessions/listSessions.ts',
    what: 'more logs are read than a list is to have',
    from: 'if (summaries.length === limit) break',
    to: '',
    tests: bridge,
  },
  {
    id: 'pages-10',
    file: 'src/stores/sqlite/textIndex.ts',
    what: 'a search gives up what is missing when another process writes',
    from: 'if (!isBusy(thrown)) return\n        tries += 1',
    to: 'return',
    tests: ['stores/sqlite/textIndex'],
  },
  {
    id: 'pages-11',
    file: 'src/stores/searchText.ts',
    what: 'words of scripts without spaces are found only whole',
    from: 'folded.match(ascii.test(folded) ? asciiWord : word)',
    to: 'folded.match(ascii.test(folded) ? asciiWord : /[\\p{L}\\p{N}\\p{M}]+/gu)',
    tests: contract,
  },
]
