import { setImmediate as breathe } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { hasCode, messageOf } from '../../../../src/protocol/errors.ts'
import { maxMemoryChars, type Memory, type MemoryRecord } from '../../../../src/protocol/ports/memory.ts'
import { owned } from './contractDemands.ts'

/** One guarantee of a memory, as a case for any test runner. */
export interface MemoryContractCase {
  readonly name: string
  /** Rejects with a readable error if the guarantee is broken. Creates its own memory, and closes it if it has `close`. */
  run(): Promise<void>
}

export interface MemoryContractOptions {
  /** Creates a memory without any record. */
  create(): Promise<Memory> | Memory
  /** Opens the records of the last created memory again, as another process would. Omit it for a memory that keeps nothing. */
  reopen?(): Promise<Memory> | Memory
}

/**
 * The contract of `Memory` as cases for any test runner: `for (const { name, run } of memoryContract({ create })) it(name, run)`.
 * Cases are independent but must not run at the same time when `reopen` is given.
 */
export function memoryContract({ create, reopen }: MemoryContractOptions): readonly MemoryContractCase[] {
  const alone = Object.entries(memoryChecks).map(([name, check]): MemoryContractCase => ({
    name,
    run: () => closing(async (opened) => check(opened(await create()))),
  }))
  if (reopen === undefined) return alone
  const twice = Object.entries(sharedChecks).map(([name, check]): MemoryContractCase => ({
    name,
    run: () => closing(async (opened) => check(opened(await create()), opened(await reopen()))),
  }))
  return [...alone, ...twice]
}

async function closing(work: (opened: (memory: Memory) => Memory) => Promise<void>): Promise<void> {
  const open: Memory[] = []
  const opened = (memory: Memory): Memory => {
    open.push(memory)
    return memory
  }
  try {
    await work(opened)
  } finally {
    for (const memory of open) {
      const close: unknown = Reflect.get(memory, 'close')
      if (typeof close === 'function') await Reflect.apply(close, memory, [])
    }
  }
}

const demand = (condition: boolean, rule: string): void => {
  if (!condition) throw new Error(`The memory breaks its contract: ${rule}`)
}

function demandEqual(actual: unknown, expected: unknown, rule: string): void {
  const show = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 500)
  demand(isDeepStrictEqual(actual, expected), `${rule}\n  expected ${show(expected)}\n  got      ${show(actual)}`)
}

async function demandRefusal(work: () => Promise<unknown>, rule: string): Promise<void> {
  let answer: Promise<unknown> | undefined
  try {
    answer = owned(work())
  } catch (thrown) {
    demand(false, `${rule} It threw where it must reject: ${messageOf(thrown)}`)
  }
  try {
    await answer
  } catch (thrown) {
    return demand(hasCode(thrown, 'MEMORY_INVALID'), `${rule} It must reject with MEMORY_INVALID: ${messageOf(thrown)}`)
  }
  demand(false, rule)
}

const record = (id: string, text: string, more: Partial<MemoryRecord> = {}): MemoryRecord => ({
  id,
  scope: 'user:a',
  kind: 'fact',
  text,
  source: { by: 'model', agentId: 'agent1', runId: 'agent1/r0' },
  tainted: false,
  confirmations: ['agent1/r0'],
  approved: false,
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_000_000,
  ...more,
})

const idsOf = (records: readonly MemoryRecord[]): string[] => records.map(({ id }) => id)

const awkward = [
  'two\nlines, "quotes", \\, \u2028, é, 漢字, 🙂 and --> <!-- {"a":1} -->',
  '# a heading\n## another one\n\\## escaped\n\n---\n- item\n   indented\n```\n## in code\n```',
  'שלום עולם, \u202Bمرحبا\u202C و a.b/c',
  'x'.repeat(maxMemoryChars),
]

const operators = [
  '"',
  '" OR "',
  '"likes" OR NEAR(',
  'likes AND',
  '*',
  'text:',
  '-tea',
  '^',
  '(',
  "'; DROP TABLE memories; --",
  '{a b}: c',
]

