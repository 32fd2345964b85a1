import { z } from 'zod'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import type { AgentOptions } from '../../../src/actors/define/defineAgent.ts'
import type { SubAgentEntry } from '../../../src/actors/define/subAgents.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { rebuildContext } from '../../../src/machines/rebuildContext.ts'
import { textOf, totalTokens } from '../../../src/protocol/messages.ts'
import type { ModelRequest } from '../../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { ends, Lives, until, type Life } from '../../../test/support/lives.ts'
import { lateStoreOf } from '../../../test/support/lateStore.ts'
import { standingOf } from '../../waking/src/logStanding.ts'
import { codeTool } from '../src/codeTool.ts'
import { engine, inner, noting, scripting } from './scriptedAgent.ts'

/** An agent whose answer repeats its task. */
const echo = (name = 'echo', options: Partial<AgentOptions> = {}): AgentDefinition =>
  defineAgent({
    name,
    description: `Repeats its task, as ${name}.`,
    model: policyModel(({ messages }) => `${name} ${textOf(messages.at(-1)!.content)}`),
    ...options,
  })

const coder = (
  code: string,
  agents: readonly SubAgentEntry[],
  options: Partial<AgentOptions> = {},
  requests: ModelRequest[] = [],
): AgentDefinition =>
  defineAgent({
    name: 'coder',
    model: scripting(code, requests),
    tools: [codeTool([noting('read', [])], { only: true, engine })],
    agents,
    ...options,
  })

const said = ({ agent }: Pick<Life, 'agent'>): string =>
  textOf(agent.conversation.trunk().at(-1)!.message.content).replace('It said: ', '')

const lost = `const said = (error) => error.code + ': ' + error.message\n`

const ended = (records: readonly LogRecord[]) =>
  records.flatMap((record) => (record.type === 'child.ended' ? [record] : []))

