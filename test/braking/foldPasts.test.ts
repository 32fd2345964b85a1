import {
  createRuntime,
  defineAgent,
  memoryStore,
  type AgentOptions,
  type ModelRequest,
  type Store,
} from '../../src/index.ts'
import { exportSession, forkSession, importSession } from '../../src/sessions.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { cutStore } from '../journeys/cutLogs.ts'
import { checkRebuild, openRuntime, recordsOf } from '../journeys/forking.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { idsIn, notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

/** Folds early enough for short runs. */
const fold = {
  phi: 0.3,
  work: 300,
  minBatch: 300,
  keepSteps: 2,
  indexTokens: 100,
  cap: 20_000,
  leastRequests: 0,
} as const

const look = tool('look', ({ at }) => `seen${String(at)}Thing\n${'word '.repeat(240)}`, { effects: 'none' })

const looks = (from: number, count: number): ScriptedReply[] =>
  Array.from({ length: count }, (_, index) => calls(`c${from + index}-`, ['look', { at: from + index }]))

const kindsIn = ({ messages }: ModelRequest): (string | undefined)[] => [
  ...new Set(notesIn(messages).map((note) => /kind="(\w+)"/.exec(note)?.[1])),
]

/** Memos and, if it is shown, the index. */
const memosIn = ({ messages }: ModelRequest): string[] =>
  notesIn(messages).filter((note) => note.startsWith('<brake-note kind="memo"'))

const checkAll = (requests: readonly ModelRequest[]): void => {
  for (const request of requests) assert.equal(checkRequest(request), [])
}

/** A store with the same session, for other agents to go on with. */
const copyOf = async (store: Store): Promise<Store> => cutStore('a1', await recordsOf(store, 'a1'))

/** An agent that has folded; its store has its session. */
async function folded(context: CaseContext) {
  const harness = await startAgent(context, {
    braking: { fold },
    tools: [look],
    replies: [...looks(0, 40), 'done'],
  })
  await harness.agent.prompt('the task').result
  assert.ok(harness.ofType('prune.applied').length > 1)
  return harness
}

const memosOf = async (store: Store, id: string): Promise<string[]> =>
  (await recordsOf(store, id)).flatMap((record) =>
    record.type === 'prune.applied' && record.memo !== undefined ? [record.memo] : [],
  )

describe('a sub-agent that gets the conversation of an agent that has folded', (it) => {
  const cases = {
    'with folding of its own': [{ fold }, false, ['memo', 'index']],
    'with recall alone': [{ recall: true }, true, ['memo', 'index']],
    'with reverts alone': [{ revert: true }, true, ['memo']],
    'without braking': [undefined, false, ['memo']],
  } as const
  for (const [title, [braking, hasIds, kinds]] of Object.entries(cases))
    it(`is shown its memos: ${title}`, async (context) => {
      const script = scriptedModel([...looks(50, 1), 'the answer'])
      const helper = defineAgent({
        name: 'helper',
        model: script,
        tools: [look],
        checkRequests: true,
        ...(braking === undefined ? {} : { braking }),
      })
      const harness = await startAgent(context, {
        braking: { fold },
        tools: [look],
        agents: [{ definition: helper, context: 'fork' }],
        replies: [...looks(0, 20), calls('h', ['helper', { task: 'help' }]), 'done'],
      })
      await harness.agent.prompt('the task').result
      assert.is(script.requests.length, 2)
      checkAll(script.requests)
      const [request] = script.requests
      assert.equal(kindsIn(request!), [...kinds])
      const lines = (await memosOf(harness.store, 'a1')).flatMap((memo) => memo.split('\n'))
      for (const line of lines) assert.match(memosIn(request!).join('\n'), new RegExp(`${line}(\n|<)`))
      assert.not.match(textIn(request!.messages), /^seen0Thing$/m)
      assert.is(idsIn(request!.messages).length > 0, hasIds)
    })

  it('folds on where its caller had stopped', async (context) => {
    const script = scriptedModel([...looks(50, 12), 'the answer'])
    const helper = defineAgent({ name: 'helper', model: script, tools: [look], checkRequests: true, braking: { fold } })
    const harness = await startAgent(context, {
      braking: { fold },
      tools: [look],
      agents: [{ definition: helper, context: 'fork' }],
      replies: [...looks(0, 20), calls('h', ['helper', { task: 'help' }]), 'done'],
    })
    await harness.agent.prompt('the task').result
    checkAll(script.requests)
    const before = memosIn(script.requests[0]!)
    const after = memosIn(script.requests.at(-1)!)
    assert.equal(after.slice(0, before.length), before, 'memos are not rewritten')
    assert.ok(after.length > before.length)
    assert.match(after.at(-1)!, /look at=5\d/)
  })
})

