import { policy } from '../../../../src/actors/define/policy.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { Message } from '../../../../src/protocol/messages.ts'
import type { Run } from '../../../../src/protocol/runs/run.ts'
import { calls, gate, never, stalled, tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { worlds, type World, type WorldOptions } from './contractWorlds.ts'

/** The code with which something is refused, whichever way: thrown, rejected, or a result. */
async function refusal(act: () => unknown): Promise<string | undefined> {
  try {
    const made = act() as Partial<Run> | Promise<void> | undefined
    if (made !== undefined && 'result' in made) return (await made.result)?.error?.code
    await made
    return undefined
  } catch (thrown) {
    return (thrown as { code?: string }).code
  }
}

const textsOf = (messages: readonly Message[]): string[] =>
  messages.map(({ content }) => content.map((block) => (block.type === 'text' ? block.text : block.type)).join(''))

interface Story {
  /** `open`: something the run can open for the agent's tools. */
  options(open: PromiseWithResolvers<void>): WorldOptions
  run(world: World, open: PromiseWithResolvers<void>): Promise<void>
}

const stories: Record<string, Story> = {
  'gives the result of a run and its events': {
    options: () => ({ replies: ['tick tock'] }),
    async run({ agent, heard, trunk }) {
      const run = agent.prompt('hello')
      const seen: AgentEvent[] = []
      for await (const event of run) seen.push(event)
      const result = await run.result
      assert.is(result.stopReason, 'stop')
      assert.is(result.text, 'tick tock')
      assert.is(result.turns, 1)
      assert.ok(result.usage.output > 0)
      assert.is(result.runId, seen[0] !== undefined && 'runId' in seen[0] ? seen[0].runId : 'none')
      const types = seen.map(({ type }) => type)
      assert.is(types[0], 'run.start')
      assert.is(types.at(-1), 'run.end')
      const deltas = seen.filter((event) => event.type === 'reply.delta')
      assert.is(deltas.map(({ text }) => text).join(''), 'tick tock')
      assert.is(seen[0]?.type === 'run.start' && seen[0].requestId, run.requestId)
      await heard.until(({ type }) => type === 'run.end')
      assert.equal(textsOf(await trunk()), ['hello', 'tick tock'])
    },
  },
  'runs prompts one after another': {
    options: () => ({ replies: ['one', 'two', 'three'] }),
    async run({ agent, trunk }) {
      const runs = ['a', 'b', 'c'].map((text) => agent.prompt(text))
      const results = await Promise.all(runs.map(({ result }) => result))
      assert.equal(
        results.map(({ text }) => text),
        ['one', 'two', 'three'],
      )
      assert.equal(textsOf(await trunk()), ['a', 'one', 'b', 'two', 'c', 'three'])
    },
  },
  'throws at once for content that is empty': {
    options: () => ({}),
    async run({ agent }) {
      const isInvalid = (thrown: unknown): boolean => (thrown as { code?: string }).code === 'INVALID_CONTENT'
      assert.throws(() => agent.prompt('  '), isInvalid)
      assert.throws(() => agent.steer([]), isInvalid)
      assert.throws(() => agent.followUp(''), isInvalid)
      assert.throws(() => agent.prompt('x', { limits: { turns: -1 } }), /limits/)
    },
  },
  'refuses a prompt beyond the queue': {
    options: () => ({ maxQueue: 1, replies: [stalled(['wait'], never)] }),
    async run({ agent, heard }) {
      agent.prompt('one')
      await heard.until(({ type }) => type === 'reply.delta')
      agent.prompt('two')
      assert.is(await refusal(() => agent.prompt('three')), 'QUEUE_FULL')
      await agent.abort()
    },
  },
  'aborts a run, and what it had streamed stays': {
    options: () => ({ replies: [stalled(['half'], never), 'whole'] }),
    async run({ agent, heard, trunk }) {
      const run = agent.prompt('go')
      await heard.until(({ type }) => type === 'reply.delta')
      await agent.abort()
      assert.is((await run.result).stopReason, 'aborted')
      assert.is((await agent.prompt('again').result).text, 'whole')
      assert.equal(textsOf(await trunk()), ['go', 'half', 'again', 'whole'])
    },
  },
  'interrupts a run with another': {
    options: () => ({ replies: [stalled(['half'], never), 'now'] }),
    async run({ agent, heard }) {
      const first = agent.prompt('go')
      await heard.until(({ type }) => type === 'reply.delta')
      const second = agent.interrupt('stop that')
      assert.is((await first.result).stopReason, 'aborted')
      assert.is((await second.result).text, 'now')
    },
  },
  'steers and follows up in the same run': {
    options: (open) => ({
      replies: [calls('c', 'look'), 'steered', 'followed'],
      tools: [tool('look', () => open.promise.then(() => 'seen'))],
    }),
    async run({ agent, heard }, open) {
      const run = agent.prompt('go')
      await heard.until(({ type }) => type === 'tool.start')
      await agent.followUp('and then')
      await agent.steer('rather')
      open.resolve()
      assert.is((await run.result).text, 'followed')
      const said = heard.events.filter((event) => event.type === 'message.added').map(({ message }) => message)
      assert.equal(textsOf(said), ['go', 'rather', 'and then'])
    },
  },
  'approves one call and denies another': {
    options: () => ({
      replies: [calls('c', 'pay', 'pay'), 'done'],
      tools: [tool('pay', () => 'paid', { needsApproval: true })],
    }),
    async run({ agent, heard, pending, trunk }) {
      const run = agent.prompt('pay twice')
      await heard.until((event) => event.type === 'approval.requested' && event.callId === 'c1')
      assert.equal(await pending(), ['c0', 'c1'])
      await agent.decide('c0', 'approve')
      await agent.decide('c1', 'deny', 'too much')
      assert.is(await refusal(() => agent.decide('c9', 'approve')), 'CALL_NOT_PENDING')
      assert.is((await run.result).text, 'done')
      const results = (await trunk()).filter(({ role }) => role === 'toolResult')
      assert.is(textsOf(results)[0], 'paid')
      assert.match(textsOf(results)[1]!, /too much/)
    },
  },
  'pauses at a limit and resumes': {
    options: () => ({ replies: [calls('c', 'look'), 'done'], tools: [tool('look', () => 'seen')] }),
    async run({ agent, state }) {
      const paused = await agent.prompt('go', { limits: { turns: 1 } }).result
      assert.is(paused.stopReason, 'paused')
      assert.is(paused.reason?.type, 'limit')
      assert.is(await state(), 'paused')
      const resumed = await agent.resume({ limits: { turns: 5 } }).result
      assert.is(resumed.text, 'done')
      assert.is(await refusal(() => agent.resume()), 'NOT_PAUSED')
    },
  },
  'tells of a failed model as a result': {
    options: () => ({ replies: [{ error: { kind: 'auth', message: 'no key' } }] }),
    async run({ agent }) {
      const { stopReason, error } = await agent.prompt('go').result
      assert.is(stopReason, 'error')
      assert.is(error?.code, 'MODEL_AUTH')
    },
  },
  'reverts to a step': {
    options: () => ({
      replies: [calls('c', 'look'), 'wrong'],
      tools: [tool('look', () => 'seen')],
      braking: { revert: true },
    }),
    async run({ agent, heard, trunk }) {
      await agent.prompt('go').result
      await agent.revert('n3', { category: 'failure', summary: 'that was wrong' })
      const applied = await heard.until(({ type }) => type === 'revert.applied')
      assert.ok(applied.type === 'revert.applied' && applied.applied)
      assert.equal(textsOf(await trunk()), ['go', 'toolCall', 'seen'])
    },
  },
  'reverts, prunes and compacts without brakes and with compaction off': {
    options: () => ({
      replies: [...Array.from({ length: 8 }, (_, at) => calls(`c${at}`, 'look')), 'done'],
      tools: [tool('look', () => 'long words '.repeat(40), { effects: 'none' })],
      compaction: false,
    }),
    async run({ agent, heard, trunk }) {
      await agent.prompt('go').result
      await agent.prune({ steps: ['n2'] })
      const pruned = await heard.until(({ type }) => type === 'prune.applied')
      assert.ok(pruned.type === 'prune.applied' && pruned.applied)
      await agent.compact()
      const end = await heard.until(({ type }) => type === 'compaction.end')
      assert.ok(end.type === 'compaction.end' && end.applied && end.tokensAfter < end.tokensBefore)
      await agent.revert('n15', { category: 'failure', summary: 'that was wrong' })
      const applied = await heard.until(({ type }) => type === 'revert.applied')
      assert.ok(applied.type === 'revert.applied' && applied.applied)
      assert.is(
        textsOf(await trunk())
          .at(-1)
          ?.startsWith('long words'),
        true,
      )
    },
  },
  'hides steps, and keeps those that are pinned': {
    options: () => ({
      replies: [calls('c', 'look'), calls('d', 'look'), 'done'],
      tools: [tool('look', () => 'seen')],
      braking: { revert: true },
    }),
    async run({ agent, heard }) {
      await agent.prompt('go').result
      await agent.pin('n3')
      await heard.until(({ type }) => type === 'pin.applied')
      await agent.prune({ tokens: 1, memo: 'looked' })
      const pruned = await heard.until(({ type }) => type === 'prune.applied')
      assert.equal(pruned.type === 'prune.applied' && [pruned.applied, pruned.steps], [true, [4]])
      await agent.unpin('n3')
      const unpinned = await heard.until((event) => event.type === 'pin.applied' && !event.pinned)
      assert.ok(unpinned.type === 'pin.applied' && unpinned.applied)
    },
  },
  'brings abandoned steps back': {
    options: () => ({
      replies: [calls('c', 'look'), 'done', 'more'],
      tools: [tool('look', () => 'seen')],
      braking: { revert: true },
    }),
    async run({ agent, heard, trunk }) {
      await agent.prompt('go').result
      await agent.revert('n1', { category: 'failure', summary: 'that was wrong' })
      await heard.until(({ type }) => type === 'revert.applied')
      await agent.graft('n3')
      const applied = await heard.until(({ type }) => type === 'graft.applied')
      assert.equal(applied.type === 'graft.applied' && applied.copies, [
        { nodeId: 5, from: 2 },
        { nodeId: 6, from: 3 },
      ])
      assert.equal(textsOf(await trunk()), ['go', 'toolCall', 'seen'])
      assert.is(await refusal(() => agent.graft([])), 'INVALID_OPTION')
    },
  },
  'folds what may be folded, and says when there is nothing': {
    options: () => ({
      replies: [...['c', 'd', 'e'].map((prefix) => calls(prefix, 'look')), 'done'],
      tools: [tool('look', () => 'seen '.repeat(50))],
      braking: { fold: { keepSteps: 1 } },
    }),
    async run({ agent, heard }) {
      await agent.prompt('go').result
      await agent.fold()
      const folded = await heard.until(({ type }) => type === 'prune.applied')
      assert.equal(folded.type === 'prune.applied' && [folded.by, folded.steps], ['runtime', [2, 4, 6]])
      await agent.fold()
      const again = await heard.until((event) => event.type === 'prune.applied' && !event.applied)
      assert.match(again.type === 'prune.applied' ? (again.reason ?? '') : '', /fold refused: there is no step/)
    },
  },
  'asks a policy by name': {
    options: () => ({
      replies: [...['c', 'd'].map((prefix) => calls(prefix, 'look')), 'done'],
      tools: [tool('look', () => 'seen '.repeat(50))],
      braking: {
        policies: [
          policy({
            name: 'tidy',
            when: { name: 'never()', fires: () => null },
            decide: { name: 'first()', decide: () => ({ hide: ['n2'], memo: 'looked once' }) },
          }),
        ],
      },
    }),
    async run({ agent, heard }) {
      await agent.prompt('go').result
      assert.is(await refusal(() => agent.brake('untidy')), 'POLICY_NOT_FOUND')
      await agent.brake('tidy')
      const end = await heard.until(({ type }) => type === 'policy.end')
      assert.equal(end.type === 'policy.end' && [end.policy, end.outcome], ['tidy', 'planned'])
      const pruned = await heard.until(({ type }) => type === 'prune.applied')
      assert.equal(pruned.type === 'prune.applied' && [pruned.applied, pruned.steps, pruned.policy], [
        true,
        [2],
        'tidy',
      ])
    },
  },
  'compacts when it is asked to': {
    options: () => ({
      replies: [...Array.from({ length: 8 }, (_, at) => calls(`c${at}`, 'look')), 'done'],
      tools: [tool('look', () => 'long words '.repeat(40), { effects: 'none' })],
    }),
    async run({ agent, heard }) {
      await agent.prompt('go').result
      await agent.compact({ focus: 'names' })
      const end = await heard.until(({ type }) => type === 'compaction.end')
      assert.ok(end.type === 'compaction.end' && end.applied && end.tokensAfter < end.tokensBefore)
    },
  },
  'refuses to fold or to ask a policy without braking, and a prune of nothing': {
    options: () => ({ replies: ['one'] }),
    async run({ agent }) {
      await agent.prompt('first').result
      assert.is(await refusal(() => agent.fold()), 'BRAKING_OFF')
      assert.is(await refusal(() => agent.brake('tidy')), 'BRAKING_OFF')
      assert.is(await refusal(() => agent.prune({})), 'INVALID_OPTION')
    },
  },
  'ends its iterators and its runs when it stops': {
    options: () => ({ replies: [stalled(['half'], never)] }),
    async run({ agent, heard }) {
      const types: string[] = []
      const reading = (async () => {
        for await (const { type } of agent.events()) types.push(type)
      })()
      const run = agent.prompt('go')
      const waiting = agent.prompt('never')
      await heard.until(({ type }) => type === 'reply.delta')
      await agent.stop()
      assert.is((await run.result).stopReason, 'aborted')
      assert.is((await waiting.result).stopReason, 'aborted')
      await reading
      assert.ok(types.includes('agent.stopped'), types.join())
      await agent.stop()
      const code = await refusal(() => agent.prompt('more'))
      assert.ok(code === 'AGENT_STOPPED' || code === 'AGENT_NOT_FOUND', code)
    },
  },
  'survives a listener that throws': {
    options: () => ({ replies: ['fine'] }),
    async run({ agent, heard }) {
      agent.subscribe(() => {
        throw new Error('a bad listener')
      })
      assert.is((await agent.prompt('go').result).text, 'fine')
      await heard.until(({ type }) => type === 'run.end')
    },
  },
  'lets go of a listener that has had enough': {
    options: () => ({ replies: ['one', 'two'] }),
    async run({ agent, heard }) {
      const seen: string[] = []
      const unsubscribe = agent.subscribe(({ type }) => {
        seen.push(type)
        if (type === 'run.end') unsubscribe()
      })
      await agent.prompt('a').result
      const before = seen.length
      await agent.prompt('b').result
      await heard.until((event) => event.type === 'reply.end' && JSON.stringify(event.message).includes('two'))
      assert.is(seen.length, before)
    },
  },
}

describe('local and remote agents', (it) => {
  for (const [title, { options, run }] of Object.entries(stories)) {
    for (const [kind, make] of Object.entries(worlds)) {
      it(`a ${kind} one ${title}`, async (context) => {
        const open = gate()
        await run(await make(context, options(open)), open)
      })
    }
  }
})
