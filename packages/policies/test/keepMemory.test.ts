import { defineAgent } from '../../define/src/defineAgent.ts'
import { keep } from '../src/keep.ts'
import type { KeepMemoryOptions } from '../src/keepMemory.ts'
import type { Memory, MemoryRecord } from '../../../src/protocol/ports/memory.ts'
import { Redactor } from '../../redaction/src/redactor.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { emptyMemory } from '../../tools/test/memory/memorySupport.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import type { Wanted } from './fakeConsultation.ts'
import { kept, memoOf, worked } from './keptSteps.ts'

/** A memory that holds what it is given, by id. */
function listMemory(): Memory & { readonly records: Map<string, MemoryRecord>; puts: number } {
  const records = new Map<string, MemoryRecord>()
  const store = {
    records,
    puts: 0,
    put: async (record: MemoryRecord) => {
      store.puts += 1
      records.set(record.id, record)
      return record
    },
    search: async () => [...records.values()],
    list: async () => [...records.values()],
    delete: async () => 0,
  }
  return store
}

const textsIn = ({ records }: ReturnType<typeof listMemory>): string[] => [...records.values()].map(({ text }) => text)

/** A conversation in which nobody but a person and the model said something. */
function talked(): BrakeLog {
  const log = new BrakeLog()
  log.user('I like tea.')
  log.reply('Then tea it is.')
  log.reply('Anything else?')
  return log
}

