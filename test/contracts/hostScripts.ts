import { z } from 'zod'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import type { AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { fallback } from '../../packages/models/src/fallback.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import type { Decision, RevertCommandOptions } from '../../src/protocol/bridge/commands.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, gate, tool } from '../support/agentHarness.ts'

/** An agent in this process or placed by an engine. */
export interface HostedAgent {
  prompt(content: string): HostedRun
  resume(): HostedRun
  steer(content: string): Promise<void> | void
  followUp(content: string): Promise<void> | void
  decide(call: string, decision: Decision, how?: string): Promise<void> | void
  revert(step: string, options: RevertCommandOptions): Promise<void> | void
  abort(): Promise<void> | void
  events(): AsyncIterable<AgentEvent>
}

interface HostedRun extends AsyncIterable<AgentEvent> {
  readonly result: Promise<{ readonly stopReason: string }>
}

/** Something that agents do. `release`: it leaves the memory while it waits, as one does that an engine has placed. */
export interface HostScript {
  readonly definition: AgentDefinition
  run(agent: HostedAgent, release: () => Promise<HostedAgent>): Promise<void>
}

const say = tool('say', (input) => `said ${JSON.stringify(input)}`)
const fail = tool('fail', () => {
  throw new Error('it broke')
})
const pay = tool('pay', () => 'paid', { needsApproval: true, effects: 'irreversible' })

const define = (replies: readonly ScriptedReply[], rest: Partial<AgentOptions> = {}): AgentDefinition =>
  defineAgent({ name: 'a', model: scriptedModel(replies), tools: [say, fail, pay], ...rest })

/** Decides what a run asks people, in the order in which it asks, and each once the call before has ended: they may end in any order. */
async function answering(
  run: HostedRun,
  agent: HostedAgent,
  decisions: readonly ('approve' | { readonly deny: string })[],
): Promise<void> {
  const left = decisions[Symbol.iterator]()
  const asked: string[] = []
  let isDecided = false
  for await (const event of run) {
    if (event.type === 'approval.requested' || event.type === 'question.asked') asked.push(event.key)
    if (event.type === 'tool.end') isDecided = false
    const [key] = asked
    if (isDecided || key === undefined) continue
    asked.shift()
    isDecided = true
    const { value } = left.next()
    const [decision, reason] =
      typeof value === 'object' ? (['deny', value.deny] as const) : (['approve', undefined] as const)
    await agent.decide(key, decision, reason)
  }
}

/** A tool that waits until it is told. */
function waiting() {
  const isIn = gate()
  const isTold = gate<string>()
  const wait = tool('wait', () => {
    isIn.resolve()
    return isTold.promise
  })
  return { wait, isIn: isIn.promise, tell: () => isTold.resolve('done') }
}

const asks = (agent: string, task: string): ScriptedReply => calls('h', [agent, { task }])