const memoryChecks: { readonly [name: string]: (memory: Memory) => Promise<void> } = {
  'gives back what was put, word for word': async (memory) => {
    const put = awkward.map((text, index) => record(`r${index}`, text, { updatedAt: 1_700_000_000_000 - index }))
    for (const one of put) demandEqual(await memory.put(one), one, 'put must resolve to what is kept.')
    demandEqual(await memory.list(), put, 'list must give the records as they were put.')
    demandEqual(await memory.search('quotes'), [put[0]], 'search must give the records as they were put.')
  },

  'keeps one record when the same is put twice': async (memory) => {
    const one = record('r', 'Likes tea.')
    await memory.put(one)
    demandEqual(await memory.put(one), one, 'a second put of the same record must change nothing.')
    demandEqual(await memory.list(), [one], 'there must be one record.')
  },

  'merges what is put under the same id, also when it is put at once': async (memory) => {
    const runs = Array.from({ length: 6 }, (_, index) => `agent${index}/r0`)
    await Promise.all(runs.map((run) => memory.put(record('r', 'Likes tea.', { confirmations: [run] }))))
    await memory.put(record('r', 'Hates tea.', { tainted: true, confirmations: ['agent9/r0'] }))
    const [kept, ...others] = await memory.list()
    demandEqual(others, [], 'there must be one record.')
    demandEqual([...(kept?.confirmations ?? [])].toSorted(), runs, 'every run must be noted, but none that is tainted.')
    demandEqual([kept?.text, kept?.tainted], ['Likes tea.', false], 'what is tainted must not replace what is not.')
  },

  'keeps scopes apart': async (memory) => {
    await memory.put(record('r', 'Likes tea.'))
    await memory.put(record('r', 'Likes tea, too.', { scope: 'user:A' }))
    await memory.put(record('r', 'Tea is here.', { scope: 'workspace:a' }))
    for (const scope of ['user:a', 'user:A', 'workspace:a'] as const) {
      const rule = 'nothing of another scope may be found.'
      demandEqual(
        (await memory.list({ scopes: [scope] })).map((one) => one.scope),
        [scope],
        rule,
      )
      demandEqual(
        (await memory.search('tea', { scopes: [scope] })).map((one) => one.scope),
        [scope],
        rule,
      )
    }
    demandEqual(await memory.list({ scopes: ['user:b'] }), [], 'an unknown scope has nothing.')
    demandEqual(await memory.search('tea', { scopes: [] }), [], 'no scope has nothing.')
    demandEqual((await memory.list({ scopes: ['user:a', 'user:A'] })).length, 2, 'several scopes may be asked for.')
  },

  'finds words whatever their case, accents and script': async (memory) => {
    const texts = {
      cafe: 'The Café opens at 9.',
      tokyo: '東京に住んでいます。',
      shalom: 'שָׁלוֹם עולם',
      file: 'See read_file.ts',
    }
    for (const [id, text] of Object.entries(texts)) await memory.put(record(id, text))
    const queries = {
      CAFE: 'cafe',
      café: 'cafe',
      '9': 'cafe',
      東京: 'tokyo',
      שלום: 'shalom',
      read_file: 'file',
      'FILE?': 'file',
    }
    for (const [query, id] of Object.entries(queries))
      demandEqual(idsOf(await memory.search(query)), [id], `"${query}" must find "${id}".`)
    demandEqual(await memory.search('zzz'), [], 'what no record has is not found.')
  },

  'takes no text for an operator': async (memory) => {
    await memory.put(record('r', 'She likes tea.'))
    for (const query of operators) {
      const hasWord = /likes|tea|text/.test(query)
      const found = await memory.search(query)
      demand(hasWord || found.length === 0, `${JSON.stringify(query)} has no word of the record.`)
      if (/likes|tea/.test(query)) demandEqual(idsOf(found), ['r'], `${JSON.stringify(query)} must find the record.`)
    }
    for (const query of ['', ' \n', '…!?']) demandEqual(await memory.search(query), [], 'no words, nothing found.')
    demandEqual(idsOf(await memory.search(`tea ${'word '.repeat(100_000)}`)), ['r'], 'a long query must be taken.')
  },

  'puts the best first': async (memory) => {
    await memory.put(
      record('one', 'The build uses vite and nothing else of that kind.', { updatedAt: 1_700_000_000_009 }),
    )
    await memory.put(record('both', 'The deploy script is run after the build.'))
    await memory.put(record('none', 'The cat sleeps.'))
    demandEqual(idsOf(await memory.search('deploy build', {})), ['both', 'one'], 'more of the words is better.')
    demandEqual(idsOf(await memory.search('deploy build', { limit: 1 })), ['both'], 'limit takes the best.')
  },

  'gives those that are trusted when asked': async (memory) => {
    await memory.put(record('known', 'Likes tea.'))
    await memory.put(record('tainted', 'Likes tea of tools.', { tainted: true, confirmations: [] }))
    await memory.put(record('approved', 'Likes tea of tools, says a person.', { tainted: true, approved: true }))
    await memory.put(record('once', 'Tea was tried.', { kind: 'lesson' }))
    await memory.put(record('twice', 'Tea was tried again.', { kind: 'lesson', confirmations: ['a/r0', 'b/r0'] }))
    const expected = ['approved', 'known', 'twice']
    demandEqual(idsOf(await memory.list({ trusted: true })).toSorted(), expected, 'list must give what is trusted.')
    demandEqual(idsOf(await memory.search('tea', { trusted: true })).toSorted(), expected, 'and so must search.')
    demandEqual((await memory.list()).length, 5, 'without the filter all are there.')
  },

  'lists what changed last first': async (memory) => {
    for (const [index, id] of ['b', 'c', 'a'].entries())
      await memory.put(record(id, `Text ${id}.`, { updatedAt: index + 1 }))
    demandEqual(idsOf(await memory.list()), ['a', 'c', 'b'], 'the newest goes first.')
    demandEqual(idsOf(await memory.list({ limit: 2 })), ['a', 'c'], 'limit takes the newest.')
  },

  'deletes by id, scope and source, and says how many': async (memory) => {
    await memory.put(record('a', 'Likes tea.'))
    await memory.put(record('b', 'Likes milk.'))
    await memory.put(record('c', 'Likes rum.', { source: { by: 'model', agentId: 'agent2' } }))
    await memory.put(record('a', 'Likes tea.', { scope: 'user:z' }))
    demandEqual(await memory.delete({ scope: 'user:a', id: 'a' }), 1, 'one record was meant.')
    demandEqual(await memory.delete({ scope: 'user:a', id: 'a' }), 0, 'it is gone already.')
    demandEqual(await memory.delete({ agentId: 'agent2' }), 1, 'one record is of that agent.')
    demandEqual(await memory.search('rum tea', { scopes: ['user:a'] }), [], 'what is deleted is not found.')
    demandEqual(
      (await memory.list()).map(({ scope, id }) => `${scope}/${id}`).toSorted(),
      ['user:a/b', 'user:z/a'],
      'the rest stays.',
    )
    demandEqual(await memory.delete({ scope: 'user:z' }), 1, 'a scope can be deleted.')
    await demandRefusal(() => memory.delete({}), 'delete must refuse to delete everything.')
    demandEqual((await memory.list()).length, 1, 'a refusal deletes nothing.')
  },

  'refuses what is no record, and keeps what was there': async (memory) => {
    const good = record('r', 'Likes tea.')
    await memory.put(good)
    const bad: readonly unknown[] = [
      undefined,
      { ...good, text: '' },
      { ...good, text: ' padded ' },
      { ...good, text: 'a\0b' },
      { ...good, text: '\uD800' },
      { ...good, text: 'x'.repeat(1_000_000) },
      { ...good, id: '../r' },
      { ...good, scope: 'everyone' },
      { ...good, scope: 'user:' },
      { ...good, more: 1 },
    ]
    for (const one of bad)
      await demandRefusal(() => memory.put(one as MemoryRecord), 'put must refuse what is no record.')
    await demandRefusal(() => memory.search(1 as never), 'search must refuse what is no text.')
    await demandRefusal(() => memory.list({ scopes: ['all' as never] }), 'list must refuse what is no scope.')
    await demandRefusal(() => memory.list({ limit: 0 }), 'list must refuse a limit of 0.')
    demandEqual(await memory.list(), [good], 'a refusal changes nothing.')
  },
}