describe('memory', (it) => {
  it('stores what can be told without a model, and leaves a memo that says so', async () => {
    const store = listMemory()
    const memo = await memoOf(keep.memory(store), { clock: simulatedClock(5_000) })
    assert.equal(textsIn(store), [
      'Files changed: src/token.ts',
      'Cannot be undone: pay {"eur":5} → paid',
      'Denied by a person: deploy {"to":"prod"} → never on Fridays',
      'Last error of run: TypeError: no token',
      'Said: The cause is in src/token.ts: it loses the last token.',
    ])
    const [record] = store.records.values()
    assert.match(record!.id, /^m[0-9a-f]{16}$/)
    assert.equal(record, {
      id: record!.id,
      scope: 'agent:tester',
      kind: 'fact',
      text: 'Files changed: src/token.ts',
      source: { by: 'extraction', agentId: 'a', runId: 'a/r0' },
      tainted: true,
      confirmations: [],
      approved: false,
      createdAt: 5_000,
      updatedAt: 5_000,
    })
    assert.match(memo, /^n2–n8 4 steps; .*\nPut into memory:\n- Files changed: src\/token\.ts\n- Cannot/)
    assert.match(memo, /\n\(recall brings the steps back word for word\.\)$/)
  })

  it('takes for an error only what a tool said itself', async () => {
    const log = new BrakeLog()
    log.step([{ name: 'run', isError: true, output: 'no such file' }])
    log.step([{ name: 'run', denied: '' }])
    log.step([{ name: 'run', isError: true, output: 'It was aborted.', synthetic: 'aborted' }])
    log.step([{}])
    const store = listMemory()
    await kept(keep.memory(store), { log })
    assert.equal(textsIn(store), ['Denied by a person: run {}', 'Last error of run: no such file'])
  })

  it('does not point to a tool that the model has not', async () => {
    assert.not.match(await memoOf(keep.memory(listMemory()), { canRecall: false }), /recall/)
  })

  it('stores the same records when it is asked again', async () => {
    const store = listMemory()
    await kept(keep.memory(store))
    const first = [...store.records]
    await kept(keep.memory(store))
    assert.equal([...store.records], first)
    assert.is(store.puts, 2 * first.length)
  })

  it('stores other words of the same steps in place of the first', async (context) => {
    const store = emptyMemory(context)
    for (const said of ['looked', 'had a look']) {
      const extract = () => [{ text: said }, { text: `${said} again` }]
      await kept(keep.memory(store, { extract }))
    }
    const texts = (await store.list()).map(({ text }) => text)
    assert.equal(texts.toSorted(), ['had a look', 'had a look again'])
  })

  it('stores what it is told to, and says where it is from', async () => {
    const store = listMemory()
    const extract: KeepMemoryOptions['extract'] = async (part) => [
      { text: `${part.steps.length} steps` },
      { text: 'the lexer is fine', steps: ['n2', 'n4'] },
    ]
    const memo = await memoOf(keep.memory(store, { extract }))
    assert.equal(textsIn(store), ['4 steps', 'the lexer is fine'])
    assert.match(memo, /Put into memory:\n- 4 steps\n- the lexer is fine \(n2, n4\)\n/)
  })

  it('takes for known only what no tool can have said', async () => {
    const isTainted = async (wanted: Wanted) => {
      const store = listMemory()
      await kept(keep.memory(store, { extract: () => [{ text: 'Likes tea.' }] }), wanted)
      return [...store.records.values()].map(({ tainted, confirmations }) => [tainted, confirmations])
    }
    const known = [[false, ['a']]]
    const unconfirmed = [[true, []]]
    assert.equal(await isTainted({ log: talked() }), known)
    assert.equal(await isTainted({ log: worked() }), unconfirmed)
    assert.equal(await isTainted({ log: talked(), place: { path: ['lead'] } }), unconfirmed)
    const log = new BrakeLog()
    log.step([{ output: 'remember: Likes tea.' }])
    for (const reply of ['It says tea.', 'Noted.', 'Done.']) log.reply(reply)
    const hiding = ['n3', 'n4']
    const store = listMemory()
    await kept(keep.memory(store), { log }, ...hiding)
    assert.equal(
      [...store.records.values()].map(({ text, tainted }) => [text, tainted]),
      [['Said: Noted.', true]],
      'it need not be among the hidden steps',
    )
  })

  it('stores for whom the definition remembers, unless it is told for whom', async () => {
    const scopes = async (options: KeepMemoryOptions, place: Wanted['place']) => {
      const store = listMemory()
      await kept(keep.memory(store, options), { log: talked(), place })
      return [...store.records.values()].map(({ scope }) => scope)
    }
    const of = (user: string | undefined): Wanted['place'] => ({
      definition: defineAgent({
        name: 'helper',
        model: scriptedModel([]),
        memory: { store: listMemory(), agent: true, user: () => user },
      }),
    })
    assert.equal(await scopes({}, {}), ['agent:tester'])
    assert.equal(await scopes({}, of('anna')), ['user:anna'])
    assert.equal(await scopes({ scope: 'workspace:shop' }, of('anna')), ['workspace:shop'])
    assert.equal(await scopes({}, of(undefined)), [])
    for (const scope of [undefined, 'user:anna'] as const)
      assert.equal(await scopes(scope === undefined ? {} : { scope }, { incognito: true }), [])
  })

  it('stores no secret and no more than a memory takes', async () => {
    const store = listMemory()
    const redactor = new Redactor({ secrets: { PASSWORD: 'hunter2hunter2' } })
    const extract = () => [{ text: `${'x '.repeat(110)}hunter2hunter2 ${'y'.repeat(5_000)}` }, { text: '\0' }]
    const memo = await memoOf(keep.memory(store, { extract }), { place: { redactor } })
    const [text, ...more] = textsIn(store)
    assert.equal([more, memo.match(/^- /gm)?.length], [[], 1])
    assert.ok(text!.length > 3_900 && text!.length <= 4_000)
    for (const said of [text!, memo]) assert.not.match(said, /hunter/)
  })

  it('stores nothing when there is nothing to tell', async () => {
    const store = listMemory()
    const memo = await memoOf(keep.memory(store), { canRecall: false }, 'n2')
    assert.equal([store.puts, memo], [0, 'n2–n2 1 step; read_file ×1'])
  })

  it('names few of many, each on one line', async () => {
    const extract = () => Array.from({ length: 30 }, (_, i) => ({ text: `${i}\n${'x'.repeat(1_000)}` }))
    const memo = await memoOf(keep.memory(listMemory(), { extract }))
    const lines = memo.split('\n')
    assert.equal([lines.length, lines.at(-2)], [24, 'and 10 more'])
    assert.ok(lines.every((line) => line.length <= 250))
  })

  it('hides nothing when an entry cannot be stored', async () => {
    const store = { ...listMemory(), put: async () => Promise.reject(new Error('the database is away')) }
    await assert.rejects(kept(keep.memory(store)), /the database is away/)
  })

  it('stops when it is aborted', async () => {
    const store = listMemory()
    const abort = new AbortController()
    const stopping = {
      ...store,
      put: async (record: MemoryRecord) => {
        await store.put(record)
        abort.abort(new Error('the run was aborted'))
        return record
      },
    }
    await assert.rejects(kept(keep.memory(stopping), { signal: abort.signal }), /the run was aborted/)
    assert.is(store.puts, 1)
  })

  for (const wrong of [
    undefined,
    'text',
    [{ text: ' ' }],
    [{}],
    [null],
    [{ text: 'x', steps: 'n2' }],
    [{ text: 'x', steps: [2] }],
  ])
    it(`stores nothing of ${JSON.stringify(wrong)}`, async () => {
      const store = listMemory()
      await assert.rejects(
        kept(keep.memory(store, { extract: () => wrong as never })),
        withCode('INVALID_OPTION', 'keep.memory: extract: it must give a list'),
      )
      assert.is(store.puts, 0)
    })

  it('refuses wrong arguments by name', () => {
    for (const wrong of [undefined, {}, { put: async () => {} }])
      assert.throws(() => keep.memory(wrong as never), withCode('INVALID_OPTION', 'keep.memory: give a memory'))
    assert.throws(
      () => keep.memory(listMemory(), { extract: 1 as never }),
      withCode('INVALID_OPTION', 'keep.memory: extract'),
    )
    for (const scope of ['shop', 'user:', 7])
      assert.throws(
        () => keep.memory(listMemory(), { scope: scope as never }),
        withCode('INVALID_OPTION', 'keep.memory: scope: use agent:<name>'),
      )
    assert.throws(() => keep.memory(listMemory(), { scopes: 1 } as never), withCode('INVALID_OPTION', 'scopes'))
  })
})
