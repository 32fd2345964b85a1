import { extract } from '../../packages/tools/src/remembering/extract.ts'
import { keepFact } from '../../packages/tools/src/remembering/keepFact.ts'
import { LeftBehind, type Left } from '../../src/actors/parts/memory/leftBehind.ts'
import { memoryOf } from '../../packages/tools/src/remembering/memorySettings.ts'
import { recallAtStart } from '../../packages/tools/src/remembering/recallAtStart.ts'
import { mayBeTainted, quotedFrom } from '../../packages/tools/src/remembering/taint.ts'
import type { ProvenanceKind } from '../../src/protocol/provenance.ts'
import { ofProgram } from '../../src/protocol/asked.ts'
import type { Memory, MemoryFilter, MemoryRecord } from '../../src/protocol/ports/memory.ts'
import type { Message } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { actorPorts, agentSays, toolSays, userSays } from '../support/actorPorts.ts'
import { usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const fact = (id: string, more: Partial<MemoryRecord> = {}): MemoryRecord => ({
  id,
  scope: 'agent:tester',
  kind: 'fact',
  text: `fact ${id}`,
  source: { by: 'person' },
  tainted: false,
  confirmations: [],
  approved: false,
  createdAt: 0,
  updatedAt: 0,
  ...more,
})

const noted = (text: string, provenance: ProvenanceKind): Message => ({ ...userSays(text), provenance }) as Message
const remembered = (id: string): Message => noted('known', { type: 'memoryTier', tier: 'agent', recordId: id })
const saidByAgent = agentSays({ type: 'text', text: 'fine' })

interface Recalling {
  readonly found?: readonly MemoryRecord[] | Error
  readonly listed?: readonly MemoryRecord[] | Error
  readonly messages?: readonly Message[]
  readonly recall?: { readonly records?: number; readonly tokens?: number }
}

/** Recalls from a memory that finds and lists these; with what it was asked. */
async function recalled({ found = [], listed = [], messages = [userSays('hello')], recall = {} }: Recalling) {
  const asked: { readonly text?: string; readonly filter: MemoryFilter | undefined }[] = []
  const answer = async (records: readonly MemoryRecord[] | Error): Promise<readonly MemoryRecord[]> => {
    if (records instanceof Error) throw records
    return records
  }
  const store: Memory = {
    put: async (record) => record,
    search: (text, filter) => (asked.push({ text, filter }), answer(found)),
    list: (filter) => (asked.push({ filter }), answer(listed)),
    delete: async () => 0,
  }
  const settings = memoryOf({ store, agent: true, recall }, 'Agent')
  const { messages: said, failed } = await recallAtStart(actorPorts({}, messages), settings)
  const ids = said.map(({ provenance }) => (provenance as { readonly recordId?: string }).recordId)
  return { ids, failed, asked }
}

describe('memories that are recalled as a run begins', (it) => {
  const big = fact('big', { text: 'many words '.repeat(80) })
  const rows: readonly (readonly [string, Recalling, readonly string[]])[] = [
    [
      'those found, then those that changed last, each once',
      { found: [fact('a')], listed: [fact('b'), fact('a')] },
      ['a', 'b'],
    ],
    [
      'what is trusted alone',
      { found: [fact('a', { tainted: true }), fact('b', { kind: 'lesson' }), fact('c')] },
      ['c'],
    ],
    ['what a person approved, tainted or not', { found: [fact('a', { tainted: true, approved: true })] }, ['a']],
    [
      'what is of its own scopes',
      { found: [fact('a', { scope: 'agent:other' }), fact('b', { scope: 'user:tester' })] },
      [],
    ],
    ['as many as it may', { found: ['a', 'b', 'c'].map((id) => fact(id)), recall: { records: 2 } }, ['a', 'b']],
    ['what fits, also behind what does not', { found: [big, fact('a')], recall: { tokens: 60 } }, ['a']],
    [
      'no more than fits in all',
      { found: ['a', 'b', 'c', 'd'].map((id) => fact(id)), recall: { tokens: 30 } },
      ['a', 'b'],
    ],
    [
      'nothing that stands there already',
      { found: [fact('a'), fact('b')], messages: [userSays('hi'), remembered('a'), saidByAgent, userSays('on')] },
      ['b'],
    ],
    [
      'nothing where it was recalled for this already',
      { found: [fact('b')], messages: [userSays('hi'), remembered('a')] },
      [],
    ],
    ['nothing where nobody asked', { found: [fact('b')], messages: [noted('x', { type: 'note', kind: 'page' })] }, []],
    ['what suits another program too', { found: [fact('b')], messages: [noted('x', ofProgram)] }, ['b']],
    ['nothing for blank words', { found: [fact('b')], messages: [userSays('  ')] }, []],
    ['what was listed where the search fails', { found: new Error('no'), listed: [fact('a')] }, ['a']],
    ['what was found where the list fails', { found: [fact('a')], listed: new Error('no') }, ['a']],
  ]
  for (const [what, how, expected] of rows)
    it(`are ${what}`, async () => {
      const { ids, failed } = await recalled(how)
      assert.equal(ids, expected)
      const isFailing = [how.found, how.listed].some((each) => each instanceof Error)
      assert.is(failed !== undefined, isFailing)
    })

  it('are asked for by what was said last, at most 4,000 characters, with room for those that stand there', async () => {
    const messages = [userSays('old'), remembered('a'), saidByAgent, userSays('new'), userSays('x'.repeat(3_998))]
    const { asked } = await recalled({ messages, recall: { records: 3 } })
    const filter = { scopes: ['agent:tester'], trusted: true, limit: 4 }
    assert.equal(asked, [{ text: `w\n${'x'.repeat(3_998)}`, filter }, { filter }])
  })

  it('fail where the memory can neither be searched nor listed', async () => {
    await assert.rejects(recalled({ found: new Error('no disk'), listed: new Error('no') }), /no disk/)
  })
})

describe('a fact that code keeps', (it) => {
  const kept = async (text: string, more: object = {}, hasHeardMore = false, messages = [userSays('hello')]) => {
    const puts: MemoryRecord[] = []
    const memory = { put: async (record: MemoryRecord) => (puts.push(record), record) } as unknown as Memory
    const place = { ...actorPorts({}, messages), ...more }
    const result = await keepFact(place, memory, { key: 'k', text }, hasHeardMore)
    assert.equal(puts, result === null ? [] : [result])
    return result
  }

  it('is kept of no incognito agent, and not where it says nothing', async () => {
    assert.is(await kept('tea', { incognito: true }), null)
    assert.is(await kept(' \n'), null)
    assert.is((await kept(' tea '))?.text, 'tea')
  })

  it('is tainted where a tool may have said it, or more was heard than the conversation has', async () => {
    const tool = [
      userSays('x'),
      agentSays({ type: 'toolCall', callId: 'c', name: 'look', input: {} }),
      toolSays('c', 'tea'),
    ]
    const taints = [
      await kept('tea'),
      await kept('tea', {}, true),
      await kept('tea', {}, false, tool),
      await kept('tea', { path: ['p'] }),
    ]
    assert.equal(
      taints.map((record) => record?.tainted),
      [false, true, true, true],
    )
  })
})

describe('words of a person', (it) => {
  const from = (text: string, quote: string, more: object = {}) =>
    quotedFrom({ ...actorPorts({}, [userSays(text)]), ...more }, quote)

  it('are quoted whole, of a person alone, and not for a few letters or a long text', () => {
    assert.is(from('I never drink tea. Not at all.', 'drink tea'), 'I never drink tea.')
    assert.is(from('I never drink tea.', 'drink tea', { path: ['root'] }), undefined)
    assert.is(from('I like tea.', 'tea'), undefined)
    assert.is(from('abcdef', 'abcdef'), 'abcdef')
    assert.is(from('abcde', 'abcde'), undefined)
    assert.is(from(`${'word '.repeat(300)}drink tea.`, 'drink tea'), undefined)
    const program = actorPorts({}, [noted('I never drink tea.', ofProgram)])
    assert.is(quotedFrom(program, 'drink tea'), undefined)
  })

  it('are those of nobody else where a runtime’s own result says nothing new, and a tool’s does', () => {
    const result = (more: object): boolean => {
      const call = agentSays({ type: 'toolCall', callId: 'c', name: 'look', input: {} })
      return mayBeTainted(actorPorts({}, [userSays('x'), call, { ...toolSays('c', 'seen'), ...more }]))
    }
    assert.equal([result({}), result({ ofRuntime: true }), result({ synthetic: 'aborted' })], [true, false, false])
  })
})

const spanOf = (from: number, to: number): Left => ({ type: 'span', from, to })

/** Extracts facts from what was left behind, with a model that answers so. */
async function extracted(answer: string, items: readonly Left[], messages: readonly Message[], more: object = {}) {
  const model = scriptedModel([{ text: answer, usage: usageOf(10, 5) }])
  const puts: MemoryRecord[] = []
  const store = { put: async (record: MemoryRecord) => (puts.push(record), record) } as unknown as Memory
  const settings = memoryOf(
    { store, agent: true, extract: { model: { model, pricing: { input: 1, output: 2 } } } as never },
    'Agent',
  )
  const ports = { ...actorPorts({}, messages), leftBehind: { items } as LeftBehind, ...more }
  const { signal } = new AbortController()
  const result = await extract(ports, settings, { key: 'k', runId: 'r', signal })
  return { result, puts, model }
}

describe('what is extracted for a memory', (it) => {
  const talk = [userSays('first'), agentSays({ type: 'text', text: 'second' }), userSays('third')]

  it('is ten facts at most, and none longer than 500 characters, at the price of its own model', async () => {
    const facts = Array.from({ length: 12 }, (_, at) => ({ text: `${at} `.padEnd(600, 'x') }))
    const { result, puts } = await extracted(JSON.stringify(facts), [spanOf(1, 3)], talk)
    assert.equal(
      puts.map(({ text }) => text.length),
      Array.from({ length: 10 }, () => 500),
    )
    assert.equal([result?.usage, result?.costUsd], [usageOf(10, 5), 0.00002])
  })

  it('is read from the whole span that was left, to its ends', async () => {
    for (const [from, to, heard] of [
      [1, 2, [true, true, false]],
      [2, 3, [false, true, true]],
      [2, 2, [false, true, false]],
    ] as const) {
      const { model } = await extracted('[]', [spanOf(from, to)], talk)
      const asked = model.requests.map(({ messages }) => messages.map(textOfRequest).join()).join()
      assert.equal(
        ['first', 'second', 'third'].map((word) => asked.includes(word)),
        heard,
      )
    }
  })

  it('is nothing of an incognito agent', async () => {
    const { result, model } = await extracted('[]', [spanOf(1, 3)], talk, { incognito: true })
    assert.equal([result, model.requests.length], [undefined, 0])
  })

  it('rejects once it is aborted, also where the memory fails then', async () => {
    const aborting = new AbortController()
    const store = {
      put: async () => {
        aborting.abort(new Error('not needed'))
        throw new Error('no disk')
      },
    } as unknown as Memory
    const settings = memoryOf({ store, agent: true, extract: { model: scriptedModel(['[{"text":"tea"}]']) } }, 'Agent')
    const ports = { ...actorPorts({}, talk), leftBehind: { items: [spanOf(1, 3)] } as unknown as LeftBehind }
    await assert.rejects(extract(ports, settings, { key: 'k', runId: 'r', signal: aborting.signal }), /not needed/)
  })

  for (const [what, isError, expected] of [
    ['the last three that failed', true, ['1', '2', '3']],
    ['the last one, where none did', false, ['3']],
  ] as const)
    it(`has lessons of calls that were given up: ${what}`, async () => {
      const made = Array.from({ length: 4 }, (_, at) => [
        agentSays({ type: 'toolCall', callId: `c${at}`, name: 'look', input: { at } }),
        { ...toolSays(`c${at}`, 'seen'), isError } as Message,
      ]).flat()
      const abandoned = made.map((_, at) => at + 2)
      const tag = { kind: 'lesson', text: 'Not so.', turnIndex: 0, abandoned, evidence: { calls: [], changed: [] } }
      const items = [{ type: 'tag', tag }] as unknown as readonly Left[]
      const { puts } = await extracted('[]', items, [userSays('task'), ...made])
      assert.equal(
        puts.map(({ text }) => /"at":(\d)/.exec(text)?.[1]),
        expected,
      )
    })
})

const textOfRequest = (message: { readonly content: unknown }): string => JSON.stringify(message.content)

describe('what a memory has not looked through yet', (it) => {
  const pruned = (more: object): LogRecord =>
    ({ type: 'prune.applied', by: 'runtime', applied: true, steps: [2], ...more }) as unknown as LogRecord

  it('is what the runtime folded, and no refusal, mask, or prune of the model', () => {
    for (const [more, count] of [
      [{}, 1],
      [{ applied: false }, 0],
      [{ masked: true }, 0],
      [{ by: 'person' }, 0],
      [{ by: undefined }, 0],
    ] as const) {
      const left = new LeftBehind()
      left.apply(pruned(more))
      assert.is(left.items.length, count, JSON.stringify(more))
    }
  })

  it('is the newest fifty, and nothing once it was looked through or the past is that of a fork', () => {
    for (const type of ['memory.extracted', 'agent.created']) {
      const left = new LeftBehind()
      for (let step = 1; step <= 51; step += 1) left.apply(pruned({ steps: [step] }))
      assert.equal([left.items.length, left.items[0]], [50, { type: 'steps', steps: [2] }])
      left.apply({ type } as LogRecord)
      assert.equal(left.items, [])
    }
  })
})
