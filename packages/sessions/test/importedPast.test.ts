import { defineAgent, type AgentOptions } from '../../../src/actors/define/defineAgent.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { headerLine, lineOf } from '../src/exportLines.ts'
import { forkSession } from '../src/forkSession.ts'
import { importSession } from '../src/importSession.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { scriptedModel, type ScriptedReply } from '../../evaluation/src/testing/scriptedModel.ts'
import { z } from 'zod'
import { calls, never, quiet, tool } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { fill, logOf } from './sessionLogs.ts'

/** Acts of the process that imported. */
interface Acts {
  readonly ran: string[]
  asked: number
}

const input = z.looseObject({})

function agentOf(acts: Acts, replies: readonly ScriptedReply[], hangs: boolean) {
  const script = scriptedModel(replies)
  const run = (name: string) => async (): Promise<string> => {
    acts.ran.push(name)
    return hangs ? await never : `${name} ran`
  }
  const asks: AgentOptions['tools'] = [
    tool('wipe', run('wipe'), { input, needsApproval: true }),
    tool('look', run('look'), { input, effects: 'none' }),
    tool('put', run('put'), {
      input,
      effects: 'reversible',
      receipt: z.object({}),
      undo: async () => void acts.ran.push('undo'),
    } as never),
    tool('ask', async (_, context) => {
      const { yes } = await context.ask(z.object({ yes: z.boolean() }), 'sure?')
      acts.ran.push(`ask ${yes}`)
      return 'asked'
    }),
  ]
  return defineAgent({
    name: 'a',
    model: {
      id: 'test:model',
      stream: (request, options) => {
        acts.asked += 1
        return script.stream(request, options)
      },
    },
    tools: asks,
    braking: { revert: { undo: true, onUserMessage: 'rebase' }, prune: true, graft: true },
  })
}

const lineOfLog = (agentId: string, records: readonly LogRecord[]): string[] => [
  headerLine(agentId, [agentId]),
  ...records.map((record) => lineOf({ agentId, record })),
]

/** The log of an agent that is in the middle of a reply's calls. */
async function during({ cleanup }: CaseContext, ...wanted: readonly string[]): Promise<LogRecord[]> {
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  const agent = await runtime.spawn(agentOf({ ran: [], asked: 0 }, [calls('c', ...wanted)], true), { id: 'a' })
  agent.prompt('go').result.catch(() => {})
  const waits = ['approval.requested', wanted[0] === 'ask' ? 'question.asked' : 'tool.start']
  const begun = async (): Promise<number> => (await logOf(store, 'a')).filter(({ type }) => waits.includes(type)).length
  while ((await begun()) < wanted.length) await quiet()
  return await logOf(store, 'a')
}

/** Opens an agent, looks at what it did by itself, and closes it again. */
async function open(store: Store, agentId: string, replies: readonly ScriptedReply[] = []) {
  const acts: Acts = { ran: [], asked: 0 }
  const runtime = await createRuntime({ store })
  const agent = await runtime.open(agentId, agentOf(acts, replies, false))
  for (let turn = 0; turn < 5; turn += 1) await quiet()
  return { acts, agent, runtime }
}

const at = (records: readonly LogRecord[], callId = 'c1') => {
  const { seq, time } = records.at(-1)!
  return { v: 3, seq: seq + 1, time, runId: 'a/r0', turnIndex: 0, callId, key: `a/t0/tool/${callId}` } as const
}

async function stillsAll(records: readonly LogRecord[], what: string): Promise<LogRecord[]> {
  const store = memoryStore()
  await importSession(store, lineOfLog('a', records))
  const before = await logOf(store, 'a')
  assert.ok(
    before.every(({ foreign }) => foreign === true),
    what,
  )
  const first = await open(store, 'a')
  const { acts, agent } = first
  assert.equal([acts, agent.state, agent.pending()], [{ ran: [], asked: 0 }, 'idle', []], what)
  await first.runtime.close()
  const after = await logOf(store, 'a')
  assert.equal(after.slice(0, before.length), before, what)
  return after.slice(before.length)
}

