import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { tool } from '../support/agentHarness.ts'
import { Lives, paused, until } from '../support/lives.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { heldCalls } from '../support/heldCalls.ts'

interface Seen {
  readonly asked: string[]
  readonly ran: unknown[]
}

/** Pays twice, each time with arguments that a hook gives, the second once a person has approved. */
const payer = ({ asked, ran }: Seen): AgentDefinition =>
  defineAgent({
    name: 'payer',
    model: policyModel(({ messages }) => {
      const paid = messages.filter(({ role }) => role === 'toolResult').length
      return paid === 2 ? 'paid' : { toolCalls: [{ name: 'pay', input: { euro: paid === 0 ? 1 : 100 } }] }
    }),
    tools: [
      tool(
        'pay',
        (input) => {
          ran.push(input)
          return 'ok'
        },
        { effects: 'idempotent', needsApproval: (input) => (input as { euro: number }).euro > 10 },
      ),
    ],
    beforeTool: async ({ input }) => {
      const { euro } = input as { euro: number }
      asked.push(`${euro}`)
      return { input: { euro, account: 'ours' } }
    },
    afterTool: async () => ({ result: 'booked' }),
    guards: {
      input: [({ text }) => (asked.push(`said: ${text}`), { ok: true })],
      output: [({ text }) => (asked.push(`answered: ${text}`), { ok: true })],
    },
  })

/** Lets the job come to its end, whoever has to approve what, and gives its log. */
async function finished(
  { agent, ...life }: Awaited<ReturnType<Lives['begin']>>,
  isOver: (records: readonly LogRecord[]) => boolean,
): Promise<readonly LogRecord[]> {
  const approve = (): void => {
    for (const callId of heldCalls(agent)) agent.decide(callId, 'approve')
  }
  agent.subscribe(approve)
  approve()
  for (;;) {
    const records = (await life.logs())['a1']!
    if (isOver(records)) return records
    if (agent.pause?.type === 'interrupted') await agent.resume().result
    else await new Promise((resolve) => setImmediate(resolve))
  }
}

const ends = (records: readonly LogRecord[]) =>
  records.flatMap((record) => (record.type === 'tool.end' ? [[record.hook, record.message.content]] : []))
const isDone = (records: readonly LogRecord[]): boolean =>
  records.some((record) => record.type === 'run.end' && record.stopReason !== 'paused')

async function lived(context: CaseContext): Promise<readonly LogRecord[]> {
  const life = await new Lives(context).begin(payer({ asked: [], ran: [] }), 'pay them')
  return finished(life, isDone)
}

describe('an agent with hooks and guards whose process dies', (it) => {
  it('comes to the same end after any record of its log', { timeoutMs: 60_000 }, async (context) => {
    const whole = await lived(context)
    const first = whole.findIndex(({ type }) => type === 'message.added') + 1
    for (let length = first; length <= whole.length; length += 1) {
      const log = whole.slice(0, length)
      const seen: Seen = { asked: [], ran: [] }
      const life = await new Lives(context).resume(payer(seen), { a1: log }, { continue: false })
      const records = await finished(life, isDone)
      assert.equal([length, ends(records)], [length, ends(whole)])
      const end = records.findLast((record) => record.type === 'run.end')
      assert.equal([length, end?.stopReason], [length, 'stop'])
      for (const input of seen.ran) assert.is((input as { account?: string }).account, 'ours')
      // What the log says was decided is not asked again.
      const isDecided = (type: LogRecord['type'], euro: number): boolean =>
        log.some((one) => one.type === type && 'input' in one && (one.input as { euro: number }).euro === euro)
      if (isDecided('tool.start', 1)) assert.not.ok(seen.asked.includes('1'), `${length}: the first payment`)
      if (isDecided('approval.requested', 100)) assert.not.ok(seen.asked.includes('100'), `${length}: the second`)
      if (log.some(({ type }) => type === 'guard.decided'))
        assert.not.ok(seen.asked.includes('said: pay them'), `${length}: what was said`)
    }
  })

  it('waits for people with the arguments that the hook gave', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(payer({ asked: [], ran: [] }), 'pay them')
    await paused(first.agent)
    const seen: Seen = { asked: [], ran: [] }
    const { agent } = await lives.resume(payer(seen), await first.logs())
    assert.equal(
      agent.approvals().map(({ input }) => input),
      [{ euro: 100, account: 'ours' }],
    )
    const end = until(agent, ({ type }) => type === 'run.end')
    agent.decide(heldCalls(agent)[0]!, 'approve')
    await end
    assert.equal([seen.ran, seen.asked], [[{ euro: 100, account: 'ours' }], ['answered: paid']])
  })
})