const sharedChecks: { readonly [name: string]: (memory: Memory, other: Memory) => Promise<void> } = {
  'shows others what was put, merged and deleted': async (memory, other) => {
    await memory.put(record('r', 'Likes tea.'))
    demandEqual(idsOf(await other.search('tea')), ['r'], 'another process must find it.')
    await other.put(record('r', 'Likes tea.', { confirmations: ['b/r0'] }))
    demandEqual((await memory.list())[0]?.confirmations, ['agent1/r0', 'b/r0'], 'what another merged must be seen.')
    await other.delete({ id: 'r' })
    demandEqual(await memory.search('tea'), [], 'what another deleted must not be found.')
  },

  'loses nothing when two write at once': async (memory, other) => {
    const ids = Array.from({ length: 20 }, (_, index) => `r${index}`)
    const putAll = async (into: Memory, run: string): Promise<void> => {
      for (const id of ids) {
        await into.put(record(id, `Number ${id}.`, { confirmations: [run] }))
        await breathe()
      }
    }
    await Promise.all([putAll(memory, 'a/r0'), putAll(other, 'b/r0')])
    const kept = await memory.list()
    demandEqual(idsOf(kept).toSorted(), ids.toSorted(), 'every record must be kept.')
    for (const { confirmations } of kept)
      demandEqual([...confirmations].toSorted(), ['a/r0', 'b/r0'], 'every confirmation must be kept.')
  },
}
