import { keep } from '../../../src/actors/policies/keep.ts'
import type { MemoryEntry, MemoryOptions, MemoryPort } from '../../../src/actors/policies/keepMemory.ts'
import { simulatedClock } from '../../../src/testing/simulatedClock.ts'
import { withCode } from '../../support/agentHarness.ts'
import { BrakeLog } from '../../support/brakeLog.ts'
import { assert, describe } from '../../support/suite.ts'
import { kept, memoOf } from './keptSteps.ts'

/** A memory that holds what it is given, by key. */
function listMemory(): MemoryPort & { readonly entries: Map<string, MemoryEntry>; puts: number } {
  const entries = new Map<string, MemoryEntry>()
  const port = {
    entries,
    puts: 0,
    put: async (entry: MemoryEntry) => {
      port.puts += 1
      entries.set(entry.key, entry)
    },
    search: async () => [...entries.values()],
  }
  return port
}

const textsIn = ({ entries }: ReturnType<typeof listMemory>): string[] => [...entries.values()].map(({ text }) => text)

describe('memory', (it) => {
  it('stores what can be told without a model, and leaves a memo that says so', async () => {
    const port = listMemory()
    const memo = await memoOf(keep.memory(port), { clock: simulatedClock(5_000) })
    assert.equal(textsIn(port), [
      'Files changed: src/token.ts',
      'Cannot be undone: pay {"eur":5} → paid',
      'Denied by a person: deploy {"to":"prod"} → never on Fridays',
      'Last error of run: TypeError: no token',
      'Said: The cause is in src/token.ts: it loses the last token.',
    ])
    assert.equal(port.entries.get('a/policy/7/0'), {
      key: 'a/policy/7/0',
      agentId: 'a',
      text: 'Files changed: src/token.ts',
      steps: ['n2', 'n4', 'n7', 'n8'],
      at: 5_000,
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
    const port = listMemory()
    await kept(keep.memory(port), { log })
    assert.equal(textsIn(port), ['Denied by a person: run {}', 'Last error of run: no such file'])
  })

  it('does not point to a tool that the model has not', async () => {
    assert.not.match(await memoOf(keep.memory(listMemory()), { canRecall: false }), /recall/)
  })

  it('stores the same under the same keys when it is asked again', async () => {
    const port = listMemory()
    await kept(keep.memory(port))
    const first = [...port.entries]
    await kept(keep.memory(port))
    assert.equal([...port.entries], first)
    assert.is(port.puts, 2 * first.length)
  })

  it('stores what it is told to', async () => {
    const port = listMemory()
    const extract: MemoryOptions['extract'] = async (part) => [
      { text: `${part.steps.length} steps` },
      { text: 'the lexer is fine', steps: ['n2'] },
    ]
    const memo = await memoOf(keep.memory(port, { extract }))
    assert.equal(
      [...port.entries.values()].map(({ text, steps }) => [text, steps]),
      [
        ['4 steps', ['n2', 'n4', 'n7', 'n8']],
        ['the lexer is fine', ['n2']],
      ],
    )
    assert.match(memo, /Put into memory:\n- 4 steps\n- the lexer is fine\n/)
  })

  it('stores nothing when there is nothing to tell', async () => {
    const port = listMemory()
    const memo = await memoOf(keep.memory(port), { canRecall: false }, 'n2')
    assert.equal([port.puts, memo], [0, 'n2–n2 1 step; read_file ×1'])
  })

  it('names few of many, each on one line', async () => {
    const extract = () => Array.from({ length: 30 }, (_, i) => ({ text: `${i}\n${'x'.repeat(1_000)}` }))
    const memo = await memoOf(keep.memory(listMemory(), { extract }))
    const lines = memo.split('\n')
    assert.equal([lines.length, lines.at(-2)], [24, 'and 10 more'])
    assert.ok(lines.every((line) => line.length <= 250))
  })

  it('hides nothing when an entry cannot be stored', async () => {
    const port = { ...listMemory(), put: async () => Promise.reject(new Error('the database is away')) }
    await assert.rejects(kept(keep.memory(port)), /the database is away/)
  })

  it('stops when it is aborted', async () => {
    const port = listMemory()
    const abort = new AbortController()
    const stopping = {
      ...port,
      put: async (entry: MemoryEntry) => {
        await port.put(entry)
        abort.abort(new Error('the run was aborted'))
      },
    }
    await assert.rejects(kept(keep.memory(stopping), { signal: abort.signal }), /the run was aborted/)
    assert.is(port.puts, 1)
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
      const port = listMemory()
      await assert.rejects(
        kept(keep.memory(port, { extract: () => wrong as never })),
        withCode('INVALID_OPTION', 'keep.memory: extract: it must give a list'),
      )
      assert.is(port.puts, 0)
    })

  it('refuses wrong arguments by name', () => {
    for (const wrong of [undefined, {}, { put: async () => {} }])
      assert.throws(() => keep.memory(wrong as never), withCode('INVALID_OPTION', 'keep.memory: give a port'))
    assert.throws(
      () => keep.memory(listMemory(), { extract: 1 as never }),
      withCode('INVALID_OPTION', 'keep.memory: extract'),
    )
  })
})
