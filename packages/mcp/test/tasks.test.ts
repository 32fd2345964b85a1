import type { Client } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { messageOf } from '../../../src/protocol/errors.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { tool } from '../../../test/support/agentHarness.ts'
import { until } from '../../../test/support/lives.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { clerkWith } from '../../a2a/test/clerk.ts'
import { openHost } from './server/mcpHarness.ts'
import { finish, leadOf, live, logIn } from './tasksHarness.ts'

const taskSchema = z.looseObject({ taskId: z.string(), status: z.string() })

/** Resolves with how the run of an agent ended. */
async function runOf(agent: Agent): Promise<string> {
  for await (const event of agent.events()) if (event.type === 'run.end') return event.stopReason
  return 'never'
}

describe('a call that an MCP server carries out as a task', (it) => {
  it('is begun once, whenever its process is killed', { timeoutMs: 60_000 }, async (context) => {
    const paid: string[] = []
    const { server, runtime } = await openHost(context, [clerkWith(paid)])
    const lead = leadOf(server.port, 'pay the bill')
    const whole = await finish(await live(context, lead))
    assert.match(whole.said, /^Done: paid 5\n/)
    const noted = whole.log.filter((record) => record.type === 'child.noted')
    assert.equal(
      noted.map(({ name, protocol, handle }) => [name, protocol, Object.keys(handle as object)]),
      [
        ['clerk', 'mcp office', ['once']],
        ['clerk', 'mcp office', ['once', 'taskId', 'ttl']],
        ['clerk', 'mcp office', ['once', 'taskId', 'ttl', 'asking']],
        ['clerk', 'mcp office', ['once', 'taskId', 'ttl']],
      ],
    )
    const first = whole.log.findIndex(({ type }) => type === 'child.noted') + 1
    for (let length = first; length < whole.log.length - 1; length++) {
      const before = whole.log.slice(0, length)
      const { said } = await finish(await live(context, lead, { a1: before }))
      assert.is(said, whole.said, `after ${length} records`)
      assert.equal([paid.length, runtime.agents().length], [1, 1], `after ${length} records`)
    }
  })

  it('is cancelled there when it is aborted here', async (context) => {
    const { server, runtime } = await openHost(context, [clerkWith()])
    const begun = Promise.withResolvers<Agent>()
    context.cleanup(runtime.onAgent(begun.resolve))
    const { agent } = await live(context, leadOf(server.port, 'wait'))
    const clerk = await begun.promise
    await until(clerk, ({ type }) => type === 'tool.start')
    await until(agent, ({ type }) => type === 'tool.progress')
    const ended = runOf(clerk)
    agent.abort()
    assert.is(await ended, 'aborted')
  })

  it('says what the server says of it, and why it did not finish', async (context) => {
    const clerk = defineAgent({
      name: 'clerk',
      description: 'Begins.',
      limits: { turns: 1 },
      tools: [tool('look', () => 'seen')],
      model: policyModel(() => ({ text: 'I begin.', toolCalls: [{ name: 'look', input: {} }] })),
    })
    const { server } = await openHost(context, [clerk])
    const told: unknown[] = []
    const life = await live(context, leadOf(server.port, 'begin'))
    life.agent.subscribe((event) => {
      if (event.type === 'tool.progress') told.push(event.progress)
    })
    const { said } = await finish(life)
    const why = 'I begin. The run is paused: its limit of turns was reached.'
    assert.match(said, /^I begin\.\nThe run is paused: its limit of turns was reached\. .*\n\nsession: clerk-/)
    assert.equal((told.at(-1) as { message: string }).message.slice(0, why.length), why)
  })

  it('is an error once the server does not know of it any more', async (context) => {
    const first = await openHost(context, [clerkWith()])
    const lead = leadOf(first.server.port, 'wait')
    const life = await live(context, lead)
    await until(life.agent, ({ type }) => type === 'tool.progress')
    const a1 = await logIn(life)
    await first.runtime.close()
    const port = first.server.port
    await openHost(context, [clerkWith()], { serve: { port } })
    const { said } = await finish(await live(context, lead, { a1 }))
    assert.match(
      said,
      /^The MCP server "office" no longer has the task "clerk-.*There is no task .* What came of it is not known\.$/,
    )
  })
})

describe('the tasks of a server', (it) => {
  it('are seen and cancelled by who may', async (context) => {
    const [ownToken, otherToken, readToken] = ['owner', 'other', 'reader'].map((name) => name.padEnd(20, '-')) as [
      string,
      string,
      string,
    ]
    const { connect } = await openHost(context, [clerkWith()], {
      serve: { tokens: { [ownToken]: 'admin', [otherToken]: { role: 'admin', agents: [] }, [readToken]: 'observe' } },
    })
    const owner = await connect('HTTP, legacy', { token: ownToken })
    const other = await connect('HTTP, legacy', { token: otherToken })
    const reader = await connect('HTTP, legacy', { token: readToken })
    const params = { name: 'clerk', arguments: { task: 'wait' }, task: {} }
    const { task } = await owner.request({ method: 'tools/call', params }, z.object({ task: taskSchema }))
    const ask = (client: Client, method: string): Promise<unknown> =>
      client
        .request({ method, params: { taskId: task.taskId } }, taskSchema)
        .then(({ status }) => status)
        .catch(messageOf)
    assert.is(await ask(reader, 'tasks/get'), 'working')
    assert.match((await ask(reader, 'tasks/cancel')) as string, /BRIDGE_FORBIDDEN/)
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      assert.match((await ask(other, method)) as string, /There is no task .*AGENT_NOT_FOUND/)
    const list = (client: Client) =>
      client.request({ method: 'tasks/list', params: {} }, z.object({ tasks: z.array(taskSchema) }))
    assert.equal([(await list(other)).tasks.length, (await list(owner)).tasks.length], [0, 1])
    assert.is(await ask(owner, 'tasks/cancel'), 'cancelled')
  })
})
