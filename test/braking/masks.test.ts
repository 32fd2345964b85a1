import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import type { Summary } from '../../src/actors/brakes/compaction/summariseSpan.ts'
import { exportSession } from '../../packages/sessions/src/exportSession.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { importSession } from '../../packages/sessions/src/importSession.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, gate, resultsOf, startAgent, tool, type Harness, type HarnessOptions } from '../support/agentHarness.ts'
import { openRuntime } from '../journeys/forking.ts'
import { lastingStore } from '../../packages/bridge/test/server/bridgeHarness.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { notesIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const look = tool('look', (input) => `seen${(input as { at: number }).at}Thing\n${'word '.repeat(80)}`, {
  effects: 'none',
})
const masked = (id: string): RegExp => new RegExp(`^\\[output hidden: 41\\d characters; recall ${id} brings it back\\]`)
const shown = (at: number): RegExp => new RegExp(`^seen${at}Thing\n`)

/** An agent that has looked three times, at 1, 2 and 3: n2–n3, n4–n5 and n6–n7. */
async function looked(context: CaseContext, { replies = [], ...options }: HarnessOptions = {}): Promise<Harness> {
  const looks = [1, 2, 3].map((at) => calls(`c${at}`, ['look', { at }]))
  const harness = await startAgent(context, {
    tools: [look],
    braking: { revert: true, recall: true },
    ...options,
    replies: [...looks, 'done', ...replies],
  })
  await harness.agent.prompt('go').result
  return harness
}

const hasMasks = (results: readonly string[], ...wanted: readonly RegExp[]): void => {
  assert.is(results.length, wanted.length)
  for (const [at, pattern] of wanted.entries()) assert.match(results[at]!, pattern)
}

describe('masking by hand', (it) => {
  it('says what it frees, and the next request is smaller by it', async (context) => {
    const { agent, until, ofType, script } = await looked(context, { replies: ['more'] })
    const before = agent.conversation.tokens
    agent.prune({ steps: ['n3', 'n5'], mask: true })
    await until(({ type }) => type === 'prune.applied')
    const { applied, steps, economics, tokens, memo } = ofType('prune.applied')[0]!
    assert.equal([applied, steps, memo], [true, [2, 4], undefined])
    assert.ok(Math.abs(before - tokens - agent.conversation.tokens) <= 1, 'but for what is rounded')
    assert.ok(Math.abs(economics!.freed - tokens) <= 1 && economics!.rewritten > 0 && economics!.paysAfter! > 0)
    await agent.prompt('and now?').result
    hasMasks(resultsOf(script.requests.at(-1)), masked('n3'), masked('n5'), shown(3))
    assert.is(notesIn(script.requests.at(-1)!.messages).length, 0)
    assert.ok(ofType('reply.end').at(-1)!.estimatedTokens < ofType('reply.end').at(-2)!.estimatedTokens)
  })

  it('in the middle of a run waits for the end of the turn, and leaves its step alone', async (context) => {
    const open = gate<string>()
    const { agent, until, script } = await looked(context, {
      tools: [look, tool('slow', () => open.promise)],
      replies: [calls('d', 'slow'), 'more'],
    })
    const run = agent.prompt('go on')
    await until((event) => event.type === 'tool.start' && event.name === 'slow')
    agent.prune({ tokens: 1_000_000, mask: true })
    open.resolve('slow '.repeat(100))
    await run.result
    hasMasks(resultsOf(script.requests.at(-1)), masked('n3'), masked('n5'), masked('n7'), /^slow slow/)
  })

  it('is read again with recall, and what was read can be masked too', async (context) => {
    const { agent, until, script, ofType } = await looked(context, {
      replies: [calls('r', ['recall', { step: 'n3' }]), 'more', 'again'],
    })
    agent.prune({ steps: ['n3'], mask: true })
    await until(({ type }) => type === 'prune.applied')
    await agent.prompt('what was it?').result
    assert.match(
      resultsOf(script.requests.at(-1)).at(-1)!,
      /^n2 \(output hidden\):\ncalls look\nat: 1\nresult of look\nseen1Thing/,
    )
    const step = ofType('tool.end').at(-1)!.nodeId
    agent.prune({ steps: [`n${step}`], mask: true })
    await until((event) => event.type === 'prune.applied' && event.steps[0] === step - 1)
    await agent.prompt('again').result
    assert.match(resultsOf(script.requests.at(-1)).at(-1)!, /^\[output hidden: \d+ characters\]\n\[n\d+\]$/)
  })

  it('is folded later like any step, with its names in the index', async (context) => {
    const { agent, until, script } = await looked(context, {
      braking: { fold: { keepSteps: 1 } },
      replies: [calls('e', ['look', { at: 4 }]), 'more', 'again'],
    })
    agent.prune({ steps: ['n3', 'n5'], mask: true })
    agent.pin('n7')
    await until(({ type }) => type === 'pin.applied')
    await agent.prompt('go on').result
    agent.fold()
    await until((event) => event.type === 'prune.applied' && event.by === 'runtime')
    await agent.prompt('again').result
    const request = script.requests.at(-1)!
    const [memo, index] = notesIn(request.messages)
    assert.match(memo!, /span="n2–n10">n2 look at=1\nn4 look at=2\n/)
    assert.match(index!, /n2 seen1Thing\nn4 seen2Thing/)
    assert.equal(checkRequest(request), [])
    assert.equal(agent.conversation.masks(), [])
  })

  it('does not send what was masked to a model that summarises', async (context) => {
    let asked = ''
    const summarise = (span: readonly unknown[]): Promise<Summary> => {
      asked = JSON.stringify(span)
      return Promise.resolve({ text: 'looked' })
    }
    const { agent, until } = await looked(context, {
      compaction: { keepRecent: 1, minShrink: 0.001, strategy: { name: 'noting', summarise } },
    })
    agent.prune({ steps: ['n5'], mask: true })
    await until(({ type }) => type === 'prune.applied')
    agent.compact()
    await until(({ type }) => type === 'compaction.end')
    assert.ok(asked.includes('seen1Thing') && !asked.includes('seen2Thing'), asked)
  })
})