describe('a script that calls sub-agents', (it) => {
  it('may have no tools besides', async (context) => {
    const tools = [codeTool([], { only: true, engine })]
    const life = await new Lives(context).begin(coder(`return tools.echo({ task: 'one' })`, [echo()], { tools }), 'go')
    await ends(life.agent)
    assert.match(said(life), 'echo one')
    assert.throws(
      () => coder('', [], { tools }),
      /codeTool: give a list of tools that scripts can call, or the agent sub-agents/,
    )
  })

  it('gets their answers, as text or as data, and each has a child with a log of its own', async (context) => {
    const judge = echo('judge', {
      output: z.object({ good: z.boolean() }),
      model: policyModel(() => '{"good":true}'),
    })
    const requests: ModelRequest[] = []
    const code = `const [a, b] = await Promise.all([tools.echo({ task: 'one' }), tools.echo({ task: 'two' })])
return [a, b, (await tools.judge({ task: 'it' })).good]`
    const life = await new Lives(context).begin(coder(code, [echo(), judge], {}, requests), 'go')
    await ends(life.agent)
    assert.equal(JSON.parse(said(life)), ['echo one', 'echo two', true])
    const logs = await life.logs()
    assert.equal(Object.keys(logs).toSorted(), ['a1', 'a1.1', 'a1.2', 'a1.3'])
    assert.equal(
      inner(logs['a1']!, 'inner.start').map(({ n, name, childId }) => [n, name, childId]),
      [
        [1, 'echo', 'a1.1'],
        [2, 'echo', 'a1.2'],
        [3, 'judge', 'a1.3'],
      ],
    )
    assert.equal(
      new Map(ended(logs['a1']!).map(({ childId, inRun, spent }) => [childId, [inRun, spent.turns]])),
      new Map(['a1.1', 'a1.2', 'a1.3'].map((id) => [id, [true, 1]])),
    )
    const { description } = requests[0]!.tools.find(({ name }) => name === 'run_code')!
    assert.match(description, /echo\(input: \{[^]*task: string\n\}\): Promise<string>/)
    assert.match(description, /judge\(input: [^]*\): Promise<\{ good: boolean \}>/)
    const [created] = logs['a1.1']!
    assert.is(created?.type === 'agent.created' && created.parent?.callId, 'call_0_0/1')
  })

  it('has what they used counted once, in the run that pays', async (context) => {
    const life = await new Lives(context).begin(
      coder(`return await tools.echo({ task: 'one' })`, [echo()], { limits: { turns: 50 } }),
      'go',
    )
    const result = await life.agent.prompt('again').result
    const logs = await life.logs()
    const own = (records: readonly LogRecord[]): number =>
      records.reduce((sum, record) => sum + (record.type === 'reply.end' ? totalTokens(record.message.usage) : 0), 0)
    const all = Object.values(logs).reduce((sum, records) => sum + own(records), 0)
    assert.is(result.turns, 2)
    assert.is(totalTokens(life.agent.spent.usage), all)
    assert.is(life.agent.spent.turns, 6)
    assert.equal(rebuildContext(logs['a1']!).children, 2)
  })

  it('is refused those that do not fit, and hears why', async (context) => {
    const code = `${lost}return [
  await tools.echo({}).catch(said), await tools.bot({ task: 'x' }).catch(said),
  await tools.$call('transfer_to_clerk', {}).catch(said), await tools.deep({ task: 'x' }).catch(said)]`
    const failing = policyModel(() => {
      throw new Error('no model')
    })
    const life = await new Lives(context).begin(
      coder(
        code,
        [echo(), { definition: echo('bot'), detach: true }, echo('deep', { model: failing, retry: { attempts: 1 } })],
        { handoffs: [echo('clerk')] },
      ),
      'go',
    )
    await ends(life.agent)
    const [arguments_, bot, clerk, deep] = JSON.parse(said(life)) as string[]
    assert.match(arguments_!, /^INVALID_INPUT: .*task/)
    assert.is(bot, 'NOT_CALLABLE: "bot" works on its own, and no script waits for it: call it yourself.')
    assert.is(clerk, 'NOT_CALLABLE: A script cannot hand the conversation over: call the tool yourself.')
    assert.match(deep!, /^UNFINISHED: The agent "deep" did not finish: .*no model/)
  })

  it('waits for people below it, and its time stands still', async (context) => {
    const ran: string[] = []
    const payer = defineAgent({
      name: 'payer',
      model: policyModel(({ messages }) =>
        messages.at(-1)!.role === 'toolResult' ? 'paid' : { toolCalls: [{ name: 'pay', input: { to: 'b' } }] },
      ),
      tools: [noting('pay', ran, { effects: 'irreversible', needsApproval: true })],
    })
    const lives = new Lives(context)
    const life = await lives.begin(
      coder(`return await tools.payer({ task: 'pay b' })`, [payer], {
        tools: [codeTool([noting('read', [])], { only: true, engine, limits: { ms: 5_000 } })],
      }),
      'go',
    )
    const over = ends(life.agent)
    await until(life.agent, ({ type }) => type === 'approval.requested')
    await lives.clock.advance(60_000)
    const [pending] = life.agent.pending()
    assert.equal([pending?.agentId, pending?.name], ['a1.1', 'pay'])
    assert.is((await life.agent.settled()).status, 'waiting')
    const { waiting } = await standingOf(await lateStoreOf(await life.logs()), 'a1')
    assert.equal(
      waiting.map(({ pending: one, path }) => [one.agentId, path]),
      [['a1.1', ['a1']]],
    )
    // Killed here, it asks again.
    const again = await lives.resume(coder(`return await tools.payer({ task: 'pay b' })`, [payer]), await life.logs(), {
      continue: true,
    })
    await until(again.agent, () => again.agent.pending().length > 0)
    assert.is(again.agent.pending()[0]?.agentId, 'a1.1')
    const last = ends(again.agent)
    again.agent.decide(again.agent.pending()[0]!.key, 'approve')
    life.agent.decide(pending!.key, 'approve')
    await over
    await last
    assert.equal([said(life), said(again), ran.length], ['paid', 'paid', 2])
  })

  it('takes them along when it is aborted, with what they used', async (context) => {
    const slow = echo('slow', {
      model: policyModel(() => new Promise<never>(() => {})),
    })
    const life = await new Lives(context).begin(coder(`return await tools.slow({ task: 'x' })`, [slow]), 'go')
    const over = ends(life.agent)
    await until(life.agent, ({ type, agentId }) => type === 'turn.start' && agentId === 'a1.1')
    life.agent.abort()
    await over
    const logs = await life.logs()
    assert.equal(
      logs['a1.1']!.flatMap((record) => (record.type === 'run.end' ? [record.stopReason] : [])),
      ['aborted'],
    )
    assert.equal(
      ended(logs['a1']!).map(({ childId, inRun, spent }) => [childId, inRun, spent.turns]),
      [['a1.1', true, 1]],
    )
    assert.is(life.agent.children().length, 0)
  })

  it('leaves none at work when it is skipped', async (context) => {
    const slow = echo('slow', {
      model: policyModel(() => new Promise<never>(() => {})),
    })
    const asks = noting('asks', [], { needsApproval: true })
    const life = await new Lives(context).begin(
      coder(`return await Promise.all([tools.slow({ task: 'x' }), tools.asks({})])`, [slow], {
        tools: [codeTool([asks], { only: true, engine })],
      }),
      'go',
    )
    await until(life.agent, ({ type, agentId }) => type === 'turn.start' && agentId === 'a1.1')
    if (life.agent.pending().length === 0) await until(life.agent, ({ type }) => type === 'approval.requested')
    const left = until(life.agent, ({ type }) => type === 'child.ended')
    life.agent.steer('something else')
    await left
    const { 'a1.1': child } = await life.logs()
    assert.ok(child!.some((record) => record.type === 'run.end' && record.stopReason === 'aborted'))
  })

  it('has no more of them at once than the agent may have, and shares the limits of the run among them', async (context) => {
    let alive = 0
    let most = 0
    const busy = echo('busy', {
      model: policyModel(async () => {
        most = Math.max(most, (alive += 1))
        for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
        alive -= 1
        return 'done'
      }),
    })
    const code = `return (await Promise.all(Array.from({ length: 5 }, (_, i) => tools.busy({ task: 'n' + i })))).length`
    const life = await new Lives(context).begin(coder(code, [busy], { maxChildren: 2 }), 'go')
    await ends(life.agent)
    assert.equal([said(life), most], ['5', 2])
    const few = `${lost}return await Promise.all(Array.from({ length: 5 }, (_, i) => tools.busy({ task: 'n' + i }).catch(said)))`
    const limited = await new Lives(context).begin(coder(few, [busy], { limits: { turns: 4 } }), 'go')
    await ends(limited.agent)
    const { a1 } = await limited.logs()
    const result = a1!.flatMap((record) => (record.type === 'tool.end' ? [textOf(record.message.content)] : []))
    const answers = JSON.parse(result[0]!) as string[]
    assert.is(answers.filter((answer) => answer === 'done').length, 3)
    assert.ok(answers.filter((answer) => answer !== 'done').every((answer) => answer.startsWith('LIMIT: ')))
  })
})