/** Scripts on whose logs all hosts must agree. Each is made anew for a host, as models and tools have a state. */
export const hostScripts: { readonly [what: string]: () => HostScript } = {
  'call tools, one of which fails, and answer twice': () => ({
    definition: define([calls('c', ['say', { text: 'hello' }]), calls('d', 'fail'), 'done', 'and more']),
    async run(agent) {
      await agent.prompt('go on').result
      await agent.prompt('more').result
    },
  }),

  'wait for people, who approve one call and deny another': () => ({
    definition: define([calls('c', 'pay', 'pay'), 'paid once']),
    async run(agent) {
      const run = agent.prompt('pay')
      await answering(run, agent, ['approve', { deny: 'once is enough' }])
      await run.result
    },
  }),

  'ask people in a tool, and leave the memory until they answer': () => {
    const poll = defineTool({
      name: 'poll',
      description: 'Asks.',
      input: z.object({}),
      run: async (_, { ask }) => `It is ${await ask(z.string(), 'What is it?')}.`,
    })
    return {
      definition: define([calls('c', 'poll'), 'asked'], { tools: [poll] }),
      async run(agent, release) {
        const asked = agent.prompt('ask')
        const key = await keyOf(asked, 'question.asked')
        const later = await release()
        const heard = later.events()
        await later.decide(key, { value: 'blue' })
        for await (const event of heard) if (event.type === 'run.end') break
      },
    }
  },

  'have agents below them': () => {
    const leaf = define([calls('c', 'say', 'fail'), 'leaf done'], { name: 'leaf', description: 'A leaf.' })
    const middle = define([asks('leaf', 'deep'), 'middle done'], { name: 'middle', agents: [leaf] })
    return {
      definition: define([asks('middle', 'do it'), 'root done'], { agents: [middle] }),
      run: async (agent) => void (await agent.prompt('go').result),
    }
  },

  'are steered, reverted and prompted again': () => {
    const { wait, isIn, tell } = waiting()
    return {
      definition: define([calls('c', 'wait'), 'steered', 'other'], { tools: [wait], braking: { revert: true } }),
      async run(agent) {
        const run = agent.prompt('go')
        const events = run[Symbol.asyncIterator]()
        await isIn
        await agent.steer('rather so')
        await queued(events)
        tell()
        await run.result
        const heard = agent.events()
        await agent.revert('n1', { category: 'tangent', summary: 'Another way is better.' })
        for await (const event of heard) if (event.type === 'revert.applied') break
        await agent.prompt('otherwise').result
      },
    }
  },

  'are told what to do next while they work': () => {
    const { wait, isIn, tell } = waiting()
    return {
      definition: define([calls('c', 'wait'), 'done', 'followed'], { tools: [wait] }),
      async run(agent) {
        const run = agent.prompt('go')
        const events = run[Symbol.asyncIterator]()
        await isIn
        await agent.followUp('and then')
        await queued(events)
        tell()
        await run.result
      },
    }
  },

  'hand the conversation over': () => {
    const billing = define([calls('b', 'say'), 'billed'], { name: 'billing' })
    return {
      definition: define([calls('t', 'transfer_to_billing')], { handoffs: [billing] }),
      run: async (agent) => void (await agent.prompt('I want to pay').result),
    }
  },

  'have calls looked at before and after': () => ({
    definition: define([calls('c', ['say', { text: 'one' }], 'fail', 'pay'), 'done'], {
      beforeTool: ({ name }) =>
        name === 'fail' ? { deny: 'not today' } : name === 'say' ? { allow: true, input: { text: 'two' } } : undefined,
      afterTool: ({ name }) => (name === 'say' ? { result: 'said something' } : undefined),
    }),
    async run(agent) {
      const run = agent.prompt('go')
      await answering(run, agent, [{ deny: 'no' }])
      await run.result
    },
  }),

  'go on with another model when one fails': () => ({
    definition: define([], {
      model: fallback([
        { ...scriptedModel([{ error: { kind: 'network', message: 'too much' } }]), id: 'a:1' },
        { ...scriptedModel([calls('c', 'say'), 'done']), id: 'b:2' },
      ]),
    }),
    run: async (agent) => void (await agent.prompt('go').result),
  }),

  'wait for an agent that reports to them': () => {
    const isAwaited = gate()
    const found = async (): Promise<{ text: string }> => {
      await isAwaited.promise
      return { text: 'Found it.' }
    }
    const scout = define([found, found], { name: 'scout' })
    return {
      definition: define([asks('scout', 'Look.'), calls('w', 'wait_for'), 'There.'], {
        agents: [{ definition: scout, detach: 'report' }],
      }),
      async run(agent) {
        const run = agent.prompt('Look around.')
        for await (const event of run) if (event.type === 'tool.start' && event.name === 'wait_for') isAwaited.resolve()
      },
    }
  },

  'call agents that work on their own': () => {
    const scout = define(['Found it.'], { name: 'scout' })
    return {
      definition: define([asks('scout', 'Look.'), 'It looks.'], { agents: [{ definition: scout, detach: true }] }),
      run: async (agent) => void (await agent.prompt('Look around.').result),
    }
  },

  'come to a limit, and go on': () => ({
    definition: define([calls('c', 'say'), calls('d', 'say'), 'done'], { limits: { turns: 2 } }),
    async run(agent) {
      await agent.prompt('go').result
      await agent.resume().result
    },
  }),

  'are aborted in a call': () => {
    const { wait, isIn } = waiting()
    return {
      definition: define([calls('c', 'wait'), 'again'], { tools: [wait] }),
      async run(agent) {
        const { result } = agent.prompt('go')
        await isIn
        await agent.abort()
        await result
        await agent.prompt('and now').result
      },
    }
  },

  'fold what they have done': () => ({
    definition: define(
      [...Array.from({ length: 6 }, (_, turn) => calls(`c${turn}`, ['say', { text: 'long '.repeat(2000) }])), 'done'],
      { braking: { fold: { work: 300, minBatch: 300, keepSteps: 2, indexTokens: 0, cap: 20_000, leastRequests: 0 } } },
    ),
    run: async (agent) => void (await agent.prompt('go').result),
  }),
}

/** Waits until one more message is in a queue. */
async function queued(events: AsyncIterator<AgentEvent>): Promise<void> {
  for (;;) {
    const { done, value } = await events.next()
    if (done === true || value.type === 'queue.changed') return
  }
}

async function keyOf(run: AsyncIterable<AgentEvent>, type: 'question.asked'): Promise<string> {
  for await (const event of run) if (event.type === type) return event.key
  throw new Error(`the run ended without ${type}`)
}

/** Records that name the command only if it came over a wire. */
const overWires: ReadonlySet<LogRecord['type']> = new Set(['approval.decided', 'question.answered', 'run.end'])

/** The same log whatever ids its commands had: they are counted as they come. */
export function canonical(records: readonly LogRecord[]): unknown {
  const ids = new Map<string, string>()
  for (const record of records) for (const id of idsOf(record)) if (!ids.has(id)) ids.set(id, `command ${ids.size + 1}`)
  return records.map((record) =>
    JSON.parse(JSON.stringify(record), (key, value: unknown) => {
      if (key === 'requestId' && overWires.has(record.type)) return undefined
      return typeof value === 'string' ? (ids.get(value) ?? value) : value
    }),
  )
}

const idsOf = (record: LogRecord): readonly string[] => [
  ...('requestId' in record && !overWires.has(record.type) && record.requestId !== undefined ? [record.requestId] : []),
  ...('request' in record && record.request !== null && 'id' in record.request ? [record.request.id] : []),
  ...(record.type === 'queue.changed' && record.added !== undefined ? [record.added.id] : []),
]