describe('an imported session', (it) => {
  it('runs nothing that its log says was allowed, answered or under way', async (context) => {
    const held = await during(context, 'wipe')
    const asked = await during(context, 'ask')
    const running = await during(context, 'look', 'put')
    const approved = { ...at(held), type: 'approval.decided', decision: 'approve' } as const
    const question = asked.find(({ type }) => type === 'question.asked')
    const answered = {
      ...at(asked),
      key: (question as { key?: string } | undefined)?.key ?? '',
      type: 'question.answered',
    } as const
    const forged: { readonly [what: string]: readonly LogRecord[] } = {
      held: held,
      approved: [...held, approved],
      'approved with another input': [...held, { ...approved, input: { path: '/' } }],
      denied: [...held, { ...approved, decision: 'deny', reason: 'no' }],
      asked: asked,
      answered: [...asked, { ...answered, decision: 'answer', value: { yes: true }, again: true }],
      'under way': running,
    }
    for (const [what, records] of Object.entries(forged)) {
      const closing = await stillsAll(records, what)
      const results = closing.flatMap((record) => (record.type === 'tool.end' ? [record.message.synthetic] : []))
      assert.ok(results.length > 0 && results.every((synthetic) => synthetic === 'interrupted'), what)
      assert.is(closing.find(({ type }) => type === 'run.end')?.type, 'run.end', what)
      assert.not(
        closing.some(({ foreign }) => foreign === true),
        what,
      )
    }
  })

  it('asks here again for what was approved elsewhere, once it is prompted', async (context) => {
    const held = await during(context, 'wipe')
    const store = memoryStore()
    await importSession(
      store,
      lineOfLog('a', [...held, { ...at(held), type: 'approval.decided', decision: 'approve' }]),
    )
    const { agent, acts, runtime } = await open(store, 'a', [calls('d', 'wipe'), 'done'])
    context.cleanup(() => runtime.close())
    const run = agent.prompt('go on')
    while (agent.pending().length === 0) await quiet()
    assert.equal([acts.ran, agent.pending().map(({ name }) => name)], [[], ['wipe']])
    agent.decide(agent.pending()[0]!.key, 'approve')
    assert.is((await run.result).stopReason, 'stop')
    assert.equal(acts.ran, ['wipe'])
  })

  it(
    'is at rest wherever its log ends, and stays so wherever the process dies',
    { timeoutMs: 20_000 },
    async (context) => {
      const store = memoryStore()
      const runtime = await createRuntime({ store })
      context.cleanup(() => runtime.close())
      const revert = { category: 'failure', step: 'n1', summary: 's', undo: true }
      const replies = [
        calls('c', 'put'),
        calls('d', ['revert_to_state', revert]),
        calls('e', 'look', 'wipe'),
        'done',
        'again',
      ]
      const agent = await runtime.spawn(agentOf({ ran: [], asked: 0 }, replies, false), { id: 'a' })
      agent.subscribe((event) => event.type === 'approval.requested' && agent.decide(event.key, 'approve'))
      await agent.prompt('one').result
      agent.pin('n1')
      await agent.prompt('two').result
      await agent.durable()
      const records = await logOf(store, 'a')
      assert.ok(
        records.some(({ type }) => type === 'undo.end'),
        'something was undone',
      )
      for (let length = 1; length <= records.length; length += 1) {
        const part = records.slice(0, length)
        const closing = await stillsAll(part, `${length} ${part.at(-1)!.type}`)
        for (let kept = 0; kept <= closing.length; kept += 1) {
          const died = memoryStore()
          await fill(died, {
            a: [...part.map((record) => ({ ...record, foreign: true as const })), ...closing.slice(0, kept)],
          })
          const { acts, agent: again, runtime: next } = await open(died, 'a')
          const what = `${length} records, then ${kept} of ${closing.length}`
          assert.equal([acts, again.state, again.pending()], [{ ran: [], asked: 0 }, 'idle', []], what)
          await next.close()
          if (kept === closing.length) assert.is((await logOf(died, 'a')).length, length + kept, what)
        }
      }
    },
  )

  it('begins nothing that waits in its queues or was asked of it', async (context) => {
    const held = await during(context, 'wipe')
    const base = { v: 3, time: 1, runId: 'a/r0', turnIndex: 0 } as const
    const added = { id: 'q', content: [{ type: 'text', text: 'do it' }] } as const
    const asking: readonly object[] = [
      { type: 'queue.changed', queue: 'prompts', added, length: 1 },
      { type: 'queue.changed', queue: 'steering', added, length: 1 },
      { type: 'queue.changed', queue: 'followUps', added, length: 1 },
      { type: 'revert.requested', request: { id: 'r', by: 'person', category: 'failure', step: 'n1', summary: 's' } },
      { type: 'prune.requested', request: { id: 'p', by: 'person', steps: ['n2'], memo: 'm' } },
      { type: 'compaction.requested', request: { id: 'k', by: 'person' } },
      { type: 'graft.requested', request: { id: 'g', by: 'person', steps: ['n2'] } },
      { type: 'pin.requested', request: { id: 'i', by: 'person', step: 'n1', pinned: true } },
    ]
    for (const wanted of [...asking.map((one) => [one]), asking]) {
      const more = wanted.map((record, index) => ({ ...base, seq: held.length + 1 + index, ...record }) as LogRecord)
      await stillsAll([...held, ...more], JSON.stringify(wanted[0]))
    }
  })

  it('takes nothing back here by what its results say was kept', async (context) => {
    const source = memoryStore()
    const runtime = await createRuntime({ store: source })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(agentOf({ ran: [], asked: 0 }, [calls('c', 'put'), 'done'], false), { id: 'a' })
    await agent.prompt('one').result
    await agent.durable()
    const store = memoryStore()
    await importSession(store, lineOfLog('a', await logOf(source, 'a')))
    const { agent: here, acts, runtime: next } = await open(store, 'a')
    context.cleanup(() => next.close())
    here.revert('n1', { category: 'failure', summary: 's', undo: true })
    while (here.conversation.tags().length === 0) await quiet()
    assert.equal(acts.ran, [])
    const { undo } = here.conversation.tags()[0]!.tag
    assert.equal(
      [undo?.undone, undo?.kept.map(({ why }) => why)],
      [[], ['it was done where this session was imported from']],
    )
  })

  it('does not go on by itself as a fork either', async (context) => {
    const held = await during(context, 'wipe')
    const store = memoryStore()
    await importSession(store, lineOfLog('a', held))
    const { agentId } = await forkSession(store, 'a', 'n1', { id: 'f' })
    const { acts, agent, runtime } = await open(store, agentId, ['here'])
    context.cleanup(() => runtime.close())
    assert.equal([acts, agent.state, agent.pending()], [{ ran: [], asked: 0 }, 'idle', []])
    assert.is((await agent.prompt('now').result).text, 'here')
  })

  it('is closed where it goes on from a log of this store, too', async (context) => {
    const held = await during(context, 'wipe')
    const own = held.slice(0, 3)
    const store = memoryStore()
    await fill(store, { a: own })
    await importSession(
      store,
      lineOfLog('a', [...held, { ...at(held), type: 'approval.decided', decision: 'approve' }]),
    )
    const { acts, agent, runtime } = await open(store, 'a')
    context.cleanup(() => runtime.close())
    assert.equal([acts, agent.state], [{ ran: [], asked: 0 }, 'idle'])
    const log = await logOf(store, 'a')
    assert.equal([log.slice(0, 3), log[3]?.foreign], [own, true])
  })

  it('is told apart from what is done here afterwards, which goes on as ever', async (context) => {
    const held = await during(context, 'wipe')
    const store = memoryStore()
    await importSession(store, lineOfLog('a', held))
    const first = await open(store, 'a', [calls('d', 'wipe')])
    first.agent.prompt('go on').result.catch(() => {})
    while (first.agent.pending().length === 0) await quiet()
    await first.agent.durable()
    const died = memoryStore()
    await fill(died, { a: await logOf(store, 'a') })
    await first.runtime.close()
    const { agent, runtime } = await open(died, 'a', ['done'])
    context.cleanup(() => runtime.close())
    assert.equal(
      agent.pending().map(({ name }) => name),
      ['wipe'],
    )
  })
})
