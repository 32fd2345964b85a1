import type { SearchQuery } from '../../../../src/protocol/ports/logSearch.ts'
import { type LogRecord, recordVersion } from '../../../../src/protocol/records.ts'
import { isErasable, type Store } from '../../../../src/protocol/ports/store.ts'
import { type Checks, demand, demandEqual, type ReopenChecks } from './contractDemands.ts'
import { createdAs } from './contractPages.ts'

type Searching = Store & Required<Pick<Store, 'search'>>

const said = (seq: number, text: string): LogRecord => ({
  v: recordVersion,
  seq,
  time: 1_700_000_000_000 + seq,
  runId: 'run',
  turnIndex: seq,
  type: 'message.added',
  nodeId: seq,
  parentId: null,
  message: { role: 'user', source: 'prompt', content: [{ type: 'text', text }] },
})

const texts: { readonly [id: string]: readonly string[] } = {
  a: ['The Quick brown fox jumps over read_file.', 'Nothing to see here, naïve café.', '数据库索引很慢', ''],
  b: [
    'The slow fox sleeps; quickly it wakes.',
    'שָׁלוֹם עולם',
    'مَرْحَبًا بالعالم',
    `two\nlines \u0000 "quotes" 🙂 ${'long '.repeat(5_000)}`,
  ],
}

/** Runs a check on a store with logs that have texts; passes for a store that cannot search. */
async function withTexts(store: Store, check: (store: Searching) => Promise<void>): Promise<void> {
  const { search } = store
  if (search === undefined) return
  for (const [id, lines] of Object.entries(texts)) {
    const lease = await store.open(id)
    await store.append(id, [createdAs(id, { metadata: { user: `of ${id}` } })])
    for (const [index, text] of lines.entries()) await store.append(id, [said(index + 2, text)])
    await lease.release()
  }
  await check(store as Searching)
}

/** Returns the hits of a query as `id/seq`, in the order of ids. */
async function found(store: Searching, query: SearchQuery): Promise<string[]> {
  const hits = await store.search(query)
  for (const [index, { rank }] of hits.entries())
    demand(rank <= (hits[index - 1]?.rank ?? Infinity), 'the best hits must come first.')
  return hits.map(({ agentId, seq }) => `${agentId}/${seq}`).toSorted()
}

const findings: readonly { readonly text: string; readonly is: readonly string[] }[] = [
  { text: 'fox', is: ['a/2', 'b/2'] },
  { text: '  FOX\t', is: ['a/2', 'b/2'] },
  { text: 'quick', is: ['a/2', 'b/2'] },
  { text: 'quick brown', is: ['a/2'] },
  { text: 'brown quick', is: ['a/2'] },
  { text: 'fox elephant', is: [] },
  { text: 'read_file', is: ['a/2'] },
  { text: 'naive cafe', is: ['a/3'] },
  { text: 'NAÏVE', is: ['a/3'] },
  { text: '索引', is: ['a/4'] },
  { text: '数据库', is: ['a/4'] },
  { text: '库数', is: [] },
  { text: 'שלום', is: ['b/3'] },
  { text: 'مرحبا', is: ['b/4'] },
  { text: 'quotes', is: ['b/5'] },
  { text: '', is: [] },
  { text: ' \n ', is: [] },
  { text: '🙂', is: [] },
]

/** Texts that a search engine may take for operators. */
const awkward = [
  '"',
  '""',
  "'",
  '*',
  'fox*',
  '^fox',
  'a:b',
  'words:fox',
  '-fox',
  '(',
  ')',
  '{fox}',
  'AND',
  'OR NOT',
  'NEAR(fox, 2)',
  'fox AND',
  '%',
  '_',
  '\\',
  '\u0000',
  '\ud800',
  '&|!:*',
  "fox' --",
  'x'.repeat(100_000),
  'fox '.repeat(10_000),
]

/** Checks of a store that can search. */
export const searching: Checks = {
  'search, where there is one, finds what has all of the words, in any script': (store) =>
    withTexts(store, async (some) => {
      for (const { text, is } of findings)
        demandEqual(await found(some, { text }), is, `search(${JSON.stringify(text)}) must find these.`)
    }),

  'search takes any text for words, and none for an error': (store) =>
    withTexts(store, async (some) => {
      for (const text of awkward) await some.search({ text })
      demandEqual(await found(some, { text: '"fox" -brown' }), ['a/2'], 'signs must mean nothing.')
    }),

  'search looks where it is told, and finds no more than it is told': (store) =>
    withTexts(store, async (some) => {
      demandEqual(await found(some, { text: 'fox', ids: ['b'] }), ['b/2'], 'only the agents that are named.')
      demandEqual(
        await found(some, { text: 'fox', metadata: { user: 'of a' } }),
        ['a/2'],
        'only what has the metadata.',
      )
      demandEqual(await found(some, { text: 'fox', within: ['a'] }), ['a/2'], 'only what lies within.')
      demandEqual(await found(some, { text: 'fox', parent: 'a' }), [], 'only what has the parent.')
      demandEqual((await some.search({ text: 'fox', limit: 1 })).length, 1, 'as many as the limit allows.')
      demandEqual(await some.search({ text: 'fox', limit: 0 }), [], 'none, where none is asked for.')
    }),

  'search shows what it found, on one line and short': (store) =>
    withTexts(store, async (some) => {
      const [{ excerpt } = { excerpt: '' }] = await some.search({ text: 'sleeps' })
      demand(excerpt.includes('fox sleeps'), 'the excerpt must have the word and what is around it.')
      const [long = { excerpt: '' }] = await some.search({ text: 'quotes' })
      demand(long.excerpt.includes('"quotes"') && !long.excerpt.includes('\n'), 'an excerpt is one line.')
      demand(long.excerpt.length < 500, 'an excerpt is short.')
    }),

  'search finds what was just appended, and nothing of a log that was deleted': (store) =>
    withTexts(store, async (some) => {
      await found(some, { text: 'fox' })
      const lease = await some.open('a')
      await some.append('a', [said(6, 'A second fox.')])
      demandEqual(await found(some, { text: 'fox' }), ['a/2', 'a/6', 'b/2'], 'what was stored must be found.')
      await lease.release()
      if (!isErasable(some)) return
      await some.delete('a')
      demandEqual(await found(some, { text: 'fox' }), ['b/2'], 'what is deleted must not be found.')
      const again = await some.open('c')
      await some.append('c', [createdAs('c', {}), said(2, 'An owl.')])
      await again.release()
      demandEqual(await found(some, { text: 'fox' }), ['b/2'], 'a new log has nothing of one that was deleted.')
      demandEqual(await found(some, { text: 'owl' }), ['c/2'], 'a new log must be found.')
    }),
}

/** Checks of search between two stores over the same data. */
export const reopenSearching: ReopenChecks = {
  'search finds what another store wrote, open or closed': (store, reopen) =>
    withTexts(store, async () => {
      const other = (await reopen()) as Searching
      demandEqual(await found(other, { text: 'fox' }), ['a/2', 'b/2'], 'what is in the store must be found.')
      const lease = await store.open('a')
      await store.append('a', [said(6, 'A second fox.')])
      demandEqual(await found(other, { text: 'fox' }), ['a/2', 'a/6', 'b/2'], 'what was written since must be found.')
      await store.append('a', [said(7, 'A third fox.')])
      await lease.release()
      await store.close()
      demandEqual(await found(other, { text: 'third' }), ['a/7'], 'what was written last must be found.')
    }),
}