describe('a session that has folded', (it) => {
  const definitionOf = (replies: readonly ScriptedReply[], options: Partial<AgentOptions> = {}) => {
    const model = scriptedModel(replies)
    const definition = defineAgent({ name: 'tester', model, tools: [look], checkRequests: true, ...options })
    return { model, definition }
  }

  it('is forked with its memos, and before them', async (context) => {
    const { agent, store } = await folded(context)
    const memos = await memosOf(store, 'a1')
    const runtime = await openRuntime(context, store)
    await forkSession(store, 'a1', agent.conversation.head!, { id: 'late' })
    const late = definitionOf([...looks(60, 12), 'done'], { braking: { fold } })
    const fork = await runtime.resume('late', late.definition)
    await fork.prompt('go on').result
    checkAll(late.model.requests)
    assert.ok(memosIn(late.model.requests[0]!).length === memos.length)
    assert.ok((await memosOf(store, 'late')).length > 0)
    await checkRebuild(store, fork)
    // A fork in the midst of the first fold: what is left of it has its lines.
    const steps = (await recordsOf(store, 'a1')).flatMap((record) =>
      record.type === 'prune.applied' ? record.steps : [],
    )
    await forkSession(store, 'a1', agent.conversation.node(steps[1]!)!.id + 1, { id: 'early' })
    const early = definitionOf(['done'], { braking: { fold } })
    const other = await runtime.resume('early', early.definition)
    await other.prompt('go on').result
    checkAll(early.model.requests)
    await checkRebuild(store, other)
    assert.match(textIn(early.model.requests[0]!.messages), /seen1Thing/)
    assert.not.match(textIn(early.model.requests[0]!.messages), /seen2Thing/)
  })

  it('is exported and imported with its folds', async (context) => {
    const { store } = await folded(context)
    const lines: string[] = []
    for await (const line of exportSession(store, 'a1')) lines.push(line)
    const other = memoryStore()
    await importSession(other, lines)
    const requests: ModelRequest[][] = []
    for (const [each, id] of [
      [await copyOf(store), 'a1'],
      [other, 'a1'],
    ] as const) {
      const runtime = await createRuntime({ store: { ...each, close: async () => {} } })
      context.cleanup(() => runtime.close())
      const { model, definition } = definitionOf(['done'], { braking: { fold } })
      const again = await runtime.resume(id, definition)
      await again.prompt('go on').result
      requests.push([...model.requests])
    }
    assert.equal(requests[1], requests[0])
    assert.ok(memosIn(requests[0]![0]!).length > 1)
  })

  for (const [title, braking, kinds] of [
    ['without braking', undefined, ['memo']],
    ['with reverts alone', { revert: true }, ['memo']],
    ['with recall alone', { recall: true }, ['memo', 'index']],
  ] as const)
    it(`keeps its memos when it goes on ${title}, and folds no more`, async (context) => {
      const { store: source } = await folded(context)
      const store = await copyOf(source)
      const memos = await memosOf(store, 'a1')
      const runtime = await openRuntime(context, store)
      const { model, definition } = definitionOf([...looks(60, 12), 'done'], braking === undefined ? {} : { braking })
      const again = await runtime.resume('a1', definition)
      await again.prompt('go on').result
      checkAll(model.requests)
      for (const request of model.requests) {
        assert.is(memosIn(request).length, memos.length)
        assert.equal(kindsIn(request), [...kinds])
      }
      assert.equal(await memosOf(store, 'a1'), memos)
      await checkRebuild(store, again)
    })

  it('folds from the start of a log that was written without', async (context) => {
    const { agent, ofType, ...source } = await startAgent(context, {
      tools: [look],
      replies: [...looks(0, 20), 'done'],
    })
    await agent.prompt('the task').result
    assert.equal(ofType('prune.applied'), [])
    const store = await copyOf(source.store)
    const runtime = await openRuntime(context, store)
    const { model, definition } = definitionOf([...looks(60, 3), 'done'], { braking: { fold } })
    const again = await runtime.resume('a1', definition)
    await again.prompt('go on').result
    checkAll(model.requests)
    const [memo = ''] = await memosOf(store, 'a1')
    assert.match(memo, /^n2 look at=0$/m)
    // The first request comes before the first drain.
    assert.match(textIn(model.requests[1]!.messages), /n2 look at=0/)
    await checkRebuild(store, again)
  })
})