describe('what was masked', (it) => {
  /** The results in the next request of a stored agent. */
  const nextResults = async (
    context: CaseContext,
    store: Store,
    id: string,
    options: object = {},
  ): Promise<string[]> => {
    const runtime = await openRuntime(context, store)
    const model = scriptedModel(['again'])
    const braking = { revert: true, recall: true }
    const agent = await runtime.resume(id, defineAgent({ name: 'tester', model, tools: [look], braking, ...options }))
    await agent.prompt('go on').result
    await runtime.close()
    return resultsOf(model.requests[0])
  }

  it('is masked the same after a restart, in a fork, in a copy, and by an agent without brakes', async (context) => {
    const store = lastingStore()
    const { agent, until, runtime } = await looked(context, { store, check: false, replies: ['next'] })
    agent.prune({ steps: ['n3'], mask: true })
    await until(({ type }) => type === 'prune.applied')
    await agent.prompt('next').result
    await runtime.close()
    const expected = [masked('n3'), shown(2), shown(3)]
    const { agentId: fork } = await forkSession(store, agent.id, 10)
    const { agentId: early } = await forkSession(store, agent.id, 5)
    const lines: string[] = []
    for await (const line of exportSession(store, agent.id)) lines.push(line)
    const other = lastingStore()
    const { agentIds } = await importSession(other, lines)
    hasMasks(await nextResults(context, other, agentIds.at(-1)!), ...expected)
    hasMasks(await nextResults(context, store, fork), ...expected)
    // Forked at a node from before the mask.
    hasMasks(await nextResults(context, store, early), shown(1), shown(2))
    const plain = await nextResults(context, store, agent.id, { braking: {} })
    assert.is(plain[0], `[output hidden: 411 characters]`)
  })
})
