import { defineAgent, fileRules, type AgentDefinition, type LogRecord } from '../../src/index.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { foldContext } from '../../src/machines/rebuildContext.ts'
import type { RuleStore } from '../../src/protocol/ports/ruleStore.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { recordsOf, runtimeOver } from './cutLogs.ts'

const steps = ['pay', 'look', 'pay', 'exit_plan', 'pay'] as const

/** Pays, looks, pays, shows a plan and pays once more. */
const payer = (ran: string[], store: RuleStore): AgentDefinition =>
  defineAgent({
    name: 'payer',
    model: policyModel(({ messages }) => {
      const done = messages.filter(({ role }) => role === 'toolResult').length
      const name = steps[done]
      return name === undefined
        ? 'done'
        : { toolCalls: [{ name, input: name === 'exit_plan' ? { plan: 'Pay.' } : {} }] }
    }),
    tools: [
      tool('pay', () => (ran.push('pay'), 'paid'), { needsApproval: true }),
      tool('look', () => (ran.push('look'), 'seen'), { effects: 'none' }),
    ],
    permissions: { store },
  })

/** Adds a rule with the first approval, begins plan mode after the look, accepts the plan, and lets the job come to its end. */
async function finish(
  context: Pick<CaseContext, 'cleanup'>,
  log: readonly LogRecord[],
  store: RuleStore,
): Promise<{ readonly records: readonly LogRecord[]; readonly ran: readonly string[] }> {
  const ran: string[] = []
  const { runtime, store: logs } = await runtimeOver(context, log.length === 0 ? {} : { a1: log })
  const definition = payer(ran, store)
  const agent =
    log.length === 0 ? await runtime.spawn(definition, { id: 'a1' }) : await runtime.resume('a1', definition)
  const decide = (): void => {
    for (const { key, name, kind } of agent.pending())
      if (kind === 'approval')
        agent.decide(key, 'approve', name === 'pay' ? { grant: { rule: 'pay', scope: 'always' } } : {})
  }
  const plan = (): void => {
    const isLooked = agent.conversation
      .trunk()
      .some(({ message }) => message.role === 'toolResult' && message.toolName === 'look')
    const isPlanned = agent.permissions()!.mode === 'plan' || isOver
    if (isLooked && !isPlanned) agent.setMode('plan')
  }
  let isOver = log.some(({ type }) => type === 'mode.changed')
  agent.subscribe((event) => {
    if (event.type === 'mode.changed') isOver = true
    if (event.type === 'approval.requested') decide()
    if (event.type === 'tool.end') plan()
  })
  decide()
  plan()
  const isDone = (): boolean =>
    agent.state === 'idle' && agent.conversation.trunk().at(-1)?.message.role === 'assistant'
  if (agent.state === 'idle' && agent.conversation.trunk().length === 0) await agent.prompt('go').result
  while (!isDone()) {
    if (agent.pause?.type === 'interrupted') await agent.resume().result
    else if (agent.state === 'idle') await agent.prompt('go on').result
    else await new Promise((resolve) => setImmediate(resolve))
  }
  await agent.close()
  return { records: await recordsOf(logs, 'a1'), ran }
}

const stateOf = (records: readonly LogRecord[]) => foldContext(records, []).context.parts.permissions

describe('rules after a crash', (it) => {
  it('are those of the log, wherever the process died, and none is lost', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'rules-'))
    context.cleanup(() => rm(folder, { recursive: true }))
    const rulesAt = (name: string): RuleStore => fileRules(join(folder, name))
    const { records, ran } = await finish(context, [], rulesAt('whole'))
    assert.equal(ran, ['pay', 'look', 'pay'])
    assert.equal(
      records.flatMap((record) => (record.type === 'tool.start' ? [[record.name, record.rule]] : [])),
      [
        ['pay', 'mode ask'],
        ['look', 'mode ask'],
        ['exit_plan', 'mode plan'],
        ['pay', 'pay'],
      ],
    )
    assert.equal(await rulesAt('whole').read('payer'), [{ rule: 'pay', decision: 'allow' }])
    for (let count = 1; count < records.length; count++) {
      const past = records.slice(0, count)
      const store = rulesAt(`cut-${count}`)
      // The store had it before the log could say so.
      if (past.some(({ type }) => type === 'permission.granted'))
        await store.add('payer', { rule: 'pay', decision: 'allow' })
      const { records: after } = await finish(context, past, store)
      const place = `died after ${count}: ${past.at(-1)!.type}`
      assert.equal(await store.read('payer'), [{ rule: 'pay', decision: 'allow' }], place)
      const granted = after.filter((record) => record.type === 'approval.decided' && record.grant !== undefined)
      assert.ok(granted.length >= 1, place)
      const { mode, grants, revoked } = stateOf(after)!
      assert.equal([mode, grants.length, revoked.length], ['ask', 1, 0], place)
      for (const record of after) if (record.type === 'tool.start') assert.ok(record.rule !== undefined, place)
    }
  })

  it('grant nothing that stands in the file of another party', async () => {
    const at = { v: 3, runId: 'a/r0', turnIndex: 0, time: 0, foreign: true } as const
    const rows = [
      {
        ...at,
        seq: 1,
        type: 'permission.granted',
        id: 'x',
        rule: '*',
        decision: 'allow',
        scope: 'session',
        by: 'person',
      },
      { ...at, seq: 2, type: 'mode.changed', mode: 'auto', by: 'person' },
    ] as const
    const { grants, mode } = stateOf(rows)!
    assert.equal([grants, mode], [[], null])
  })
})
