import { z } from 'zod'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { Conversation } from '../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import type { ToolResultMessage } from '../../src/protocol/messages.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { calls, gate, quiet, startAgent, type HarnessOptions } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const long = (at: number): string => `output ${at} ${'x'.repeat(300)}`

describe('the step of a receipt', (it) => {
  function working(): BrakeLog {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ output: long(0), background: 'b1' }, { output: long(1) }])
    for (let at = 2; at < 5; at++) log.step([{ output: long(at) }])
    return log
  }

  it('is not folded while its call works, and is once it has reported', () => {
    const log = working()
    assert.equal(log.fold({}, true)?.outcome.steps, [5, 7])
    log.report('b1')
    log.step([{ output: long(5) }])
    log.step([{ output: long(6) }])
    assert.equal(log.fold({}, true)?.outcome.steps, [2, 9, 11])
  })

  it('is not hidden by a prune meanwhile', () => {
    const log = working()
    assert.match(log.prune({ steps: ['n2'] }).reason ?? '', /n2 has a call that works in the background/)
    log.report('b1')
    assert.equal(log.prune({ steps: ['n2'] }).steps, [2])
  })

  it('is known to a conversation that goes on from what is kept, and to no fork', () => {
    const log = working()
    const kept = JSON.parse(JSON.stringify(log.conversation.annotations!.keep()))
    assert.equal(kept.working, [['b1', { nodeId: 3, stepId: 2 }]])
    const fork = rebuildConversation(log.records)
    assert.is(fork.annotations!.isWorking(2), true)
    fork.beginLog()
    assert.is(fork.annotations!.isWorking(2), false)
    log.report('b1')
    assert.not.ok('working' in log.conversation.annotations!.keep())
    assert.is(new Conversation().annotations, undefined)
  })

  it('has what the call has done, for those who look there', () => {
    const log = working()
    const receipt = { of: 'a.txt', data: 1 }
    log.report('b1', { changed: ['a.txt'], receipt, ended: 'cancelled' })
    const message = log.conversation.node(3)!.message as ToolResultMessage
    assert.equal([message.changed, message.receipt, message.synthetic], [['a.txt'], receipt, 'aborted'])
    assert.is(message.content[0]?.type === 'text' && message.content[0].text, long(0))
    assert.equal(rebuildConversation(log.records).node(3), log.conversation.node(3))
  })
})

/** An agent whose drafts go on in the background until they are let. */
async function start(context: CaseContext, tool: object = {}, options: HarnessOptions = {}, isEnded = false) {
  const drafting = gate()
  const undone: unknown[] = []
  const signals: AbortSignal[] = []
  const draft = defineTool({
    name: 'draft',
    description: 'Drafts.',
    input: z.object({}),
    background: true,
    effects: 'reversible',
    receipt: z.string(),
    run: async (_, { keep, signal }) => {
      signals.push(signal)
      keep('kept', 'draft.txt')
      await drafting.promise
      return 'drafted'
    },
    undo: ({ receipt }) => void undone.push(receipt),
    ...tool,
  })
  const replies = [calls('c', 'draft'), 'meanwhile', 'heard', 'again']
  const harness = await startAgent(context, { tools: [draft], replies, ...options })
  const run = harness.agent.prompt('go')
  if (isEnded) drafting.resolve()
  await run.result
  const end = async (): Promise<void> => {
    drafting.resolve()
    await harness.until(({ type }) => type === 'call.reported')
    await harness.agent.settled()
  }
  const revert = async (): Promise<void> => {
    harness.agent.revert('n1', { category: 'failure', summary: 'not that', undo: true })
    await harness.until(({ type }) => type === 'undo.end')
    await harness.agent.settled()
  }
  return { ...harness, end, revert, undone, signals }
}

/** Its report is in a result, so that no message of it stands in the way of a revert. */
const waited: HarnessOptions = { replies: [calls('c', 'draft'), calls('w', 'wait_for'), 'done'] }

const reporters = async ({ agent }: Awaited<ReturnType<typeof start>>) => {
  const settled = await agent.settled()
  return settled.status === 'idle' ? settled.reporters : settled.status
}

describe('a revert of the branch with a receipt', (it) => {
  it('ends the call, of which nothing more is heard, and says so', async (context) => {
    const harness = await start(context)
    await harness.revert()
    assert.equal([await reporters(harness), harness.signals[0]!.aborted], [[], true])
    const [applied] = harness.ofType('revert.applied')
    assert.equal(applied?.tag?.evidence.background, [{ id: 'b1', name: 'draft', aborted: true }])
    await harness.agent.prompt('go on').result
    const seen = JSON.stringify(harness.script.requests.at(-1)?.messages)
    assert.match(seen, /in the background: draft b1 \(aborted\)/)
    assert.not.match(seen, /Report of/)
    assert.equal(harness.ofType('call.reported'), [])
    const [ledger] = harness.ofType('undo.end')
    assert.equal([ledger?.undone, ledger?.kept.length, harness.undone], [[], 1, []])
    assert.equal(rebuildContext(await harness.records()).reporters, [])
  })

  it('leaves one that survives, which still reports', async (context) => {
    const harness = await start(context, { survives: true })
    await harness.revert()
    assert.equal([await reporters(harness), harness.signals[0]!.aborted], [['b1'], false])
    const [applied] = harness.ofType('revert.applied')
    assert.equal(applied?.tag?.evidence.background, [{ id: 'b1', name: 'draft', aborted: false }])
    await harness.end()
    assert.match(JSON.stringify(harness.script.requests.at(-1)?.messages), /Report of b1, your call of draft:/)
  })

  it('undoes what the call has done, once it has reported', async (context) => {
    const harness = await start(context, {}, waited, true)
    await harness.revert()
    assert.equal(harness.undone, ['kept'])
    assert.equal(harness.ofType('undo.end')[0]?.undone, ['draft.txt'])
  })

  it('has nothing to undo of one that failed and kept nothing', async (context) => {
    const harness = await start(
      context,
      {
        run: async () => {
          await quiet()
          throw new Error('no')
        },
      },
      waited,
    )
    await harness.revert()
    const [ledger] = harness.ofType('undo.end')
    assert.equal([ledger?.undone, ledger?.kept, harness.undone], [[], [], []])
  })
})

describe('a report', (it) => {
  it('that comes during a compaction waits for it', async (context) => {
    const [asked, summary] = [gate(), gate()]
    const strategy = {
      name: 'slow',
      summarise: async () => {
        asked.resolve()
        await summary.promise
        return { text: 'short' }
      },
    }
    const words = 'long words '.repeat(300)
    const harness = await start(
      context,
      {},
      {
        replies: [calls('c', 'draft'), words, words, 'heard'],
        compaction: { contextWindow: 3_000, keepFirst: 1, keepRecent: 1, threshold: 0.99, strategy },
      },
    )
    await harness.agent.prompt('more').result
    harness.agent.compact()
    await asked.promise
    const ended = harness.end()
    await harness.until(({ type }) => type === 'call.reported')
    assert.is(harness.agent.state, 'compacting')
    assert.equal(harness.ofType('message.added').length, 2)
    summary.resolve()
    await ended
    const said = harness.ofType('message.added').map(({ message }) => message.provenance?.type)
    assert.equal(said, [undefined, undefined, 'report'])
  })
})