/** Ends an agent's run, with whatever approvals it takes. */
async function finish({ agent, logs }: Life): Promise<{ [agentId: string]: LogRecord[] }> {
  if (agent.state !== 'idle') await ends(agent)
  return logs()
}

describe('a script with sub-agents whose process is killed after every record, twice', (it) => {
  it('goes on with those that it had, and begins none anew', { timeoutMs: 60_000 }, async (context) => {
    const lives = new Lives(context)
    const asked: string[] = []
    const worker = defineAgent({
      name: 'worker',
      model: policyModel(({ messages }) => {
        const last = messages.at(-1)!
        return last.role === 'toolResult'
          ? `has ${textOf(last.content)}`
          : { toolCalls: [{ name: 'once', input: { to: textOf(last.content) } }] }
      }),
      tools: [noting('once', asked, { effects: 'irreversible' })],
    })
    const code = `const all = await Promise.allSettled(['a', 'b'].map((task) => tools.worker({ task })))
return [all.map(({ value }) => value), await tools.worker({ task: 'c' }), Math.random() >= 0]`
    const definition = coder(code, [worker])
    const order: (readonly [string, number])[] = []
    const first = await lives.begin(definition, 'go', async (runtime) => {
      const agent = await runtime.spawn(definition, { id: 'a1' })
      agent.subscribe(
        ({ agentId, seq, type }) => {
          if (seq !== undefined && type !== 'state.changed') order.push([agentId, seq])
        },
        { descendants: true },
      )
      return agent
    })
    const whole = await finish(first)
    const cut = (logs: { readonly [id: string]: readonly LogRecord[] }, length: number) =>
      Object.fromEntries(
        Object.entries(logs).flatMap(([id, records]) => {
          const last = order.slice(0, length).findLast(([agentId]) => agentId === id)?.[1] ?? 0
          return last === 0 ? [] : [[id, records.filter(({ seq }) => seq <= last)] as const]
        }),
      )
    const from =
      order.findIndex(([agentId, seq]) => agentId === 'a1' && whole['a1']![seq - 1]?.type === 'tool.start') + 1
    assert.ok(from > 3 && order.length - from > 30, `${from} of ${order.length}`)
    for (let length = from; length < order.length - 2; length++) {
      const before = asked.length
      const logs = cut(whole, length)
      const had = new Set(
        Object.values(logs)
          .flat()
          .flatMap((record) => (record.type === 'tool.start' && record.name === 'once' ? [record.key] : [])),
      )
      const next = await finish(await lives.resume(definition, logs, { continue: true }))
      assert.is(Object.keys(next).length, 4, `after ${length} records`)
      const twice = asked.slice(before).filter((key) => had.has(key))
      assert.equal(twice, [], `after ${length} records`)
      assert.match(
        textOf(next['a1']!.flatMap((record) => (record.type === 'reply.end' ? [record.message] : [])).at(-1)!.content),
        /^It said: \[\["has .*","has .*"\],"has .*",true\]$/,
        `after ${length} records`,
      )
      const spent = ended(next['a1']!).reduce((sum, record) => sum + record.spent.turns, 0)
      const turns = Object.entries(next)
        .flatMap(([id, records]) => (id === 'a1' ? [] : records))
        .reduce((sum, record) => sum + (record.type === 'run.end' ? record.turns : 0), 0)
      assert.is(spent, turns, `what was counted, after ${length} records`)
    }
  })
})
