import { z } from 'zod'
import { createRuntime, defineAgent, deferred, defineTool, memoryStore, policyModel } from '../../src/index.ts'
import type { LogRecord } from '../../src/index.ts'
import type { AnyTool, ToolEffects } from '../../src/actors/tools/defineTool.ts'
import type { ReplyShape } from '../../packages/models/src/replyShape.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { cutStore, recordsOf, settled } from './cutLogs.ts'

const effects: readonly ToolEffects[] = ['none', 'idempotent', 'reversible', 'irreversible']

/** A tool for each kind of effects, one that asks people, and one that a client carries out; `ran` notes what did. */
const toolsNoting = (ran: string[]): readonly AnyTool[] => [
  ...effects.map((each) =>
    tool(
      each,
      () => {
        ran.push(each)
        return `${each} ran`
      },
      { effects: each, ...(each === 'reversible' ? { undo: () => {} } : {}) },
    ),
  ),
  tool('asking', () => 'asking ran', { effects: 'none', needsApproval: true }),
  defineTool({ name: 'client', description: 'Runs at the client.', input: z.looseObject({}) }),
]

const wanted = [...effects, 'asking', 'client']

/** Finds tools if there are some to be found, calls all of them, and ends. */
const modelOf = (isDeferred: boolean) =>
  policyModel((request): ReplyShape => {
    const called = request.messages.filter(({ role }) => role === 'assistant').length
    if (called === 0)
      return {
        toolCalls: [isDeferred ? { name: 'find_tools', input: { query: 'tool' } } : { name: 'nothing', input: {} }],
      }
    if (called > 1) return 'done'
    return {
      toolCalls: wanted.map((name) =>
        isDeferred ? { name: 'call_tool', input: { name, input: { n: 1 } } } : { name, input: { n: 1 } },
      ),
    }
  })

function definitionOf(isDeferred: boolean, ran: string[] = []) {
  const tools = toolsNoting(ran)
  const nothing = tool('nothing', () => 'nothing', { effects: 'none' })
  return defineAgent({
    name: 'tester',
    model: modelOf(isDeferred),
    toolExecution: 'sequential',
    tools: isDeferred ? [deferred(tools)] : [nothing, ...tools],
  })
}

type Spawned = Awaited<ReturnType<Awaited<ReturnType<typeof createRuntime>>['spawn']>>

/** Approves and answers what waits, now and later; returns the names of what did. */
function decideAll(agent: Spawned): string[] {
  const asked = new Map<string, string>()
  const look = (): void => {
    for (const one of agent.pending()) {
      if (!('name' in one) || asked.has(one.key)) continue
      asked.set(one.key, one.name)
      if (one.name === 'client') agent.decide(one.key, { result: 'client ran' })
      else agent.decide(one.key, 'approve')
    }
  }
  agent.subscribe(look)
  look()
  return [...asked.values()]
}

async function recorded(isDeferred: boolean): Promise<LogRecord[]> {
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  const agent = await runtime.spawn(definitionOf(isDeferred), { id: 'a1' })
  decideAll(agent)
  await agent.prompt('go').result
  await runtime.close()
  return recordsOf(store, 'a1')
}

/** Goes on from a log that ends here; returns which tools ran then, and how each call ended. */
async function goOn({ cleanup }: CaseContext, past: readonly LogRecord[], isDeferred: boolean): Promise<unknown> {
  const store = await cutStore('a1', past)
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  const ran: string[] = []
  const agent = await runtime.resume('a1', definitionOf(isDeferred, ran), { continue: false })
  const isOver = agent.state === 'idle'
  const ended = settled(agent)
  decideAll(agent)
  if (!isOver) {
    if (agent.pause !== null && agent.pause.type !== 'approvals') agent.resume()
    await ended
  }
  const results = agent.conversation
    .trunk()
    .flatMap(({ message }) =>
      message.role === 'toolResult' ? [[message.toolName, message.synthetic, textOf(message.content)]] : [],
    )
  return [ran, results.slice(1), agent.state]
}

describe('an agent whose process died among calls of deferred tools', (it) => {
  it('goes on after every record as with the same tools in its requests', { timeoutMs: 20_000 }, async (context) => {
    const [deferring, listing] = [await recorded(true), await recorded(false)]
    assert.equal(
      deferring.map(({ type }) => type),
      listing.map(({ type }) => type),
    )
    const from = listing.findIndex(({ type }) => type === 'run.start') + 2
    const outcomes = new Set<string>()
    for (let end = from; end <= listing.length; end++) {
      const expected = await goOn(context, listing.slice(0, end), false)
      assert.equal(await goOn(context, deferring.slice(0, end), true), expected, `after record ${end}`)
      outcomes.add(JSON.stringify(expected))
    }
    assert.ok(outcomes.size > 4, 'the crashes make a difference')
  })

  it('finds again what it found, if it died before it called', async (context) => {
    const past = await recorded(true)
    const found = past.slice(0, past.findIndex(({ type }) => type === 'tool.end') + 1)
    const [ran] = (await goOn(context, found, true)) as readonly [string[]]
    assert.equal(ran, effects)
  })
})
